// A plugin in plain JavaScript: no library but node's own. It refuses every second `true`.
const net = require("net");
let seen = 0;
const server = net.createServer((link) => {
  let rest = "";
  const say = (message) => link.write(JSON.stringify(message) + "\n");
  link.on("data", (chunk) => {
    rest += chunk;
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.type === "handshake") {
        say({ type: "handshake_ok", hooks: ["process.pre_spawn"] });
      } else if (message.type === "terminate") {
        process.exit(0);
      } else if (message.type === "hook") {
        const refuse = message.data.command === "true" && ++seen % 2 === 0;
        say({ type: "hook_result", id: message.id, ...(refuse ? { action: "deny", reason: "not twice" } : { action: "allow" }) });
      }
    }
  });
  link.on("end", () => process.exit(0));
});
server.listen(process.argv[2]);
