const plugin = await import(process.argv[2]), handlers = {}
plugin.default({ on: (name, handle) => { handlers[name] = handle } })
const told = await handlers["tool.call"](JSON.parse(process.argv[3]), { cwd: process.cwd() })
if (told?.message && (told.block || told.action === "reject-and-continue")) { console.log(told.message); process.exit(2) }
