"""OpenCode's plugin: it asks hookline about each event and does what it is told."""

from __future__ import annotations

import json
from collections.abc import Iterable

from hookline import __version__
from hookline.core.agents import LONGEST, Agent
from hookline.deploy.plugin_socket import SOURCE as SOCKET
from hookline.deploy.registration import CommandLine, EntryCaller
from hookline.dialects.event_lookup import native_events

#: The first line of a plugin of ours.
MARK = "// Written by hookline deploy; taken away by hookline undeploy."

_SOURCE = """\
@MARK@
import { spawn } from "node:child_process"
import { statSync } from "node:fs"
import { connect } from "node:net"

const VERSION = @VERSION@
const PROGRAM = @PROGRAM@
const REGISTRATION = @REGISTRATION@
// What hookline is called with besides: the person's directories. No variable says where they are.
const DIRECTORIES = @DIRECTORIES@
// Event -> whether a hookline that cannot answer refuses
const EVENTS = @EVENTS@
// Seconds after which nobody waits any more; hookline itself answers before.
const LONGEST = @LONGEST@
@SOCKET@
function cold(words, directory, input, seconds, environ) {
  return new Promise((resolve) => {
    let child
    try {
      child = spawn(PROGRAM, words, { cwd: directory, stdio: ["pipe", "pipe", "pipe"], env: environ })
    } catch (error) {
      return resolve(String(error))
    }
    const out = [], err = []
    const timer = setTimeout(() => { child.kill("SIGKILL"); resolve("no answer in time") }, (seconds + 10) * 1000)
    child.stdout.on("data", (data) => { out.push(data) })
    child.stderr.on("data", (data) => { err.push(data) })
    child.stdin.on("error", () => {})
    child.on("error", (error) => { clearTimeout(timer); resolve(error.message) })
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve([code, Buffer.concat(out).toString(), Buffer.concat(err).toString()])
    })
    child.stdin.end(input)
  })
}

// The daemon over its socket; where there is none that answers, hookline in a process of its own.
async function ask(event, payload) {
  const closed = EVENTS[event]
  const gone = "If hookline is gone, install it (pip install hookline) or remove this plugin"
  const failed = (why) => (closed ? { deny: `hookline failed on ${event} (${why}), so this is refused. ${gone}` } : {})
  const words = ["--agent", "opencode", "--event", event, "--registration", REGISTRATION, ...DIRECTORIES]
  if (closed) words.push("--on-failure", "deny")
  try {
    const input = Buffer.from(JSON.stringify(payload)), until = Date.now() + LONGEST * 1000
    let told = await warm(words, payload.directory, input, until)
    if (told === "late") return failed("no answer in time")
    if (typeof told === "string") {
      // It has been tried; but one that is not there may be started for the next event.
      const left = Math.max((until - Date.now()) / 1000, 0.001)
      const again = told === "absent" ? { HOOKLINE_DAEMON: process.env.HOOKLINE_DAEMON ?? "auto" } : {}
      const more = [...(told === "absent" ? [] : ["--cold"]), `--deadline=${left.toFixed(3)}`]
      told = await cold(["hook", ...words, ...more], payload.directory, input, left, { ...process.env, ...again })
    }
    if (typeof told === "string") return failed(told)
    const [code, out, err] = told
    if (code !== 0) return failed(err.trim() || `exit code ${code}`)
    return out.trim() ? JSON.parse(out) : {}
  } catch (error) {
    return failed(error instanceof SyntaxError ? "an answer that is no JSON" : String(error))
  }
}

export const Hookline = async ({ client, directory }) => {
  let waiting = []
  // OpenCode waits for no answer to what it tells; the first prompt waits for what the start of its session has to say.
  let told = Promise.resolve()
  const send = async (event, input, output) => {
    const orders = await ask(event, { input, output, directory })
    // Without a terminal there is nobody to show it to.
    if (orders.message) client?.tui?.showToast({ body: { message: orders.message, variant: "info" } })?.catch?.(() => {})
    return orders
  }
  const hooks = {
    event: async ({ event }) => {
      if (!(event.type in EVENTS)) return
      const asked = send(event.type, event, null)
      if (event.type === "session.created") told = Promise.all([told, asked]).then(() => {})
      const orders = await asked
      // There is no outlet at the start of a session: it waits for the first prompt.
      if (orders.context) waiting.push(orders.context)
    },
    "chat.message": async (input, output) => {
      const orders = await send("chat.message", input, output)
      if (orders.deny) throw new Error(orders.deny)
      await told  // as it is now: that a session has begun may be told while its prompt is being asked about
      const texts = [...waiting, ...(orders.context ? [orders.context] : [])]
      waiting = []
      const part = output.parts.find((one) => one.type === "text")
      // A part of its own, marked as nobody's words: the transcript keeps what the person typed.
      if (texts.length && part) output.parts.push({ ...part, id: `${part.id}h`, text: texts.join("\\n"), synthetic: true })
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
      const orders = await send("experimental.session.compacting", input, output)
      if (orders.context) output.context.push(orders.context)
    },
    dispose: async () => { await send("dispose", null, null) },
  }
  for (const name of Object.keys(hooks)) if (name !== "event" && !(name in EVENTS)) delete hooks[name]
  return hooks
}
"""


def plugin_source(target: Agent, caller: EntryCaller, events: Iterable[str]) -> str:
    """The whole file."""
    known = native_events(target)
    lines = [CommandLine(agent=target, event=event, caller=caller) for event in events if event in known]
    values = {
        "VERSION": __version__, "PROGRAM": caller.program, "REGISTRATION": f"{caller.scope}/{target.name}",
        "DIRECTORIES": caller.directory_words(), "EVENTS": {line.native: line.closed for line in lines},
        "LONGEST": int(LONGEST) - 10,
    }  # fmt: skip
    text = _SOURCE.replace("@MARK@", MARK).replace("@SOCKET@", SOCKET)
    for name, value in values.items():
        text = text.replace(f"@{name}@", json.dumps(value))
    return text
