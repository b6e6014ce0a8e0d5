"""Claude Agent SDK: every event of the agent comes through its callbacks, in Claude Code's own format."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, get_args

from hookline.dialects import dialect_named
from hookline.gateway.reply import write_reply
from hookline.sdk.hooks import Hooks

#: Seconds that the agent waits for our answer; it refuses what it was about to do when they are over.
_TIMEOUT = 3600.0


def claude_agent_hooks(*, hooks: Hooks | None = None, **options: Any) -> dict[Any, list[Any]]:
    """For ``ClaudeAgentOptions(hooks=…)``. If the agent also loads settings in which hookline is registered
    (``setting_sources``), hooks run twice."""
    sdk, types = import_module("claude_agent_sdk"), import_module("claude_agent_sdk.types")
    callback = _callback(hooks or Hooks(agent="claude-code", **options))
    names = [name for part in get_args(types.HookEvent) for name in (get_args(part) or (part,))]
    return {name: [sdk.HookMatcher(hooks=[callback], timeout=_TIMEOUT, on_failure="block")] for name in names}


def _callback(hooks: Hooks) -> Callable[[Any, str | None, Any], Awaitable[Any]]:
    dialect = dialect_named("claude")

    async def answer(payload: Any, tool_use_id: str | None, _context: Any) -> Any:
        incoming = dialect.event_in(str(payload.get("hook_event_name", "")), payload, os.environ)
        event = hooks.event(
            incoming.event, incoming.data, incoming.session, "claude-code",
            cwd=incoming.cwd, native=payload, native_name=incoming.native_name,
        )  # fmt: skip
        decision = await hooks.fire(event)
        return _as_output(write_reply(dialect, event, decision).answer, event.kind.name)

    return answer


def _as_output(answer: Any, event: str) -> dict[str, Any]:
    """What a program would print. Exit code 2 is a block; a plain text is context."""
    if answer.exit_code == 2:
        return {"decision": "block", "reason": answer.stderr}
    try:
        output: dict[str, Any] = json.loads(answer.stdout) if answer.stdout else {}
    except ValueError:
        output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": answer.stdout}}
    if "continue" in output:
        output["continue_"] = output.pop("continue")
    return output
