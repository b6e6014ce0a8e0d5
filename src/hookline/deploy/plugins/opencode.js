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
      if (texts.length && part) output.parts.push({ ...part, id: `${part.id}h`, text: texts.join("\n"), synthetic: true })
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
      if (orders.context) output.output = `${output.output}\n${orders.context}`
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
