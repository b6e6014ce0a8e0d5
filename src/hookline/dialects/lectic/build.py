"""From a merged tree to hooks: top-level ones first, then the interlocutors', then their tools'."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal

from hookline.core._dataclass import dataclass
from hookline.core.hook import (
    Command,
    FieldTest,
    HookSpec,
    Matcher,
    Mode,
    OnFailure,
    Output,
    Pattern,
    Scope,
    hook_id,
)
from hookline.dialects.base import Layer
from hookline.dialects.lectic.events import NATIVE, NativeEvent, distinct_events
from hookline.dialects.lectic.tree import YamlNode, plain
from hookline.dialects.lectic.validate import (
    MISSING_NAME,
    ReportProblem,
    command_flaw,
    event_names,
    gaps,
    is_script,
    unknown_events,
    unknown_fields,
    variable,
)

#: Key that tells the kind of a tool -> the name of the first unnamed one, and whether it is a whole server.
_KINDS = {
    "exec": "exec_tool",
    "sqlite": "sqlite_tool",
    "agent": "agent_tool",
    "a2a": "a2a_tool",
    "mcp_command": "mcp_server",
    "mcp_shttp": "mcp_server",
    "mcp_ws": "mcp_server",
}

#: Kits that contain kits can unfold without end.
_MAX_TOOLS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _LecticTool:
    """One tool with its hooks; ``pattern`` matches the names of a server's tools, None for a single tool."""

    name: str
    node: YamlNode
    pattern: Pattern | None = None


def _find_tools(interlocutor: YamlNode, root: YamlNode, report: ReportProblem) -> Iterator[_LecticTool]:
    """Its tools in order, those of its kits in the kit's place; a kit that is not there is reported."""
    unnamed: Counter[str] = Counter()
    for node in islice(_unfolded(interlocutor, root, (), report), _MAX_TOOLS):
        kind = next((_KINDS[key] for key in _KINDS if key in node.branch), "tool")
        name = node.name
        if name is None:
            name = f"{kind}_{unnamed[kind]}"
            unnamed[kind] += 1
        yield _LecticTool(name=name, node=node, pattern=_server(name) if kind == "mcp_server" else None)


def _server(name: str) -> Pattern:
    """``NAME_tool`` in Lectic; other agents say ``mcp__NAME__tool``."""
    return Pattern(style="full", text=f"(?:mcp__)?{re.escape(name)}_.+")


def _unfolded(owner: YamlNode, root: YamlNode, inside: tuple[str, ...], report: ReportProblem) -> Iterator[YamlNode]:
    listed = owner.branch.get("tools")
    for node in listed.items if listed else ():
        kit = node.text("kit")
        if kit is None:
            yield node
        elif kit in inside:
            report(node.at.at(".kit"), f"Kit expansion cycle detected at {kit}", "take the kit out of itself")
        else:
            found = [item for item in _kits(root) if item.name == kit]
            if not found:
                report(node.at.at(".kit"), f"Unknown kit reference: {kit}", "define it in kits")
            for item in found:
                yield from _unfolded(item, root, (*inside, kit), report)


def _kits(root: YamlNode) -> tuple[YamlNode, ...]:
    listed = root.branch.get("kits")
    return listed.items if listed else ()


#: Lectic lets a hook run for ever. Ten minutes are more than any hook that is waited for should take.
TIMEOUT = 600.0

_VARIABLE_NAME = re.compile(r"[^=\0]+")


class Builder:
    """Makes the specs of one source and reports what cannot become one."""

    def __init__(self, layers: Sequence[Layer], report: ReportProblem) -> None:
        self._layers = layers
        self._report = report
        self._ids: Counter[tuple[int, str, str]] = Counter()
        self._speaker: Mapping[str, str] = MappingProxyType({})

    def specs(self, root: YamlNode) -> list[HookSpec]:
        people = list(self._interlocutors(root))
        self._speaker = _speaker(people)
        found = [spec for hook in _hooks(root) for spec in self._hook(hook, Scope())]
        for node, scope in people:
            found += [spec for hook in _hooks(node) for spec in self._hook(hook, scope)]
        for node, scope in people:
            for tool in _find_tools(node, root, self._report):
                found += [spec for hook in _hooks(tool.node) for spec in self._tool_hook(hook, tool, scope)]
        self._check_definitions(root)
        return found

    def _interlocutors(self, root: YamlNode) -> Iterator[tuple[YamlNode, Scope]]:
        """The active one first, marked as such; each name once."""
        active = root.branch.get("interlocutor")
        listed = root.branch.get("interlocutors")
        everyone = [*((active,) if active else ()), *(listed.items if listed else ())]
        seen: set[str] = set()
        for index, node in enumerate(everyone):
            if node.name is None:
                self._report(node.at, MISSING_NAME, "add name:")
            if node.name is not None and node.name not in seen:
                seen.add(node.name)
                yield node, Scope(kind="interlocutor", name=node.name, default=index == 0)
            elif node.name is None and index == 0:
                # Whatever its name, it is the active one: its guards count.
                yield node, Scope()

    def _check_definitions(self, root: YamlNode) -> None:
        """Definitions are checked even if nobody uses them."""
        listed = root.branch.get("hook_defs")
        for item in listed.items if listed else ():
            for flaw in gaps(item):
                self._report(item.at, flaw.finding, flaw.fix)

    # ── one hook ─────────────────────────────────────────────────────────────────────────────────────

    def _hook(self, hook: YamlNode, scope: Scope) -> Iterator[HookSpec]:
        if self._complete(hook):
            for name in distinct_events(event_names(hook)):
                yield from self._specs(hook, NATIVE[name], scope, ())

    def _tool_hook(self, hook: YamlNode, tool: _LecticTool, owner: Scope) -> Iterator[HookSpec]:
        """A tool's own hooks run on its calls only, and only while its interlocutor is active."""
        if not self._complete(hook):
            return
        tests = () if owner.kind == "everywhere" else (_spoken_by(owner),)
        for name in distinct_events(event_names(hook)):
            if NATIVE[name].tool:
                yield from self._specs(hook, NATIVE[name], Scope(kind="tool", name=tool.name), tests, tool.pattern)
            else:
                finding = f"a tool's hooks only run on tool_use_pre and tool_use_post, so this never runs on {name}"
                self._report(hook.at.at(".on"), finding, "move the hook to the interlocutor or to the top", "warning")

    def _complete(self, hook: YamlNode) -> bool:
        missing = list(gaps(hook))
        for flaw in missing:
            self._report(hook.at.at(f".{flaw.key}" if flaw.key else ""), flaw.finding, flaw.fix)
        if missing:
            return False
        for place, flaw in unknown_fields(hook):
            self._report(hook.at.at(place), flaw.finding, flaw.fix, "warning")
        for place, flaw in unknown_events(hook):
            self._report(hook.at.at(place), flaw.finding, flaw.fix)
        doomed = command_flaw(hook.branch["do"].value)
        if doomed is not None:
            self._report(hook.at.at(".do"), doomed.finding, doomed.fix, code="bad-command")
        return True

    def _specs(
        self,
        hook: YamlNode,
        row: NativeEvent,
        scope: Scope,
        tests: tuple[FieldTest, ...],
        subject: Pattern | None = None,
    ) -> Iterator[HookSpec]:
        fields = plain(hook)
        layer = self._layers[hook.at.rank]
        mode: Mode = fields.get("mode", "sync")
        do: str = fields["do"]
        for canonical in row.canonical:
            yield HookSpec(
                id=self._id(hook, layer.path, f"{row.name}/{canonical}"),
                name=fields.get("name") or _shown_name(do),
                dialect="lectic",
                event=canonical,
                native_event=row.name,
                origin=layer.origin(hook.at.pointer),
                action=Command(form="script" if is_script(do) else "words", text=do),
                scope=scope if subject is None else Scope(),
                phase=1 if row.alias else 0,
                matcher=Matcher(subject=subject or Pattern(), fields=(*((row.test,) if row.test else ()), *tests)),
                gates=row.gates,
                mode=mode,
                timeout=None if mode == "detached" else float(fields.get("timeout", TIMEOUT)),
                flow="chain",
                after_deny="stop",
                on_failure=_on_failure(row, mode, allowed=fields.get("allow_failure", False)),
                output=_output(fields, row),
                environ=self._variables(hook),
                extra={**self._speaker, "timeout": "given"}
                if mode != "detached" and "timeout" in fields
                else self._speaker,
            )

    def _id(self, hook: YamlNode, path: str, event: str) -> str:
        """A definition that is used in several places has one address; counting keeps its uses apart."""
        key = (hook.at.rank, hook.at.pointer, event)
        self._ids[key] += 1
        return hook_id(path, hook.at.pointer, event, self._ids[key] - 1)

    def _variables(self, hook: YamlNode) -> Mapping[str, str]:
        env = hook.branch.get("env")
        found: dict[str, str] = {}
        for key, child in (env.branch if env else {}).items():
            text = variable(plain(child))
            if text is None or "\0" in text or not _VARIABLE_NAME.fullmatch(key):
                self._report(hook.at.at(f".env.{key}"), "a variable is a name and a text", "write NAME: value")
            else:
                found[key] = text
        return MappingProxyType(found)


def _hooks(node: YamlNode) -> tuple[YamlNode, ...]:
    listed = node.branch.get("hooks")
    return listed.items if listed else ()


def _speaker(people: Sequence[tuple[YamlNode, Scope]]) -> Mapping[str, str]:
    """The interlocutor and the model of an event that names none."""
    if not people:
        return MappingProxyType({})
    node, _ = people[0]
    given = {"interlocutor": node.name, "model": node.text("model")}
    return MappingProxyType({key: text for key, text in given.items() if text})


def _spoken_by(owner: Scope) -> FieldTest:
    pattern = Pattern(style="exact", options=(owner.name,), when_missing=owner.default)
    return FieldTest(path="interlocutor", pattern=pattern)


def _on_failure(row: NativeEvent, mode: str, *, allowed: bool) -> OnFailure:
    """A guard that cannot run refuses; a background one comes too late for that and fails the run."""
    if allowed:
        return "ignore"
    return "deny" if row.name == "tool_use_pre" and mode != "background" else "abort"


def _output(fields: Mapping[str, Any], row: NativeEvent) -> Output:
    """Run and tool events take the ``inline`` field and drop the text, so it is not kept for them."""
    inject: Literal["none", "attachment", "comment"] = "none"
    if fields.get("inline") and row.inline:
        inject = fields.get("inline_as", "attachment")
    return Output(inject=inject, label=fields.get("name", ""), icon=fields.get("icon", ""))


def _shown_name(do: str) -> str:
    """What an unnamed hook is called: its command, or the first line of its script that does something."""
    lines = [line.strip() for line in do.splitlines()]
    telling = [line for line in lines if line and not line.startswith("#")] or [line for line in lines if line]
    first = telling[0] if telling else "(empty)"
    return first if len(first) <= 60 else first[:59] + "…"
