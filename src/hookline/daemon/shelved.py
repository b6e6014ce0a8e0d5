"""One engine, with all that it was made of: by that it is known whether it still fits, and whether a newer one is worse."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hookline.config.lookup import hook_directories
from hookline.daemon.watching import signature
from hookline.spec import Function, Plugin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hookline.assembly import Assembly
    from hookline.daemon.watching import Signature, WatchedEnviron
    from hookline.door import Told
    from hookline.heard import Heard

#: When files were looked at: the number of the news and of the period, or -1 and the turn.
Moment = tuple[int, int]
KEPT = "; the last good configuration stays in force until this is mended"


class Shelved:
    """One engine with what it was made of. ``users`` is guarded by the shelf's lock."""

    __slots__ = (
        "_like", "_resident", "assembly", "environ", "files", "looked", "notes", "shape", "trust", "users", "worn",
    )  # fmt: skip

    def __init__(self, assembly: Assembly, environ: WatchedEnviron, files: dict[str, Signature]) -> None:
        self.assembly = assembly
        self.environ = environ
        self.files = files
        self.trust = signature(os.path.join(assembly.paths.state, "trust.json"))
        #: What to say besides: why a newer configuration is not in force.
        self.notes: tuple[str, ...] = ()
        self.users = 0
        self.worn = False
        #: The moment at which the files were last looked at, and what their folders were like when they were covered;
        #: None where they cannot be.
        self.looked: Moment | None = None
        self.shape: int | None = -1
        assembly.switches.moment = lambda: self.looked
        #: The environment that was last found to fit, and how much of ours was known by then.
        self._like: tuple[Mapping[str, str], int, bool] | None = None
        self._resident = frozenset(
            spec.id for spec in assembly.engine.specs if isinstance(spec.action, Function | Plugin)
        )

    def resident(self, told: Told) -> bool:
        """Whether only functions and plugins had a say: no process was started, nobody far away was asked."""
        outcomes = told.decision.outcomes if told.decision is not None else ()
        return all(outcome.id in self._resident for outcome in outcomes)

    def fits(self, environ: Mapping[str, str]) -> bool:
        ours = self.environ
        like = (environ, len(ours.seen), ours.whole)
        known = self._like
        if known is not None and known[0] is environ and known[1:] == like[1:]:
            return True  # the same object: what a caller brings is never changed
        if not ours.same_in(environ):
            return False
        self._like = like
        return True


def further_files(assembly: Assembly, one: Heard, environ: Mapping[str, str]) -> Iterator[str]:
    """What matters although nobody opened it: files that were not there, and modules that are loaded later."""
    yield from (source.path for source in assembly.loaded.sources)
    yield os.path.join(assembly.paths.state, "trust.json")
    yield from hook_directories(one.home, environ, one.paths)
    for spec in assembly.engine.specs:
        if isinstance(spec.action, Function) and spec.action.base:
            yield from _modules(spec.action)


def _modules(action: Function) -> Iterator[str]:
    """The module's own file, and its neighbours, which it may import."""
    stem = os.path.join(action.base, *action.target.partition(":")[0].split("."))
    yield from (f"{stem}.py", os.path.join(stem, "__init__.py"))
    for folder in {action.base, os.path.dirname(stem)}:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in names[:200] if name.endswith(".py"))


def worse(before: Shelved, made: Shelved) -> tuple[str, ...]:
    """What is wrong now and was not, as long as nobody changed what is trusted; nothing when the new one is good."""
    if made.trust != before.trust:
        return ()
    old, new = _errors(before.assembly), _errors(made.assembly)
    fresh = tuple(each for each in new if each not in old)
    lost = len(made.assembly.loaded.specs) < len(before.assembly.loaded.specs)
    return tuple(f"{each}{KEPT}" for each in fresh) if lost else ()


def _errors(assembly: Assembly) -> list[Any]:
    return [str(each) for each in assembly.loaded.problems if each.severity == "error"]
