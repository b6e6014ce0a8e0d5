"""A matcher on tools, in the names of another agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from hookline.core._dataclass import replace
from hookline.core.agents import Agent, find_agent
from hookline.core.event import event_kind
from hookline.core.hook import HookSpec, Pattern
from hookline.core.tool_names import ANSWERS_TO, CANONICAL, INPUTS, canonical

_NAMES = re.compile(r"[\w\-:@/]+(?:\|[\w\-:@/]+)*", re.ASCII)
#: How ``mcp__server`` is written where it means every tool of the server.
_WHOLE_SERVER = "(?:__.*)?"
_MCP = "mcp__{server}__{tool}"
#: How an expression of JavaScript with \\w or \\b begins for Python.
_ASCII = "(?a)"


def translate_tools(spec: HookSpec, dialect: str) -> tuple[HookSpec, tuple[str, ...]]:
    """The hook with the tools' names of that dialect's agent, and what of its matcher means nothing there."""
    subject = spec.matcher.subject
    if spec.dialect == dialect or event_kind(spec.event).subject != "tool_name" or subject.style == "any":
        return spec, ()
    target = find_agent(dialect)
    pattern, lost = _Translation(find_agent(spec.dialect), target).of(subject)
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
        ours = _Translation(agent, None).unmatched(subject)
        wider = replace(subject, text=_either(subject.text, ours)) if ours else subject
    return replace(spec, matcher=replace(spec.matcher, subject=wider))


_ONE_SERVER = re.compile(r"mcp__(?!unknown__)[^.*\\([]")


def hides_server(agent: Agent, spec: HookSpec) -> bool:
    """The hook is for the tools of one MCP server, and the agent does not tell which server a tool belongs to."""
    if not agent.mcp or "{server}" in agent.mcp or event_kind(spec.event).subject != "tool_name":
        return False
    subject = spec.matcher.subject
    return _ONE_SERVER.search("|".join(subject.options) or subject.text) is not None


class _Translation:
    """From the names of one agent to those of another; None has ours."""

    def __init__(self, source: Agent | None, target: Agent | None) -> None:
        self._from: Mapping[str, str] = {} if source is None else source.tools
        self._to: Mapping[str, str] = {} if target is None else target.tools
        self._servers_from = _MCP if source is None else source.mcp
        self._servers_to = _MCP if target is None else target.mcp

    def of(self, pattern: Pattern) -> tuple[Pattern, tuple[str, ...]]:
        names = self._names(pattern)
        if not names:
            return self._of_expression(pattern)
        found: dict[str, None] = {}
        lost: list[str] = []
        for name in names:
            here, missing = self._of_name(name)
            found |= dict.fromkeys(here)
            lost += missing
        if all(_NAMES.fullmatch(one) for one in found):
            return replace(pattern, style="exact", text="", options=tuple(found)), tuple(lost)
        return replace(pattern, style="full", text="|".join(found), options=()), tuple(lost)

    def _names(self, pattern: Pattern) -> tuple[str, ...]:
        """The tools that it names; () if it is an expression."""
        if pattern.options:
            return pattern.options
        text = pattern.text.replace(_WHOLE_SERVER, "")
        if pattern.style not in {"full", "search"} or not _NAMES.fullmatch(text):
            return ()
        names = tuple(text.split("|"))
        # An expression that is searched for may mean more than what it spells, unless that is the name of a tool.
        known = {*CANONICAL, *INPUTS, *self._from.values()}
        return names if pattern.style == "full" or all(one in known or self._server(one) for one in names) else ()

    def _of_name(self, name: str) -> tuple[list[str], list[str]]:
        """What the other agent calls it, and what it is not known to have."""
        if name not in CANONICAL and name not in INPUTS and (server := self._server(name)):
            moved = self._to_server(*server)
            return [moved or name], [] if moved else [name]
        ours = dict.fromkeys(
            (*(one for one, theirs in self._from.items() if theirs == name), *ANSWERS_TO.get(name, (canonical(name),)))
        )
        known = [one for one in ours if not self._to or one in self._to or one not in INPUTS]
        lost = [] if known else list(ours)
        return list(dict.fromkeys(self._to.get(one, one) for one in known or ours)), lost

    def _of_expression(self, pattern: Pattern) -> tuple[Pattern, tuple[str, ...]]:
        added = self.unmatched(pattern)
        moved, lost = self._servers(pattern)
        added += moved
        if not added or pattern.style not in {"full", "search"}:
            return pattern, lost
        return replace(pattern, text=_either(pattern.text, added)), lost

    def unmatched(self, pattern: Pattern) -> list[str]:
        """The other agent's names of tools that the expression is about, and does not match as they are."""
        test = _test(pattern)
        about = [one for one in INPUTS if test(self._from.get(one, one))]
        named = dict.fromkeys(self._to.get(one, one) for one in about if not self._to or one in self._to)
        return [_whole(pattern, one) for one in named if not test(one)]

    # ── tools of MCP servers ──

    def _servers(self, pattern: Pattern) -> tuple[list[str], tuple[str, ...]]:
        """An expression that is about MCP servers, as the other agent spells them."""
        text = pattern.text.replace(_WHOLE_SERVER, "__.*")
        for form in dict.fromkeys((self._servers_from, _MCP)):
            begin = form.partition("{")[0]
            if begin and begin in text and form != self._servers_to:
                moved = self._moved(text, form)
                return ([moved], ()) if moved else ([], ("mcp__",))
        return [], ()

    def _moved(self, text: str, form: str) -> str:
        """With every mention of a server as the other agent makes it; "" if that cannot be said."""
        begin, _, middle = form.partition("{server}")
        middle = middle.removesuffix("{tool}")
        if "{server}" not in form:
            begin, middle = form.removesuffix("{tool}"), ""
        head = self._servers_to.partition("{tool}")[0]
        named = (
            rf"{re.escape(begin)}(?P<server>(?:(?!{re.escape(middle)}).)+?){re.escape(middle)}"
            if middle
            else re.escape(begin)
        )

        def spelled(found: re.Match[str]) -> str:
            return head.replace("{server}", found.groupdict().get("server") or ".*")

        moved = re.sub(named, spelled, text) if head else ""
        if moved == text:  # every server
            start = head.partition("{")[0]
            moved = text.replace(begin, start) if start else ""
        return moved

    def _server(self, name: str) -> tuple[str, str] | None:
        """Server and tool of a name, either of which may be an expression."""
        form = self._servers_from
        if not form or name == _MCP.partition("{")[0]:
            return None
        if form == _MCP and name.startswith("mcp__") and "__" not in name[5:]:
            return name[5:].removesuffix(".*") or ".*", ".*"
        shape = re.escape(form).replace(r"\{server\}", "(?P<server>.+?)").replace(r"\{tool\}", "(?P<tool>.+)")
        found = re.fullmatch(shape, name)
        return None if found is None else (found.groupdict().get("server", ".*"), found["tool"])

    def _to_server(self, server: str, tool: str) -> str:
        return self._servers_to.replace("{server}", server).replace("{tool}", tool)


def _test(pattern: Pattern) -> Callable[[str], object]:
    try:
        expression = re.compile(pattern.text)
    except re.error:
        return lambda _name: None
    return expression.fullmatch if pattern.style == "full" else expression.search


def _either(text: str, others: Iterable[str]) -> str:
    """One expression or another; a flag of one of them stands in front of all."""
    flag = _ASCII if _ASCII in {one[: len(_ASCII)] for one in (text, *others)} else ""
    return flag + "|".join(
        dict.fromkeys([f"(?:{text.removeprefix(flag)})", *(one.removeprefix(flag) for one in others)])
    )


def _whole(pattern: Pattern, name: str) -> str:
    return name if pattern.style == "full" else f"^{name}$"
