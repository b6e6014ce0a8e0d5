#!/usr/bin/env node
let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (part) => (text += part));
process.stdin.on("end", () => {
  const event = JSON.parse(text);
  if (event.hook_event_name === "UserPromptSubmit" && /password\s*[:=]/i.test(event.prompt)) {
    process.stdout.write(JSON.stringify({ decision: "block", reason: "The prompt contains a password." }));
  }
  process.exit(0);
});
