"""Our entries in an agent's JSON file: all other bytes stay."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hookline.core.json_edit import JsonError, JsonNode, Style, add_child, detect_style, remove_child, scan
from hookline.deploy.own_entry import OwnEntry, Registration, entry_event, is_own, member_value

if TYPE_CHECKING:
    from hookline.deploy.plan import FileFormat

#: Where entries may stand, where nobody says it: in the usual member, in the file itself, in one of our name.
_ANYWHERE = ("", "hookline", "hooks")


def fresh(wanted: Sequence[Registration], form: FileFormat) -> str:
    inside = member_value(wanted, form)
    return (
        json.dumps({**form.head, **({form.key: inside} if form.key else inside)}, indent=2, ensure_ascii=False) + "\n"
    )


def tree(text: str) -> Any:
    return scan(text).plain()


def find(text: str, form: FileFormat | None) -> list[OwnEntry]:
    root = scan(text)
    places = {
        node.start: OwnEntry(event=event, value=value)
        for key in (_ANYWHERE if form is None else (form.key,))
        for event, value, _array, node in _own(_hooks(root, key))
    }
    return list(places.values())


def names(text: str, form: FileFormat) -> frozenset[str]:
    """The member itself and the events in it."""
    hooks = _hooks(scan(text), form.key)
    return frozenset() if hooks is None else frozenset({form.key or "hooks", *(child.key for child in hooks.children)})


def _hooks(root: JsonNode, key: str) -> JsonNode | None:
    return root.member(key) if key else root


def _own(hooks: JsonNode | None) -> Iterator[tuple[str, Any, JsonNode, JsonNode]]:
    """Event, value, list and place of every entry of ours."""
    arrays = () if hooks is None else (hooks,) if hooks.kind == "array" else hooks.children
    for array in arrays:
        for node in array.children if array.kind == "array" else ():
            value = node.plain()
            if is_own(value):
                yield (entry_event(value) if array is hooks else array.key), value, array, node


def add(text: str, wanted: Sequence[Registration], form: FileFormat) -> str:
    """All of them at the ends of their lists. The whole text is looked at once, however long it is."""
    style, root = detect_style(text), scan(text)
    if root.kind != "object":
        raise JsonError("the file does not hold an object")
    hooks = _hooks(root, form.key)
    if hooks is None:
        return add_child(text, root, member_value(wanted, form), depth=0, style=style, key=form.key) if wanted else text
    if hooks.kind != ("array" if form.form == "list" else "object"):
        raise JsonError(f"{form.key or 'the file'} is not {'a list' if form.form == 'list' else 'an object'}")
    part, depth = text[hooks.start : hooks.end], 1 if form.key else 0
    for one in wanted:
        if form.form == "list":
            part = add_child(part, scan(part), one.entry, depth=depth, style=style)
        else:
            part = _put(part, one, style, depth)
    return text[: hooks.start] + part + text[hooks.end :]


def _put(part: str, one: Registration, style: Style, depth: int) -> str:
    """Into the text of the object of events, which stands ``depth`` levels deep."""
    hooks = scan(part)
    array = hooks.member(one.event)
    if array is None:
        return add_child(part, hooks, [one.entry], depth=depth, style=style, key=one.event)
    if array.kind != "array":
        raise JsonError(f"hooks.{one.event} is not a list")
    return add_child(part, array, one.entry, depth=depth + 1, style=style)


def remove(text: str, form: FileFormat, kept: frozenset[str]) -> str:
    """Lists that only we used go too, and the member if nothing is left in it."""
    hooks = _hooks(scan(text), form.key)
    if hooks is None or hooks.kind == "scalar":
        return text
    part, touched = text[hooks.start : hooks.end], set[str]()
    while one := next(_own(scan(part)), None):
        event, _value, inside, node = one
        touched.add(event)
        part = remove_child(part, inside, node)
    for event in sorted(touched) if hooks.kind == "object" else ():
        inner = scan(part)
        array = inner.member(event)
        if array is not None and _bare(part, array) and event not in kept:
            part = remove_child(part, inner, array)
    text = text[: hooks.start] + part + text[hooks.end :]
    root = scan(text)
    hooks = root.member(form.key) if form.key else None
    if touched and hooks is not None and _bare(text, hooks) and form.key not in kept:
        text = remove_child(text, root, hooks)
    return text


def _bare(text: str, container: JsonNode) -> bool:
    """Nothing is in it, not even a comment."""
    return not text[container.start + 1 : container.end - 1].strip()
