"""What to write: pure. ``plan`` adds our registrations to a file's text, ``unplan`` takes them out again."""

from __future__ import annotations

import difflib
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from hookline.dataclass import dataclass
from hookline.deploy.command import is_ours
from hookline.deploy.json_text import JsonError, added, removed, scan, style_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hookline.deploy.json_text import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One entry of an agent's file: ``entry`` is what stands in the list of the native event."""

    event: str
    entry: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A file as it is and as it will be; None: there is none. ``refused`` says why nothing can be done."""

    path: str
    before: str | None
    after: str | None
    refused: str = ""

    @property
    def changes(self) -> bool:
        return not self.refused and self.before != self.after

    def diff(self) -> str:
        """The very change, as a person reads it."""
        old = (self.before or "").splitlines(keepends=True)
        new = (self.after or "").splitlines(keepends=True)
        lines = difflib.unified_diff(
            old, new, self.path if self.before is not None else "/dev/null",
            self.path if self.after is not None else "/dev/null",
        )  # fmt: skip
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def plan(path: str, text: str | None, wanted: Sequence[Registration], base: dict[str, Any] | None = None) -> Plan:
    """Everything of ours as it is wanted, and nothing else touched. ``base`` are keys that a new file begins with."""
    if text is None or not text.strip("\ufeff \t\r\n"):
        return Plan(path=path, before=text, after=_fresh(wanted, base or {}))
    try:
        found = sorted(((one.event, one.value) for one in ours(text)), key=itemgetter(0))
        if found == sorted(((one.event, one.entry) for one in wanted), key=itemgetter(0)):
            return Plan(path=path, before=text, after=text)
        clean = _without_ours(text) if found else text
        for one in wanted:
            clean = _with(clean, one)
    except JsonError as error:
        return Plan(path=path, before=text, after=text, refused=f"{path} is not JSON that can be edited: {error}")
    return Plan(path=path, before=text, after=clean)


def unplan(path: str, text: str | None, original: str | None = None) -> Plan:
    """Nothing of ours. Lists and objects that became empty go too, unless ``original`` (before us) had them."""
    if text is None:
        return Plan(path=path, before=None, after=None)
    try:
        kept = _names(original) if original is not None else None
        after = _without_ours(text, kept)
    except JsonError as error:
        return Plan(path=path, before=text, after=text, refused=f"{path} is not JSON that can be edited: {error}")
    return Plan(path=path, before=text, after=after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An entry of ours in a file."""

    event: str
    value: Any
    node: Node
    array: Node


def ours(text: str) -> list[Found]:
    """Raises ``JsonError``."""
    return list(_found(scan(text.removeprefix("\ufeff"))))


def _found(root: Node) -> Iterator[Found]:
    hooks = root.member("hooks")
    for array in hooks.children if hooks is not None and hooks.kind == "object" else ():
        for node in array.children if array.kind == "array" else ():
            value = node.plain()
            if any(is_ours(command) for command in commands(value)):
                yield Found(event=array.key, value=value, node=node, array=array)


def commands(entry: Any) -> Iterator[str]:
    """The command lines in an entry, grouped or flat."""
    if not isinstance(entry, dict):
        return
    inner = entry.get("hooks")
    for hook in inner if isinstance(inner, list) else [entry]:
        for name in ("command", "bash"):
            if isinstance(hook, dict) and isinstance(hook.get(name), str):
                yield hook[name]


def _fresh(wanted: Sequence[Registration], base: dict[str, Any]) -> str:
    import json  # noqa: PLC0415  only a new file needs it

    hooks: dict[str, list[Any]] = {}
    for one in wanted:
        hooks.setdefault(one.event, []).append(one.entry)
    return json.dumps({**base, "hooks": hooks}, indent=2, ensure_ascii=False) + "\n"


def _with(text: str, one: Registration) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text[len(mark) :]
    style, root = style_of(text), scan(text)
    if root.kind != "object":
        raise JsonError("the file does not hold an object")
    hooks = root.member("hooks")
    if hooks is None:
        return mark + added(text, root, {one.event: [one.entry]}, 0, style, "hooks")
    if hooks.kind != "object":
        raise JsonError("hooks is not an object")
    array = hooks.member(one.event)
    if array is None:
        return mark + added(text, hooks, [one.entry], 1, style, one.event)
    if array.kind != "array":
        raise JsonError(f"hooks.{one.event} is not a list")
    return mark + added(text, array, one.entry, 2, style)


def _without_ours(text: str, kept: frozenset[str] | None = None) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text[len(mark) :]
    touched: set[str] = set()
    while found := next(_found(scan(text)), None):
        touched.add(found.event)
        text = removed(text, found.array, found.node)
    return mark + _emptied(text, touched, kept)


def _emptied(text: str, touched: set[str], kept: frozenset[str] | None) -> str:
    """Without the lists that only we used, and without ``hooks`` if nothing is left in it."""
    for event in sorted(touched):
        hooks = scan(text).member("hooks")
        array = hooks.member(event) if hooks is not None else None
        if hooks is not None and array is not None and not array.children and event not in (kept or ()):
            text = removed(text, hooks, array)
    root = scan(text)
    hooks = root.member("hooks")
    if touched and hooks is not None and not hooks.children and "hooks" not in (kept or ()):
        text = removed(text, root, hooks)
    return text


def _names(original: str) -> frozenset[str]:
    """``hooks`` and the events that the file had before us."""
    if not original.strip("\ufeff \t\r\n"):
        return frozenset()
    hooks = scan(original.removeprefix("\ufeff")).member("hooks")
    return frozenset() if hooks is None else frozenset({"hooks", *(child.key for child in hooks.children)})
