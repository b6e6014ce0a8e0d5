"""TOML: the standard library's parser for the values, our own scanner for the lines."""

from __future__ import annotations

import re
import tomllib

from hookline.config.syntax import Document, Lines, Offsets, syntax_error

_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
#: How the parser says that a line, or the text, ends inside a string.
_UNCLOSED = ("Illegal character '\\n'", "Expected \"'")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Strings, the longest delimiters first; a multi-line string may end in up to two further quotes.
_BASIC = re.compile(r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}|"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'''[\s\S]*?'{3,5}|'[^'\n]*'")
_SCALAR = re.compile(r"[^,\]}#\n]*")
# The parser's time and memory grow with the square of a key's parts, so the length of a key is bounded first.
_ENDLESS_KEY = re.compile(r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}""")


def read(path: str, text: str) -> Document:
    if endless := _ENDLESS_KEY.search(text):
        return syntax_error(path, "TOML", "a key of more than 64 parts", text.count("\n", 0, endless.start()) + 1)
    try:
        tree = tomllib.loads(text)
    except RecursionError:
        return syntax_error(path, "TOML", "nested too deeply", 0)
    except ValueError as error:  # TOMLDecodeError, and numbers too long for int
        message = str(error)
        place = _PLACE.search(message)
        line = int(place[1]) if place else text.count("\n") + 1 if "end of document" in message else 0
        finding = "a string has no closing quote" if message.startswith(_UNCLOSED) else _PLACE.sub("", message)
        return syntax_error(path, "TOML", finding, line)
    return Document(tree=tree, line=Lines(_Scanner(text).scan))


class _Scanner:
    """Walks a text that is known to be valid TOML and notes the line of every key and element."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._offsets = Offsets(self._text)
        self._counts: dict[str, int] = {}
        self._lines: dict[str, int] = {"$": 1}

    def scan(self) -> dict[str, int]:
        table = "$"
        while self._skip(_BLANK) < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)
        return self._lines

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _note(self, pointer: str, offset: int) -> None:
        self._lines.setdefault(pointer, self._offsets.line(offset))

    def _header(self) -> str:
        start = self._at
        repeated = self._text.startswith("[[", start)
        self._at += 2 if repeated else 1
        parts = self._key()
        self._at += 2 if repeated else 1
        pointer = self._within("$", parts[:-1], start) + "." + parts[-1]
        if repeated:
            self._note(pointer, start)
            count = self._counts.get(pointer, 0)
            self._counts[pointer] = count + 1
            pointer = f"{pointer}[{count}]"
        self._note(pointer, start)
        return pointer

    def _within(self, pointer: str, parts: list[str], offset: int) -> str:
        """Steps into tables; the name of an array of tables means its latest element."""
        for part in parts:
            pointer = f"{pointer}.{part}"
            if count := self._counts.get(pointer, 0):
                pointer = f"{pointer}[{count - 1}]"
            self._note(pointer, offset)
        return pointer

    def _key(self) -> list[str]:
        parts: list[str] = []
        while True:
            self._skip(_SPACE)
            parts.append(self._key_part())
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return parts
            self._at += 1

    def _key_part(self) -> str:
        start = self._at
        if self._text[start] == '"':
            self._skip(_BASIC)
            return next(iter(tomllib.loads(self._text[start : self._at] + "=0")))
        if self._text[start] == "'":
            self._skip(_LITERAL)
            return self._text[start + 1 : self._at - 1]
        self._skip(_BARE)
        return self._text[start : self._at]

    def _pair(self, table: str) -> None:
        start = self._at
        parts = self._key()
        self._at += 1  # the equals sign
        self._skip(_SPACE)
        pointer = self._within(table, parts[:-1], start) + "." + parts[-1]
        self._note(pointer, start)
        self._value(pointer)

    def _value(self, pointer: str) -> None:
        match self._text[self._at]:
            case '"':
                self._skip(_BASIC)
            case "'":
                self._skip(_LITERAL)
            case "[":
                self._array(pointer)
            case "{":
                self._inline(pointer)
            case _:
                self._skip(_SCALAR)

    def _array(self, pointer: str) -> None:
        self._at += 1
        number = 0
        while self._text[self._skip(_BLANK)] != "]":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            element = f"{pointer}[{number}]"
            self._note(element, self._at)
            self._value(element)
            number += 1
        self._at += 1

    def _inline(self, pointer: str) -> None:
        self._at += 1
        while self._text[self._skip(_BLANK)] != "}":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            self._pair(pointer)
        self._at += 1
