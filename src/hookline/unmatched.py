"""Hooks whose ``match`` asks for a field that their events do not have: they would never run, and nobody would know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.event import COMMON_FIELDS, kind_of
from hookline.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hookline.spec import HookSpec

#: What agents send with their events beyond the documented fields.
_AGENTS_FIELDS = (
    "permission_mode", "prompt_id", "turn_id", "agent_type", "effort", "timestamp", "hook_event_name",
    "stop_hook_active", "last_assistant_message", "tool_response", "mcp_context",
)  # fmt: skip
#: What the usual tools are called with. A tool may have any other, so only what is nearly one of these is told.
_TOOL_FIELDS = (
    "command", "cmd", "description", "timeout", "workdir", "run_in_background", "file_path", "filePath", "absolute_path",
    "path", "paths", "dir_path", "content", "old_string", "new_string", "oldString", "newString", "replace_all",
    "replaceAll", "edits", "pattern", "patterns", "include", "glob", "output_mode", "offset", "limit", "url", "prompt",
    "query", "subagent_type", "notebook_path", "cell_id", "todos", "input", "patch",
)  # fmt: skip


def match_problems(specs: Sequence[HookSpec]) -> list[Problem]:
    """A warning for each field, at the place of its hook: an agent may send more than is documented."""
    hooks: dict[tuple[str, str, str], list[HookSpec]] = {}
    for spec in specs:
        if spec.enabled and spec.dialect == "native":
            hooks.setdefault((spec.origin.file, spec.origin.pointer, spec.name), []).append(spec)
    return [problem for ours in hooks.values() for problem in _of_hook(ours)]


def _of_hook(ours: Sequence[HookSpec]) -> Iterator[Problem]:
    kinds = [kind_of(spec.event) for spec in ours]
    documented = dict.fromkeys(field for kind in kinds for field in (*kind.fields, kind.subject) if field)
    events = ", ".join(kind.name for kind in kinds)
    for path in dict.fromkeys(test.path for spec in ours for test in spec.matcher.fields):
        first, _, rest = path.partition(".")
        known = (*documented, *COMMON_FIELDS, *_AGENTS_FIELDS)
        if first == "tool_input" and first in documented:
            leaf = rest.partition(".")[0]
            near = _nearest(leaf, _TOOL_FIELDS, 0.75) if leaf and leaf not in _TOOL_FIELDS else ""
            if near:
                finding = f"match asks for {path!r}, and no usual tool has it: without it the hook never runs"
                yield _problem(ours[0], path, finding, f"did you mean 'tool_input.{near}'?")
        elif all(kind.fields for kind in kinds) and first not in known:
            near = _nearest(first, known, 0.6)
            fix = f"did you mean {near!r}?" if near else f"documented are {', '.join(documented)}"
            yield _problem(
                ours[0], path, f"match asks for {first!r}, which {events} does not have: the hook never runs", fix
            )


def _problem(spec: HookSpec, path: str, finding: str, fix: str) -> Problem:
    origin = spec.origin
    return Problem(
        file=origin.file, line=origin.line, pointer=f"{origin.pointer}.match.{path}", severity="warning",
        finding=f"the hook {spec.name!r}: {finding}", fix=fix,
    )  # fmt: skip


def _nearest(word: str, known: Iterable[str], cutoff: float) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  only a mistake pays for it

    near = get_close_matches(word[:80], list(known), n=1, cutoff=cutoff)
    return near[0] if near else ""
