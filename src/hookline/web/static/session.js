// Sessions, and one session prompt by prompt.

import { get } from "./api.js";
import { add, base, chip, effectChip, fullTime, h, link, ms, number, plural, short, table, when } from "./dom.js";

async function list(root) {
  const { sessions } = await get("/api/sessions");
  add(root, h("h1", {}, "Sessions"), table(["Session", "Agent", "Project", "Last event", "#Events", "#Refused", "#Time in hooks"],
    sessions.map((one) => [[link(`/session/${encodeURIComponent(one.session)}`, short(one.prompt || one.session, 100)), one.prompt ? h("small", { class: "under" }, short(one.session, 48)) : null], one.agent, base(one.cwd), when(one.ended), number(one.events), one.denied ? chip(String(one.denied), "deny") : "0", ms(one.ms)]), "No session is recorded yet."));
}

function eventLine(row) {
  return h("li", { class: "entry" },
    h("span", { class: "time" }, when(row.t)), effectChip(row), h("span", { class: "kind" }, row.event),
    h("span", { class: "about" }, link(`/event/${encodeURIComponent(row.id)}`, short(row.about || row.event, 160)), row.reason ? h("i", { class: row.effect }, row.reason) : null,
      row.modified ? [" ", chip("changed")] : null, row.hooks.filter((one) => /failed|timed-out/.test(one.status)).map((one) => [" ", chip(`${one.name} ${one.status.replace("-", " ")}`, "failed")])),
    h("span", { class: "took" }, ms(row.ms)),
    row.context.length ? h("div", { class: "context" }, row.context.map((one) => h("div", {}, h("small", {}, `${one.hook} injected`), h("pre", { tabindex: "0" }, one.text)))) : null);
}

export async function page(root, name) {
  if (!name) return list(root);
  const one = await get(`/api/session/${encodeURIComponent(name)}`);
  add(root, h("h1", {}, "Session ", h("code", {}, short(name, 60))));
  if (!one.events) return add(root, h("p", { class: "empty" }, "Nothing is recorded of this session."));
  const facts = [["agent", link(`/live?agent=${encodeURIComponent(one.agent)}`, one.agent)], ["project", link(`/live?project=${encodeURIComponent(one.cwd)}`, base(one.cwd))], ["from", fullTime(one.began)], ["to", fullTime(one.ended)], ["events", number(one.events)], ["refused", number(one.denied)], ["time in hooks", ms(one.ms)]];
  if (one.tokens) facts.push(["model hooks", `${number(one.tokens)} tokens${one.cost ? `, $${one.cost.toFixed(4)}` : ""}`]);
  add(root, h("dl", { class: "facts card" }, facts.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, value)))),
    h("p", { class: "actions" }, link(`/live?session=${encodeURIComponent(name)}`, "Follow it live")),
    one.cut ? h("p", { class: "note" }, "Only the newest 2,000 events are shown.") : null,
    one.turns.map((turn) => h("section", { class: "turn" },
      h("h2", {}, turn.turn ? `Turn ${turn.turn}` : "Before the first prompt", h("small", {}, ` ${plural(turn.events.length, "event")}, ${ms(turn.ms)} in hooks${turn.tokens ? `, ${number(turn.tokens)} tokens` : ""}`)),
      turn.prompt ? h("blockquote", {}, turn.prompt) : null,
      h("ol", { class: "entries" }, turn.events.map(eventLine)))));
  return null;
}
