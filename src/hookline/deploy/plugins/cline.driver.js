const { default: plugin } = await import(process.argv[2])
plugin.setup({}, { workspaceInfo: { rootPath: process.cwd() } })
const told = await plugin.hooks.beforeTool(JSON.parse(process.argv[3]))
if (told?.skip) { console.log(told.reason); process.exit(2) }
