"""One program that would be started, together with what is needed to judge it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from hookline.core._dataclass import dataclass, field, replace
from hookline.guard.budget import Budget
from hookline.guard.effects import Effect, Harm
from hookline.guard.options import GivenOptions, parse_options
from hookline.guard.paths import UNKNOWN_PLACE, JudgedPath, KnownPlaces, absolute, locate, place_of_unknown
from hookline.guard.reading import Invocation, Reading, Word
from hookline.guard.sensitive import secret_harm, secret_pattern_harm, write_kind

#: Letters of awk, sed or SQL that are searched, which takes time.
LONGEST_CODE: Final = 5_000
#: Commands inside commands inside commands: beyond this, what they do is unknown.
_DEEPEST = 6
#: Steps of the budget that a command inside another costs.
_INNER = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Where a command runs, and how a command inside it is read and judged."""

    places: KnownPlaces
    read: Callable[[str], Reading]
    assess: Callable[[Reading, Scene], Iterable[Effect]]
    depth: int = 0
    #: What judging may cost, beside reading; shared by all commands inside one another.
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCall:
    """An invocation in its scene: what every table of programs works on."""

    invocation: Invocation
    scene: Scene

    @property
    def name(self) -> str:
        """The program, without its directory if that is one of programs; a script of that name is something else."""
        folder, slash, name = self.invocation.argv[0].text.rpartition("/") if self.invocation.argv else ("", "", "")
        if slash and not folder.lower().endswith(("bin", "system32")):
            return f"{folder}/{name}"
        return self.invocation.name.lower().removesuffix(".exe")

    @property
    def words(self) -> tuple[Word, ...]:
        return self.invocation.argv[1:]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)

    def options(self, specification: str = "", *, until_operand: bool = False, dashes: int = 2) -> GivenOptions:
        return parse_options(self.words, specification, until_operand=until_operand, dashes=dashes)

    @property
    def directory(self) -> str | None:
        """Where it runs; None if that is unknown."""
        where = self.invocation.directory
        if where is None:
            return self.scene.places.cwd
        if not where.known and place_of_unknown(where).name == "temp":  # cd "$(mktemp -d)"
            return "/tmp/made-by-mktemp"  # noqa: S108 (a name only)
        return absolute(where.text, self.scene.places, self.scene.places.cwd) if where.known else None

    def place(self, word: Word, *, follow: bool = False) -> JudgedPath:
        directory = self.directory
        if directory is None:
            if not word.prefix.startswith(("/", "~")):
                return UNKNOWN_PLACE if word.prefix else place_of_unknown(word)
            directory = "/"
        return locate(word, self.scene.places, directory, remote=self.invocation.remote, follow=follow)

    def effect(
        self, kind: str, harm: Harm, what: str = "", *, where: str = "", why: str = "", safer: str = ""
    ) -> Effect:
        cause = self.invocation.source or " ".join(word.source or word.text for word in self.invocation.argv)
        return Effect(kind=kind, harm=harm, what=what, where=where, why=why, cause=cause, safer=safer)

    def shell(self, code: Word) -> Iterator[Effect]:
        """The effects of text that this program hands to a shell."""
        if not code.known or self.scene.depth >= _DEEPEST:
            yield self.effect("unknown", "medium", code.text, why="the command that it runs is not known")
            return
        scene = replace(self.scene, depth=self.scene.depth + 1)
        scene.budget.spend(_INNER + len(code.text) // 20)
        yield from scene.assess(scene.read(code.text), scene)

    def legible(self, code: Word) -> Iterator[Effect]:
        """What is to be said of a small language's text before it is searched: whether it is too long for that."""
        self.scene.budget.spend((min(len(code.text), LONGEST_CODE) // 70) ** 2)
        if len(code.text) > LONGEST_CODE:
            yield self.effect("unknown", "medium", code.text[:80], why="the code is too long to be read")

    def argv(self, words: Iterable[Word]) -> Iterator[Effect]:
        """The effects of a program that this one starts with these words."""
        words = tuple(words)
        if words and not self.invocation.remote and all(word.known and not word.globs for word in words):
            yield from self.shell(Word((shlex.join(word.text for word in words),), words[0].source))
            return
        if not words or self.scene.depth >= _DEEPEST:
            return
        scene = replace(self.scene, depth=self.scene.depth + 1)
        inner = replace(self.invocation, argv=words, redirects=(), wrappers=(*self.invocation.wrappers, self.name))
        yield from scene.assess(Reading(invocations=(inner,)), scene)

    def write(self, word: Word, *, append: bool = False) -> Iterator[Effect]:
        """The effects of writing to a file."""
        if word.text == "-" or word.prefix.startswith("/dev/fd/"):  # what was opened under this number has been judged
            return
        place = self.place(word, follow=True)
        special = write_kind(place.path or word.text)
        if place.name == "network":
            return
        if place.name == "device":
            yield self.effect("device", "critical", word.text, where="device", why="a device is written directly")
        elif special is not None:
            kind, harm, why = special
            yield self.effect(kind, harm, word.text, where=place.name, why=why)
        elif place.name in {"system", "root"}:
            yield self.effect("overwrite", "high", word.text, where=place.name, why="the system depends on it")
        elif place.path or place.name == "unknown":
            harmless = append or place.name == "temp"
            if not harmless or place.name != "temp":
                yield self.effect("overwrite", "low", word.text, where=place.name)

    def read(self, word: Word) -> Iterator[Effect]:
        """The effects of reading a file: only secrets count."""
        text = word.text.removeprefix("file://")
        place = self.place(word, follow=True) if text == word.text else None
        path = place.path if place and place.path else text
        harm = secret_harm(path) or (secret_harm(self.scene.places.resolve(path)) if place and place.path else None)
        if harm is None and word.globs and word.known:
            harm = secret_pattern_harm(absolute(text, self.scene.places, self.directory or "/"))
        if harm:
            yield self.effect("secret", harm, text, where=place.name if place else "", why="it holds credentials")


Handler: TypeAlias = Callable[[ProgramCall], Iterable[Effect]]
