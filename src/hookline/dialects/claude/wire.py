"""How a Claude Code hook is called, and what it answers."""

from __future__ import annotations

from hookline.core.event import Event
from hookline.core.hook import Command, HookSpec
from hookline.core.result import HookError, Reply, RunResult
from hookline.dialects.base import Call
from hookline.dialects.claude_family.payload import bash_launchers, compact, payload, project_dir
from hookline.dialects.claude_family.reply_reader import Rules, read

#: Claude Code decides a permission by JSON alone.
_RULES = Rules(deaf_to_two=frozenset({"PermissionRequest"}))

_PROJECT = "${CLAUDE_PROJECT_DIR}"


def event_out(spec: HookSpec, event: Event) -> Call:
    """The event on stdin, the project's directory in the environment."""
    stdin = compact(payload(spec.native_event or event.kind.name, event))
    if not isinstance(spec.action, Command):
        return Call(stdin=stdin, cwd=event.cwd)
    project = project_dir(event)
    argv, *others = _launchers(spec, spec.action, project)
    return Call(argv=argv, fallbacks=tuple(others), stdin=stdin, environ={"CLAUDE_PROJECT_DIR": project}, cwd=event.cwd)


def _launchers(spec: HookSpec, action: Command, project: str) -> list[tuple[str, ...]]:
    if action.form == "argv":
        # Exec form has no shell that would expand the one variable people need in it.
        return [tuple(word.replace(_PROJECT, project) for word in action.argv)]
    if spec.extra.get("shell") == "powershell":
        return [(shell, "-NoProfile", "-Command", action.text) for shell in ("pwsh", "powershell")]
    return bash_launchers(action.text)


def reply_in(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    return read(spec, event, raw, _RULES)
