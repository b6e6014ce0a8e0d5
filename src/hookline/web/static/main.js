// Pages by address, the frame around them, and the keys.

import { first, get, state, unlock } from "./api.js";
import { h, showDialog, toast } from "./dom.js";

const PAGES = [
  [/^\/(?:live)?$/, "./live.js", "Live"],
  [/^\/event\/(.+)$/, "./event.js", "Event"],
  [/^\/sessions$/, "./session.js", "Sessions"],
  [/^\/session\/(.+)$/, "./session.js", "Session"],
  [/^\/hooks$/, "./hooks.js", "Hooks"],
  [/^\/hook\/(.+)$/, "./hooks.js", "Hook"],
  [/^\/inbox$/, "./inbox.js", "Inbox"],
  [/^\/what-if$/, "./whatif.js", "What if"],
  [/^\/costs$/, "./costs.js", "Costs"],
  [/^\/fleet$/, "./fleet.js", "Fleet"],
];
const KEYS = [
  ["g l", "live"], ["g s", "sessions"], ["g h", "hooks"], ["g i", "inbox"], ["g w", "what if"], ["g c", "costs"], ["g f", "fleet"],
  ["/", "search"], ["j k ↑ ↓", "move in a list"], ["Enter", "open"], ["Home, End", "newest, oldest"], ["p", "pause the live list"], ["r", "only refused events"],
  ["[ ]", "the previous and the next event of a session"], ["Esc", "back, or clear the filters"], ["t", "light or dark"], ["?", "these keys"],
];
const main = document.getElementById("main");
let leave = null;
let turn = 0;

export function go(path, replace) {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  show();
}

async function show() {
  const mine = ++turn;
  const [found, file, title] = PAGES.map(([test, ...rest]) => [location.pathname.match(test), ...rest]).find(([match]) => match) || [null];
  if (leave) leave();
  leave = null;
  for (const one of document.querySelectorAll("nav a")) {
    const here = one.getAttribute("href") === location.pathname || (one.getAttribute("href") === "/live" && /^\/(event\/.*)?$/.test(location.pathname)) || (one.getAttribute("href") !== "/live" && location.pathname.startsWith(one.getAttribute("href").replace(/s$/, "/")));
    here ? one.setAttribute("aria-current", "page") : one.removeAttribute("aria-current");
  }
  document.title = `${title || "Not found"} · hookline`;
  const root = h("div", { class: "page" });
  main.setAttribute("aria-busy", "true");
  try {
    if (!found) throw new Error("there is no such page");
    const module = await import(file);
    const left = await module.page(root, decodeURIComponent(found[1] || ""), new URLSearchParams(location.search));
    if (mine !== turn) { if (left) left(); return; }
    leave = left || null;
  } catch (error) {
    if (mine !== turn) return;
    root.replaceChildren(h("section", { class: "notice" }, h("h1", {}, "This cannot be shown"), h("p", {}, error.message)));
  }
  main.replaceChildren(root);
  main.removeAttribute("aria-busy");
  document.dispatchEvent(new CustomEvent("page"));
}

function drawLock() {
  const lock = document.getElementById("lock");
  lock.textContent = state.read_only ? "Read-only" : state.may_act ? "Unlocked" : "Unlock";
  lock.disabled = state.read_only || state.may_act;
  lock.title = state.read_only ? "Nothing can be changed or answered here" : state.may_act ? "This browser has given the code: it may act" : "To act, give the code that the terminal of hookline web shows";
}

export function drawWaiting(many) {
  const badge = document.getElementById("waiting");
  badge.hidden = !many;
  badge.textContent = many;
}

// ── one stream for all pages ──────────────────────────────────────────────────────────────────────────

function listen() {
  const stream = new EventSource("/api/live");
  const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
  const lost = h("p", { class: "banner", role: "alert", hidden: true });
  main.before(lost);
  stream.addEventListener("hello", (event) => { lost.hidden = true; tell("connected", JSON.parse(event.data)); });
  stream.addEventListener("gap", () => tell("gap"));
  stream.onmessage = (event) => {
    const message = JSON.parse(event.data);
    if (message.rows.length) tell("events", message);
    if (message.inbox) tell("inbox");
  };
  // A browser tries again unless it was refused; then the answer to any other request says why.
  stream.onerror = async () => {
    const refused = stream.readyState === EventSource.CLOSED;
    lost.textContent = refused ? await get("/api/state").then(() => "Too many pages are open in this browser. Close some, and load this one again.", (error) => error.message) : "The connection to hookline web is lost; trying again…";
    lost.hidden = stream.readyState === EventSource.OPEN;
  };
}

document.addEventListener("inbox", async () => {
  const now = await get("/api/inbox").catch(() => null);
  if (!now) return;
  const open = now.questions.filter((one) => !one.settled);
  drawWaiting(open.length);
  const fresh = open.at(-1);
  if (fresh && localStorage.getItem("notify") === "yes" && Notification.permission === "granted" && document.hidden) {
    new Notification("A hook asks", { body: `${fresh.hook}: ${fresh.about}` }).onclick = () => { window.focus(); go("/inbox"); };
  }
});

// ── keys and links ────────────────────────────────────────────────────────────────────────────────────

let before = "";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input, textarea, select");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const jump = { l: "/live", s: "/sessions", h: "/hooks", i: "/inbox", w: "/what-if", c: "/costs", f: "/fleet" }[event.key];
  if (before === "g" && jump) go(jump);
  else if (event.key === "/") document.querySelector("input[type=search]")?.focus();
  else if (event.key === "t") switchTheme();
  else if (event.key === "?") help();
  else { before = event.key; document.dispatchEvent(new CustomEvent("key", { detail: event })); return; }
  before = "";
  event.preventDefault();
});

function help() {
  showDialog("Keys", h("dl", { class: "keys" }, KEYS.map(([key, what]) => [h("dt", {}, key), h("dd", {}, what)])));
}

function switchTheme() {
  const dark = (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  document.cookie = `theme=${dark ? "light" : "dark"}; path=/; samesite=strict; max-age=31536000`;  // the server sets it in the page
}

document.addEventListener("click", (event) => {
  const anchor = event.target.closest("a[data-link]");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(anchor.getAttribute("href"));
});
window.addEventListener("popstate", show);
document.addEventListener("unlocked", drawLock);
document.getElementById("lock").addEventListener("click", unlock);
document.getElementById("theme").addEventListener("click", switchTheme);
document.getElementById("help").addEventListener("click", help);

// Not awaited here: pages import this module, and would wait for it for ever.
async function start() {
  try {
    Object.assign(state, first?.state || await get("/api/state"));
    drawLock();
    document.getElementById("fleet").hidden = !state.fleet;
    drawWaiting(state.waiting);
    if (state.note) main.before(h("p", { class: "banner", role: "alert" }, state.note));
    listen();
  } catch (error) {
    toast(error.message);
  }
  await show();
}
start();
