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
      if (texts.length) return { message: { content: texts.join("\n"), display: false } }
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
      return { status: event.status, output: orders.context ? `${output}\n${orders.context}` : output }
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
