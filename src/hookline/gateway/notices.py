"""What a person should know besides the answer.

Problems are printed on standard error every time, until they are fixed. What is not approved has no effect, so it is
reported once in a session: on standard error, and inside the agent as soon as an event can carry a message.
"""

from __future__ import annotations

from collections.abc import Iterator

from hookline.core._dataclass import replace
from hookline.core.event import EVENTS, Event
from hookline.core.files import read_text
from hookline.core.hook import Gates, hook_id
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.loaded import Unapproved
from hookline.core.problem import Problem
from hookline.core.result import Decision, Message
from hookline.dialects.base import FOREIGN
from hookline.engine.build import Runtime
from hookline.state.sessions import Sessions

#: How often a session sees the notice.
_ONCE = Gates(once_per_session=True)

_OF_ONE_HOOK = lazy_pattern(r"\$\.hook\[(\d+)\]")


def problem_lines(runtime: Runtime) -> Iterator[str]:
    """A hook that could not be loaded fails open, so this is repeated every time."""
    for problem in runtime.loaded.problems:
        if problem.severity == "error":
            yield str(problem)
    yield from map(str, missing_hooks(runtime))
    yield from runtime.held


def missing_hooks(runtime: Runtime) -> Iterator[Problem]:
    """Trusted hooks that are no longer in their files, or cannot be read there."""
    faulty = runtime.loaded.faulty
    for one in runtime.missing:
        finding, fix = f"the trusted hook {one.name!r} is missing", f"review it with: {runtime.review}"
        if one.file in faulty:
            result = "does not run" if one.on_failure in {"", "ignore"} else f"refuses every {one.event}"
            finding += f", perhaps because of an error in this file; until it is read again, it {result}"
            fix = "correct the errors of this file: hookline check"
        yield Problem(file=one.file, severity="warning", pointer="$", finding=finding, fix=fix)


def approval_lines(runtime: Runtime) -> list[str]:
    """One for each file."""
    return [
        *(f"{one.file}: {_what(one)}; review it with: {runtime.review}" for one in runtime.unapproved),
        *runtime.held,
    ]


def _what(one: Unapproved) -> str:
    if not one.hooks and not one.settings:
        return "not approved, so nothing of it has any effect"
    several = len(one.hooks) != 1 or one.settings
    parts = [f"the hook{'s' * (len(one.hooks) > 1)} {', '.join(one.hooks)}"] if one.hooks else []
    parts += ["its settings and sources"] if one.settings else []
    return f"not approved, so {' and '.join(parts)} {'have' if several else 'has'} no effect"


class SessionNotice:
    """What of the project is not approved, and hooks that are not what was: once in a session, however many processes
    serve it. Standard error has the hooks every time."""

    __slots__ = ("_key", "_now", "_session", "_sessions", "approvals", "lines")

    def __init__(self, runtime: Runtime, event: Event, decision: Decision) -> None:
        self.approvals = approval_lines(runtime)
        self.lines = [*self.approvals, *trust_lines(decision)]
        self._sessions: Sessions = runtime.engine.sessions
        self._session, self._now = event.session, event.time
        self._key = hook_id("hookline", "\n".join(self.lines), "notice")

    def is_new(self) -> bool:
        return not self._sessions.would_claim(self._session, self._key, _ONCE, self._now)

    def add_to(self, decision: Decision) -> Decision:
        """As a message of ours."""
        message = Message(hook="hookline", text="\n".join(f"hookline: {line}" for line in self.lines))
        return replace(decision, messages=(*decision.messages, message))

    def claim(self, place: str = "") -> bool:
        """Whether it is to be shown now, at this place; no other time in this session."""
        return not self._sessions.claim(self._session, self._key + place, _ONCE, self._now)


def trust_lines(decision: Decision) -> Iterator[str]:
    """Hooks that did not run because they are not approved: silence would look like a working guard."""
    for outcome in decision.outcomes:
        if outcome.needs_trust:
            yield f"{outcome.hook}: {outcome.error}"


def find_unloaded_guards(runtime: Runtime, event: str) -> Iterator[Problem]:
    """Mistakes that may keep a guard of this event, in the user's own files, from loading. A repository's mistakes must
    not lock its reader out, and a guard of it that was approved counts as failed anyway."""
    foreign = {source.path for source in runtime.loaded.sources if source.layer in FOREIGN}
    for problem in runtime.loaded.problems:
        of_hooks = problem.pointer == "$" or problem.pointer.startswith(("$.hook", "$.guard", "$.source", "$.pack"))
        if of_hooks and problem.severity == "error" and problem.file not in foreign and _may_guard(problem, event):
            yield problem


def _may_guard(problem: Problem, event: str) -> bool:
    """Whether the hook that the problem is about listens to this event, or to one that nobody knows. In doubt it does."""
    found = _OF_ONE_HOOK.match(problem.pointer)
    text = read_text(problem.file) if found is not None else None
    if found is None or text is None:
        return True
    from tomllib import TOMLDecodeError, loads

    try:
        names = loads(text)["hook"][int(found[1])]["on"]
    except (TOMLDecodeError, LookupError, TypeError):
        return True
    return any(name == event or name not in EVENTS for name in (names if isinstance(names, list) else [names]))
