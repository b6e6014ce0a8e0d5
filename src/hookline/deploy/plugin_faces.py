"""What differs between the plugins: how each agent loads one, what it gives to it, and what it takes from it.

``DRIVERS`` call a plugin's own function before a tool, as its agent does; what it refuses with is printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_OPENCODE = """\
export const Hookline = async ({ client, directory }) => {
  let waiting = []
  const again = {}
  // OpenCode waits for no answer to what it tells; the first prompt waits for what the start of its session has to say.
  let told = Promise.resolve()
  const send = async (event, input, output) => {
    const orders = await ask(event, { input, output, directory }, directory)
    // Without a terminal there is nobody to show it to.
    if (orders.message) client?.tui?.showToast({ body: { message: orders.message, variant: "info" } })?.catch?.(() => {})
    return orders
  }
  // What was said at the start is compacted with the rest, so it is said again, from now on with every request.
  const restart = (properties) => {
    again[properties.sessionID] = send("session.created", { type: "session.created", properties, source: "compact" }, null)
  }
  const hooks = {
    event: async ({ event }) => {
      if (event.type === "session.compacted" && "session.created" in EVENTS) restart(event.properties)
      if (!(event.type in EVENTS)) return
      const asked = send(event.type, event, null)
      if (event.type === "session.created") told = Promise.all([told, asked]).then(() => {})
      const orders = await asked
      // There is no outlet at the start of a session: it waits for the first prompt.
      if (orders.context) waiting.push(orders.context)
    },
    "chat.message": async (input, output) => {
      const orders = "chat.message" in EVENTS ? await send("chat.message", input, output) : {}
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
    "experimental.chat.system.transform": async (input, output) => {
      const orders = await again[input.sessionID]
      if (orders?.context) output.system.push(orders.context)
    },
    dispose: async () => { await send("dispose", null, null) },
  }
  const kept = ["event", ...("session.created" in EVENTS ? ["chat.message", "experimental.chat.system.transform"] : [])]
  for (const name of Object.keys(hooks)) if (!kept.includes(name) && !(name in EVENTS)) delete hooks[name]
  return hooks
}
"""

_PI = """\
export default (pi) => {
  let waiting = [], continued = false
  const about = (ctx) => ({
    session_id: ctx.sessionManager?.getSessionId?.(), session_file: ctx.sessionManager?.getSessionFile?.(), cwd: ctx.cwd, mode: ctx.mode,
  })
  const send = async (event, ctx) => {
    const orders = await ask(event.type, { ...event, ctx: about(ctx) }, ctx.cwd)
    if (orders.message && ctx.hasUI) ctx.ui.notify(orders.message, "info")
    return orders
  }
  const handlers = {
    session_start: async (event, ctx) => {
      const orders = await send(event, ctx)
      if (orders.context) waiting.push(orders.context)
    },
    input: async (event, ctx) => {
      continued = false
      const orders = await send({ type: event.type, text: event.text, source: event.source }, ctx)
      if (orders.deny) {
        // Nothing else says why: without a terminal there is nobody to notify.
        if (ctx.hasUI) ctx.ui.notify(orders.deny, "warning")
        else console.error(orders.deny)
        return { action: "handled" }
      }
      if (orders.context) waiting.push(orders.context)
      if (orders.prompt !== undefined) return { action: "transform", text: orders.prompt }
    },
    tool_call: async (event, ctx) => {
      const orders = await send(event, ctx)
      if (orders.deny) return { block: true, reason: orders.deny }
      if (orders.args) {
        for (const key of Object.keys(event.input)) delete event.input[key]
        Object.assign(event.input, orders.args)
      }
    },
    tool_result: async (event, ctx) => {
      const orders = await send(event, ctx)
      if (orders.output === undefined && !orders.context) return
      const text = (value) => ({ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) })
      const content = orders.output === undefined ? event.content : [text(orders.output)]
      return { content: orders.context ? [...content, text(orders.context)] : content, isError: event.isError }
    },
    agent_before_settle: async (event, ctx) => {
      // The whole conversation is in it: its end is enough.
      const entries = (event.context?.contextEntries ?? []).slice(-2)
      const told = { type: event.type, outcome: event.outcome, stop_hook_active: continued, context: { contextEntries: entries } }
      const orders = await send(told, ctx)
      if (!orders.deny) return
      continued = true
      return { entries: [{ type: "custom_message", customType: "hookline", content: orders.deny, display: true }], continue: true }
    },
    session_before_compact: async (event, ctx) => { await send({ type: event.type, reason: event.reason }, ctx) },
    session_compact: async (event, ctx) => {
      if ("session_compact" in EVENTS) await send({ type: event.type, reason: event.reason }, ctx)
      if (!("session_start" in EVENTS)) return
      // What was said at the start is compacted with the rest, so it is said again.
      const { context } = await send({ type: "session_start", reason: "compact" }, ctx)
      if (context) pi.sendMessage({ customType: "hookline", content: context, display: false }, { triggerTurn: false })
    },
    session_shutdown: async (event, ctx) => { await send(event, ctx) },
  }
  for (const [name, handle] of Object.entries(handlers)) if (name in EVENTS || name === "session_compact") pi.on(name, handle)
  // There is no outlet at the start of a session or at a prompt: text waits until the prompt goes to the model.
  pi.on("before_agent_start", async () => {
    if (!waiting.length) return
    const content = waiting.join("\\n")
    waiting = []
    return { message: { customType: "hookline", content, display: false } }
  })
}
"""

_CLINE = """\
let session, directory = process.cwd(), first = true

function send(event, given) {
  const { agentId, conversationId, runId, messages } = given.snapshot ?? {}
  const typed = event === "beforeRun" ? { messages: (messages ?? []).filter((one) => one.role === "user").slice(-1) } : {}
  const payload = { ...given, tool: given.tool && { name: given.tool.name }, snapshot: { agentId, conversationId, runId, ...typed } }
  return ask(event, { ...payload, session: { sessionId: session ?? conversationId }, directory }, directory)
}

const hooks = {
  beforeRun: async (given) => {
    // A plugin is given three seconds for all that it has to ask.
    const asked = ["beforeRun" in EVENTS && send("beforeRun", given), first && "setup" in EVENTS && send("setup", { snapshot: given.snapshot })]
    first = false
    const [prompt, start] = (await Promise.all(asked)).map((orders) => orders || {})
    if (prompt.deny) return { stop: true, reason: prompt.deny }
    const texts = [start.context, prompt.context].filter(Boolean)
    if (texts.length) return { appendContext: texts.join("\\n") }
  },
  beforeTool: async ({ snapshot, toolCall, input, tool }) => {
    const orders = await send("beforeTool", { snapshot, toolCall, input, tool })
    if (orders.deny) return { skip: true, reason: orders.deny }
    if (orders.args) return { input: orders.args }
  },
  afterTool: async ({ snapshot, toolCall, input, tool, result }) => {
    const orders = await send("afterTool", { snapshot, toolCall, input, tool, result })
    if (orders.output === undefined && !orders.context) return
    let output = orders.output === undefined ? result?.output : orders.output
    if (orders.context) output = Array.isArray(output) ? [...output, { query: "hookline", result: orders.context, success: true }] : { output, context: orders.context }
    return { result: { ...result, output } }
  },
  afterRun: async ({ snapshot, result }) => { await send("afterRun", { snapshot, result }) },
}
if (!("beforeRun" in EVENTS || "setup" in EVENTS)) delete hooks.beforeRun
for (const name of ["beforeTool", "afterTool", "afterRun"]) if (!(name in EVENTS)) delete hooks[name]

export default {
  name: "hookline",
  manifest: { capabilities: ["hooks"] },
  setup(_api, context) {
    session = context?.session?.sessionId
    directory = context?.workspaceInfo?.rootPath ?? directory
  },
  hooks,
}
"""

_AMP = """\
export default (amp) => {
  let waiting = [], continued = false
  const send = (name, event) => ask(name, { ...event, directory: process.cwd() }, process.cwd())
  const handlers = {
    "session.start": async (event) => {
      const orders = await send("session.start", event)
      if (orders.context) waiting.push(orders.context)
    },
    "agent.start": async (event) => {
      continued = false
      const orders = "agent.start" in EVENTS ? await send("agent.start", event) : {}
      const texts = [...waiting, ...(orders.context ? [orders.context] : [])]
      waiting = []
      if (texts.length) return { message: { content: texts.join("\\n"), display: false } }
    },
    "tool.call": async (event) => {
      const orders = await send("tool.call", event)
      if (orders.deny) return { action: "reject-and-continue", message: orders.deny }
      return orders.args ? { action: "modify", input: orders.args } : { action: "allow" }
    },
    "tool.result": async (event) => {
      const orders = await send("tool.result", event)
      if (orders.output === undefined && !orders.context) return
      const output = orders.output === undefined ? event.output : orders.output
      return { status: event.status, output: orders.context ? `${output}\\n${orders.context}` : output }
    },
    "agent.end": async (event) => {
      const orders = await send("agent.end", { ...event, stop_hook_active: continued })
      if (!orders.deny) return
      continued = true
      return { action: "continue", userMessage: orders.deny }
    },
  }
  for (const [name, handle] of Object.entries(handlers)) if (name in EVENTS || name === "agent.start") amp.on(name, handle)
}
"""

#: By dialect.
FACES: Mapping[str, str] = MappingProxyType({"opencode": _OPENCODE, "pi": _PI, "cline": _CLINE, "amp": _AMP})

_OPENCODE_DRIVER = """\
const plugin = await import(process.argv[2])
const hooks = await plugin.Hookline({ directory: process.cwd() })
const given = JSON.parse(process.argv[3])
try { await hooks["tool.execute.before"](given.input, given.output) }
catch (error) { console.log(error.message); process.exit(2) }
"""
_HANDLER_DRIVER = """\
const plugin = await import(process.argv[2]), handlers = {}
plugin.default({ on: (name, handle) => { handlers[name] = handle } })
const told = await handlers["@CALL@"](JSON.parse(process.argv[3]), { cwd: process.cwd() })
if (told?.@REASON@ && (told.block || told.action === "reject-and-continue")) { console.log(told.@REASON@); process.exit(2) }
"""
_CLINE_DRIVER = """\
const { default: plugin } = await import(process.argv[2])
plugin.setup({}, { workspaceInfo: { rootPath: process.cwd() } })
const told = await plugin.hooks.beforeTool(JSON.parse(process.argv[3]))
if (told?.skip) { console.log(told.reason); process.exit(2) }
"""

DRIVERS: Mapping[str, str] = MappingProxyType(
    {
        "opencode": _OPENCODE_DRIVER, "cline": _CLINE_DRIVER,
        "pi": _HANDLER_DRIVER.replace("@CALL@", "tool_call").replace("@REASON@", "reason"),
        "amp": _HANDLER_DRIVER.replace("@CALL@", "tool.call").replace("@REASON@", "message"),
    }
)  # fmt: skip
