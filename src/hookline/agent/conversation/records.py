"""What stands in an assistant's block: prose, and four kinds of record, each written and read back exactly."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, assert_never

from hookline.agent.conversation.values import (
    arguments_text,
    attributes_text,
    elements,
    escape,
    guard_prose,
    read_arguments,
    read_attributes,
    unescape,
    unguard_prose,
)
from hookline.agent.message import ToolOutput
from hookline.core._dataclass import dataclass, empty, field
from hookline.core.errors import DataError

#: Glyphs of the fonts that Lectic's users have.
HOOK_ICON = "\U000f140b"
ATTACH_ICON = "\uf0c6"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Text for the model from a hook or from ``:attach``. Of its attributes ``final`` and ``reset`` have meaning."""

    content: str
    command: str = ""
    kind: str = "hook"
    icon: str = HOOK_ICON
    mimetype: str = "text/plain"
    attributes: Mapping[str, str] = field(default_factory=empty)

    @property
    def final(self) -> bool:
        return "final" in self.attributes

    @property
    def reset(self) -> bool:
        return "reset" in self.attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A tool call with its results. ``schema`` gives the order of the arguments and is not written."""

    name: str
    id: str = ""
    arguments: Mapping[str, Any] = field(default_factory=empty)
    results: tuple[ToolOutput, ...] = ()
    is_error: bool = False
    kind: str = ""
    icon: str = ""
    schema: Mapping[str, Any] = field(default_factory=empty, compare=False, repr=False)
    opaque: Mapping[str, str] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtRecord:
    text: str
    provider: str = ""
    attributes: Mapping[str, str] = field(default_factory=empty)
    opaque: Mapping[str, str] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """Never sent to a model."""

    text: str


Segment: TypeAlias = Prose | Attachment | CallRecord | ThoughtRecord | Comment


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────


def render_segment(segment: Segment) -> str:
    """As it stands in the file, without the blank line after it."""
    match segment:
        case Prose():
            return guard_prose(segment.text)
        case Attachment():
            return _attachment(segment)
        case CallRecord():
            return _call(segment)
        case ThoughtRecord():
            return _thought(segment)
        case Comment():
            return f"<!--\n{guard_prose(segment.text.replace('-->', '-- >'))}\n-->"
        case _:
            assert_never(segment)


def _attachment(one: Attachment) -> str:
    rest = [(key, value) for key, value in one.attributes.items() if key not in {"kind", "icon"}]
    head = attributes_text([("kind", one.kind), ("icon", one.icon), *rest])
    return (
        f"<inline-attachment{head}>\n<command>{escape(one.command)}</command>\n"
        f"<content{attributes_text([('type', one.mimetype)])}>{escape(one.content)}</content>\n</inline-attachment>"
    )


def _call(one: CallRecord) -> str:
    head = [("with", one.name)]
    head += [("id", one.id)] if one.id else []
    head += [("is-error", "true" if one.is_error else "false")]
    head += [(key, value) for key, value in (("kind", one.kind), ("icon", one.icon)) if value]
    results = "\n".join(
        f"<result{attributes_text([('type', result.mimetype)])}>{escape(result.content)}</result>"
        for result in one.results
    )
    return (
        f"<tool-call{attributes_text(head)}>\n<arguments>{arguments_text(one.arguments, one.schema)}</arguments>\n"
        f"<results>{results}</results>\n{_opaque(one.opaque)}</tool-call>"
    )


def _thought(one: ThoughtRecord) -> str:
    head = attributes_text([("provider", one.provider), *one.attributes.items()])
    return f"<thought-block{head}>\n<content>{escape(one.text)}</content>\n{_opaque(one.opaque)}</thought-block>"


def _opaque(values: Mapping[str, str]) -> str:
    return "".join(
        f"<opaque{attributes_text([('name', name)])}>{escape(value)}</opaque>\n" for name, value in values.items()
    )


# ── back ─────────────────────────────────────────────────────────────────────────────────────────────

_START = re.compile(r" {0,3}<(tool-call|inline-attachment|thought-block)(?=[\s>])([^<>]*)>")
_COMMENT = re.compile(r" {0,3}<!--(?P<more>.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)")


def read_content(text: str) -> list[Segment]:
    """The segments of a block. What begins like a record and is none stays prose, except that an attachment
    without its parts is refused: it would silently lose a hook's text."""
    lines = text.split("\n")
    comments = _Comments(lines)
    found: list[Segment] = []
    prose: list[str] = []
    position = 0
    while position < len(lines):
        end, segment = _record_at(lines, position, comments)
        if segment is None:
            prose.append(lines[position])
            position += 1
            continue
        _keep_prose(found, prose)
        found.append(segment)
        position = end
        # The blank line after a record belongs to it.
        if position < len(lines) and not lines[position].strip():
            position += 1
    _keep_prose(found, prose)
    return found


def _keep_prose(found: list[Segment], lines: list[str]) -> None:
    """Without the blank line that ends every segment."""
    text = "\n".join(lines).removesuffix("\n")
    lines.clear()
    if text.strip():
        found.append(Prose(text=unguard_prose(text)))


def _record_at(lines: Sequence[str], start: int, comments: _Comments) -> tuple[int, Segment | None]:
    """A record begins after a blank line and holds none."""
    if start and lines[start - 1].strip():
        return start, None
    if _COMMENT.match(lines[start]):
        return comments.at(start)
    opening = _START.match(lines[start])
    if opening is None:
        return start, None
    closing = f"</{opening[1]}>"
    for end in range(start, len(lines)):
        if not lines[end].strip():
            return start, None
        if lines[end].rstrip().endswith(closing):
            whole = "\n".join(lines[start : end + 1])
            inner = whole[opening.end() : whole.rindex(closing)]
            return end + 1, _read(opening[1], read_attributes(opening[2]), inner)
    return start, None


class _Comments:
    """Where comments end and fences stand, found once and only if there is a comment."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._ends: list[int] | None = None
        self._fenced: list[bool] = []

    def at(self, start: int) -> tuple[int, Segment | None]:
        ends = self._look() if self._ends is None else self._ends
        opening = _COMMENT.match(self._lines[start])
        # Ours begin with a line of their own, which no prose of ours can hold; others may be part of somebody's code.
        if opening is not None and opening["more"].strip() and self._fenced[start]:
            return start, None
        place = bisect_left(ends, start)
        if place == len(ends) or self._lines[ends[place]].partition("-->")[2].strip():
            return start, None
        whole = "\n".join(self._lines[start : ends[place] + 1])
        inner = whole[whole.index("<!--") + 4 : whole.rindex("-->")]
        return ends[place] + 1, Comment(text=unguard_prose(inner.removeprefix("\n").removesuffix("\n")))

    def _look(self) -> list[int]:
        self._ends = [number for number, line in enumerate(self._lines) if "-->" in line]
        fence = ""
        for line in self._lines:
            found = _FENCE.match(line)
            self._fenced.append(bool(fence))
            if found is None:
                continue
            if not fence:
                fence = found[1]
            elif found[1][0] == fence[0] and len(found[1]) >= len(fence) and not found[2].strip():
                fence = ""
        return self._ends


def _read(kind: str, attributes: Mapping[str, str], inner: str) -> Segment:
    match kind:
        case "tool-call":
            return _read_call(attributes, inner)
        case "inline-attachment":
            return _read_attachment(attributes, inner)
        case _:
            return _read_thought(attributes, inner)


def _read_attachment(attributes: Mapping[str, str], inner: str) -> Attachment:
    parts = {one.name: one for one in elements(inner)}
    if "command" not in parts or "content" not in parts:
        raise DataError(f"Malformed inline-attachment inner content: {inner.strip()[:200]}")
    rest = {key: value for key, value in attributes.items() if key not in {"kind", "icon"}}
    kind = "hook" if attributes.get("kind") == "hook" else "attach"
    return Attachment(
        content=unescape(parts["content"].inner),
        command=unescape(parts["command"].inner),
        kind=kind,
        icon=attributes.get("icon", HOOK_ICON if kind == "hook" else ATTACH_ICON),
        mimetype=parts["content"].attributes.get("type", "text/plain"),
        attributes=rest,
    )


def _read_call(attributes: Mapping[str, str], inner: str) -> CallRecord:
    parts = elements(inner)
    arguments = next((one.inner for one in parts if one.name == "arguments"), "")
    results = next((one.inner for one in parts if one.name == "results"), "")
    return CallRecord(
        name=attributes.get("with", ""),
        id=attributes.get("id", ""),
        arguments=read_arguments(arguments),
        results=tuple(
            ToolOutput(mimetype=one.attributes.get("type", "text/plain"), content=unescape(one.inner))
            for one in elements(results)
            if one.name == "result"
        ),
        is_error=attributes.get("is-error") == "true",
        kind=attributes.get("kind", ""),
        icon=attributes.get("icon", ""),
        opaque={one.attributes.get("name", ""): unescape(one.inner) for one in parts if one.name == "opaque"},
    )


def _read_thought(attributes: Mapping[str, str], inner: str) -> ThoughtRecord:
    parts = elements(inner)
    texts = [unescape(one.inner) for one in parts if one.name in {"summary", "content"}]
    return ThoughtRecord(
        text="\n\n".join(text for text in texts if text),
        provider=attributes.get("provider", ""),
        attributes={key: value for key, value in attributes.items() if key != "provider"},
        opaque={one.attributes.get("name", ""): unescape(one.inner) for one in parts if one.name == "opaque"},
    )
