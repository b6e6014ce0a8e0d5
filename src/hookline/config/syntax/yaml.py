"""YAML as people mean it today: ``on``, ``yes`` and ``off`` are words, only ``true`` and ``false`` are booleans.

The tree is built here from the parser's events, because PyYAML's own constructor follows YAML 1.1, recurses
as deep as the text does, and expands aliases without limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hookline.config.syntax import Document, Lines, syntax_error
from hookline.core._dataclass import dataclass, field
from hookline.core.problem import Problem

if TYPE_CHECKING:
    import yaml

#: Values after aliases are expanded: an alias bomb is refused, a large configuration is not.
_MOST_NODES = 100_000
_DEEPEST = 100
_TWICE = "keep one of them; until then the first one counts, and hookline run answers no conversation with it"
_INT = re.compile(r"[-+]?[0-9]{1,4000}")
_BASED = re.compile(r"0o[0-7]{1,4000}|0x[0-9a-fA-F]{1,4000}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,400}|[0-9]{1,400}(?:\.[0-9]{0,400})?)(?:[eE][-+]?[0-9]{1,9})?")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None,
          "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}  # fmt: skip
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")


class _RefusedError(Exception):
    def __init__(self, finding: str, line: int) -> None:
        super().__init__(finding)
        self.line = line


def read(path: str, text: str, first_line: int = 1) -> Document:
    """``first_line`` is where the text begins in its file, for YAML at the top of another document."""
    # Imported here: a configuration without YAML must not pay for it.
    import yaml

    builder = _Builder(first_line=first_line)
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        tree = builder.build(yaml.parse(text, Loader=loader))
    except _RefusedError as refused:
        return syntax_error(path, "YAML", str(refused), refused.line)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        finding = " ".join(part for part in (error.context, error.problem) if part)
        return syntax_error(path, "YAML", finding + _excerpt(text, mark), mark.line + first_line if mark else 0)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        at = getattr(error, "position", None)
        line = text.count("\n", 0, at) + first_line if isinstance(at, int) else 0
        return syntax_error(path, "YAML", str(error).partition("\n")[0] or "nested too deeply", line)
    lines = builder.lines
    return Document(tree=tree, line=Lines(lambda: lines), problems=tuple(builder.problems(path)))


def _excerpt(text: str, mark: yaml.Mark | None) -> str:
    lines = text.split("\n")
    if mark is None or mark.line >= len(lines):
        return ""
    return f", at column {mark.column + 1} of: {lines[mark.line].strip()[:120]!r}"


@dataclass(slots=True, kw_only=True)
class _Builder:
    first_line: int
    lines: dict[str, int] = field(default_factory=dict)
    nodes: int = 0
    #: Anchor -> value and how many nodes it has; None while it is being built.
    anchors: dict[str, tuple[Any, int] | None] = field(default_factory=dict)
    findings: list[tuple[str, int, str]] = field(default_factory=list)

    def build(self, events: Iterator[yaml.Event]) -> Any:
        tree: Any = {}
        documents = 0
        for event in events:
            match type(event).__name__:
                case "StreamStartEvent" | "StreamEndEvent" | "DocumentEndEvent":
                    pass
                case "DocumentStartEvent":
                    documents += 1
                    if documents > 1:
                        raise _RefusedError("a second document", self._line(event))
                case _:
                    tree = self._node(event, events, "$", 0)
        # An empty file, or nothing but comments, is a configuration that says nothing.
        return {} if tree is None else tree

    def problems(self, path: str) -> Iterator[Problem]:
        for pointer, line, finding in self.findings:
            yield Problem(file=path, line=line, pointer=pointer, finding=finding, fix=_TWICE)

    def _line(self, event: yaml.Event) -> int:
        return event.start_mark.line + self.first_line if event.start_mark else 0

    def _count(self, many: int, event: yaml.Event) -> None:
        self.nodes += many
        if self.nodes > _MOST_NODES:
            raise _RefusedError(f"more than {_MOST_NODES} values", self._line(event))

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], pointer: str, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _RefusedError("nested too deeply", self._line(event))
        kind = type(event).__name__
        self.lines.setdefault(pointer, self._line(event))
        if kind == "AliasEvent":
            return self._alias(event)
        self._count(1, event)
        before = self.nodes
        anchor: str | None = event.anchor  # type: ignore[attr-defined]  # every node event has one
        if anchor:
            self.anchors[anchor] = None
        value: Any
        match kind:
            case "ScalarEvent":
                value = _scalar(event)  # type: ignore[arg-type]  # by its name it is one
            case "SequenceStartEvent":
                value = self._sequence(events, pointer, depth)
            case _:
                value = self._mapping(events, pointer, depth)
        if anchor:
            self.anchors[anchor] = (value, self.nodes - before + 1)
        return value

    def _alias(self, event: yaml.Event) -> Any:
        name = str(event.anchor)  # type: ignore[attr-defined]  # an alias names an anchor
        known = self.anchors.get(name)
        if known is None:
            finding = f"*{name} contains itself" if name in self.anchors else f"*{name} is not defined above"
            raise _RefusedError(finding, self._line(event))
        self._count(known[1], event)
        return known[0]

    def _sequence(self, events: Iterator[yaml.Event], pointer: str, depth: int) -> list[Any]:
        items: list[Any] = []
        for event in events:
            if type(event).__name__ == "SequenceEndEvent":
                break
            items.append(self._node(event, events, f"{pointer}[{len(items)}]", depth + 1))
        return items

    def _mapping(self, events: Iterator[yaml.Event], pointer: str, depth: int) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for event in events:
            if type(event).__name__ == "MappingEndEvent":
                break
            key = self._key(event, events, pointer, depth)
            inner = f"{pointer}.{key}"
            line = self._line(event)
            if key in table:
                self.findings.append((inner, line, f"{key!r} is written twice"))
                self._node(next(events), events, f"{inner}#again", depth + 1)
                continue
            self.lines[inner] = line
            table[key] = self._node(next(events), events, inner, depth + 1)
        return table

    def _key(self, event: yaml.Event, events: Iterator[yaml.Event], pointer: str, depth: int) -> str:
        """A key is text, as written: ``on`` and ``1`` are names here."""
        if type(event).__name__ == "ScalarEvent":
            self._count(1, event)
            key = str(event.value)  # type: ignore[attr-defined]  # a scalar has one
            if event.anchor:  # type: ignore[attr-defined]  # every node event has one
                self.anchors[event.anchor] = (key, 1)  # type: ignore[attr-defined]  # as above
            return key
        value = self._node(event, events, f"{pointer}.?", depth + 1)
        if not isinstance(value, str):
            raise _RefusedError("a key that is not text", self._line(event))
        return value


def _scalar(event: yaml.ScalarEvent) -> Any:
    """Only a plain word, or one with a tag that says so, is anything else than text."""
    tagged = (event.tag or "").removeprefix("tag:yaml.org,2002:")
    return _plain(event.value) if event.implicit[0] or tagged in {"int", "float", "bool", "null"} else event.value


def _plain(text: str) -> Any:
    """The core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if infinite := _INFINITE.fullmatch(text):
        return float(f"{infinite[1]}inf")
    return float("nan") if text in {".nan", ".NaN", ".NAN"} else text
