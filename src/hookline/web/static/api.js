// Requests to our own server, and the code that actions need once in each browser.

import { button, h, showDialog, toast } from "./dom.js";

export const state = { read_only: false, may_act: false, agents: [] };

// What came with the page, for what it would ask for at once.
export const first = JSON.parse(document.getElementById("first").textContent);

export async function get(path, query) {
  const words = new URLSearchParams(Object.entries(query || {}).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  return answer(await fetch(`${path}${words.size ? `?${words}` : ""}`, { headers: { accept: "application/json" } }));
}

async function send(path, body) {
  return fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

async function answer(response) {
  const type = response.headers.get("content-type") || "";
  const found = type.includes("json") ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Error(found.error || `the server answered ${response.status}`);
  return found;
}

// An action. Without the code the server refuses: then the person is asked for it, and the action is tried again.
export async function post(path, body) {
  if (state.read_only && path !== "/api/what-if") throw new Error("this view is read-only");
  let response = await send(path, body);
  if (response.status === 403 && (await response.clone().json().catch(() => ({}))).locked) {
    if (!(await unlock())) throw new Error("not done: the code was not given");
    response = await send(path, body);
  }
  return answer(response);
}

export function unlock() {
  return new Promise((resolve) => {
    const input = h("input", { id: "code", inputmode: "numeric", autocomplete: "off", placeholder: "0000 0000", maxlength: "9" });
    const finding = h("p", { class: "finding", role: "alert" });
    const attempt = async (event) => {
      event.preventDefault();
      try {
        await answer(await send("/api/unlock", { code: input.value }));
        state.may_act = true;
        document.dispatchEvent(new Event("unlocked"));
        dialog.close();
        toast("This browser may act from now on");
      } catch (error) {
        finding.textContent = error.message;
        input.select();
      }
    };
    const form = h("form", { onsubmit: attempt }, h("label", { for: "code" }, "The code that the terminal of hookline web shows"), input, finding, h("p", { class: "actions" }, h("button", { class: "primary" }, "Unlock actions")));
    const dialog = showDialog("Unlock actions", form);
    dialog.addEventListener("close", () => resolve(state.may_act), { once: true });
    input.focus();
  });
}

// Do something, and say how it went.
export async function act(path, body, done) {
  try {
    const found = await post(path, body);
    if (done) toast(done);
    return found;
  } catch (error) {
    toast(error.message);
    return null;
  }
}
