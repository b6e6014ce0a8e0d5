#!/usr/bin/env python3
"""Rewrite npm to pnpm."""
import json
import sys

event = json.load(sys.stdin)
given = event.get("tool_input", {})
command = given.get("command", "")
if event.get("tool_name") == "Bash" and command.startswith("npm "):
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {**given, "command": "p" + command},
    }}))
