"""How free text stands inside a conversation file without being taken for its structure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BAR = "\u2506"
_MARK = "\u2502"

_ATTRIBUTE = re.compile(r'([A-Za-z0-9_:-]+)="([^"]*)"')
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\n", "&#10;"), ("\r", "&#13;"))

#: What would be structure at the beginning of a line of prose, with the backslashes that may stand before it.
_GUARDED = (":::", "<tool-call", "<inline-attachment", "<thought-block")
_STRUCTURE = re.compile(r"^([ \t]*)(\\*)(?=" + "|".join(map(re.escape, _GUARDED)) + r"|<!--[ \t\r]*$)", re.MULTILINE)
_UNDECIDED = re.compile(r"[ \t]*\\*(?P<rest>.*)", re.DOTALL)


# ── inside a record ──────────────────────────────────────────────────────────────────────────────────


def escape(text: str) -> str:
    """Every line gets a bar and every ``<`` a mark, so that no line is blank and no tag can be closed."""
    return f"\n{text}".replace("\n", f"\n{_BAR}").replace("<", f"<{_MARK}") + "\n"


def unescape(text: str) -> str:
    """The way back; text that never had bars is taken as it is."""
    text = text.removesuffix("\n").replace(f"\n{_BAR}", "\n").removeprefix("\n")
    return text.replace(f"<{_MARK}", "<")


def attributes_text(attributes: Iterable[tuple[str, str]]) -> str:
    return "".join(f' {key}="{_entities(value)}"' for key, value in attributes)


def _entities(value: str) -> str:
    for char, entity in _ENTITIES:
        value = value.replace(char, entity)
    return value


def read_attributes(text: str) -> Mapping[str, str]:
    """``key="value"`` pairs; the last duplicate wins."""
    found: dict[str, str] = {}
    for key, value in _ATTRIBUTE.findall(text):
        plain = value
        for char, entity in reversed(_ENTITIES):
            plain = plain.replace(entity, char)
        found[key] = plain
    return found


# ── prose ────────────────────────────────────────────────────────────────────────────────────────────


def guard_prose(text: str) -> str:
    """Prose in which no line is structure: those that would be get a backslash more."""
    return _STRUCTURE.sub(r"\1\2\\", text)


def unguard_prose(text: str) -> str:
    """The way back: one backslash less. A line without one is left alone."""
    return _STRUCTURE.sub(lambda found: found[1] + found[2][:-1], text)


class StreamGuard:
    """``guard_prose`` for a stream: a beginning of a line is held back only while it may still become structure."""

    __slots__ = ("_held", "_inside")

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def feed(self, piece: str) -> str:
        out: list[str] = []
        for line in re.split(r"(?<=\n)", piece):
            out.append(self._line(line))
        return "".join(out)

    def flush(self) -> str:
        """What was held back, and a fresh start: the next piece begins a line."""
        held, self._held, self._inside = self._held, "", False
        return guard_prose(held)

    def _line(self, piece: str) -> str:
        """``piece`` holds at most one line end, as its last character."""
        if self._inside:
            self._inside = not piece.endswith("\n")
            return piece
        self._held += piece
        if not self._held.endswith("\n") and _may_become_structure(self._held):
            return ""
        text, self._held = guard_prose(self._held), ""
        self._inside = bool(text) and not text.endswith("\n")
        return text


def _may_become_structure(start: str) -> bool:
    found = _UNDECIDED.fullmatch(start)
    rest = found["rest"] if found else start
    if rest.startswith("<!--"):
        return not rest[4:].strip(" \t\r")
    return any(token.startswith(rest) and rest != token for token in (*_GUARDED, "<!--"))
