"""What a dialect is: a translator with two faces, pure in both, and nothing else.

No function here may touch a file, a process or the clock. What must be read beforehand comes in as a value:
``Layer`` is a file that ``config`` has read, ``Lookup`` is what it found on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from hookline.core._dataclass import dataclass, empty, field, swift
from hookline.core.agents import find_agent
from hookline.core.event import Event
from hookline.core.hook import HookSpec, Origin
from hookline.core.problem import Problem
from hookline.core.result import Decision, HookError, Reply, RunResult
from hookline.core.typed import Any, Literal, Protocol, cast

Syntax = Literal["toml", "json", "yaml", "lec", "ini", "lash"]

#: Layers that somebody else may have written: a repository's. The others are the user's or the machine's own.
FOREIGN = frozenset({"project", "local"})
#: The layer of what a pack brings: approved by its digest, not hook by hook.
PACK = "pack"
#: The layer of the machine's owner, above all others (``config.managed``).
MANAGED = "managed"


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

    def origin(self, pointer: str) -> Origin:
        return Origin(file=self.path, line=self.line(pointer), pointer=pointer, layer=self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """What a dialect may know about the world: found by ``config`` beforehand, or read through pure calls.

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
    #: Nicknames of models, as in ``[models]``, which goes before them.
    models: Mapping[str, str] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The same hooks as text of this dialect; ``losses`` is everything the dialect cannot express."""

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
    appended to it. ``environ`` is laid over the caller's environment after ``unset`` was removed from it.
    A value too long for the kernel is replaced by the path of a file holding it, and NAME_FILE names it too.
    ``fallbacks`` are whole argument lists, tried in order while the program of the one before is not found.
    ``hosted``: in a person's own run it is run as its own program does it (``runners.host``).
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
    hosted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """An agent's payload in canonical form: the arguments of an ``Event``."""

    event: str
    data: Mapping[str, Any]
    session: str = ""
    cwd: str = ""
    native_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to an agent: exactly these bytes and this exit code."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    #: Parts of the decision that this agent cannot carry out; never silent (law 11).
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
        """``parse(render(specs)) == specs`` up to origin and id; what cannot be expressed is a loss."""
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


class _ModuleDialect:
    """Each method is a function of a module that is imported when the method is first called.

    Most events need one face of a dialect only, and a cold run pays for every import.
    """

    def __init__(self, modules: Mapping[str, str], **values: Any) -> None:
        self.__dict__.update(values)
        self._modules = {name: module for module, names in modules.items() for name in names.split()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._modules:
            raise AttributeError(name)
        function = getattr(import_module(f"hookline.dialects.{self._modules[name]}"), name)
        setattr(self, name, function)  # the next call finds it at once
        return function


def module_dialect(
    name: str, syntax: Syntax, events: Mapping[str, str], modules: Mapping[str, str], **more: Any
) -> Dialect:
    """A dialect of modules below ``hookline.dialects``: each with the names of the methods that it holds."""
    made = _ModuleDialect({"base": "includes", **modules}, name=name, syntax=syntax, events=events, **more)
    return cast("Dialect", made)


def includes(layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:
    """Most dialects have none."""
    del layer, lookup
    return (), ()


def agent_places(agent: str, cwd: str, home: str, environ: Mapping[str, str]) -> tuple[ConfigPlace, ...]:
    """The files of an agent's row. In the home directory the project's file is the user's, and is read once."""
    row = find_agent(agent)
    found: dict[str, str] = {}
    for scope, file in row.files.items() if row else ():
        moved = environ.get(row.home_variable) if row and scope == "user" else ""
        path = (
            os.path.join(moved, os.path.basename(file))
            if moved
            else os.path.join(home if scope == "user" else cwd, file)
        )
        found.setdefault(os.path.normpath(path), scope)
    return tuple(ConfigPlace(path=path, layer=layer, syntax=_syntax(path)) for path, layer in found.items())


def _syntax(path: str) -> Syntax:
    return "toml" if path.endswith(".toml") else "yaml" if path.endswith((".yaml", ".yml")) else "json"
