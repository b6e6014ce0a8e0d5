#!/usr/bin/env node
// The same as echo_plugin.py in another language: a plugin is any program that can open a socket.
const net = require("net");
const readline = require("readline");

net.createServer((connection) => {
  const say = (message) => connection.write(JSON.stringify(message) + "\n");
  readline.createInterface({ input: connection }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.type === "handshake") say({ type: "handshake_ok", methods: [], hooks: ["input.submit"], completions: [] });
    else if (message.type === "terminate") process.exit(0);
    else say({ type: "hook_result", id: message.id, action: "modify", data: { text: message.data.text.toUpperCase() } });
  });
}).listen(process.argv[2]);
