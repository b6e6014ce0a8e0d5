// All events, the newest first: a virtual list over pages of SQLite, with what arrives on top of it.

import { first, get } from "./api.js";
import { add, base, button, chip, effectChip, h, ms, number, plural, short, visible, when } from "./dom.js";
import { go } from "./main.js";

const PAGE = 200, KEPT = 24, HEAD = 4000, LANES = 8, DOTS = 7, SETTLE = 500, TOP = 6;
const EFFECTS = [["", "All"], ["deny", "Refused"], ["ask", "Asked"], ["failed", "Failed"], ["changed", "Changed"]];
const SPANS = [["", "any time"], ["hour", "last hour"], ["today", "today"], ["yesterday", "yesterday"], ["week", "last 7 days"]];
const BLANK = { time: "", agent: "", project: "", event: "", ms: "", subject: "", reason: "" };
const dot = (one) => h("span", { class: `dot ${/failed|timed/.test(one.status) ? "failed" : one.status === "skipped" ? "skipped" : one.effect || "none"}`, title: `${one.name}: ${one.effect || one.status}` });
const MARKS = { effect: (row) => [effectChip(row)], hooks: (row) => [...row.hooks.slice(0, DOTS).map(dot), row.modified ? chip("±", "changed", "changed by a hook") : ""] };

function span(name) {
  const midnight = new Date().setHours(0, 0, 0, 0) / 1000;
  const now = Date.now() / 1000;
  return { hour: { since: now - 3600 }, today: { since: midnight }, yesterday: { since: midnight - 86400, until: midnight }, week: { since: now - 7 * 86400 } }[name] || {};
}

function matches(row, filters) {
  const { effect, hook, text } = filters;
  if (["agent", "event", "session"].some((name) => filters[name] && filters[name] !== row[name])) return false;
  if (filters.project && row.cwd !== filters.project && !row.cwd.startsWith(`${filters.project}/`)) return false;
  if (effect === "failed" ? !row.hooks.some((one) => /failed|timed-out/.test(one.status)) : effect === "changed" ? !row.modified : effect && effect !== row.effect) return false;
  if (hook && !row.hooks.some((one) => one.name === hook && one.status !== "skipped")) return false;
  if (filters.span === "yesterday") return false;
  return !text || `${row.about}\n${row.reason}\n${row.id}`.toLowerCase().includes(text.toLowerCase());
}

class Model {
  constructor(filters, changed) {
    Object.assign(this, { filters, changed, head: [], pending: [], pages: new Map(), asked: new Set(), arrived: 0, total: 0, upto: 0, loads: 0, loading: false });
  }

  query(more) {
    const { span: name, ...rest } = this.filters;
    return { ...rest, ...span(name), limit: PAGE, ...more };
  }

  // The newest page anew; what arrived since stays on top of it.
  async load() {
    if (this.loading) return;
    this.loading = true;
    const mine = ++this.loads;
    try {
      const found = this.came() || await get("/api/events", this.query());
      if (mine !== this.loads) return;
      const ids = new Set(found.rows.map((row) => row.id));
      const newest = found.rows.length ? found.rows[0].t : 0;
      this.head = this.head.filter((row) => !ids.has(row.id) && row.t > newest);
      Object.assign(this, { total: found.total, upto: found.upto, pages: new Map([[0, found.rows]]), note: found.note });
      this.asked.clear();
    } finally {
      this.loading = false;
    }
    this.changed();
  }

  // The first page of all, once: it came with the page.
  came() {
    const found = !Object.keys(this.filters).length && first?.events;
    if (found) first.events = null;
    return found;
  }

  get length() { return this.head.length + this.total; }

  row(index) {
    if (index < this.head.length) return this.head[index];
    const at = index - this.head.length, page = Math.floor(at / PAGE);
    const rows = this.pages.get(page);
    if (!rows) this.fetch(page);
    return rows && rows[at % PAGE];
  }

  async fetch(page) {
    if (this.asked.has(page)) return;
    this.asked.add(page);
    const upto = this.upto;
    try {
      const found = await get("/api/events", this.query({ upto, offset: page * PAGE }));
      if (upto !== this.upto) return;
      this.pages.set(page, found.rows);
      for (const far of [...this.pages.keys()].sort((a, b) => Math.abs(b - page) - Math.abs(a - page)).slice(0, Math.max(0, this.pages.size - KEPT))) this.pages.delete(far);
    } finally {
      this.asked.delete(page);
    }
    this.changed();
  }

  // Events as they happen. ``held``: the person reads something else, or has paused.
  add(rows, held) {
    const fitting = rows.filter((row) => matches(row, this.filters)).reverse();
    if (!fitting.length) return 0;
    this.arrived += fitting.length;
    if (held) this.pending = [...fitting, ...this.pending].slice(0, HEAD);
    else this.head = [...fitting, ...this.head];
    if (this.head.length > HEAD) {
      this.head.length = HEAD;
      this.load();
    }
    return fitting.length;
  }

  release() {
    const many = this.pending.length;
    this.head = [...this.pending, ...this.head];
    this.pending = [];
    if (many >= HEAD) { this.head = []; this.load(); }
  }
}

export async function page(root, _, query) {
  const filters = Object.fromEntries(query);
  const narrow = matchMedia("(max-width: 760px)");
  const height = () => (narrow.matches ? 54 : 27), middle = () => (narrow.matches ? 15 : 13);
  let selected = -1, paused = false, due = false, ended = false, missed = 0, settled = -SETTLE, later;
  let tall = 0, scrolled = 0;  // as the last events said: to ask while drawing makes the browser lay out twice
  const lanes = new Map(), tracks = [];

  const viewport = h("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Events, the newest first" });
  const space = h("div", { class: "space", role: "presentation" });
  const status = h("span", { class: "count", role: "status" });
  const news = button("", () => { release(); viewport.scrollTop = 0; viewport.focus(); }, { class: "fresh", hidden: true });
  const pause = button("Pause", () => setPaused(!paused), { "aria-pressed": "false", title: "Pause (p)" });
  viewport.append(space);
  const model = new Model(filters, () => redraw());
  const pool = [];

  // ── filters ──
  const choices = new Promise((resolve, reject) => setTimeout(() => get("/api/choices").then(resolve, reject), 50));  // after the events
  const change = (name, value) => {
    const next = new URLSearchParams(Object.entries({ ...filters, [name]: value }).filter(([, one]) => one));
    go(`/live${next.size ? `?${next}` : ""}`, true);
  };
  const search = h("input", { type: "search", placeholder: "Search events  ( / )", "aria-label": "Search", title: "In commands, prompts, paths and reasons", value: filters.text || "", onchange: (event) => change("text", event.target.value) });
  const select = (name, label) => {
    const node = h("select", { "aria-label": label, onchange: (event) => change(name, event.target.value) });
    const offer = (options) => {
      const all = [...new Set([...(filters[name] ? [filters[name]] : []), ...options])];
      node.replaceChildren(h("option", { value: "" }, label), ...all.map((one) => h("option", { value: one }, short(name === "project" ? base(one) : one, 40))));
      node.value = filters[name] || "";
    };
    offer([]);
    choices.then((found) => offer(found[name] || []), () => null);
    return node;
  };
  const spans = h("select", { "aria-label": "When", onchange: (event) => change("span", event.target.value) }, SPANS.map(([value, word]) => h("option", { value }, word)));
  spans.value = filters.span || "";
  const bar = h("div", { class: "filters", role: "search" },
    search,
    h("div", { class: "segments", role: "group", "aria-label": "Effect" }, EFFECTS.map(([value, word]) => button(word, () => change("effect", value), { "aria-pressed": String((filters.effect || "") === value) }))),
    h("div", { class: "selects" }, spans, select("agent", "all agents"), select("project", "all projects"), select("event", "all events"), select("hook", "all hooks")),
    filters.session ? h("span", { class: "pinned" }, `session ${short(filters.session, 14)}`, button("×", () => change("session", ""), { "aria-label": "All sessions" })) : null,
    h("div", { class: "end" }, status, pause));
  const heads = h("div", { class: "heads", "aria-hidden": "true" }, ["Time", "Decision", "Agent", "Project", "Event", "What, and why", "Hooks", "Took"].map((word) => h("span", {}, word)));
  const empty = h("div", { class: "empty", hidden: true });
  root.classList.add("live");
  add(root, h("h1", { class: "hidden" }, "Live"), bar, heads, h("div", { class: "frame" }, viewport, news, empty));

  function setPaused(value) {
    paused = value;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Resume" : "Pause";
    if (!paused) release();
    redraw();
  }

  function release() {
    if (selected >= 0) selected += model.pending.length;
    model.release();
    redraw();
  }

  const held = () => paused || scrolled > height();

  // ── drawing ──
  function lane(session) {
    if (!lanes.has(session)) lanes.set(session, lanes.size % LANES);
    return lanes.get(session) % (narrow.matches ? 4 : LANES);
  }

  // Under a flood every row changes with every frame: a row keeps its place and its elements, and only texts that differ
  // are written. Each cell is laid out by itself (style.css), so that a text costs no more than its own line.
  function make() {
    const texts = Object.fromEntries(["time", "agent", "project", "event", "ms", "subject", "reason"].map((name) => [name, document.createTextNode("")]));
    const cells = Object.fromEntries(["effect", "hooks"].map((name) => [name, h("span", { class: name })]));
    const cell = (name) => h("span", { class: name }, texts[name]);
    const mark = h("i", { "aria-hidden": "true" });
    const reason = h("i", {}, texts.reason);
    const about = h("span", { class: "about" }, h("b", {}, texts.subject), reason);
    const node = h("div", { class: "row", role: "option", "aria-selected": "false", "aria-setsize": "-1" }, mark, cell("time"), cells.effect, cell("agent"), cell("project"), cell("event"), about, cells.hooks, cell("ms"));
    node.addEventListener("click", () => { if (node.row) go(`/event/${encodeURIComponent(node.row.id)}`); });
    space.append(node);
    return { node, mark, reason, texts, cells, kept: {}, key: null };
  }

  function place(item, index) {
    const top = `${index * height()}px`;
    if (item.top === top) return;
    item.node.style.top = item.top = top;
    item.node.setAttribute("aria-posinset", index + 1);
  }

  function pick(item, picked) {
    if (item.picked === picked) return;
    item.picked = picked;
    item.node.setAttribute("aria-selected", String(picked));
    item.node.id = picked ? "picked" : "";
  }

  // Whether it shows another event than before.
  function fill(item, row) {
    const key = row ? row.id : "";
    if (item.key === key) return false;
    item.key = key;
    item.node.row = row;
    if (item.kept.blank !== !row) item.node.classList.toggle("blank", item.kept.blank = !row);
    const texts = row ? { time: when(row.t), agent: `${/^replay:/.test(row.session) ? "↻ " : ""}${row.agent}`, project: row.project, event: row.event, ms: ms(row.ms), subject: visible(row.about), reason: visible(row.reason) } : BLANK;
    for (const name in texts) if (item.kept[name] !== texts[name]) item.texts[name].data = item.kept[name] = texts[name];
    const effect = row ? row.effect : "";
    if (item.kept.reasonOf !== effect) item.reason.className = item.kept.reasonOf = effect;
    const mark = row && row.session ? `lane lane${lane(row.session)} ${row.effect}` : "";
    if (item.kept.mark !== mark) item.mark.className = item.kept.mark = mark;
    const marks = { effect: row ? `${row.effect} ${row.granted}` : "", hooks: row ? `${row.modified} ${row.hooks.slice(0, DOTS).map((one) => `${one.name}: ${one.effect || one.status}`)}` : "" };
    for (const name in marks) if (item.kept[name] !== marks[name]) { item.kept[name] = marks[name]; item.cells[name].replaceChildren(...(row ? MARKS[name](row) : [])); }
    return Boolean(row);
  }

  // At the next frame, once: a page that shows nothing new costs nothing. The server says how often events arrive.
  function redraw() {
    if (due || ended) return;
    due = true;
    requestAnimationFrame(draw);
  }

  // Under a flood every row of the screen is another one with every frame, and nobody reads that: the newest are drawn at
  // once, the rest when the count is. What is drawn stays in order; some that passed by are not seen.
  function draw() {
    due = false;
    if (ended) return;
    if (!viewport.isConnected) return redraw();
    const size = height(), seen = new Set(pool.map((item) => item.key));
    const first = Math.max(0, Math.floor(scrolled / size) - 4);
    const many = Math.min(model.length - first, Math.ceil(tall / size) + (first ? 8 : 4));
    const flood = !settle(size) && !first && selected < 0 && pool.length >= many && model.arrived > many;
    while (pool.length < many) pool.push(make());
    const left = new Set(pool), fresh = [];
    for (let index = first; index < first + (flood ? Math.min(TOP, many) : many); index++) {
      const item = pool[index % pool.length], row = model.row(index);
      left.delete(item);
      place(item, index);
      pick(item, index === selected);
      if (fill(item, row) && !seen.has(row.id) && index * size < scrolled + tall) fresh.push(row);
    }
    if (!flood) finish(left, first, many, size);
    if (fresh.length) document.dispatchEvent(new CustomEvent("shown", { detail: fresh }));
    news.hidden = !model.pending.length;
    if (!news.hidden) news.textContent = `↑ ${number(model.pending.length)}${model.pending.length >= HEAD ? "+" : ""} new`;
    empty.hidden = model.length > 0;
    if (!model.length) empty.replaceChildren(...nothing());
  }

  function finish(left, first, many, size) {
    model.arrived = 0;
    for (const item of left) { place(item, -99); pick(item, false); fill(item, null); }
    drawTracks(first, many, size);
    if (viewport.hasAttribute("aria-activedescendant") !== selected >= 0) viewport.toggleAttribute("aria-activedescendant") && viewport.setAttribute("aria-activedescendant", "picked");
  }

  // What the whole window is laid out for, and what a screen reader says: twice a second at most. False: not yet.
  function settle(size) {
    const whole = `${model.length * size}px`, count = plural(model.length, "event");
    if (space.style.height === whole && status.textContent === count) return true;
    if (performance.now() < settled + SETTLE) { later = later || setTimeout(redraw, SETTLE * 1.5); return false; }  // rather with the next events
    settled = performance.now();
    later = clearTimeout(later);
    space.style.height = whole;
    status.textContent = count;
    return true;
  }

  function nothing() {
    if (model.note) return [h("h2", {}, "The record cannot be read"), h("p", {}, model.note)];
    if (Object.keys(filters).length) return [h("h2", {}, "No event matches"), button("Clear the filters", () => go("/live"))];
    return [h("h2", {}, "Nothing recorded yet"), h("p", {}, "Events appear here as agents fire them. To see some now: ", h("code", {}, "hookline demo"))];
  }

  // One line for each session on the screen, from its newest event to its oldest.
  function drawTracks(first, many, size) {
    const ends = new Map();
    for (let index = first; index < first + many; index++) {
      const session = model.row(index)?.session;
      if (session) ends.set(session, [ends.get(session)?.[0] ?? index, index]);
    }
    while (tracks.length < ends.size) space.append(tracks[tracks.length] = h("i", { "aria-hidden": "true" }));
    const lines = [...ends].map(([session, [from, to]]) => [`track lane${lane(session)}`, `${from * size + middle()}px`, `${(to - from) * size}px`]);
    tracks.forEach((node, at) => {
      const [name, top, tall] = lines[at] || ["", "", ""];
      if (node.className !== name) node.className = name;
      if (node.style.top !== top) node.style.top = top;
      if (node.style.height !== tall) node.style.height = tall;
    });
  }

  // ── keys ──
  function move(to) {
    selected = Math.max(0, Math.min(model.length - 1, to));
    const size = height(), top = selected * size;
    if (top < viewport.scrollTop) viewport.scrollTop = top;
    else if (top + size > viewport.scrollTop + viewport.clientHeight) viewport.scrollTop = top + size - viewport.clientHeight;
    redraw();
  }

  function key({ detail: event }) {
    const page = Math.floor(viewport.clientHeight / height()) - 1;
    const to = { j: selected + 1, ArrowDown: selected + 1, k: selected - 1, ArrowUp: selected - 1, PageDown: selected + page, PageUp: selected - page, Home: 0, End: model.length - 1 }[event.key];
    if (to !== undefined && (event.target === viewport || event.target === document.body || "jk".includes(event.key))) { move(to); viewport.focus(); event.preventDefault(); }
    else if (event.key === "Enter" && event.target === viewport && model.row(selected)) go(`/event/${encodeURIComponent(model.row(selected).id)}`);
    else if (event.key === "p") setPaused(!paused);
    else if (event.key === "r") change("effect", filters.effect === "deny" ? "" : "deny");
    else if (event.key === "Escape" && location.search) go("/live");
  }

  const arrived = ({ detail }) => {
    const waiting = held();
    const many = model.add(detail.rows, waiting);
    if (many && !waiting && selected >= 0) selected += many;
    if (many) redraw();
  };
  // What happened while the page was on its way, or while nobody listened, is not in the stream.
  const connected = ({ detail }) => { if (missed++ || detail.last > model.upto) model.load(); };
  const handlers = [["events", arrived], ["gap", () => model.load()], ["connected", connected], ["key", key]];
  for (const [name, handler] of handlers) document.addEventListener(name, handler);
  viewport.addEventListener("scroll", () => { scrolled = viewport.scrollTop; redraw(); if (scrolled <= height() && !paused && model.pending.length) release(); }, { passive: true });
  const resized = new ResizeObserver(() => { tall = viewport.clientHeight; redraw(); });
  resized.observe(viewport);
  draw();
  await model.load();
  return () => {
    ended = true;
    resized.disconnect();
    for (const [name, handler] of handlers) document.removeEventListener(name, handler);
  };
}
