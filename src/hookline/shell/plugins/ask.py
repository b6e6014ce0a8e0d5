#!/usr/bin/env python3
"""Type ``>`` on an empty line, say what you want, press Enter: a model replaces the line by a command.

The model is ``HOOKLINE_ASK_MODEL`` or the one named ``default`` (see docs/how-to/ask-a-model.md). The command never runs
by itself: you check it and press Enter.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Mapping
from typing import Any

from hookline.shell.plugins.protocol import deny, serve

#: A model needs time; the person waits for it and can press Ctrl-C.
_HOOKS = [
    {"event": "input.prefix", "mode": "blocking"},
    {"event": "input.pre_execute", "mode": "blocking", "timeout": "60s"},
]

_PREFIX = ">"
#: The beginning of the line while the person types the request.
_PREFILL = "> "

_SYSTEM_PROMPT = (
    "You turn a request into one command line for the user's shell. Answer with the command alone: one line, no "
    "explanation, no code fence, no prompt sign. Prefer commands that read over commands that change."
)


def _reply(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    data = message["data"]
    if message["event"] == "input.prefix":
        return deny("", prefill=_PREFILL, edit=True, mode="ask") if data.get("char") == _PREFIX else None
    text = str(data.get("text", ""))
    if not text.startswith(_PREFIX) or message.get("mode") != "ask":
        return None
    request = text.removeprefix(_PREFIX).strip()
    if not request:
        return deny("", prefill="", edit=True, mode="")
    try:
        return deny("", prefill=extract_command(asyncio.run(_ask(request))), edit=True, mode="")
    except Exception as error:  # any error of the model is shown
        return deny(f"no command: {error}")


def extract_command(text: str) -> str:
    """The command in an answer; models add fences although they are asked not to."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("```")]
    return lines[0].removeprefix("$ ").strip("`") if lines else ""


async def _ask(request: str) -> str:
    from hookline.llm.requests import AgentTask, run_agent_task  # loaded for the first request

    where = f"System: {platform.system()}. Directory: {os.getcwd()}.\n\n"
    model = os.environ.get("HOOKLINE_ASK_MODEL", "")
    return (
        await run_agent_task(AgentTask(system=_SYSTEM_PROMPT, text=where + request, model=model, environ=os.environ))
    ).text


if __name__ == "__main__":
    serve(_HOOKS, _reply)
