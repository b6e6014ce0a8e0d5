"""OpenCode's plugin: it asks hookline about each event and does what it is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.deploy.targets import Need, Scope, Target

#: The first line of a plugin of ours.
MARK = "// Written by hookline deploy; taken away by hookline undeploy."

_SOURCE = """\
@MARK@
import { spawn } from "node:child_process"

const PROGRAM = @PROGRAM@
const REGISTRATION = @REGISTRATION@
// Event -> [seconds until hookline gives up, whether a hookline that cannot answer refuses]
const EVENTS = @EVENTS@

function ask(event, payload) {
  const [seconds, closed] = EVENTS[event]
  const words = ["hook", "--agent", "opencode", "--event", event, "--registration", REGISTRATION, "--deadline", String(seconds)]
  if (closed) words.push("--on-failure", "deny")
  return new Promise((resolve) => {
    const failed = (why) => resolve(closed ? { deny: `hookline failed on ${event} (${why}), so this is refused` } : {})
    let child
    try {
      child = spawn(PROGRAM, words, { cwd: payload.directory, stdio: ["pipe", "pipe", "pipe"] })
    } catch (error) {
      return failed(String(error))
    }
    let out = "", err = ""
    const timer = setTimeout(() => { child.kill("SIGKILL"); failed("no answer in time") }, (seconds + 10) * 1000)
    child.stdout.on("data", (data) => { out += data })
    child.stderr.on("data", (data) => { err += data })
    child.stdin.on("error", () => {})
    child.on("error", (error) => { clearTimeout(timer); failed(error.message) })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code !== 0) return failed(err.trim() || `exit code ${code}`)
      try {
        resolve(out.trim() ? JSON.parse(out) : {})
      } catch (error) {
        failed("an answer that is no JSON")
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Hookline = async ({ client, directory }) => {
  let waiting = []
  const send = async (event, input, output) => {
    const orders = await ask(event, { input, output, directory })
    // Without a terminal there is nobody to show it to.
    if (orders.message) client?.tui?.showToast({ body: { message: orders.message, variant: "info" } })?.catch?.(() => {})
    return orders
  }
  const hooks = {
    event: async ({ event }) => {
      if (!(event.type in EVENTS)) return
      const orders = await send(event.type, event, null)
      // There is no outlet at the start of a session: it waits for the first prompt.
      if (orders.context) waiting.push(orders.context)
    },
    "chat.message": async (input, output) => {
      const orders = await send("chat.message", input, output)
      if (orders.deny) throw new Error(orders.deny)
      const texts = [...waiting, ...(orders.context ? [orders.context] : [])]
      waiting = []
      const part = output.parts.find((one) => one.type === "text")
      if (texts.length && part) part.text += `\\n\\n${texts.join("\\n")}`
    },
    "tool.execute.before": async (input, output) => {
      const orders = await send("tool.execute.before", input, output)
      if (orders.deny) throw new Error(orders.deny)
      if (orders.args) {
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, orders.args)
      }
    },
    "tool.execute.after": async (input, output) => {
      const orders = await send("tool.execute.after", input, output)
      if (orders.output !== undefined) output.output = orders.output
      if (orders.context) output.output = `${output.output}\\n${orders.context}`
    },
    "experimental.session.compacting": async (input, output) => {
      await send("experimental.session.compacting", input, output)
    },
    dispose: async () => { await send("dispose", null, null) },
  }
  for (const name of Object.keys(hooks)) if (name !== "event" && !(name in EVENTS)) delete hooks[name]
  return hooks
}
"""


def source(target: Target, program: str, needs: Sequence[Need], scope: Scope = "user") -> str:
    """The whole file."""
    lines = [target.line(program, need, scope) for need in needs if need.event in target.events]
    events = {line.event: [line.deadline, line.block is not None] for line in lines}
    text = _SOURCE.replace("@MARK@", MARK).replace("@PROGRAM@", json.dumps(program))
    text = text.replace("@REGISTRATION@", json.dumps(f"{scope}/{target.agent}"))
    return text.replace("@EVENTS@", json.dumps(events))
