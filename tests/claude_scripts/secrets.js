#!/usr/bin/env node
// Refuse to write access keys into files.
const chunks = [];
process.stdin.on("data", (chunk) => chunks.push(chunk));
process.stdin.on("end", () => {
  const { tool_input: input = {} } = JSON.parse(Buffer.concat(chunks).toString());
  const text = input.content || input.new_string || "";
  if (/AKIA[0-9A-Z]{16}/.test(text)) {
    console.log(JSON.stringify({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: `An access key must not be written to ${input.file_path}`,
      },
    }));
  }
});
