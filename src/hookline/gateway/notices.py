"""What a person should know besides the answer: printed on standard error, every time, until it is fixed."""

from __future__ import annotations

from collections.abc import Iterator

from hookline.core.problem import Problem
from hookline.core.result import Decision
from hookline.dialects.base import FOREIGN
from hookline.engine.build import Runtime


def problem_lines(runtime: Runtime) -> Iterator[str]:
    """A hook that could not be loaded fails open, so this is repeated every time."""
    for problem in runtime.loaded.problems:
        if problem.severity == "error":
            yield str(problem)
    for one in runtime.missing:
        yield f"the trusted hook {one.name!r} is gone from {one.file}; see: hookline trust"


def trust_lines(decision: Decision) -> Iterator[str]:
    """Hooks that did not run because they are not approved: silence would look like a working guard."""
    for outcome in decision.outcomes:
        if outcome.needs_trust:
            yield f"{outcome.hook}: {outcome.error}"


def find_unloaded_guards(runtime: Runtime) -> Iterator[Problem]:
    """Mistakes that keep a hook of the user's own from loading. A repository's mistakes must not lock its reader out,
    and a guard of it that was approved counts as failed anyway."""
    foreign = {source.path for source in runtime.loaded.sources if source.layer in FOREIGN}
    for problem in runtime.loaded.problems:
        of_hooks = problem.pointer == "$" or problem.pointer.startswith(("$.hook", "$.source"))
        if of_hooks and problem.severity == "error" and problem.file not in foreign:
            yield problem
