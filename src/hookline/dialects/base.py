"""What a dialect is: a translator with two faces, pure in both, and nothing else.

No function here may touch a file, a process or the clock. What must be read beforehand comes in as a value:
``Layer`` is a file that ``config`` has read, ``Lookup`` is what it found on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Literal, Protocol

from hookline.core._dataclass import dataclass, empty, field, swift
from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.problem import Problem
from hookline.core.result import Decision, HookError, Reply, RunResult

Syntax = Literal["toml", "json", "yaml", "lec", "ini", "lash"]

#: Layers that somebody else may have written: a repository's. The others are the user's or the machine's own.
FOREIGN = frozenset({"project", "local"})


# ── the config face ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigPlace:
    """A file this system keeps its hooks in."""

    path: str
    layer: str
    syntax: Syntax
    #: Of the places that share a non-empty ``choice``, only the last one that exists is read (the nearest
    #: file of a walk upwards).
    choice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One file, read and parsed. ``line(pointer)`` gives the line of ``$.hooks[2].timeout``, 0 if unknown."""

    path: str
    name: str
    syntax: Syntax
    text: str
    tree: Any
    line: Callable[[str], int] = field(compare=False, default=lambda _pointer: 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """What a dialect may know about the world: found by ``config`` beforehand, or asked through pure calls.

    ``find(name)`` resolves a hook's name in the user's hook directories (lazy-harness): the path or None.
    ``read(path)`` gives the text of a small file that the configuration names (a prompt), or None.
    ``search(root, tail)`` gives every file below the directory ``root`` whose path ends in ``tail``, sorted
    (Lectic's plugins: ``NAME/lectic.yaml`` at any depth).
    ``builtins`` are the names of built-in hooks, name -> Python target.
    """

    cwd: str = ""
    home: str = ""
    #: The root of the project that ``cwd`` lies in; "" when nobody looked.
    project: str = ""
    environ: Mapping[str, str] = field(default_factory=empty)
    find: Callable[[str], str | None] = field(compare=False, default=lambda _name: None)
    read: Callable[[str], str | None] = field(compare=False, default=lambda _path: None)
    search: Callable[[str, str], tuple[str, ...]] = field(compare=False, default=lambda _root, _tail: ())
    builtins: Mapping[str, str] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What could be loaded, and every problem with its address."""

    specs: tuple[HookSpec, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The same hooks as text of this dialect; ``losses`` is everything the dialect cannot say."""

    text: str
    losses: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Include:
    """A further file that a layer names; it ranks just below the layer."""

    path: str
    optional: bool = False
    #: None: the syntax of the file that names it.
    syntax: Syntax | None = None


# ── the wire face ────────────────────────────────────────────────────────────────────────────────────


@swift
@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How one hook is called for one event.

    ``argv`` is complete, except that ``script`` (source text) is written to a private file whose path is
    appended to it. ``environ`` is laid over the caller's environment after ``unset`` was taken out of it.
    A value too long for the kernel is replaced by the path of a file holding it, and NAME_FILE names it too.
    ``fallbacks`` are whole argument lists, tried in order while the program of the one before is not found.
    ``standins`` are tools that the dialect lets hooks call and hookline can stand in for, behind all of PATH.
    """

    argv: tuple[str, ...] = ()
    fallbacks: tuple[tuple[str, ...], ...] = ()
    stdin: bytes = b""
    environ: Mapping[str, str] = field(default_factory=empty)
    unset: frozenset[str] = frozenset()
    script: str | None = None
    cwd: str = ""
    standins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """An agent's payload in canonical words: the arguments of an ``Event``."""

    event: str
    data: Mapping[str, Any]
    session: str = ""
    cwd: str = ""
    native_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an agent is told: exactly these bytes and this exit code."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    #: What the decision asked for and this agent cannot do; never silent (law 11).
    lost: tuple[str, ...] = ()


class Dialect(Protocol):
    """Both faces. ``name`` is what people type; ``events`` maps native event names to canonical ones."""

    name: str
    syntax: Syntax
    events: Mapping[str, str]

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:
        """The system's own files, lowest precedence first."""
        ...

    def includes(self, layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:
        """Files that ``layer`` names itself; most dialects have none."""
        ...

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:
        """All layers of one source at once, lowest precedence first. Never raises on what a person wrote."""
        ...

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        """``parse(render(specs)) == specs`` up to origin and id; what cannot be said is a loss."""
        ...

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        """How a hook of this dialect is called."""
        ...

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        """What its exit code and output mean. ``raw.error`` and ``raw.timed_out`` are judged by the caller;
        the dialect may still read a reply out of what was printed before."""
        ...

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        """What an agent of this dialect sends. Unknown fields and events survive."""
        ...

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        """What that agent understands as an answer."""
        ...


# ── dialects as packages ─────────────────────────────────────────────────────────────────────────────


def part(where: str) -> Any:
    """A method that is a function of a module (``module:function``), imported when it is first called.

    Most events need one face of a dialect only, and a cold run pays for every import.
    """

    def call(*args: Any) -> Any:
        return load(where)(*args)

    return staticmethod(call)


@cache  # every event passes here, and import_module takes its time to find what is there already
def load(where: str) -> Any:
    """``module:name``."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


class DialectBase:
    """What most dialects have in common: they follow no includes. ``parse`` and the others are ``part``s."""

    name: str
    syntax: Syntax
    events: Mapping[str, str]

    def includes(self, layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:
        return (), ()
