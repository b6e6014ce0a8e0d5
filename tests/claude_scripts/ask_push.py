#!/usr/bin/env python3
import json
import re
import sys

event = json.load(sys.stdin)
if event["tool_name"] != "Bash":
    sys.exit(0)
if re.search(r"\bgit\s+push\b", event["tool_input"].get("command", "")):
    print(json.dumps({
        "hookSpecificOutput": {
            "hookEventName": event["hook_event_name"],
            "permissionDecision": "ask",
            "permissionDecisionReason": "Pushing is visible to everybody.",
        },
        "suppressOutput": True,
    }))
