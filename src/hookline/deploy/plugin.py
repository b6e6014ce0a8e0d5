"""The plugin of an agent that has no hooks file: it asks hookline about each event and does what it is told."""

from __future__ import annotations

import json
from collections.abc import Iterable

from hookline import __version__
from hookline.core.agents import LONGEST, Agent
from hookline.core.event import GUARDED
from hookline.deploy.plugin_faces import FACES
from hookline.deploy.plugin_socket import SOURCE as SOCKET
from hookline.deploy.registration import EntryCaller
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
const AGENT = @AGENT@
const REGISTRATION = @REGISTRATION@
// What hookline is called with besides: the person's directories. No variable says where they are.
const DIRECTORIES = @DIRECTORIES@
// Event -> whether a hookline that cannot answer refuses
const EVENTS = @EVENTS@
// Seconds after which nobody waits any more; hookline itself answers before.
const LONGEST = @LONGEST@, GRACE = @GRACE@
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
    const timer = setTimeout(() => { child.kill("SIGKILL"); resolve("no answer in time") }, (seconds + GRACE) * 1000)
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
async function ask(event, payload, directory) {
  const closed = EVENTS[event]
  const gone = "If hookline is gone, install it (pip install hookline) or remove this plugin"
  const failed = (why) => (closed ? { deny: `hookline failed on ${event} (${why}), so this is refused. ${gone}` } : {})
  const words = ["--agent", AGENT, "--event", event, "--registration", REGISTRATION, ...DIRECTORIES]
  if (closed) words.push("--on-failure", "deny")
  try {
    const input = Buffer.from(JSON.stringify(payload)), until = Date.now() + LONGEST * 1000
    let told = await warm(words, directory, input, until)
    if (told === "late") return failed("no answer in time")
    if (typeof told === "string") {
      // It has been tried; but one that is not there may be started for the next event.
      const left = Math.max((until - Date.now()) / 1000, 0.001)
      const again = told === "absent" ? { HOOKLINE_DAEMON: process.env.HOOKLINE_DAEMON ?? "auto" } : {}
      const more = [...(told === "absent" ? [] : ["--cold"]), `--deadline=${left.toFixed(3)}`]
      told = await cold(["hook", ...words, ...more], directory, input, left, { ...process.env, ...again })
    }
    if (typeof told === "string") return failed(told)
    const [code, out, err] = told
    if (code !== 0) return failed(err.trim() || `exit code ${code}`)
    return out.trim() ? JSON.parse(out) : {}
  } catch (error) {
    return failed(error instanceof SyntaxError ? "an answer that is no JSON" : String(error))
  }
}

@FACE@"""


def plugin_source(target: Agent, caller: EntryCaller, events: Iterable[str]) -> str:
    """The whole file."""
    known = native_events(target)
    # An agent that gives a plugin little time gets its answer before, from hookline itself.
    longest = min((target.time_limit(event) for event in target.limits), default=LONGEST)
    grace = 10.0 if longest == LONGEST else 0.2
    values = {
        "VERSION": __version__, "PROGRAM": caller.program, "AGENT": target.name,
        "REGISTRATION": f"{caller.scope}/{target.name}", "DIRECTORIES": caller.directory_words(),
        "EVENTS": {known[event]: event in GUARDED for event in events if event in known},
        "LONGEST": longest - grace, "GRACE": grace,
    }  # fmt: skip
    text = _SOURCE.replace("@MARK@", MARK).replace("@SOCKET@", SOCKET).replace("@FACE@", FACES[target.dialect])
    for name, value in values.items():
        text = text.replace(f"@{name}@", json.dumps(value))
    return text
