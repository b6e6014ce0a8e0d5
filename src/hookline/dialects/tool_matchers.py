"""A matcher on tools, in the names of another agent."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hookline.core._dataclass import replace
from hookline.core.agents import find_agent
from hookline.core.event import event_kind
from hookline.core.hook import HookSpec, Pattern
from hookline.core.tool_names import CANONICAL, canonical

_NAMES = re.compile(r"[\w\-]+(?:\|[\w\-]+)*", re.ASCII)


def translate_tools(spec: HookSpec, dialect: str) -> tuple[HookSpec, tuple[str, ...]]:
    """The hook with the tools' names of that dialect's agent, and what of its matcher means nothing there."""
    subject = spec.matcher.subject
    if spec.dialect == dialect or event_kind(spec.event).subject != "tool_name" or subject.style == "any":
        return spec, ()
    agent = find_agent(dialect)
    pattern, lost = _translate(subject, {} if agent is None else agent.tools)
    return replace(spec, matcher=replace(spec.matcher, subject=pattern)), lost


def with_canonical_tools(spec: HookSpec) -> HookSpec:
    """The hook with a matcher that means the same tools in every agent, not only under the names of its own."""
    agent, subject = find_agent(spec.dialect), spec.matcher.subject
    if agent is None or not agent.tools or subject.style == "any" or event_kind(spec.event).subject != "tool_name":
        return spec
    names = subject.options or (subject.text.split("|") if _NAMES.fullmatch(subject.text) else ())
    if names:
        wider = replace(subject, style="exact", text="", options=tuple(dict.fromkeys((*names, *map(canonical, names)))))
    else:
        ours = _matching(subject, {theirs: ours for ours, theirs in agent.tools.items()})
        wider = replace(subject, text="|".join([f"(?:{subject.text})", *ours])) if ours else subject
    return replace(spec, matcher=replace(spec.matcher, subject=wider))


def _translate(pattern: Pattern, tools: Mapping[str, str]) -> tuple[Pattern, tuple[str, ...]]:
    """``tools`` are the agent's own names by the canonical ones; of an agent with the canonical names there are none."""
    names = pattern.options
    if pattern.style == "full" and _NAMES.fullmatch(pattern.text):
        names = tuple(pattern.text.split("|"))
    if names:
        ours = tuple(dict.fromkeys(map(canonical, names)))
        lost = tuple(
            name for name in ours if tools and (_is_ours(name) or name.startswith("mcp__")) and name not in tools
        )
        return replace(pattern, style="exact", text="", options=tuple(tools.get(name, name) for name in ours)), lost
    theirs = _matching(pattern, tools)
    lost = ("mcp__",) if tools and "mcp__" in pattern.text else ()
    text = "|".join([f"(?:{pattern.text})", *theirs])
    return (replace(pattern, text=text) if theirs and pattern.style in {"full", "search"} else pattern), lost


def _matching(pattern: Pattern, tools: Mapping[str, str]) -> list[str]:
    """The agent's names of tools that the expression is about under our names."""
    try:
        test = re.compile(pattern.text).fullmatch if pattern.style == "full" else re.compile(pattern.text).search
    except re.error:
        return []
    anchor = "{}" if pattern.style == "full" else "^{}$"
    return [anchor.format(theirs) for ours, theirs in tools.items() if test(ours) and not test(theirs)]


def _is_ours(name: str) -> bool:
    return name in CANONICAL.values()
