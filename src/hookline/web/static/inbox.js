// Everything that waits for a person. An answer goes straight to the process that waits for it.

import { act, get, state } from "./api.js";
import { add, base, block, button, chip, h, link, toast, unified } from "./dom.js";
import { drawWaiting } from "./main.js";

function left(seconds) {
  return seconds > 90 ? `${Math.round(seconds / 60)} min left` : `${Math.max(0, Math.round(seconds))} s left`;
}

function question(one, load) {
  const reason = h("input", { placeholder: "reason (the agent reads it)", "aria-label": `Reason for ${one.hook}`, maxlength: "500" });
  const answer = async (word) => { if (await act("/api/inbox/answer", { id: one.id, answer: word, reason: reason.value }, `Answered: ${word}`)) load(); };
  const disabled = state.read_only || null;
  if (one.settled) return h("article", { class: "card" }, h("div", { class: "line" }, chip(one.settled === "gone" ? "over" : one.settled === "deny" ? "refused" : "allowed", one.settled), h("strong", {}, one.hook), h("small", {}, `${one.agent} on ${one.machine}`)), h("p", { class: "command" }, one.about || one.event), h("p", {}, one.by.length ? `by ${one.by.join(" and ")}${one.settled_reason ? `: ${one.settled_reason}` : ""}` : "It was answered there, or its time was over."));
  const steps = (one.chain || []).map((step) => h("li", {}, chip(step.effect === "deny" ? "refused" : step.effect, step.effect), ` ${step.event} ${step.about}: ${step.summary}`));
  return h("article", { class: "question card" },
    h("div", { class: "line" }, chip("asks", "ask"), h("strong", {}, one.hook), h("small", {}, `${one.agent} in ${base(one.cwd)}${one.machine ? ` on ${one.machine}` : ""}`), h("span", { class: "grow" }), h("small", { class: "left", "data-deadline": one.deadline }, left(one.left))),
    h("p", { class: "command" }, one.about || one.event), one.reason ? h("p", { class: "reason" }, one.reason) : null, one.cut ? h("p", { class: "notice" }, "It is long: a part of it is not shown.") : null, one.people ? h("p", { class: "reason" }, `Two people on call must allow it; so far: ${(one.approved || []).join(", ") || "nobody"}.`) : null, steps.length ? h("details", { class: "block" }, h("summary", {}, "What the session did before"), h("ul", { class: "plain" }, steps)) : null, block("The whole event", one.data),
    h("div", { class: "answers" }, button("Allow", () => answer("allow"), { class: "primary", disabled }), one.machine || one.people ? null : button("Always in this session", () => answer("always"), { disabled }), reason, button("Deny", () => answer("deny"), { class: "danger", disabled })));
}

function guard(one, load) {
  const keep = async () => { if (await act("/api/inbox/keep", { path: one.path, seal: one.seal }, "The change counts now")) load(); };
  return h("article", { class: "card" }, h("div", { class: "line" }, chip("changed", "failed"), h("strong", {}, one.path)), h("p", {}, "A deployed guard was changed. It stays in force as it was deployed until you say that the change is yours."),
    unified(one.path, one.diff), h("p", { class: "actions" }, button("This change is mine", keep, { disabled: state.read_only || null })));
}

export async function page(root) {
  const body = h("div", {});
  const notify = button("", async () => {
    const on = localStorage.getItem("notify") === "yes";
    if (!on && (await Notification.requestPermission()) !== "granted") return toast("The browser does not permit notifications");
    localStorage.setItem("notify", on ? "no" : "yes");
    label();
  });
  const label = () => { notify.textContent = localStorage.getItem("notify") === "yes" ? "Notifications are on" : "Notify me"; };
  const load = async () => {
    const found = await get("/api/inbox");
    drawWaiting(found.questions.filter((one) => !one.settled).length);
    const nothing = !found.questions.length && !found.guards.length && !found.unapproved.length && !found.packs.length && !found.deployments.length;
    body.replaceChildren(...[
      ...found.questions.map((one) => question(one, load)),
      ...found.guards.map((one) => guard(one, load)),
      found.unapproved.length ? h("section", {}, h("h2", {}, "Not approved"), h("ul", { class: "plain" }, found.unapproved.map((one) => h("li", {}, chip(one.state === "changed" ? "changed" : "new", one.state === "changed" ? "failed" : "ask"), " ", link(`/hook/${encodeURIComponent(one.id)}?project=${encodeURIComponent(one.project)}`, one.hook), ` on ${one.event} in ${base(one.project)}`)))) : null,
      found.packs.length ? h("section", {}, h("h2", {}, "Packs that are not approved or not as approved"), h("ul", { class: "plain" }, found.packs.map((text) => h("li", {}, text)))) : null,
      found.deployments.length ? h("section", {}, h("h2", {}, "Deployments that do not work"), h("ul", { class: "plain" }, found.deployments.map((text) => h("li", {}, text)))) : null,
      nothing ? h("p", { class: "empty" }, "Nothing waits for you.", h("br"), "Questions of hooks with ", h("code", {}, 'ask = "inbox"'), ", changed guards, hooks and packs to approve, and failed deployments appear here.") : null].filter(Boolean));
  };
  label();
  add(root, h("div", { class: "line" }, h("h1", {}, "Inbox"), h("span", { class: "grow" }), notify), body);
  await load();
  const again = () => load().catch(() => null);
  document.addEventListener("inbox", again);
  const timer = setInterval(() => { for (const node of root.querySelectorAll(".left")) node.textContent = left(node.dataset.deadline - Date.now() / 1000); }, 1000);
  return () => { document.removeEventListener("inbox", again); clearInterval(timer); };
}
