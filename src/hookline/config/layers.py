"""From a path to a ``Layer``, and from a layer to the further layers it names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookline.config.files import Unread, read_text
from hookline.config.syntax import parse_text
from hookline.core._dataclass import dataclass, field, replace
from hookline.core.hook import HookSpec, Origin
from hookline.core.problem import Problem
from hookline.dialects.base import FOREIGN, ConfigPlace, Dialect, Layer, Lookup, Parsed, Syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hookline.core.hook import HookSpec

    Parse = Callable[[Sequence[Layer]], Sequence[HookSpec]]


def with_own(parse: Parse, layers: Sequence[Layer], specs: Sequence[HookSpec]) -> tuple[HookSpec, ...]:
    """``specs`` are those of all ``layers``; the hooks that a project changed know what they were before."""
    own_layers = [layer for layer in layers if layer.name not in FOREIGN]
    if not own_layers or len(own_layers) == len(layers):
        return tuple(specs)
    result = list(specs)
    after = 0
    for own in parse(own_layers):
        if own in result:
            after = result.index(own) + 1
            continue
        place = next((i for i, spec in enumerate(result) if _same(spec, own)), None)
        if place is None:
            gone = replace(own, enabled=False, origin=_changer(parse, layers, own), below=own)
            result.insert(after, gone)
            after += 1
        else:
            changed = result[place]
            origin = changed.origin if changed.origin.layer in FOREIGN else _changer(parse, layers, own)
            result[place] = replace(changed, origin=origin, below=own)
            after = place + 1
    return tuple(result)


def _same(spec: HookSpec, own: HookSpec) -> bool:
    """The hook at the same place, or the one that took its name on the same event."""
    if spec.below is not None:
        return False
    named = (spec.name, spec.native_event, spec.scope) == (own.name, own.native_event, own.scope)
    return spec.id == own.id or (named and spec.origin.layer in FOREIGN)


def _changer(parse: Parse, layers: Sequence[Layer], own: HookSpec) -> Origin:
    """The first of a project's files without which the hook would be as it was written."""
    foreign = [layer for layer in layers if layer.name in FOREIGN]
    mine = [layer for layer in layers if layer.name not in FOREIGN]
    guilty = next((layer for layer in foreign if own not in parse([*mine, layer])), foreign[-1])
    return Origin(file=guilty.path, line=1, pointer=own.origin.pointer, layer=guilty.name)


_DEEPEST_INCLUDE = 16
_MOST_FILES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that was looked at, so that a person can be told and a watcher can watch."""

    path: str
    layer: str
    dialect: str
    found: bool


@dataclass(slots=True, kw_only=True)
class LayerLoader:
    """What one ``load`` has seen so far."""

    lookup: Lookup
    problems: list[Problem] = field(default_factory=list)
    sources: list[SourceFile] = field(default_factory=list)
    #: Files of ours that a source has named: files that name one another have a great many paths through them.
    followed: set[str] = field(default_factory=set)

    def layer(self, path: str, name: str, syntax: Syntax, dialect: str, *, required: bool) -> Layer | None:
        """A file that nobody named may be missing; anything else that stops us is a problem."""
        text = read_text(path)
        if isinstance(text, Unread):
            self.sources.append(SourceFile(path=path, layer=name, dialect=dialect, found=not text.missing))
            if required or not text.missing:
                self.problems.append(text.problem)
            return None
        self.sources.append(SourceFile(path=path, layer=name, dialect=dialect, found=True))
        document = parse_text(path, text, syntax)
        self.problems += document.problems
        if document.tree is None:
            return None
        return Layer(path=path, name=name, syntax=syntax, text=text, tree=document.tree, line=document.line)

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
        """A dialect whose code fails is our bug, and costs its own hooks only."""
        if not layers:
            return ()
        try:
            parsed = dialect.parse(layers, self.lookup)
        except Exception as error:
            self.problems.append(our_bug(layers[-1].path, dialect.name, error))
            parsed = Parsed()
        self.problems += parsed.problems
        # What is wrong with the same files read again has been said already.
        return with_own(lambda some: dialect.parse(some, self.lookup).specs, layers, parsed.specs)


def our_bug(file: str, dialect: str, error: Exception) -> Problem:
    finding = f"the {dialect} dialect could not read this: {type(error).__name__}: {str(error)[:200]}"
    return Problem(file=file, finding=finding, fix="report this as a bug of hookline, with the file")
