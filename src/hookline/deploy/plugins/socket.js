
const HUNG = 2000, MOST_TEXT = 8 << 20, MOST_INPUT = 4 << 20

function ours(path) {
  const found = statSync(path)
  return found.isDirectory() && found.uid === process.geteuid() && (found.mode & 0o077) === 0
}

function place() {
  const named = (option) => DIRECTORIES[DIRECTORIES.indexOf(option) + 1 || DIRECTORIES.length] ?? ""
  const own = named("--state-dir"), state = process.env.XDG_STATE_HOME ?? ""
  const runtime = own ? named("--runtime-dir") : process.env.XDG_RUNTIME_DIR ?? ""
  try {
    if (runtime.startsWith("/") && ours(runtime)) return `${runtime}/hookline`
  } catch {}
  if (own) return `${own}/run`
  return `${state.startsWith("/") ? state : `${process.env.HOME ?? ""}/.local/state`}/hookline/run`
}

function frame(words, directory, input) {
  const environ = Object.entries(process.env).map(([name, value]) => `${name}=${value}`)
  const text = Buffer.from([VERSION, "direct", directory, String(words.length), ...words, ...environ, ""].join("\0"))
  const head = Buffer.from("HKL1\0\0\0\0\0\0\0\0")
  head.writeUInt32BE(text.length, 4)
  head.writeUInt32BE(input.length, 8)
  return text.length > MOST_TEXT || input.length > MOST_INPUT ? null : Buffer.concat([head, text, input])
}

function answer(told) {
  if (told.length < 13) return null
  const out = told.readUInt32BE(5), end = 13 + out + told.readUInt32BE(9)
  return told.length < end ? null : [told[4], told.toString("utf8", 13, 13 + out), told.toString("utf8", 13 + out, end)]
}

function warm(words, directory, input, until) {
  return new Promise((resolve) => {
    const request = frame(words, directory, input), folder = place()
    if (process.env.HOOKLINE_DAEMON === "off" || request === null) return resolve("refused")
    let socket, timer, told = Buffer.alloc(0), connected = false
    const done = (what) => {
      clearTimeout(timer)
      socket?.destroy()
      resolve(what)
    }
    const wait = (most) => {
      clearTimeout(timer)
      const left = until - Date.now()
      timer = setTimeout(() => done(left > most ? "refused" : "late"), Math.max(Math.min(most, left), 1))
    }
    try {
      if (!ours(folder)) return resolve("refused")
      socket = connect(`${folder}/daemon.sock`)
    } catch {
      return resolve("absent")
    }
    wait(HUNG)
    socket.on("connect", () => { connected = true; wait(HUNG); socket.write(request) })
    socket.on("drain", () => wait(HUNG))
    socket.on("error", () => done(connected ? "refused" : "absent"))
    socket.on("close", () => done(connected ? "refused" : "absent"))
    socket.on("data", (piece) => {
      told = Buffer.concat([told, piece])
      let heard = 0
      while (told[heard] === 65) heard++
      if (heard) {
        told = told.subarray(heard)
        wait(Infinity)
      }
      if (told.length && told[0] !== 82) return done("refused")
      const found = answer(told)
      if (found) done(found)
    })
  })
}
