// All machines of a team, by what their records say: who is refused what, what fails, how long it takes, which guard is silent where.

import { get } from "./api.js";
import { add, ago, chip, h, ms, number, short, table, when } from "./dom.js";
import { go } from "./main.js";

const failures = (many) => (many ? chip(String(many), "failed") : "0");

const sums = (rows, name) => table([name, "#Events", "#Refused", "#Failures", "#Median", "#99 %", "#Last"], rows.map((one) => [
  one.name, number(one.events), number(one.refused), failures(one.failures), ms(one.median), ms(one.p99), ago(one.last)]), "No records in this time.");

function columns(days) {
  const most = Math.max(...days.map((one) => one.events), 1);
  return h("div", { class: "columns", role: "img", "aria-label": `Records by day: ${days.map((one) => `${one.name} ${one.events}, ${one.refused} refused`).join("; ")}` },
    days.map((one) => h("div", { class: "column", title: `${one.name}: ${number(one.events)} records, ${number(one.refused)} refused, ${number(one.failures)} failures` }, h("span", { style: { height: `${(100 * one.events) / most}%` } }), h("small", {}, one.name.slice(5)))));
}

export async function page(root, _, query) {
  const days = query.get("days") || "7";
  const found = await get("/api/fleet", { days });
  const choice = h("select", { "aria-label": "How far back", onchange: (event) => go(`/fleet?days=${event.target.value}`) }, ["1", "7", "30"].map((one) => h("option", { value: one }, one === "1" ? "last day" : `last ${one} days`)));
  choice.value = days;
  const silent = found.guards.filter((one) => one.silent.length);
  const section = (title, ...kids) => h("section", {}, h("h2", {}, title), ...kids);
  add(root, h("div", { class: "line" }, h("h1", {}, "Fleet"), h("span", { class: "grow" }), choice),
    found.note ? h("p", { class: "notice" }, found.note) : null,
    found.by_day.length ? columns(found.by_day) : null,
    section("Machines", sums(found.by_machine, "Machine")),
    section("Guards that are silent somewhere", table(["Guard", "Silent on"], silent.map((one) => [one.name, short(one.silent.join(", "), 300)]), "Every guard ran wherever the same event of the same agent was recorded.")),
    section("Refused last", table(["When", "Machine", "Agent", "Guard", "Reason"], found.refusals.map((one) => [when(one.time), one.machine, one.agent, one.hook, short(one.reason || "", 160)]), "Nothing was refused.")),
    section("Agents", sums(found.by_agent, "Agent")),
    section("Hooks", table(["Hook", "#Runs", "#Refused", "#Failures"], found.guards.map((one) => [one.name, number(one.runs), number(one.refused), failures(one.failures)]), "No hook ran.")),
    h("p", { class: "empty" }, "What machines send is the policy's choice; without one, only refused events."));
}
