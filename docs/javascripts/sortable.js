// Tables can be sorted by a click on a heading, or Enter on it.
document$.subscribe(() => {
  for (const table of document.querySelectorAll("article table")) {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 8) continue;
    for (const [column, heading] of [...table.tHead.rows[0].cells].entries()) {
      heading.tabIndex = 0;
      heading.style.cursor = "pointer";
      heading.title = "Sort by this column";
      const sort = () => {
        const up = heading.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        const text = (row) => row.cells[column]?.textContent.trim() ?? "";
        const rows = [...body.rows].sort((a, b) => text(a).localeCompare(text(b), undefined, { numeric: true }));
        body.append(...(up ? rows : rows.reverse()));
      };
      heading.addEventListener("click", sort);
      heading.addEventListener("keydown", (event) => event.key === "Enter" && sort());
    }
  }
});
