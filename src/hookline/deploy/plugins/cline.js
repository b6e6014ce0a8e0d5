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
    if (texts.length) return { appendContext: texts.join("\n") }
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
