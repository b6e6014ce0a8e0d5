"""What loading the configuration gives, as values: also for who has it from a snapshot and loads nothing."""

from __future__ import annotations

from hookline.core._dataclass import dataclass, field
from hookline.core.hook import HookSpec
from hookline.core.problem import Problem
from hookline.core.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that was looked at, so that a person can be told and a watcher can watch."""

    path: str
    layer: str
    dialect: str
    found: bool
    #: Not read, because nothing of it is approved.
    inert: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What there is. ``specs`` keep declared order, disabled ones among them."""

    specs: tuple[HookSpec, ...] = ()
    problems: tuple[Problem, ...] = ()
    settings: Settings = field(default_factory=Settings)
    sources: tuple[SourceFile, ...] = ()
    #: What the project's files hold besides hooks, each in the form in which it is approved.
    contents: tuple[HookSpec, ...] = ()

    @property
    def faulty(self) -> frozenset[str]:
        """The files with errors: a hook that is missing there may be one that cannot be read."""
        return frozenset(problem.file for problem in self.problems if problem.severity == "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unapproved:
    """A file of which nothing is in force; or some of its hooks, by name; or its settings."""

    file: str
    hooks: tuple[str, ...] = ()
    settings: bool = False
