"""An MCP server over stdio with one tool, ``echo``."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {
    "name": "echo", "description": "says a text again",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    # An agent that cannot ask a person runs no other tool.
    "annotations": {"readOnlyHint": True},
}  # fmt: skip


def answer(request: dict[str, Any]) -> dict[str, Any]:
    match request.get("method"):
        case "initialize":
            version = request["params"].get("protocolVersion", "2024-11-05")
            server = {"name": "t", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            text = request["params"]["arguments"].get("text", "")
            return {"content": [{"type": "text", "text": f"mcp says {text}"}]}
        case _:
            return {}


for line in sys.stdin:
    told = json.loads(line)
    if "id" in told:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": told["id"], "result": answer(told)}) + "\n")
        sys.stdout.flush()
