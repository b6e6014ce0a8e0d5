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
  const gone = "If hookline is gone, install it again (pip install hookline; from a clone: pip install CLONE) or remove this plugin"
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

@FACE@