#!/usr/bin/env python3
"""Only reading tools of MCP servers."""
import json
import sys

event = json.load(sys.stdin)
name = event.get("tool_name", "")
if name.startswith("mcp__"):
    server, tool = name.split("__")[1:3]
    if not tool.startswith(("get_", "list_", "read_")):
        json.dump({"continue": True, "decision": "block", "reason": f"{tool} of {server} changes something"}, sys.stdout)
