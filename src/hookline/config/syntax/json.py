"""JSON, strictly: the standard library's parser for the values, our own scanner for lines and repeated keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from hookline.config.syntax import Document, Lines, Offsets, syntax_error
from hookline.core.problem import Problem

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def read(path: str, text: str) -> Document:
    if not text.strip():
        empty = Problem(file=path, finding="the file is empty", fix="write {} or remove it", severity="warning")
        return Document(tree={}, problems=(empty,))
    repeated: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(found)
        if len(table) != len(found):
            repeated.append("")
        return table

    try:
        tree = json.loads(text, object_pairs_hook=pairs, parse_constant=_not_json)
    except json.JSONDecodeError as error:
        return syntax_error(path, "JSON", f"{error.msg} in column {error.colno}", error.lineno)
    except RecursionError:
        return syntax_error(path, "JSON", "nested too deeply", 0)
    except ValueError as error:  # a number that is too long, or no JSON at all (NaN)
        return syntax_error(path, "JSON", str(error), 0)
    scanner = _Scanner(text)
    problems = tuple(scanner.repeated(path)) if repeated else ()
    return Document(tree=tree, line=Lines(scanner.scan), problems=problems)


def _not_json(name: str) -> NoReturn:
    msg = f"{name} is not a JSON value"
    raise ValueError(msg)


class _Scanner:
    """Walks the tokens of a text that is known to be valid JSON, without recursion."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._again: list[tuple[str, int]] = []

    def scan(self) -> Mapping[str, int]:
        offsets = Offsets(self._text)
        lines: dict[str, int] = {}
        # Per open bracket: its pointer, and the number of the next element, or None for an object.
        stack: list[tuple[str, int | None]] = []
        pointer, key = "$", False
        for token in _TOKEN.finditer(self._text):
            match token[0]:
                case ",":
                    pointer, stack, key = _next(stack)
                case ":":
                    key = False
                case "]" | "}":
                    stack.pop()
                    key = False
                case _ as word:
                    line = offsets.line(token.start())
                    if key:
                        pointer = f"{stack[-1][0]}.{json.loads(word)}"
                        if pointer in lines:
                            self._again.append((pointer, line))
                        lines[pointer] = line
                        continue
                    lines.setdefault(pointer, line)
                    if word == "{":
                        stack.append((pointer, None))
                        key = True
                    elif word == "[":
                        stack.append((pointer, 0))
                        pointer = f"{pointer}[0]"
        return lines

    def repeated(self, path: str) -> list[Problem]:
        self.scan()
        return [
            Problem(
                file=path, line=line, pointer=pointer, finding=f"{pointer} is written twice; the last one counts",
                fix="keep one of them", severity="warning",
            )
            for pointer, line in self._again
        ]  # fmt: skip


def _next(stack: list[tuple[str, int | None]]) -> tuple[str, list[tuple[str, int | None]], bool]:
    """After a comma: the next element of a list has a pointer at once, the next member gets it from its key."""
    pointer, number = stack[-1]
    if number is None:
        return pointer, stack, True
    stack[-1] = (pointer, number + 1)
    return f"{pointer}[{number + 1}]", stack, False
