"""Events as agents and shells really fire them: a sample of every kind, and builders around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hookline.core.event import EVENTS, Event, event_kind
from hookline.core.hook import Function, HookSpec, Origin, hook_id

#: One moment for all samples, so that they are equal from run to run: 2026-01-02T03:04:05Z.
_MOMENT = 1767323045.0

#: Field -> what it looks like, for every event that has no better idea.
_FIELDS: Mapping[str, Any] = MappingProxyType(
    {
        # the run and the session
        "run_id": "run-1", "started_at": "2026-01-02T03:04:05Z", "status": "success", "duration_ms": 1250,
        "error_message": "", "tokens": {"input": 900, "cached": 300, "output": 120, "total": 1020},
        "trigger": "auto", "source": "startup", "is_new_session": True, "agent_name": "helper", "reason": "exit",
        "message_count": 4, "tool_call_count": 2,
        # the turn
        "prompt": "Fix the failing test.", "messages_length": 3, "is_command": False, "command_name": "review",
        "command_args": "src", "message": "I will look at the test first.", "tool_use_done": False, "loop_count": 1,
        "final_pass_count": 0, "conversation": "# A conversation\n", "stop_reason": "end_turn",
        "assistant_message": "The test passes now.", "user_message": "Fix the failing test.",
        "preceding_reasoning": "The assertion compares a list with a tuple.", "continuations": 0,
        "error": "rate limited",
        # tools and models
        "tool_name": "Bash", "tool_input": {"command": "ls -l", "description": "List the files"},
        "tool_use_id": "call-1", "permission": "ask", "session_permissions": [], "tool_output": "total 0\n",
        "preceding_assistant_message": "Let me look.", "tool_error": {"type": "failed", "message": "exit code 1"},
        "tool_calls": [{"tool_name": "Bash", "tool_use_id": "call-1"}],
        "llm_request": {"model": "haiku", "messages": []}, "llm_response": {"text": "Done."}, "model": "haiku",
        "subagent_type": "explore", "subagent_id": "sub-1", "success": True, "context_length": 150_000,
        "max_context_length": 200_000, "summary": "A test was mended.", "level": "info", "notification_type": "idle",
        # files
        "file_path": "/work/project/README.md", "load_reason": "session_start", "old_cwd": "/work",
        "new_cwd": "/work/project",
        # the shell
        "command": "ls", "args": ["-l"], "env": {"LANG": "C.UTF-8"}, "cwd": "/work/project", "pipeline_id": 7, "index": 0,
        "pid": 4711, "pgid": 4711, "exit_code": 0, "signal": None, "text": "ls -l | wc -l",
        "commands": [{"command": "ls", "args": ["-l"]}, {"command": "wc", "args": ["-l"]}], "background": False,
        "statuses": [0, 0], "name": "EDITOR", "value": "vi", "old": "ed", "mutable": True, "scope": "global", "op": "set",
        "key": "ctrl-r", "job_id": 1, "pids": [4711], "cause": "ctrl-z", "path": "/work/project/out.txt", "append": False,
        "fd": 1, "line": "git sta", "cursor": 7, "word": "sta", "candidates": ["stash", "status"], "type": "not_found",
        "expr": "lss", "step": "lookup", "code": 127, "problem": "no such command: lss", "suggestion": "ls",
        "suggest": True, "frontend": "tui", "tty": "/dev/pts/1", "interactive": True, "from": "stream",
        "to": "fullscreen", "history": True, "chosen": "status", "char": "?", "buffer": "git sta", "right": "",
        "jobs": 0, "description": "Shows the branch.", "version": "1.0", "hooks": ["prompt.render"], "methods": [],
        "completions": [], "data": {"said": "hello"},
    }
)  # fmt: skip

#: Where an event means something else by a field, or has one that its row does not promise.
_SPECIAL: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "ConfigChange": {"source": "user_settings"},
        "PostModelRequest": {"status": "ok"},
        "prompt.render": {"prompt": "$ "},
        "config.change": {"key": "history.size", "value": 5000, "old": 1000, "source": "command"},
        "plugin.describe": {"name": "branch"},
        "plugin.load": {"name": "branch", "path": "/work/project/branch"},
        "plugin.unload": {"name": "branch", "reason": "stopped"},
        "plugin.message": {"name": "branch"},
        "PermissionDenied": {"reason": "The person said no."},
        "SubagentStop": {"error": None},
    }
)


def sample(kind: str) -> dict[str, Any]:
    """Realistic data of one event, every documented field filled in; empty for an event without a row."""
    special = _SPECIAL.get(kind, {})
    filled = {name: special[name] if name in special else _FIELDS[name] for name in event_kind(kind).fields}
    return {**_copied(filled), **special}


def samples() -> dict[str, dict[str, Any]]:
    """A sample for every row of ``EVENTS``."""
    return {name: sample(name) for name in EVENTS}


def event(name: str, /, **data: Any) -> Event:
    """A whole event: the sample of its kind, with ``data`` laid over it."""
    return Event(
        kind=event_kind(name),
        data={**sample(name), **data},
        id="event-1",
        session=str(data.get("session_id", "session-1")),
        turn=1,
        generation=1,
        cwd=str(data.get("cwd", "/work/project")),
        environ={"PATH": "/usr/bin:/bin"},
        time=_MOMENT,
        native_name=name,
    )


def hook_spec(
    name: str, /, call: Callable[[Event], Any] | None = None, *, event: str = "PreToolUse", **fields: Any
) -> HookSpec:
    """A hook as a configuration would give it; without ``call`` and ``action`` it has no opinion."""
    given: dict[str, Any] = {
        "id": hook_id("test", name, event),
        "dialect": "native",
        "native_event": event,
        "origin": Origin(file="test"),
        "action": Function(target=f"test:{name}", call=call or _no_opinion),
        "flow": event_kind(event).flow,
    }
    return HookSpec(name=name, event=event, **{**given, **fields})


def _no_opinion(_event: Event) -> None:
    return None


def _copied(value: Any) -> Any:
    """So that nobody can change the samples of the next test."""
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value
