"""One layer, before it is merged: what has the wrong shape is reported and left out, the rest stays.

Lectic refuses a whole run for one bad hook. Here a broken hook or file never disables another, nor
the one of the same name that it was to override.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from hookline.core._dataclass import dataclass
from hookline.core.problem import ProblemCode, Severity
from hookline.core.suggest import nearest
from hookline.dialects.lectic.events import ALL_NAMES, NATIVE
from hookline.dialects.lectic.local import LocalPathError, resolve_local
from hookline.dialects.lectic.tree import Branch, Spot, YamlNode, one_per_name, plain

NO_SHEBANG = "Expected shebang in first line of executable script"
EMPTY_COMMAND = "cmd must not be empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flaw:
    """Something wrong with one hook; ``key`` is the field, "" for the hook as a whole."""

    key: str
    finding: str
    fix: str


def is_reference(item: YamlNode) -> bool:
    """Exactly ``{use: NAME}``."""
    return set(item.branch) == {"use"}


def _flaws(item: YamlNode) -> Iterator[_Flaw]:
    """Everything wrong with the fields that are there. A partial hook may still be completed by a merge."""
    if item.value is None:
        yield _Flaw(key="", finding="Something went wrong, got null for hook", fix="remove the empty item")
        return
    if not isinstance(item.value, dict):
        got = f'Hook needs to be given with at least "on" and "do" fields. Got {_shown(item)} instead.'
        yield _Flaw(key="", finding=got, fix="write a mapping with on: and do:")
        return
    for key, child in item.branch.items():
        check = _CHECKS.get(key)
        if check is not None:
            finding, fits, fix = check
            if not fits(child.value):
                yield _Flaw(key=key, finding=finding, fix=fix)


def gaps(hook: YamlNode) -> Iterator[_Flaw]:
    """What a complete hook still lacks, and fields that exclude each other."""
    if "on" not in hook.branch:
        yield _Flaw(key="", finding='Hook needs to be given with an "on" field.', fix="add on: with an event name")
    if "do" not in hook.branch:
        yield _Flaw(
            key="", finding='Hook needs to be given with a "do" field.', fix="add do: with a command or a script"
        )
    mode = hook.branch.get("mode")
    inline = hook.branch.get("inline")
    if mode is not None and mode.value != "sync" and inline is not None and inline.value:
        finding = 'Only hooks with "mode: sync" can set "inline: true".'
        yield _Flaw(key="mode", finding=finding, fix="remove mode: or inline:")


def unknown_fields(hook: YamlNode) -> Iterator[tuple[str, _Flaw]]:
    """Lectic ignores them; most are misspelt."""
    known = sorted((*_CHECKS, "inline"))
    for key in hook.branch.keys() - known:
        near = nearest(key, known)
        fix = f"did you mean {near}?" if near else f"use one of: {', '.join(known)}"
        yield f".{key}", _Flaw(key=key, finding=f"unknown field {key!r}, which has no effect", fix=fix)


def unknown_events(hook: YamlNode) -> Iterator[tuple[str, _Flaw]]:
    """Names in ``on`` that are not events, each with its pointer inside the hook."""
    on = hook.branch["on"]
    single = not isinstance(on.value, tuple)
    for index, item in enumerate((on,) if single else on.items):
        if not (isinstance(item.value, str) and item.value in NATIVE):
            finding = f'Hook "on" needs to be one of {ALL_NAMES}.'
            place = ".on" if single else f".on[{index}]"
            yield place, _Flaw(key="on", finding=f"{finding} Got {_shown(item)}.", fix="use one of these names")


def event_names(hook: YamlNode) -> list[str]:
    on = hook.branch["on"]
    named = on.items if isinstance(on.value, tuple) else (on,)
    return [item.value for item in named if isinstance(item.value, str)]


def is_script(do: str) -> bool:
    """Several lines are a script. One line is a command, also when a YAML block gave it a line end."""
    return "\n" in do.strip() or do.startswith("#!")


def command_flaw(do: str) -> _Flaw | None:
    """What will make the hook fail whenever it runs. It stays loaded: a guard must not vanish."""
    if is_script(do) and not do.startswith("#!"):
        return _Flaw(key="do", finding=NO_SHEBANG, fix="begin the script with a line like #!/usr/bin/env bash")
    if not do.strip():
        return _Flaw(key="do", finding=EMPTY_COMMAND, fix="write a command")
    return None


def variable(value: Any) -> str | None:
    """A value of ``env`` as text: a scalar as YAML writes it, a list with commas, a map as JSON."""
    if isinstance(value, list):
        return ",".join(str(variable(item)) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    # Dates: the one other scalar that YAML knows.
    return value.isoformat() if hasattr(value, "isoformat") else None


def _shown(item: YamlNode) -> str:
    try:
        text = json.dumps(plain(item), ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(item.value).__name__}"
    return text if len(text) <= 80 else text[:79] + "…"


def _type(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types)


def _one_of(*options: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in options


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


_CHECKS = {
    "on": ('The "on" field of a hook must be a string or array of strings.', _type(str, tuple), "name one event or a list"),
    "do": ('Hook needs to be given with a "do" field.', _type(str), "write a command or a script as text"),
    "name": ('The "name" field of a hook must be a string.', _type(str), "quote the name"),
    "icon": ('The "icon" field of a hook must be a string.', _type(str), "quote the icon"),
    "inline_as": (
        'The "inline_as" field of a hook must be "attachment" or "comment".', _one_of("attachment", "comment"), "use one of the two",
    ),
    "env": ('The "env" field of a hook must be an object.', _type(dict), "write NAME: value pairs"),
    "allow_failure": ('The "allow_failure" field of a hook must be a boolean.', _type(bool), "write true or false"),
    "mode": (
        'The "mode" field of a hook must be "sync", "background", or "detached".', _one_of("sync", "background", "detached"), "use one of the three",
    ),
    "timeout": ('The "timeout" field of a hook must be a positive number of seconds.', _is_positive, "write seconds, such as 30"),
}  # fmt: skip


MISSING_NAME = "An interlocutor is missing a name. The name needs to be a string."


class ReportProblem(Protocol):
    """Takes one finding with its address."""

    def __call__(
        self, at: Spot, finding: str, fix: str, severity: Severity = "error", code: ProblemCode | None = None
    ) -> None: ...


def tidy(root: YamlNode, directory: str, report: ReportProblem) -> YamlNode:
    """The parts of a layer that concern hooks, each of the right shape."""
    layer = _Layer(directory, report)
    parts: dict[str, Callable[[YamlNode], YamlNode | None]] = {
        "hooks": lambda node: layer.hooks(node, "'hooks' must be an array."),
        "hook_defs": lambda node: layer.definitions(node, "hook_def", layer.hook),
        "env_defs": lambda node: layer.definitions(node, "env_def", _keep),
        "interlocutor": layer.interlocutor,
        "interlocutors": layer.interlocutors,
        "kits": layer.kits,
    }
    if not isinstance(root.value, dict):
        report(root.at, "Header must be an object.", "write a mapping at the top of the file")
        return YamlNode(value={}, at=root.at)
    return _rebuilt(root, parts)


def _rebuilt(node: YamlNode, parts: dict[str, Callable[[YamlNode], YamlNode | None]]) -> YamlNode:
    """``node`` with the named children passed through; what comes back as None is left out."""
    branch: Branch = {}
    for key, child in node.branch.items():
        kept = parts[key](child) if key in parts else None
        if kept is not None:
            branch[key] = kept
    return YamlNode(value=branch, at=node.at)


def _keep(node: YamlNode) -> YamlNode:
    return node


class _Layer:
    """The checks of one layer; ``directory`` is where its ``local:`` paths start."""

    def __init__(self, directory: str, report: ReportProblem) -> None:
        self._directory = directory
        self._report = report

    def each(
        self, node: YamlNode, finding: str, keep: Callable[[YamlNode], YamlNode | None], *, named: bool = False
    ) -> YamlNode | None:
        """A list with those of its items that ``keep`` keeps; ``named``: of two with one name, the later."""
        if not isinstance(node.value, tuple):
            self._report(node.at, finding, "write a list")
            return None
        good = [kept for item in node.items if (kept := keep(item)) is not None]
        return YamlNode(value=one_per_name(good) if named else tuple(good), at=node.at)

    def hooks(self, node: YamlNode, finding: str, owner: str = "") -> YamlNode | None:
        return self.each(node, finding, lambda item: self.hook(item, owner), named=True)

    def definitions(self, node: YamlNode, kind: str, keep: Callable[[YamlNode], YamlNode | None]) -> YamlNode | None:
        def definition(item: YamlNode) -> YamlNode | None:
            kept = keep(item)
            if kept is not None and kept.name is None:
                self._report(item.at, f"each {kind} must have a string name", "add name:")
                return None
            return kept

        return self.each(node, f"{kind}s must be a list", definition, named=True)

    def hook(self, item: YamlNode, owner: str = "") -> YamlNode | None:
        if is_reference(item):
            return self._reference(item)
        found = list(_flaws(item))
        for flaw in found:
            intro = f"One or more hooks for {owner} weren't properly specified: " if owner else ""
            self._report(item.at.at(f".{flaw.key}" if flaw.key else ""), intro + flaw.finding, flaw.fix)
        return None if found else self._anchored(item)

    def _reference(self, item: YamlNode) -> YamlNode | None:
        if isinstance(item.branch["use"].value, str):
            return item
        self._report(item.at.at(".use"), "use must name a hook definition", "write the name of a hook_defs entry")
        return None

    def _anchored(self, item: YamlNode) -> YamlNode | None:
        do = item.branch.get("do")
        if do is None:
            return item
        try:
            text = resolve_local(do.value, self._directory)
        except LocalPathError as error:
            self._report(do.at, str(error), "write local:./PATH")
            return None
        return YamlNode(value={**item.branch, "do": YamlNode(value=text, at=do.at)}, at=item.at)

    def interlocutors(self, node: YamlNode) -> YamlNode | None:
        return self.each(node, "'interlocutors' must be an array.", self.interlocutor)

    def interlocutor(self, node: YamlNode) -> YamlNode | None:
        if not isinstance(node.value, dict):
            self._report(node.at, "An interlocutor must be an object.", "write a mapping with name: and prompt:")
            return None
        owner = node.name or "the interlocutor"
        finding = f"The hooks for {owner} need to be given in an array."
        return _rebuilt(
            node,
            {
                "name": _keep,
                "model": _keep,
                "hooks": lambda child: self.hooks(child, finding, owner),
                "tools": lambda child: self._tools(child, f"The tools for {owner} need to be given in an array."),
            },
        )

    def kits(self, node: YamlNode) -> YamlNode | None:
        finding = "The tools of a kit need to be given in an array."
        parts: dict[str, Callable[[YamlNode], YamlNode | None]] = {
            "name": _keep,
            "tools": lambda child: self._tools(child, finding),
        }
        return self.each(
            node,
            "'kits' must be an array.",
            lambda item: _rebuilt(item, parts) if isinstance(item.value, dict) else None,
        )

    def _tools(self, node: YamlNode, finding: str) -> YamlNode | None:
        return self.each(node, finding, lambda item: self._tool(item) if isinstance(item.value, dict) else None)

    def _tool(self, node: YamlNode) -> YamlNode:
        owner = node.name or "the tool"
        kept = {key: child for key, child in node.branch.items() if key != "hooks"}
        hooks = node.branch.get("hooks")
        listed = self.hooks(hooks, f"The hooks for {owner} need to be given in an array.", owner) if hooks else None
        return YamlNode(value={**kept, "hooks": listed} if listed else kept, at=node.at)
