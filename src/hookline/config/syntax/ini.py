"""INI as Python's ``configparser`` reads it with its defaults, but with lines, and never all or nothing.

Sections keep their case, keys are lowered; ``#`` and ``;`` begin a comment only at the start of a line; an
indented line goes on with the value above; ``%%`` is a percent sign and ``%(name)s`` another value of the
section or of ``[DEFAULT]``. A bare ``%`` is a problem of its own option, which then keeps its text as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookline.config.syntax import Document, Lines
from hookline.core._dataclass import dataclass, field
from hookline.core.problem import Problem

_DEFAULT = "DEFAULT"
#: As deep as configparser goes; and bounds on what a few lines can grow to, per value and per file.
_DEEPEST = 10
_LONGEST_VALUE = 1 << 20
_MOST_REFERENCES = 100_000
_SECTION = re.compile(r"\[(?P<name>.+)\]")
_DELIMITER = re.compile("[=:]")
_REFERENCE = re.compile(r"%(?:%|\((?P<name>[^()]*)\)s)?")


@dataclass(slots=True, kw_only=True)
class _Option:
    line: int
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.parts).rstrip()


class _BadReferenceError(Exception):
    pass


def read(path: str, text: str) -> Document:
    reader = _Reader(path)
    reader.take(text)
    tree = {name: reader.values(name) for name in reader.sections}
    lines = dict(reader.lines())
    return Document(tree=tree, line=Lines(lambda: lines), problems=tuple(reader.problems))


class _Reader:
    def __init__(self, path: str) -> None:
        self._path = path
        self.problems: list[Problem] = []
        self.sections: dict[str, dict[str, _Option]] = {}
        self._heads: dict[str, int] = {}
        self._references = 0

    def take(self, text: str) -> None:
        section: dict[str, _Option] | None = None
        name, option, indent = "", None, 0
        for number, line in enumerate(text.split("\n"), start=1):
            body = line.strip()
            if body.startswith(("#", ";")):
                continue
            if not body:
                # An empty line belongs to a value that goes on below it.
                if option:
                    option.parts.append("")
                continue
            depth = len(line) - len(line.lstrip())
            if option and depth > indent:
                option.parts.append(body)
                continue
            indent = depth
            if head := _SECTION.match(body):
                name, option = head["name"], None
                section = self._open(name, number)
            elif section is None:
                self._wrong(number, "$", "this line stands before the first section", 'begin with "[SECTION]"')
            else:
                option = self._option(section, name, body, number)

    def _open(self, name: str, number: int) -> dict[str, _Option]:
        if name in self.sections:
            self._wrong(number, f"$.{name}", f"the section [{name}] is written twice", "put its options together")
        self._heads.setdefault(name, number)
        return self.sections.setdefault(name, {})

    def _option(self, section: dict[str, _Option], name: str, body: str, number: int) -> _Option | None:
        found = _DELIMITER.search(body)
        key = body[: found.start()].rstrip().lower() if found else ""
        if not found or not key:
            self._wrong(number, f"$.{name}", f"not an option: {body[:60]!r}", "write name = value")
            return None
        option = _Option(line=number, parts=[body[found.end() :].lstrip()])
        if key in section:
            self._wrong(number, f"$.{name}.{key}", f"{key} is written twice; the first one counts", "keep one of them")
            return option
        section[key] = option
        return option

    def _wrong(self, line: int, pointer: str, finding: str, fix: str) -> None:
        self.problems.append(Problem(file=self._path, line=line, pointer=pointer, finding=finding, fix=fix))

    def lines(self) -> Iterator[tuple[str, int]]:
        yield "$", 1
        for name, section in self.sections.items():
            yield f"$.{name}", self._heads[name]
            for key, option in section.items():
                yield f"$.{name}.{key}", option.line

    def values(self, name: str) -> dict[str, str]:
        """Own options only: what ``[DEFAULT]`` says is used in references and stands in its own section."""
        return {key: self._value(name, key, option) for key, option in self.sections[name].items()}

    def _value(self, name: str, key: str, option: _Option) -> str:
        try:
            return self._expanded(name, option.text, 0)
        except _BadReferenceError as error:
            self._wrong(option.line, f"$.{name}.{key}", str(error), 'write "%%" for a percent sign')
            return option.text

    def _expanded(self, name: str, text: str, depth: int) -> str:
        if "%" not in text:
            return text
        if depth > _DEEPEST:
            raise _BadReferenceError("references go round in a circle")
        length = 0

        def one(found: re.Match[str]) -> str:
            if found[0] == "%%":
                return "%"
            if found["name"] is None:
                raise _BadReferenceError("a bare % in the value")
            wanted = found["name"].lower()
            option = self.sections[name].get(wanted) or self.sections.get(_DEFAULT, {}).get(wanted)
            if option is None:
                raise _BadReferenceError(f"%({wanted})s is not an option of [{name}]")
            self._references += 1
            value = self._expanded(name, option.text, depth + 1)
            nonlocal length
            length += len(value)
            if length > _LONGEST_VALUE or self._references > _MOST_REFERENCES:
                raise _BadReferenceError("its references grow too large")
            return value

        return _REFERENCE.sub(one, text)
