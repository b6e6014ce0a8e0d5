// Tables can be sorted by a click on a heading, or Enter or the space bar on it.
const UNITS = { ns: 1e-6, "µs": 1e-3, ms: 1, s: 1e3 };

// "909.9 µs" is less than "33.73 ms", and "8,000" more than "900".
const amount = (text) => {
  const found = text.match(/^(-?[\d,]*\.?\d+)\s*(\S*)/);
  return found ? found[1].replaceAll(",", "") * (UNITS[found[2]] ?? 1) : NaN;
};
const isDate = (text) => /^\d+[-.]\d+[-.]/.test(text);
const compare = (a, b) =>
  (isDate(a) ? 0 : amount(a) - amount(b)) || a.localeCompare(b, undefined, { numeric: true });

document$.subscribe(() => {
  // What can be moved sideways can be reached by the keyboard.
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap, .picture, .diagram")) wide.tabIndex = 0;
  for (const table of document.querySelectorAll("article table")) {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 8) continue;
    for (const [column, heading] of [...table.tHead.rows[0].cells].entries()) {
      heading.tabIndex = 0;
      heading.className = "sortable";
      heading.title = "Sort by this column";
      const sort = () => {
        const up = heading.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        const text = (row) => row.cells[column]?.textContent.trim() ?? "";
        const rows = [...body.rows].sort((a, b) => compare(text(a), text(b)));
        body.append(...(up ? rows : rows.reverse()));
      };
      heading.addEventListener("click", sort);
      heading.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sort();
      });
    }
  }
});
