"""Letta Code's eleven events, one row each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from hookline.core._dataclass import dataclass
from hookline.core.event import Flow


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRules:
    """What Letta Code's document says about one event; the canonical name is the same."""

    name: str
    flow: Flow = "chain"
    #: Matchers are tried on the tool's name; on the other events a matcher is ignored.
    tool: bool = False
    prompts: bool = False
    #: What exit code 2 does: stops the action, gives stderr to the agent, or nothing.
    on_two: Literal["deny", "feed back", "nothing"] = "nothing"
    #: The reason of a deny that gives none.
    silent: str = "Blocked by hook"
    #: What stdout becomes: text for the agent, or JSON that may hold additionalContext.
    stdout: Literal["text", "json", "nothing"] = "nothing"
    #: The text or the feedback counts whatever the exit code is.
    any_exit: bool = False


_ROWS = (
    EventRules(name="PreToolUse", tool=True, prompts=True, on_two="deny"),
    EventRules(name="PostToolUse", tool=True, prompts=True, flow="parallel", on_two="feed back", stdout="json"),
    EventRules(
        name="PostToolUseFailure", tool=True, prompts=True, flow="parallel", on_two="feed back", stdout="json",
        any_exit=True,
    ),
    EventRules(name="PermissionRequest", tool=True, prompts=True, on_two="deny", silent="Denied by hook"),
    EventRules(name="UserPromptSubmit", prompts=True, on_two="deny", stdout="text"),
    EventRules(name="Notification", flow="parallel"),
    EventRules(name="Stop", prompts=True, on_two="deny", silent="Stop hook blocked"),
    EventRules(name="SubagentStop", prompts=True, on_two="deny"),
    EventRules(name="PreCompact", flow="parallel"),
    EventRules(name="SessionStart", stdout="text", any_exit=True),
    EventRules(name="SessionEnd", flow="parallel"),
)  # fmt: skip

ROWS: Mapping[str, EventRules] = MappingProxyType({row.name: row for row in _ROWS})

EVENTS: Mapping[str, str] = MappingProxyType({name: name for name in ROWS})


def canonical_event(name: str) -> str:
    """The canonical name: an event that has no row is carried under its own name, never lost."""
    return EVENTS.get(name, f"letta:{name}")
