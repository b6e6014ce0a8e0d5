// Elements are made from values, never from markup: every text of an agent or a hook stays text.

export function h(tag, props, ...kids) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name === "style") Object.assign(node.style, value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  add(node, ...kids);
  return node;
}

// Characters that nobody sees, and those that reorder others, as their numbers: what is approved must be what is read.
export const visible = (text) => text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);

// Like append, but nothing stays nothing.
export const add = (node, ...kids) => node.append(...kids.flat(9).filter((kid) => kid !== null && kid !== undefined && kid !== false).map((kid) => (typeof kid === "string" ? visible(kid) : kid)));

export const link = (href, ...kids) => h("a", { href, "data-link": true }, ...kids);

export const button = (text, onclick, more) => h("button", { type: "button", onclick, ...more }, text);

// What became of a hook in an event -> the class that draws it.
export const KIND = { refused: "deny", asked: "ask", allowed: "allow", changed: "changed", failed: "failed", "timed out": "failed", skipped: "skipped" };

export const WORDS = { allow: "allowed", ask: "asked", deny: "refused" };

export function chip(word, kind, title) {
  return h("span", { class: `chip ${kind || word}`, title }, word);
}

export function effectChip(row) {
  if (row.aborted) return chip("aborted", "deny");
  if (row.effect === "allow" && !row.granted) return chip("passed", "none");
  return chip(WORDS[row.effect] || row.effect, row.effect);
}

const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hour12: false });

// Hundreds of events may have happened in one second, and formatting is slow.
let latest = [0, ""];
export function when(seconds) {
  const second = Math.floor(seconds);
  if (latest[0] === second) return latest[1];
  const date = new Date(second * 1000);
  latest = [second, date.toDateString() === new Date().toDateString() ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`];
  return latest[1];
}

export const fullTime = (seconds) => whole.format(new Date(seconds * 1000));

export function ago(seconds) {
  if (!seconds) return "never";
  const past = Date.now() / 1000 - seconds;
  for (const [size, word] of [[86400, "d"], [3600, "h"], [60, "min"]]) if (past >= size) return `${Math.floor(past / size)} ${word} ago`;
  return "just now";
}

export function ms(value) {
  if (value === null || value === undefined) return "–";
  if (value >= 120000) return `${(value / 60000).toFixed(1)} min`;
  if (value >= 1000) return `${(value / 1000).toFixed(value < 10000 ? 2 : 1)} s`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

const digits = new Intl.NumberFormat();

export const number = (value) => digits.format(Math.round(value));

export const plural = (value, word) => `${number(value)} ${word}${value === 1 ? "" : "s"}`;

export const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

export const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export const base = (path) => path.split("/").filter(Boolean).pop() || path;

export function block(title, value, open) {
  const text = pretty(value);
  const body = h("pre", { tabindex: "0", "aria-label": title }, text);
  return h("details", { class: "block", open: open || null }, h("summary", {}, title, h("small", {}, ` ${plural(text.length, "character")}`)), body);
}

export function table(heads, rows, empty) {
  if (!rows.length) return h("p", { class: "empty" }, empty);
  const head = h("tr", {}, heads.map((one) => h("th", { scope: "col", class: one.startsWith("#") ? "num" : null }, one.replace("#", ""))));
  const body = rows.map((row) => h("tr", {}, row.map((cell, at) => h("td", { class: heads[at].startsWith("#") ? "num" : null, "data-head": heads[at].replace("#", "") }, cell))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": heads.join(", ").replaceAll("#", "") }, h("table", {}, h("thead", {}, head), h("tbody", {}, body)));
}

// A diff of two texts, line by line.
export function diff(before, after) {
  const [one, two] = [before.split("\n"), after.split("\n")];
  const lines = [];
  if (one.length * two.length > 250000) return h("pre", { class: "diff" }, one.map((t) => mark("-", t)), two.map((t) => mark("+", t)));
  const same = Array.from({ length: one.length + 1 }, () => new Uint16Array(two.length + 1));
  for (let i = one.length - 1; i >= 0; i--) for (let j = two.length - 1; j >= 0; j--) same[i][j] = one[i] === two[j] ? same[i + 1][j + 1] + 1 : Math.max(same[i + 1][j], same[i][j + 1]);
  let [i, j] = [0, 0];
  while (i < one.length || j < two.length) {
    if (i < one.length && j < two.length && one[i] === two[j]) { lines.push(mark(" ", one[i++])); j++; }
    else if (i < one.length && (j >= two.length || same[i + 1][j] >= same[i][j + 1])) lines.push(mark("-", one[i++]));
    else lines.push(mark("+", two[j++]));
  }
  return h("pre", { class: "diff", tabindex: "0", "aria-label": "Difference" }, lines);
}

// The lines of a unified diff.
export function unified(path, lines) {
  return h("pre", { class: "diff", tabindex: "0", "aria-label": `Difference in ${path}` }, lines.map((text) => (text.startsWith("@@") ? h("span", {}, `${text}\n`) : mark(text[0] || " ", text.slice(1)))));
}

export function mark(sign, text) {
  return h("span", { class: { "-": "minus", "+": "plus" }[sign] || null }, `${sign} ${text}\n`);
}

export function toast(text) {
  const node = document.getElementById("toast");
  node.textContent = text;
  node.classList.add("shown");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => node.classList.remove("shown"), 4000);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    showDialog(what, h("textarea", { readonly: true, rows: "12", "aria-label": what, value: text }));
  }
}

export function showDialog(title, ...content) {
  const dialog = document.getElementById("dialog");
  dialog.replaceChildren();
  add(dialog, h("h2", { id: "dialog-title", tabindex: "-1", autofocus: true }, title), ...content);
  if (!dialog.querySelector(".actions")) add(dialog, h("p", { class: "actions" }));
  dialog.querySelector(".actions").append(button("Close", () => dialog.close()));
  if (!dialog.open) dialog.showModal();
  return dialog;
}
