"""What a person should know besides the answer: said on standard error, every time, until it is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.dialects.base import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookline.core.problem import Problem
    from hookline.core.result import Decision
    from hookline.engine.build import Runtime
    from hookline.engine.engine import Engine


def remarks(assembly: Runtime, decision: Decision) -> list[str]:
    """All of them; mostly none, which must cost nothing."""
    lines: list[str] = []
    if assembly.loaded.problems or assembly.missing:
        lines += problem_lines(assembly)
    for outcome in decision.outcomes:
        if outcome.error:
            lines += untrusted_lines(decision)
            break
    lines += note_lines(assembly.engine)
    return lines


def problem_lines(assembly: Runtime) -> Iterator[str]:
    """Said every time, so that no guard that could not be loaded is missed: a hook that is not there fails open."""
    for problem in assembly.loaded.problems:
        if problem.severity == "error":
            yield str(problem)
    for one in assembly.missing:
        yield f"the trusted hook {one.name!r} is gone from {one.file}; see: hookline trust"


def note_lines(engine: Engine) -> Iterator[str]:
    """What could not be written down: a record with gaps that nobody knows of is worse than none."""
    for keeper in (engine.recorder, engine.sessions):
        note: str = getattr(keeper, "note", "")
        if note:
            yield note


def untrusted_lines(decision: Decision) -> Iterator[str]:
    """A hook that silently does not run is what people suffer from."""
    for outcome in decision.outcomes:
        if outcome.needs_trust:
            yield f"{outcome.hook}: {outcome.error}"


def not_loaded(assembly: Runtime) -> Iterator[Problem]:
    """Mistakes for which a hook of the user's own is not there. What a repository writes must not lock its reader out,
    and a guard of its that was trusted counts as failed anyway."""
    foreign = {source.path for source in assembly.loaded.sources if source.layer in FOREIGN}
    for problem in assembly.loaded.problems:
        of_hooks = problem.pointer == "$" or problem.pointer.startswith(("$.hook", "$.source"))
        if of_hooks and problem.severity == "error" and problem.file not in foreign:
            yield problem
