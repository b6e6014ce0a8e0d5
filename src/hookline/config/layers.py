"""From a path to a ``Layer``, and from a layer to the further layers it names."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from time import thread_time

from hookline.config.discover import is_inside_project
from hookline.config.files import LARGEST, Unread, read_text
from hookline.config.overrides import with_own
from hookline.config.syntax import parse_text
from hookline.core._dataclass import dataclass, field, replace
from hookline.core.files import note
from hookline.core.hook import FILE_EVENT, Command, HookSpec, Origin, hook_id
from hookline.core.loaded import SourceFile
from hookline.core.paths import Paths
from hookline.core.problem import Problem
from hookline.core.typed import Any, Literal, Protocol
from hookline.dialects import dialect_named
from hookline.dialects.base import FOREIGN, ConfigPlace, Dialect, Layer, Lookup, Parsed, Syntax

_DEEPEST_INCLUDE = 16
_MOST_FILES = 1000

# ── what of a project's files is read ────────────────────────────────────────────────────────────────

#: What all files of a project may cost together: bytes, hooks, and seconds of the processor. Far above any real
#: configuration, and far below what an agent's deadline would notice.
MOST_BYTES, MOST_HOOKS, _MOST_SECONDS = 512 << 10, 1000, 2.0


class _Approvals(Protocol):
    """What a person has approved."""

    def knows(self, file: str) -> bool:
        """Whether anything of this file was ever approved."""
        ...

    def covers(self, contents: HookSpec) -> bool:
        """Whether what the file holds besides its hooks is as it was approved."""
        ...


class ProjectGate:
    """What is not approved is inert: a project's file is read only if something of it was approved, and within a budget.

    ``approved`` reads the files that were approved. ``inspect`` is for a person who looks: everything is read within the
    budget, and nothing counts that is not approved. ``open`` trusts everything.
    """

    __slots__ = ("_approvals", "_bytes", "_hooks", "_seconds", "contents", "mode")

    def __init__(
        self, mode: Literal["approved", "inspect", "open"] = "open", approvals: _Approvals | None = None
    ) -> None:
        self.mode = mode
        self._approvals = approvals
        self._bytes, self._hooks, self._seconds = 0, 0, 0.0
        #: What each of the project's files holds besides its hooks, as trust approves it.
        self.contents: dict[str, HookSpec] = {}

    def admits(self, path: str) -> bool:
        return self.mode != "approved" or (self._approvals is not None and self._approvals.knows(path))

    def counts(self, layer: Layer) -> bool:
        """Whether the file's settings are in force and its sources may name files of one's own."""
        if layer.name not in FOREIGN or self.mode == "open":
            return True
        contents = self.contents.get(layer.path)
        return contents is not None and self._approvals is not None and self._approvals.covers(contents)

    def follows(self, layer: Layer) -> bool:
        return self.mode == "inspect" or self.counts(layer)

    def over_budget(self, *, size: int = 0, hooks: int = 0, seconds: float = 0.0) -> str:
        """Charge the project; what it has too much of, "" if nothing."""
        if self.mode == "open":
            return ""
        self._bytes += size
        self._hooks += hooks
        self._seconds += seconds
        if self._bytes > MOST_BYTES:
            return f"the project's files are larger than {MOST_BYTES >> 10} KiB together"
        if self._hooks > MOST_HOOKS:
            return f"the project has more than {MOST_HOOKS} hooks"
        return (
            f"reading the project's files takes longer than {_MOST_SECONDS:g} s"
            if self._seconds > _MOST_SECONDS
            else ""
        )


def _contents(layer: Layer, dialect: str) -> HookSpec:
    """In the form of a hook, so that it is pinned and approved like one."""
    find = getattr(dialect_named(dialect), "besides_hooks", None)  # of most dialects, hookline uses hooks only
    besides, words = find(layer.tree) if find is not None else ({}, ())
    return HookSpec(
        id=hook_id(layer.path, "$", FILE_EVENT),
        name=os.path.basename(layer.path),
        dialect=dialect,
        event=FILE_EVENT,
        origin=Origin(file=layer.path, layer=layer.name),
        action=Command(form="words", text="\n".join(words)),
        enabled=False,
        extra={"besides": json.dumps(besides, sort_keys=True, default=str)} if besides else {},
    )


def _native_hooks(tree: Any) -> int:
    """One per event."""
    tables = tree.get("hook") if isinstance(tree, dict) else None
    events = [one.get("on") for one in tables if isinstance(one, dict)] if isinstance(tables, list) else []
    return sum(len(on) if isinstance(on, list) else 1 for on in events)


# ── layers ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True, kw_only=True)
class LayerLoader:
    """What one ``load`` has seen so far."""

    lookup: Lookup
    gate: ProjectGate = field(default_factory=ProjectGate)
    problems: list[Problem] = field(default_factory=list)
    sources: list[SourceFile] = field(default_factory=list)
    #: Nicknames of models, from files of other systems.
    models: dict[str, str] = field(default_factory=dict)
    #: Files of ours that a source has named: files that name one another have a great many paths through them.
    followed: set[str] = field(default_factory=set)
    #: Where packs and their approvals are; None for who reads files without them.
    paths: Paths | None = None
    #: Where the files of packs are, if not with the person's data.
    pack_root: str = ""

    def layer(self, path: str, name: str, syntax: Syntax, dialect: str, *, required: bool) -> Layer | None:
        """A file that nobody named may be missing; anything else that stops us is a problem."""
        foreign = name in FOREIGN
        if foreign and not self.gate.admits(path):
            there = os.path.lexists(path)
            note(path)
            self.sources.append(SourceFile(path=path, layer=name, dialect=dialect, found=there, inert=there))
            return None
        text = read_text(path, MOST_BYTES if foreign and self.gate.mode != "open" else LARGEST)
        if isinstance(text, Unread):
            self.sources.append(SourceFile(path=path, layer=name, dialect=dialect, found=not text.missing))
            if required or not text.missing:
                self.problems.append(text.problem)
            return None
        self.sources.append(SourceFile(path=path, layer=name, dialect=dialect, found=True))
        return (
            self._parse_foreign(path, text, name, syntax, dialect) if foreign else self.parse(path, text, name, syntax)
        )

    def parse(self, path: str, text: str, name: str, syntax: Syntax) -> Layer | None:
        document = parse_text(path, text, syntax)
        self.problems += document.problems
        if document.tree is None:
            return None
        return Layer(path=path, name=name, syntax=syntax, text=text, tree=document.tree, line=document.line)

    def _parse_foreign(self, path: str, text: str, name: str, syntax: Syntax, dialect: str) -> Layer | None:
        gate, began = self.gate, thread_time()
        if why := gate.over_budget(size=len(text)):
            self._refuse(path, why)
            return None
        layer = self.parse(path, text, name, syntax)
        if layer is None:
            return None
        hooks = _native_hooks(layer.tree) if dialect == "native" else 0  # of the others, when they are parsed
        if why := gate.over_budget(hooks=hooks, seconds=thread_time() - began):
            self._refuse(path, why)
            return None
        try:
            gate.contents[path] = _contents(layer, dialect)
        except RecursionError:
            self._refuse(path, "the file is nested too deeply")
            return None
        return layer

    def _refuse(self, path: str, why: str) -> None:
        """The project is over its budget: this file counts as if it could not be read."""
        self.problems.append(Problem(file=path, finding=why, fix="make it smaller; until then none of its hooks runs"))

    def load_layers(self, places: Sequence[ConfigPlace], dialect: str, *, required: bool = False) -> list[Layer]:
        """Of the places among which there is a choice, only the last one that exists counts."""
        chosen = {place.choice: place for place in places if place.choice and os.path.lexists(place.path)}
        wanted = (place for place in places if not place.choice or chosen.get(place.choice) is place)
        opened = (self.layer(one.path, one.layer, one.syntax, dialect, required=required) for one in wanted)
        return [layer for layer in opened if layer]

    def with_includes(self, dialect: Dialect, layers: Sequence[Layer]) -> list[Layer]:
        """Each layer with what it includes just below it; a circle is a problem, not a hang."""
        result: list[Layer] = []
        for layer in layers:
            result += self._included(dialect, layer, (os.path.realpath(layer.path),))
        return result

    def _included(self, dialect: Dialect, layer: Layer, trail: tuple[str, ...]) -> list[Layer]:
        try:
            includes, problems = dialect.includes(layer, self.lookup)
        except Exception as error:
            self.problems.append(our_bug(layer.path, dialect.name, error))
            return [layer]
        self.problems += problems
        result: list[Layer] = []
        for include in includes:
            real = os.path.realpath(include.path)
            if real in trail or len(trail) > _DEEPEST_INCLUDE or len(self.sources) > _MOST_FILES:
                finding = "includes itself" if real in trail else "includes too many files"
                self.problems.append(
                    Problem(file=layer.path, finding=f"{finding} ({include.path})", fix="take the include out")
                )
                continue
            syntax = include.syntax or layer.syntax
            further = self.layer(include.path, layer.name, syntax, dialect.name, required=not include.optional)
            if further:
                result += self._included(dialect, further, (*trail, real))
        return [*result, layer]

    def parsed(self, dialect: Dialect, layers: Sequence[Layer]) -> tuple[HookSpec, ...]:
        """A dialect whose code fails is our bug, and costs its own hooks only; a project's files cost only its own."""
        own, began = own_layers(layers), thread_time()
        if not layers:
            return ()
        try:
            parsed = dialect.parse(layers, self.lookup if own else self._project_lookup())
        except Exception as error:
            self.problems.append(our_bug(layers[-1].path, dialect.name, error))
            return self.parsed(dialect, own) if len(own) < len(layers) else ()
        if len(own) < len(layers) and (why := self._charge(parsed, began)):
            self._refuse(layers[-1].path, why)
            return self.parsed(dialect, own)
        self.problems += parsed.problems
        self.models |= parsed.models
        if len(own) in {0, len(layers)}:
            return parsed.specs
        # What is wrong with the same files read again has been said already.
        return with_own(lambda some: dialect.parse(some, self.lookup).specs, layers, parsed.specs)

    def _project_lookup(self) -> Lookup:
        """A project's file that nobody has approved yet must not make us read, and show, a file of one's own."""
        lookup = self.lookup
        if self.gate.mode != "inspect":
            return lookup
        inside = partial(is_inside_project, project=lookup.project, home=lookup.home)
        return replace(lookup, read=lambda path: lookup.read(path) if inside(path) else None)

    def _charge(self, parsed: Parsed, began: float) -> str:
        hooks = sum(spec.origin.layer in FOREIGN for spec in parsed.specs)
        return self.gate.over_budget(hooks=hooks, seconds=thread_time() - began)


def own_layers(layers: Sequence[Layer]) -> list[Layer]:
    return [layer for layer in layers if layer.name not in FOREIGN]


def our_bug(file: str, dialect: str, error: Exception) -> Problem:
    finding = f"the {dialect} dialect could not read this: {type(error).__name__}: {str(error)[:200]}"
    return Problem(file=file, finding=finding, fix="report this as a bug of hookline, with the file")
