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
    const content = waiting.join("\n")
    waiting = []
    return { message: { customType: "hookline", content, display: false } }
  })
}
