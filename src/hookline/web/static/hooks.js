// Every hook of a project, and one hook whole: its text, its approval, its runs, and what can be done to it.

import { act, get, post, state } from "./api.js";
import { KIND, WORDS, add, ago, base, block, button, chip, effectChip, h, link, ms, number, pretty, short, showDialog, table, toast, unified, when } from "./dom.js";
import { go } from "./main.js";

const TRUST = { own: ["own", "none", "in your own files: it needs no approval"], trusted: ["trusted", "allow", "approved as it is"], unknown: ["not approved", "ask", "it has no effect"], changed: ["changed", "failed", "changed since it was approved"] };

function spark(days) {
  const most = Math.max(...days, 1);
  return h("span", { class: "spark", role: "img", "aria-label": `Runs in the last ${days.length} days: ${days.join(", ")}` }, days.map((many) => h("i", { style: { height: `${Math.max(6, (100 * many) / most)}%` }, class: many ? null : "zero" })));
}

const trustChip = (one) => chip(...(TRUST[one.trust] || [one.trust, "none"]));
const stateChip = (one) => chip(one.state_text, one.state === "on" ? "allow" : "skipped");

async function list(root, query) {
  const found = await get("/api/hooks", { project: query.get("project") });
  const choice = h("select", { "aria-label": "Project", onchange: (event) => go(`/hooks?project=${encodeURIComponent(event.target.value)}`) }, found.projects.map((one) => h("option", { value: one }, base(one))));
  choice.value = found.project;
  const search = h("input", { type: "search", placeholder: "Find a hook…", "aria-label": "Find a hook", oninput: () => draw(search.value.toLowerCase()) });
  const body = h("div", {});
  const draw = (words) => body.replaceChildren(table(["Hook", "Events", "Trust", "State", "#Runs", "#p50", "#p95", "#Failures", "Last", "14 days"],
    found.hooks.filter((one) => `${one.name} ${one.events} ${one.file} ${one.action}`.toLowerCase().includes(words)).map((one) => [
      h("div", {}, link(`/hook/${encodeURIComponent(one.id)}?project=${encodeURIComponent(found.project)}`, one.name), h("small", {}, ` ${one.dialect} · ${one.layer} ${base(one.file)}:${one.line}`)),
      short(one.events.join(", "), 60), trustChip(one), stateChip(one), number(one.fired), ms(one.p50), ms(one.p95), one.failures ? chip(number(one.failures), "failed") : "0", ago(one.last), spark(one.days)]), "No hooks here. To write one: hookline hooks add"));
  add(root, h("div", { class: "line" }, h("h1", {}, "Hooks"), h("small", {}, "in the order in which they run"), h("span", { class: "grow" }), search, choice),
    found.problems.length ? h("section", { class: "notice" }, h("h2", {}, "Problems"), h("ul", { class: "plain" }, found.problems.map((text) => h("li", {}, text)))) : null, body);
  draw("");
}

function editor(hook, project, reload) {
  const text = h("textarea", { rows: String(Math.min(24, hook.table.split("\n").length + 1)), spellcheck: "false", "aria-label": `The table of ${hook.name}`, value: hook.table });
  const findings = h("p", { class: "finding lines", role: "alert" });
  const save = async () => { const done = await post("/api/hook/save", { id: hook.id, project, table: text.value }).catch((error) => { findings.textContent = error.message; }); if (done) { showDialog("Saved", h("p", {}, "The old file is kept as ", h("code", {}, done.backup))); reload(); } };
  return h("section", {}, h("h2", {}, "Edit"), text, findings, h("p", { class: "actions" }, button("Check and save", save, { class: "primary", disabled: state.read_only || null })),
    h("details", { class: "block" }, h("summary", {}, "What can be written"), h("dl", { class: "fields" }, hook.help.map((one) => [h("dt", {}, one.key), h("dd", {}, one.about)]))));
}

async function tryIt(hook, project, event) {
  toast(`Trying ${hook.name}…`);
  const found = await act("/api/hook/try", { id: hook.id, project, event });
  if (!found) return;
  const failed = /failed|timed-out/.test(found.status);
  showDialog(`${hook.name} on a sample of ${found.event}`, h("p", {}, failed ? [chip(found.status.replace("-", " "), "failed"), ` and the call would be ${WORDS[found.decision.effect]},`] : effectChip(found.decision), ` ${ms(found.ms)}${found.exit_code === null ? "" : `, exit code ${found.exit_code}`}`),
    found.would_not ? h("p", { class: "note" }, `A real event would not run it: ${found.would_not}`) : null, found.error || found.decision.reason ? h("p", { class: "reason" }, found.error || found.decision.reason) : null,
    found.stdout ? block("stdout", found.stdout, true) : null, found.stderr ? block("stderr", found.stderr, true) : null, block("The decision", pretty(found.decision)));
}

export async function page(root, id, query) {
  if (!id) return list(root, query);
  const project = query.get("project") || "";
  const hook = await get(`/api/hook/${encodeURIComponent(id)}`, { project });
  const reload = () => go(location.pathname + location.search, true);
  const change = (body, text) => async () => { if (await act("/api/hook/switch", { id: hook.id, project, ...body }, text)) reload(); };
  const disabled = state.read_only || null;
  const approve = async () => { if (await act("/api/hook/trust", { id: hook.id, project, seal: hook.seal }, `${hook.name} is trusted`)) reload(); };
  const open = hook.trust === "unknown" || hook.trust === "changed";
  add(root,
    h("div", { class: "line" }, h("h1", {}, hook.name), stateChip(hook), trustChip(hook)),
    h("dl", { class: "facts card" }, [["source", `${hook.file}:${hook.line}`], ["dialect", hook.dialect], ["listens to", hook.events.join(", ")], ["if", hook.conditions.join("; ") || "always"], ["mode", hook.mode], ["on failure", hook.on_failure], ["order", hook.order >= 2 ** 31 ? "last" : String(hook.order)], ["p50 / p95", `${ms(hook.p50)} / ${ms(hook.p95)}`], ["runs / failures", `${number(hook.fired)} / ${number(hook.failures)}`]].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    h("div", { class: "actions" },
      hook.state === "on" ? [button("Switch off", change({ on: false }, "Switched off"), { disabled }), button("Snooze for an hour", change({ on: false, seconds: 3600 }, "Off for an hour"), { disabled })] : hook.state === "switched off" ? button("Switch on", change({ on: true }, "Switched on"), { disabled }) : null,
      hook.events.map((event) => button(`Try on ${event}`, () => tryIt(hook, project, event), { disabled })), link(`/live?hook=${encodeURIComponent(hook.name)}`, "Its events")),
    open ? h("section", { class: "notice" }, h("h2", {}, hook.trust === "changed" ? "It has changed since you approved it" : "It is not approved"), h("p", {}, hook.changed.length ? `Changed: ${hook.changed.join(", ")}. Until you approve it, it counts as failed.` : "Until you approve it, it has no effect. Read what it does, below."), hook.diff.map((one) => h("div", { class: "change" }, h("small", {}, `changed since you approved it: ${one.path}`), unified(one.path, one.lines))), button("Approve exactly this", approve, { class: "primary", disabled })) : null,
    h("section", {}, h("h2", {}, "What it does"), hook.given ? block(`${hook.name}, with its settings, rules and exceptions`, hook.given, true) : h("pre", { tabindex: "0", "aria-label": "What it does" }, hook.does), hook.covered.map((one) => block(one.path, one.text, open))),
    hook.table ? editor(hook, project, reload) : null,
    h("section", {}, h("h2", {}, "Latest runs"), table(["When", "Event", "Verdict", "#Time", "About"], hook.runs.map((one) => [link(`/event/${encodeURIComponent(one.id)}`, when(one.t)), one.event, chip(one.verdict, KIND[one.verdict] || "none"), ms(one.ms), [h("code", {}, short(one.about, 120)), one.error ? h("small", { class: "under" }, short(one.error, 200)) : null]]), "It has not run yet.")));
  return null;
}
