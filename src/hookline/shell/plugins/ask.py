#!/usr/bin/env python3
"""``>`` on an empty line, then what you want in plain words, then Enter: the line is a command, for you to look at.

The model is ``HOOKLINE_ASK_MODEL`` or the one named ``default`` (see docs/how-to/ask-a-model.md). The command is never
run by itself: it stands in the line, and Enter is yours.
"""

from __future__ import annotations

import asyncio
import os
import platform
from typing import TYPE_CHECKING, Any

from hookline.shell.plugins.protocol import deny, serve

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A model takes its time; the person has asked and waits, and Ctrl-C ends it.
_HOOKS = [
    {"event": "input.prefix", "mode": "blocking"},
    {"event": "input.pre_execute", "mode": "blocking", "timeout": "60s"},
]

_PREFIX = ">"
#: What stands in the line while the person writes what they want.
_PREFILL = "> "

_SYSTEM_PROMPT = (
    "You turn a wish into one command line for the user's shell. Answer with the command alone: one line, no "
    "explanation, no code fence, no prompt sign. Prefer commands that read over commands that change."
)


def _reply(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    data = message["data"]
    if message["event"] == "input.prefix":
        return deny("", prefill=_PREFILL, edit=True, mode="ask") if data.get("char") == _PREFIX else None
    text = str(data.get("text", ""))
    if not text.startswith(_PREFIX) or message.get("mode") != "ask":
        return None
    wish = text.removeprefix(_PREFIX).strip()
    if not wish:
        return deny("", prefill="", edit=True, mode="")
    try:
        return deny("", prefill=extract_command(asyncio.run(_asked(wish))), edit=True, mode="")
    except Exception as error:  # whatever went wrong with the model is told
        return deny(f"no command: {error}")


def extract_command(text: str) -> str:
    """The one line in an answer; models put it into fences though they are asked not to."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("```")]
    return lines[0].removeprefix("$ ").strip("`") if lines else ""


async def _asked(wish: str) -> str:
    from hookline.llm.requests import AgentTask, run_agent_task  # loaded when somebody asks

    where = f"System: {platform.system()}. Directory: {os.getcwd()}.\n\n"
    model = os.environ.get("HOOKLINE_ASK_MODEL", "")
    return (
        await run_agent_task(AgentTask(system=_SYSTEM_PROMPT, text=where + wish, model=model, environ=os.environ))
    ).text


if __name__ == "__main__":
    serve(_HOOKS, _reply)
