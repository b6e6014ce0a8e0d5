// What would be decided: by the code that decides, without running a hook.

import { get, post, state } from "./api.js";
import { add, base, chip, h, link } from "./dom.js";

function read(text) {
  if (!text.trim().startsWith("{")) return { event: "PreToolUse", data: { tool_name: "Bash", tool_input: { command: text } } };
  const given = JSON.parse(text);
  const event = given.hook_event_name || given.event || "PreToolUse";
  return { event, data: given.data && typeof given.data === "object" ? given.data : given };
}

const MEANS = { deny: "would refuse it", ask: "would ask", allow: "would allow it" };

// A guard that is configured says what it would answer: it only reads, so nothing has to run for it.
function answer(one, found) {
  const judged = one.guard && found.guard?.[one.policy];
  const kind = judged ? (MEANS[judged.verdict] ? judged.verdict : "none") : one.why_not ? "skipped" : "run";
  return { kind, word: judged ? MEANS[judged.verdict] || "would run, no opinion" : one.why_not ? "would not run" : "would run", reason: judged ? judged.reason : one.why_not };
}

// Only guards say without running what they would answer; what the others say is known when they run.
function headline(found, run) {
  const said = found.hooks.map((one) => [one, answer(one, found)]);
  const [one, by] = said.find(([, it]) => it.kind === "deny") || said.find(([, it]) => it.kind === "ask") || [null, null];
  const others = run - (one ? 1 : 0);
  const word = one ? `${by.kind === "deny" ? "It would be refused by" : "You would be asked by"} ${one.hook}` : run ? "No guard objects" : "It would pass: no hook would run";
  const rest = one ? (by.reason ? `: ${by.reason}` : "") : others ? `; ${others === 1 ? "one hook" : `${others} hooks`} would run and may still refuse it` : "";
  return h("header", { class: `verdict ${by ? by.kind : "none"}` }, h("p", { class: "summary" }, h("strong", {}, word), rest));
}

function verdict(name, one) {
  return h("p", {}, h("strong", {}, `${name} `), chip(MEANS[one.verdict] || one.verdict, MEANS[one.verdict] ? one.verdict : "none"), one.reason ? ` ${one.reason}` : "");
}

function result(found) {
  const run = found.hooks.filter((one) => !one.why_not), not = found.hooks.filter((one) => one.why_not);
  const able = found.able;
  return [
    headline(found, run.length),
    h("section", {}, h("h2", {}, "Chain of hooks", h("small", {}, ` ${run.length} would run, ${not.length} would not`)),
      h("ol", { class: "chain" }, found.hooks.map((one) => [one, answer(one, found)]).map(([one, said], at) => h("li", { class: `step ${said.kind}` }, h("span", { class: "node", "aria-hidden": "true" }, String(at + 1)),
        h("div", { class: "body" }, h("div", { class: "line" }, h("strong", {}, link(`/hook/${encodeURIComponent(one.id)}`, one.hook)), chip(said.word, said.kind), h("small", {}, `${one.dialect}, on failure: ${one.on_failure}`)), said.reason ? h("p", { class: "reason" }, said.reason) : null)))),
      found.hooks.length ? null : h("p", { class: "empty" }, `No hook listens to ${found.event} here.`)),
    found.guard ? h("section", {}, h("h2", {}, "What the ready guard says", h("small", {}, " whether or not it is configured")), verdict("standard", found.guard.standard), verdict("strict", found.guard.strict),
      h("ul", { class: "plain" }, found.guard.effects.map((one) => h("li", {}, chip(one.harm, one.harm === "critical" || one.harm === "high" ? "deny" : "none"), ` ${[one.kind, one.what, one.where && `(${one.where})`].filter(Boolean).join(" ")}: ${one.why}`)))) : null,
    able ? h("section", {}, h("h2", {}, `What ${able.agent} can do`), h("p", {}, able.fires === "never" ? "It never fires this event." : `It fires this event ${able.fires}${able.native_event ? ` as ${able.native_event}` : ""}.`), able.losses.length ? h("ul", { class: "plain" }, able.losses.map((text) => h("li", {}, text))) : h("p", {}, "Everything that a hook can answer reaches it.")) : null,
  ];
}

export async function page(root, _, query) {
  const { projects } = await get("/api/hooks");
  const input = h("textarea", { id: "input", rows: "5", spellcheck: "false", placeholder: "rm -rf build, or a payload in JSON", value: query.get("text") || "" });
  const agent = h("select", { id: "agent" }, state.agents.map((one) => h("option", { value: one.name }, one.title)));
  const project = h("select", { id: "project" }, projects.map((one) => h("option", { value: one }, base(one))));
  const output = h("div", { "aria-live": "polite" });
  const ask = async (event) => {
    event?.preventDefault();
    try {
      const found = await post("/api/what-if", { agent: agent.value, project: project.value, ...read(input.value) });
      history.replaceState(null, "", `/what-if?text=${encodeURIComponent(input.value)}`);
      output.replaceChildren(...result(found).filter(Boolean));
    } catch (error) {
      output.replaceChildren(h("p", { class: "finding", role: "alert" }, error.message));
    }
  };
  input.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask(); });
  add(root, h("h1", {}, "What if"), h("form", { class: "card", onsubmit: ask },
    h("label", { for: "input" }, "A command, or a payload as an agent sends it"), input,
    h("div", { class: "line" }, h("label", { for: "agent" }, "Agent"), agent, h("label", { for: "project" }, "Project"), project, h("span", { class: "grow" }), h("button", { class: "primary", title: "Ctrl-Enter" }, "What would happen?"))), output);
  if (input.value) ask();
}
