"""What to write: pure. ``plan_file`` adds our registrations to a file's text, ``unplan_file`` takes them out again."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.own_registration import is_ours
from hookline.deploy.json_edit import JsonError, JsonNode, Style, add_child, detect_style, remove_child, scan

#: Lines of context in a diff.
_AROUND = 3
_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One entry of an agent's file: ``entry`` is what stands in the list of the native event."""

    event: str
    entry: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """A file as it is and as it will be; None: there is none. ``refused`` says why nothing can be done."""

    path: str
    before: str | None
    after: str | None
    refused: str = ""

    @property
    def changes(self) -> bool:
        return not self.refused and self.before != self.after

    def diff(self) -> str:
        """The very change, as a person reads it and ``patch`` applies it."""
        return _unified(
            _lines(self.before), _lines(self.after), self.path if self.before is not None else "/dev/null",
            self.path if self.after is not None else "/dev/null",
        )  # fmt: skip


def _lines(text: str | None) -> list[str]:
    """Only a line feed ends a line: ``splitlines`` knows more ends than ``patch`` does."""
    parts = (text or "").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _unified(old: list[str], new: list[str], before: str, after: str) -> str:
    """A unified diff in the time of the change, not of the file: what both begin and end with is not compared."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    skipped, kept = max(0, head - _AROUND), max(0, tail - _AROUND)
    lines = difflib.unified_diff(
        old[skipped : len(old) - kept], new[skipped : len(new) - kept], before, after, n=_AROUND
    )
    told = (_HUNK.sub(lambda found: _moved(found, skipped), line) if line.startswith("@@") else line for line in lines)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in told)


def _moved(found: re.Match[str], by: int) -> str:
    return f"@@ -{int(found[1]) + by}{found[2] or ''} +{int(found[3]) + by}{found[4] or ''} @@"


def plan_file(
    path: str, text: str | None, wanted: Sequence[Registration], base: dict[str, Any] | None = None
) -> FilePlan:
    """Everything of ours as it is wanted, and nothing else touched. ``base`` are keys that a new file begins with."""
    mark = "\ufeff" if text is not None and text.startswith("\ufeff") else ""
    if text is None or not text.strip("\ufeff \t\r\n"):
        return FilePlan(path=path, before=text, after=mark + _fresh(wanted, base or {}))
    plain = text[len(mark) :]
    try:
        root = scan(plain)
        found = list(_found(root))
        if _same(found, wanted):
            return FilePlan(path=path, before=text, after=text)
        after = _with(_without_ours(plain) if found else plain, wanted)
        _verify(root, after, wanted)
    except JsonError as error:
        return FilePlan(
            path=path,
            before=text,
            after=text,
            refused=f"{path} is not JSON that can be edited: {error}; correct it and try again",
        )
    return FilePlan(path=path, before=text, after=mark + after)


def _same(found: Sequence[_OwnEntry], wanted: Sequence[Registration]) -> bool:
    there = sorted(((one.event, one.value) for one in found), key=itemgetter(0))
    return there == sorted(((one.event, one.entry) for one in wanted), key=itemgetter(0))


def _verify(root: JsonNode, after: str, wanted: Sequence[Registration]) -> None:
    """What we write says what we mean and nothing else has changed; otherwise it is our bug, and nothing is written."""
    now = scan(after)
    if not _same(list(_found(now)), wanted) or _others(root) != _others(now):
        raise JsonError("it is written in a way that hookline cannot change safely; please report it")


def _others(root: JsonNode) -> Any:
    """Everything that is not ours; an empty list or object of hooks says nothing."""
    told = root.plain()
    hooks = told.pop("hooks", None) if isinstance(told, dict) else None
    if not isinstance(hooks, dict):
        return told, hooks or None
    rest = {
        event: [one for one in listed if not any(map(is_ours, entry_commands(one)))]
        if isinstance(listed, list)
        else listed
        for event, listed in hooks.items()
    }
    return told, {event: listed for event, listed in rest.items() if listed} or None


def unplan_file(path: str, text: str | None, original: str | None = None) -> FilePlan:
    """Nothing of ours. Lists and objects that became empty go too, unless ``original`` (before us) had them."""
    if text is None:
        return FilePlan(path=path, before=None, after=None)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    try:
        kept = _names(original) if original is not None else None
        after = mark + _without_ours(text[len(mark) :], kept)
        _verify(scan(text[len(mark) :]), after[len(mark) :], ())
    except JsonError as error:
        return FilePlan(
            path=path,
            before=text,
            after=text,
            refused=f"{path} is not JSON that can be edited: {error}; correct it and try again",
        )
    return FilePlan(path=path, before=text, after=after)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnEntry:
    """An entry of ours in a file."""

    event: str
    value: Any
    node: JsonNode
    array: JsonNode


def own_entries(text: str) -> list[_OwnEntry]:
    """Raises ``JsonError``."""
    return list(_found(scan(text.removeprefix("\ufeff"))))


def _found(root: JsonNode) -> Iterator[_OwnEntry]:
    hooks = root.member("hooks")
    return iter(()) if hooks is None else _found_in(hooks)


def _found_in(hooks: JsonNode) -> Iterator[_OwnEntry]:
    for array in hooks.children if hooks.kind == "object" else ():
        for node in array.children if array.kind == "array" else ():
            value = node.plain()
            if any(is_ours(command) for command in entry_commands(value)):
                yield _OwnEntry(event=array.key, value=value, node=node, array=array)


def foreign_entries(text: str | None) -> list[str]:
    """What else the file registers: event and command of each, in the order of the file."""
    try:
        hooks = scan(text.removeprefix("\ufeff")).member("hooks") if text and text.strip("\ufeff \t\r\n") else None
    except JsonError:
        return []
    groups = ((array.key, node.plain()) for array in (hooks.children if hooks else ()) for node in array.children)
    return [f"{event}: {line}" for event, one in groups for line in entry_commands(one) if not is_ours(line)]


def entry_commands(entry: Any) -> Iterator[str]:
    """The command lines in an entry, grouped or flat, and the addresses that an earlier version let it post to."""
    if not isinstance(entry, dict):
        return
    inner = entry.get("hooks")
    for hook in inner if isinstance(inner, list) else [entry]:
        for name in ("command", "bash", "url"):
            if isinstance(hook, dict) and isinstance(hook.get(name), str):
                yield hook[name]


def _fresh(wanted: Sequence[Registration], base: dict[str, Any]) -> str:
    import json  # only a new file needs it

    return json.dumps({**base, "hooks": _listed(wanted)}, indent=2, ensure_ascii=False) + "\n"


def _listed(wanted: Sequence[Registration]) -> dict[str, list[Any]]:
    hooks: dict[str, list[Any]] = {}
    for one in wanted:
        hooks.setdefault(one.event, []).append(one.entry)
    return hooks


def _with(text: str, wanted: Sequence[Registration]) -> str:
    """All of them at the ends of their lists. The whole text is looked at once, however long it is."""
    style, root = detect_style(text), scan(text)
    if root.kind != "object":
        raise JsonError("the file does not hold an object")
    hooks = root.member("hooks")
    if hooks is None:
        return add_child(text, root, _listed(wanted), depth=0, style=style, key="hooks") if wanted else text
    if hooks.kind != "object":
        raise JsonError("hooks is not an object")
    part = text[hooks.start : hooks.end]
    for one in wanted:
        part = _put(part, one, style)
    return text[: hooks.start] + part + text[hooks.end :]


def _put(part: str, one: Registration, style: Style) -> str:
    """Into the text of the object ``hooks``, which stands one level deep."""
    hooks = scan(part)
    array = hooks.member(one.event)
    if array is None:
        return add_child(part, hooks, [one.entry], depth=1, style=style, key=one.event)
    if array.kind != "array":
        raise JsonError(f"hooks.{one.event} is not a list")
    return add_child(part, array, one.entry, depth=2, style=style)


def _without_ours(text: str, kept: frozenset[str] | None = None) -> str:
    """Lists that only we used go too, and ``hooks`` if nothing is left in it."""
    hooks = scan(text).member("hooks")
    if hooks is None or hooks.kind != "object":
        return text
    part, touched = text[hooks.start : hooks.end], set[str]()
    while found := next(_found_in(scan(part)), None):
        touched.add(found.event)
        part = remove_child(part, found.array, found.node)
    for event in sorted(touched):
        inner = scan(part)
        array = inner.member(event)
        if array is not None and _bare(part, array) and event not in (kept or ()):
            part = remove_child(part, inner, array)
    text = text[: hooks.start] + part + text[hooks.end :]
    root = scan(text)
    hooks = root.member("hooks")
    if touched and hooks is not None and _bare(text, hooks) and "hooks" not in (kept or ()):
        text = remove_child(text, root, hooks)
    return text


def _bare(text: str, container: JsonNode) -> bool:
    """Nothing is in it, not even a comment."""
    return not text[container.start + 1 : container.end - 1].strip()


def _names(original: str) -> frozenset[str]:
    """``hooks`` and the events that the file had before us."""
    if not original.strip("\ufeff \t\r\n"):
        return frozenset()
    hooks = scan(original.removeprefix("\ufeff")).member("hooks")
    return frozenset() if hooks is None else frozenset({"hooks", *(child.key for child in hooks.children)})
