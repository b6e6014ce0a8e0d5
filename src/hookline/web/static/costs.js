// What hooks cost: by day, agent and hook; the slowest; those that never fired, and guards that were not asked.

import { get } from "./api.js";
import { add, chip, h, link, ms, number, table, when } from "./dom.js";
import { go } from "./main.js";

// Days on which nothing ran, too: a gap says something.
function every(rows, days) {
  const known = new Map(rows.map((one) => [one.name, one]));
  const names = Array.from({ length: days + 1 }, (_, ago) => new Date(Date.now() - (days - ago) * 86400000).toLocaleDateString("sv"));
  return [...new Set([...names, ...known.keys()])].map((name) => known.get(name) || { name, ms: 0, runs: 0, failures: 0 });
}

function columns(days) {
  const most = Math.max(...days.map((one) => one.ms), 1), few = days.length < 10;
  return h("div", { class: "columns", role: "img", "aria-label": `Time in hooks by day: ${days.map((one) => `${one.name} ${ms(one.ms)}`).join(", ")}` },
    days.map((one, at) => h("div", { class: "column", title: `${one.name}: ${ms(one.ms)}, ${number(one.runs)} runs, ${one.failures} failures` }, h("small", {}, one.ms && few ? ms(one.ms) : ""), h("span", { class: one.ms ? null : "zero", style: { height: `${(72 * one.ms) / most}%` } }), h("small", {}, few || at % 7 === 0 ? one.name.slice(5) : "\u00a0"))));
}

// Tokens only where a model was asked.
function sums(rows, name, shown) {
  const tokens = rows.some((one) => one.tokens);
  return table([name, "#Runs", "#Time", "#Average", "#Failures", "#Refused", ...(tokens ? ["#Tokens", "#Cost"] : [])], rows.map((one) => [
    shown(one.name), number(one.runs), ms(one.ms), ms(one.runs ? one.ms / one.runs : 0), one.failures ? chip(String(one.failures), "failed") : "0", number(one.denied),
    ...(tokens ? [number(one.tokens || 0), one.cost ? `$${one.cost.toFixed(4)}` : "–"] : [])]), "Nothing ran in this time.");
}

export async function page(root, _, query) {
  const days = query.get("days") || "7";
  const found = await get("/api/costs", { days });
  const choice = h("select", { "aria-label": "How far back", onchange: (event) => go(`/costs?days=${event.target.value}`) }, ["1", "7", "30"].map((one) => h("option", { value: one }, one === "1" ? "last day" : `last ${one} days`)));
  choice.value = days;
  const listed = (title, rows, none) => h("section", {}, h("h2", {}, title), rows.length ? h("ul", { class: "plain" }, rows.map((text) => h("li", {}, text))) : h("p", { class: "empty" }, none));
  add(root, h("div", { class: "line" }, h("h1", {}, "Costs"), h("span", { class: "grow" }), choice),
    found.by_day.length ? h("section", {}, h("h2", {}, "Time in hooks by day", h("small", {}, " waiting for a person's answer included")), columns(every(found.by_day, Number(days)))) : null,
    h("section", {}, h("h2", {}, "By hook"), sums(found.by_hook, "Hook", (name) => link(`/live?hook=${encodeURIComponent(name)}`, name))),
    h("section", {}, h("h2", {}, "By agent"), sums(found.by_agent, "Agent", (name) => link(`/live?agent=${encodeURIComponent(name)}`, name))),
    h("section", {}, h("h2", {}, "By day"), sums(found.by_day.toReversed(), "Day", (name) => name)),
    h("section", {}, h("h2", {}, "The ten slowest"), table(["Hook", "Event", "When", "Status", "#Time"], found.slowest.map((one) => [link(`/live?hook=${encodeURIComponent(one.hook)}`, one.hook), link(`/event/${encodeURIComponent(one.id)}`, one.event), when(one.t), one.status, ms(one.ms)]), "Nothing ran in this time.")),
    listed("Hooks that did not fire in this time", found.never.map((one) => link(`/hook/${encodeURIComponent(one.id)}`, one.name)), "Every hook that is on has fired."),
    listed("Guards that should have been asked and were not", found.silent, "Every recorded tool call passed its guards."));
}
