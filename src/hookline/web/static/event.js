// One event: who decided and why, and the chain of its hooks as a picture.

import { act, get, state } from "./api.js";
import { KIND, WORDS, add, block, button, chip, copy, diff, effectChip, fullTime, h, link, ms, plural, pretty, short, showDialog, toast } from "./dom.js";
import { go } from "./main.js";

function bar(step, total) {
  const whole = Math.max(total, step.began + step.ms, 0.1);
  const from = `${(100 * step.began) / whole}%`, wide = `${Math.max(0.6, (100 * step.ms) / whole)}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, h("span", { class: KIND[step.verdict] || "none", style: { left: from, width: wide } }));
}

function stepNode(step, at, total) {
  const kind = KIND[step.verdict] || "none";
  const printed = [["stdout", step.stdout], ["stderr", step.stderr]].filter(([, text]) => text && text.trim());
  return h("li", { class: `step ${kind}` },
    h("span", { class: "node", "aria-hidden": "true" }, String(at + 1)),
    h("div", { class: "body" },
      h("div", { class: "line" },
        h("strong", {}, link(`/hook/${encodeURIComponent(step.hook_id)}`, step.hook)), chip(step.verdict, kind), h("small", { title: "the dialect that it is written in" }, step.dialect),
        step.exit_code !== null ? h("small", {}, `exit ${step.exit_code}`) : null, h("span", { class: "grow" }), kind === "skipped" ? null : [bar(step, total), h("span", { class: "took" }, ms(step.ms))]),
      step.reason ? h("p", { class: "reason" }, step.reason) : null,
      step.changes.map((one) => h("div", { class: "change" }, h("small", {}, `changed ${one.field}`), diff(pretty(one.before ?? null), pretty(one.after)))),
      step.context.map((one) => h("div", { class: "context" }, h("small", {}, `injected as ${one.as}${one.label ? ` (${one.label})` : ""}`), h("pre", { tabindex: "0" }, one.text))),
      step.messages.map((one) => h("p", { class: "note" }, `to the person: ${one.text}`)),
      step.notes.map((text) => h("p", { class: "note" }, text)),
      step.usage ? h("p", { class: "note" }, Object.entries(step.usage).map(([name, value]) => `${name} ${value}`).join(", ")) : null,
      printed.map(([name, text]) => block(name, text)),
      step.spilled.length ? h("p", { class: "note" }, `whole output: ${step.spilled.join(", ")}`) : null));
}

function testCase(event) {
  const data = JSON.stringify(JSON.stringify(event.data));
  const name = event.subject.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_|_$/g, "").slice(0, 40) || "event";
  return `"""Made of the recorded event ${event.id}."""\n\nimport json\n\nfrom hookline import Engine\n\nDATA = json.loads(${data})\n\n\ndef test_${name}_is_${{ deny: "refused", ask: "asked_about" }[event.effect] || "allowed"}():\n    with Engine.load(cwd=${JSON.stringify(event.cwd)}, agent=${JSON.stringify(event.agent)}, record=False, trust_all=True) as engine:\n        decision = engine.fire_sync(${JSON.stringify(event.event)}, DATA)\n    assert (decision.effect, decision.reason) == (${JSON.stringify(event.effect)}, ${JSON.stringify(event.reason)})\n`;
}

async function replay(event, agent) {
  toast("Replaying…");
  const found = await act("/api/replay", { id: event.id, agent });
  if (!found) return;
  const now = found.now ? found.now.effect : "not run";
  const told = found.told;
  showDialog(found.differs ? "The decision differs now" : "The same decision as then",
    h("p", {}, chip(WORDS[found.then.effect] || found.then.effect, found.then.effect), " then, ", chip(WORDS[now] || now, now), ` now${agent ? `, as ${agent}` : ""}`),
    found.now?.reason ? h("p", { class: "reason" }, found.now.reason) : null,
    h("ul", {}, [...found.differences, ...found.gaps].map((text) => h("li", {}, text))),
    told ? block(`what ${found.agent} gets: exit code ${told.exit_code}`, `${told.stdout}${told.stderr}` || "nothing", true) : null);
}

export async function page(root, id) {
  const event = await get(`/api/event/${encodeURIComponent(id)}`);
  const agents = h("select", { "aria-label": "Replay as another agent", onchange: (change) => { if (change.target.value) replay(event, change.target.value); change.target.value = ""; } }, h("option", { value: "" }, "Replay as…"), state.agents.map((one) => h("option", { value: one.name }, one.title)));
  const others = h("div", { class: "others" });
  const kind = event.effect === "allow" && !event.granted ? "none" : event.effect;
  const sum = event.steps.reduce((total, step) => total + step.ms, 0);
  const answer = event.answer;
  root.classList.add("event");
  add(root,
    h("header", { class: `verdict ${kind}` },
      h("div", { class: "line" }, effectChip(event), /^replay:/.test(event.session) ? chip("replay", "skipped") : null, h("small", {}, event.event), event.native_event !== event.event ? h("small", {}, `(${event.native_event})`) : null, h("span", { class: "grow" }),
        event.previous ? link(`/event/${event.previous}`, "← previous in session") : null, event.next ? link(`/event/${event.next}`, "next →") : null),
      h("h1", { tabindex: event.subject.length > 200 ? "0" : null }, short(event.subject || event.event, 8000)),
      h("p", { class: "summary" }, h("strong", {}, event.summary), event.why ? `: ${event.why}` : ""),
      h("dl", { class: "facts" },
        [["when", fullTime(event.time)], ["agent", link(`/live?agent=${encodeURIComponent(event.agent)}`, event.agent)], ["project", link(`/live?project=${encodeURIComponent(event.cwd)}`, event.project)],
          ["session", event.session ? link(`/session/${encodeURIComponent(event.session)}`, short(event.session, 24)) : "–"], ["turn", event.turn ? String(event.turn) : "–"], ["took", ms(event.ms)], ["id", h("code", {}, event.id)]]
          .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))))),
    h("div", { class: "actions" },
      button("Replay", () => replay(event, ""), { disabled: state.read_only || null }), agents,
      button("Copy as hookline fire …", () => copy(event.command, "Command")), button("Make a test case", () => copy(testCase(event), "Test case")), button("Copy link", () => copy(location.href, "Link"))),
    h("section", { "aria-labelledby": "chain" },
      h("h2", { id: "chain" }, "Chain of hooks", h("small", {}, ` ${plural(event.steps.length, "hook")}, ${ms(sum)} of ${ms(event.ms)} in all`)),
      event.steps.length ? null : h("p", { class: "empty" }, "No hook took part in this event."),
      h("ol", { class: "chain" },
        h("li", { class: "step end" }, h("span", { class: "node", "aria-hidden": "true" }, "▸"), h("div", { class: "body" }, h("div", { class: "line" }, h("strong", {}, event.agent), h("small", {}, `fired ${event.native_event || event.event}`)))),
        event.steps.map((step, at) => stepNode(step, at, event.ms)),
        h("li", { class: `step end ${kind}` }, h("span", { class: "node", "aria-hidden": "true" }, "■"), h("div", { class: "body" }, h("div", { class: "line" }, h("strong", {}, "Decision"), effectChip(event), event.granted ? h("small", {}, "granted by a hook") : null)))),
      event.notes.length ? h("ul", { class: "notes" }, event.notes.map((one) => h("li", {}, one.hook === "hookline" ? one.text : `${one.hook}: ${one.text}`))) : null,
      event.conflicts.length ? h("ul", { class: "notes" }, event.conflicts.map((one) => h("li", {}, `${one.first} and ${one.second} both changed ${one.pointer}; the later one won`))) : null,
      others),
    h("section", { "aria-labelledby": "wire" },
      h("h2", { id: "wire" }, "Payload and answer"),
      event.sent ? block("The payload as the agent sent it", event.sent) : block("The data of the event", event.data),
      event.data_after && event.steps.filter((step) => step.changes.length).length !== 1 ? h("div", { class: "change" }, h("small", {}, "what the hooks together changed"), diff(pretty(event.data), pretty(event.data_after))) : null,
      answer && (answer.stdout || answer.stderr ? block(`The answer as the agent got it: exit code ${answer.exit_code}`, [answer.stdout, answer.stderr].filter(Boolean).join("\n"), true) : h("p", { class: "note" }, `The agent got exit code ${answer.exit_code} and nothing else: no hook had anything to say to it.`)),
      Object.keys(event.attributes || {}).length ? block("Attributes", event.attributes) : null));
  get(`/api/event/${encodeURIComponent(id)}/others`).then((found) => {
    if (found.hooks.length) others.append(h("details", { class: "block" }, h("summary", {}, `${found.hooks.length} more ${found.hooks.length === 1 ? "hook listens" : "hooks listen"} to ${event.event} and had no part in it`, h("small", {}, " by today's files")), h("ul", {}, found.hooks.map((one) => h("li", {}, link(`/hook/${encodeURIComponent(one.id)}`, one.hook), ` ${one.why_not || "would run today"}`)))));
  }).catch(() => null);
  const key = ({ detail }) => {
    const to = { "[": event.previous, "]": event.next }[detail.key];
    if (to) go(`/event/${to}`);
    else if (detail.key === "Escape") history.length > 1 ? history.back() : go("/live");
  };
  document.addEventListener("key", key);
  return () => document.removeEventListener("key", key);
}
