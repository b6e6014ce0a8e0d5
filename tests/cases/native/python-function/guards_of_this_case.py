from __future__ import annotations

from typing import Any


def guard(event: Any) -> dict[str, str]:
    command = event.data["tool_input"]["command"]
    return {"effect": "ask", "reason": f"sure about {command}?"}
