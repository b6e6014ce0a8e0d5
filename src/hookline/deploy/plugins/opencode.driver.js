const plugin = await import(process.argv[2])
const hooks = await plugin.Hookline({ directory: process.cwd() })
const given = JSON.parse(process.argv[3])
try { await hooks["tool.execute.before"](given.input, given.output) }
catch (error) { console.log(error.message); process.exit(2) }
