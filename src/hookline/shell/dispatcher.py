"""Where the shell asks: one event in, one answer out, in any thread, and never an exception but a refusal.

A hook that starts a command or sets a variable fires no hooks by that; a firing that breaks down is told to the
person, and what it was to judge is refused.
"""

from __future__ import annotations

import os
import sys
import threading
from itertools import count
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.event import event_kind
from hookline.core.result import Failed, TimedOut
from hookline.core.sanitize import lines
from hookline.gateway.notices import trust_lines
from hookline.shell.engine_host import shell_event

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.core.result import Decision
    from hookline.engine.executor import Applied
    from hookline.shell.engine_host import EngineHost

#: Fired, and so recorded, even when no hook hears them: what the shell did, and what it was told to do.
RECORDED_EVENTS = frozenset(
    {
        "process.pre_spawn", "process.post_spawn", "process.pre_exit", "pipeline.pre_execute", "pipeline.post_execute",
        "job.background", "job.foreground", "file.redirect", "error.dispatch", "session.connect", "session.disconnect",
        "input.submit",
    }
)  # fmt: skip

#: Before these the files are looked at: what was changed meanwhile counts from the next line on.
_MOMENTS = frozenset({"session.connect", "pipeline.pre_execute", "input.submit", "prompt.render"})

#: Seconds in which commands that follow one another in a line or a script are judged by the same look.
_LOOK_AGAIN = 0.1

_DENIED = "denied by hook"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellAnswer:
    """What the hooks said of one event: whether it may happen, and with which data."""

    allowed: bool = True
    data: Mapping[str, Any] = field(default_factory=empty)
    reason: str = ""
    #: The hook that refused.
    owner: str = ""
    attributes: Mapping[str, Any] = field(default_factory=empty)
    #: The fields that hooks changed.
    changed: frozenset[str] = frozenset()
    #: The fields that hooks named, changed or not.
    named: frozenset[str] = frozenset()
    #: The hooks that changed something said that whoever cannot do it may go on without.
    droppable: bool = True

    @property
    def problem(self) -> str:
        """The refusal as a person is shown it."""
        return lines(f"Problem: {self.reason}\nSuggestion: hook {self.owner} refused it")


_YES = ShellAnswer()


class ShellDispatcher:
    """The shell's one door to the engine, for one session."""

    def __init__(self, host: EngineHost, *, environ: Callable[[], Mapping[str, str]]) -> None:
        self._host = host
        self._read_environ = environ
        self._environ: Mapping[str, str] = MappingProxyType({})
        self._stale = True
        self._local = threading.local()
        self._renewing = threading.Lock()
        self._looked = 0.0
        self._shown: set[str] = set()
        self._numbers = count(1)
        self._late: dict[str, Callable[[Applied], None]] = {}
        self.session = f"shell-{os.getpid()}-{os.urandom(4).hex()}"
        self.closed = False
        #: Variables that a hook did not let go, until the error about it is shown.
        self.refused_deletions: dict[str, ShellAnswer] = {}
        #: Since the last prompt no line was sent: a shell that ends now was left, not told to.
        self.idle = False
        self._pid = os.getpid()
        #: Events that happen in the directory of the look before their pipeline: asking the system anew takes its time.
        self.cached_cwd_events: frozenset[str] = frozenset()
        #: Called when other hooks are in force: the set of hooked keys is made anew then.
        self.on_reload: list[Callable[[], None]] = []
        #: How the person is told something; the editor puts in its own way.
        self.notify: Callable[[str], None] = write_stderr
        self._settle()

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────

    def has_hooks(self, name: str) -> bool:
        return name in self._hooked

    @property
    def guards(self) -> frozenset[str]:
        """Events that a hook can refuse."""
        return self._guards

    @property
    def specs(self) -> Any:
        return self._host.engine.specs

    @property
    def mode(self) -> str:
        """The session mode that a hook set; "" when none is set."""
        return self._host.engine.sessions.peek(self.session, "prompt.render").mode

    @property
    def busy(self) -> bool:
        return getattr(self._local, "busy", False)

    def number(self) -> int:
        return next(self._numbers)

    def fire(self, name: str, data: Mapping[str, Any]) -> ShellAnswer:
        """Ask, unless nobody listens, or it is a hook's own doing."""
        if self.closed or self.busy:
            return _YES
        if os.getpid() != self._pid:
            return self._forked(name, data)
        self._local.busy = True
        try:
            if name in _MOMENTS and (name != "pipeline.pre_execute" or self._time_to_look()):
                self._renew()
            if name not in self._hooked and name not in RECORDED_EVENTS:
                return _YES
            return self._judged(name, data)
        except Exception as error:
            return self._broken(name, data, error)
        finally:
            self._local.busy = False

    def without_hooks(self, action: Callable[[], Any]) -> Any:
        """Do something of our own that must fire nothing."""
        before = self.busy
        self._local.busy = True
        try:
            return action()
        finally:
            self._local.busy = before

    def on_late_answer(self, name: str, apply: Callable[[Applied], None]) -> None:
        """Who puts late answers of this event into the live object."""
        self._late[name] = apply

    def environment_changed(self) -> None:
        self._stale = True

    def rest(self, wait: Callable[[], Any]) -> Any:
        """Wait for a child; the record is brought up to date meanwhile."""
        rest = getattr(self._host.engine.recorder, "rest", None)
        return wait() if rest is None else rest(wait)

    def flush(self) -> None:
        """Everything recorded so far is written."""
        if os.getpid() == self._pid and (catch_up := getattr(self._host.engine.recorder, "catch_up", None)):
            catch_up()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._host.close()

    # ── behind the door ──────────────────────────────────────────────────────────────────────────────

    def _judged(self, name: str, data: Mapping[str, Any]) -> ShellAnswer:
        engine = self._host.engine
        if self._stale:
            self._stale = False
            self._environ = MappingProxyType(dict(self._read_environ()))
        cwd = self._host.cwd if name in self.cached_cwd_events and "via" not in data else ""
        decision = engine.fire_event(shell_event(engine, name, data, self.session, self._environ, cwd=cwd))
        if not decision.outcomes:
            return _YES
        self._report(decision)
        return _answer(name, data, decision)

    def _broken(self, name: str, data: Mapping[str, Any], error: Exception) -> ShellAnswer:
        """Our own fault must not let through what somebody wanted to look at."""
        self._say(f"hookline could not judge {name}: {type(error).__name__}: {error}")
        if name in self._guards and event_kind(name).denies:
            return ShellAnswer(
                allowed=False, data=data, reason=f"hookline could not judge it: {error}", owner="hookline"
            )
        return _YES

    def _forked(self, name: str, data: Mapping[str, Any]) -> ShellAnswer:
        """A copy of the shell made by fork has none of its threads and must not read from its sockets."""
        if name not in self._guards or not event_kind(name).denies:
            return _YES
        reason = "a process made by fork cannot ask the hooks"
        self._say(f"{name}: {reason}")
        return ShellAnswer(allowed=False, data=data, reason=reason, owner="hookline")

    def _time_to_look(self) -> bool:
        return monotonic() > self._looked + _LOOK_AGAIN or self._host.moved()

    def _renew(self) -> None:
        if not self._renewing.acquire(blocking=False):
            return
        try:
            if self._host.refresh(self._environ or self._read_environ()):
                self._settle()
                for callback in self.on_reload:
                    callback()
        finally:
            self._looked = monotonic()
            self._renewing.release()

    def _settle(self) -> None:
        engine = self._host.engine
        engine.on_applied = self._apply
        live = [spec for spec in engine.specs if spec.enabled and not spec.extra.get("unexpanded")]
        self._hooked = frozenset(spec.event for spec in live)
        self._guards = frozenset(spec.event for spec in live if spec.mode == "sync")
        for line in self._host.problems:
            self._once(line)

    def _apply(self, late: Applied) -> None:
        apply = self._late.get(late.event.kind.name)
        if apply is not None and not self.closed:
            apply(late)

    # ── what the person is told ──────────────────────────────────────────────────────────────────────

    def _report(self, decision: Decision) -> None:
        for message in decision.messages:
            self._say(f"{message.hook}: {message.text}")
        for line in trust_lines(decision):
            self._once(line)
        if not event_kind(decision.event).denies:
            return
        for outcome in decision.outcomes:
            # Nothing fails open in silence, and nothing is repeated with every key.
            if isinstance(outcome, Failed | TimedOut) and not outcome.needs_trust:
                self._once(f"the hook {outcome.hook} failed on {decision.event}: {outcome.error}")

    def _once(self, line: str) -> None:
        if line not in self._shown:
            self._shown.add(line)
            self._say(line)

    def _say(self, line: str) -> None:
        self.notify(f"hookline: {lines(line)}")


def write_stderr(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _answer(name: str, data: Mapping[str, Any], decision: Decision) -> ShellAnswer:
    allowed = decision.effect == "allow"
    reason = decision.reason or _DENIED
    if decision.effect == "ask":
        reason = f"{decision.reason or 'a hook wants to ask'} (needs an answer, which the shell cannot ask for)"
    changed = frozenset(key for key in event_kind(name).modifies if decision.data.get(key) != data.get(key))
    return ShellAnswer(
        allowed=allowed,
        data=decision.data,
        reason="" if allowed else reason,
        owner="" if allowed else _owner(decision),
        attributes=decision.attributes,
        changed=changed if decision.modified else frozenset(),
        named=frozenset(key for one in decision.outcomes if one.reply is not None for key in one.reply.data),
        droppable=decision.droppable,
    )


def _owner(decision: Decision) -> str:
    if decision.aborted is not None:
        return decision.aborted.hook
    for outcome in decision.outcomes:
        if outcome.reply is not None and outcome.reply.effect in {"deny", "ask"}:
            return outcome.hook
    return next((outcome.hook for outcome in decision.outcomes if isinstance(outcome, Failed | TimedOut)), "hookline")
