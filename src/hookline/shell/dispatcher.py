"""Fires the events of a shell: one event in, one answer out, from any thread, without exceptions.

A command that a hook starts or a variable that it sets fires no hooks. If firing itself fails, the person is notified,
and an event that a hook could deny is denied.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from itertools import count
from time import monotonic
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.agent_processes import SHELL_PID
from hookline.core.event import event_kind
from hookline.core.result import Decision, Failed, TimedOut
from hookline.core.sanitize import lines
from hookline.engine.executor import Applied
from hookline.gateway.notices import trust_lines
from hookline.shell.engine_host import EngineHost

#: Fired, and so recorded, even without hooks: what the shell did, and the lines it was given.
RECORDED_EVENTS = frozenset(
    {
        "process.pre_spawn", "process.post_spawn", "process.pre_exit", "pipeline.pre_execute", "pipeline.post_execute",
        "job.background", "job.foreground", "file.redirect", "error.dispatch", "session.connect", "session.disconnect",
        "input.submit",
    }
)  # fmt: skip

#: Before these events changed configuration is reloaded, so it counts from the next line on.
_RELOAD_BEFORE = frozenset({"session.connect", "pipeline.pre_execute", "input.submit", "prompt.render"})

#: Seconds between checks for changes, for the commands of one line or script.
_RELOAD_INTERVAL = 0.1

_DENIED = "denied by hook"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellAnswer:
    """The hooks' decision about one event: whether it may happen, and with which data."""

    allowed: bool = True
    data: Mapping[str, Any] = field(default_factory=empty)
    reason: str = ""
    #: The hook that denied it.
    owner: str = ""
    attributes: Mapping[str, Any] = field(default_factory=empty)
    #: The fields that hooks changed.
    changed: frozenset[str] = frozenset()
    #: The fields that hooks named, changed or not.
    named: frozenset[str] = frozenset()
    #: All hooks that changed something allow that a change which cannot be made is dropped.
    droppable: bool = True

    @property
    def problem(self) -> str:
        """The denial as it is shown."""
        return lines(f"Problem: {self.reason}\nSuggestion: hook {self.owner} refused it")


_YES = ShellAnswer()


class ShellDispatcher:
    """For one shell session."""

    def __init__(self, host: EngineHost, *, environ: Callable[[], Mapping[str, str]], pid: int = 0) -> None:
        """``pid``: the shell, if it is interactive."""
        self._host = host
        self._read_environ = environ
        self._environ: Mapping[str, str] = MappingProxyType({})
        self._stale = True
        self._local = threading.local()
        self._reloading = threading.Lock()
        self._checked_at = 0.0
        self._shown: set[str] = set()
        self._numbers = count(1)
        self._late: dict[str, Callable[[Applied], None]] = {}
        self.session = f"shell-{os.getpid()}-{os.urandom(4).hex()}"
        self.closed = False
        #: Variables whose deletion a hook denied, until the error is shown.
        self.refused_deletions: dict[str, ShellAnswer] = {}
        #: No line since the last prompt: a shell that ends now got end of file, not ``exit``.
        self.idle = False
        #: The line that is running.
        self.line = ""
        self._pid = os.getpid()
        self._shell_pid = str(pid or "")
        #: Events that use the directory of the last reload check: asking the system again would cost time.
        self.cached_cwd_events: frozenset[str] = frozenset()
        #: Called after a reload: the set of hooked keys may have changed.
        self.on_reload: list[Callable[[], None]] = []
        #: Shows a message; the line editor replaces it.
        self.notify: Callable[[str], None] = write_stderr
        self._use_engine()

    def has_hooks(self, name: str) -> bool:
        return name in self._hooked

    @property
    def guards(self) -> frozenset[str]:
        """Events with a hook that can deny them."""
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
        """Fire it, unless there is no hook for it or a hook caused it."""
        if self.closed or self.busy:
            return _YES
        if os.getpid() != self._pid:
            return self._forked(name, data)
        self._local.busy = True
        try:
            if name in _RELOAD_BEFORE and (
                name != "pipeline.pre_execute"
                or monotonic() > self._checked_at + _RELOAD_INTERVAL
                or self._host.moved()
            ):
                self._reload()
            if name not in self._hooked and name not in RECORDED_EVENTS:
                return _YES
            return self._fire(name, data)
        except Exception as error:
            return self._broken(name, data, error)
        finally:
            self._local.busy = False

    def refresh(self) -> frozenset[str]:
        """Use the hooks of this directory as they are now; the files that they come from."""
        self._reload()
        return self._host.files

    @property
    def is_current(self) -> bool:
        """Whether the files are still as they were read."""
        return self._host.is_current

    def without_hooks(self, action: Callable[[], Any]) -> Any:
        """Do something that must fire no hooks."""
        before = self.busy
        self._local.busy = True
        try:
            return action()
        finally:
            self._local.busy = before

    def on_late_answer(self, name: str, apply: Callable[[Applied], None]) -> None:
        """``apply`` gets late answers to this event."""
        self._late[name] = apply

    def environment_changed(self) -> None:
        self._stale = True

    def rest(self, wait: Callable[[], Any]) -> Any:
        """Wait for a child; pending records are written meanwhile."""
        rest = getattr(self._host.engine.recorder, "rest", None)
        return wait() if rest is None else rest(wait)

    def flush(self) -> None:
        """Write all pending records."""
        if os.getpid() == self._pid and (catch_up := getattr(self._host.engine.recorder, "catch_up", None)):
            catch_up()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._host.close()

    def _fire(self, name: str, data: Mapping[str, Any]) -> ShellAnswer:
        engine = self._host.engine
        if self._stale:
            self._stale = False
            self._environ = MappingProxyType({**self._read_environ(), SHELL_PID: self._shell_pid})
        cwd = self._host.cwd if name in self.cached_cwd_events and "via" not in data else ""
        event = engine.event(name, data, session=self.session, cwd=cwd or self._host.directory(), environ=self._environ)
        decision = engine.fire_event(event)
        if not decision.outcomes:
            return _YES
        self._report(decision)
        return _answer(name, data, decision)

    def _broken(self, name: str, data: Mapping[str, Any], error: Exception) -> ShellAnswer:
        """An error of ours must not let through what a hook wanted to check."""
        self._show(f"hookline could not run the hooks of {name}: {type(error).__name__}: {error}")
        if name in self._guards and event_kind(name).denies:
            return ShellAnswer(
                allowed=False, data=data, reason=f"hookline could not run the hooks: {error}", owner="hookline"
            )
        return _YES

    def _forked(self, name: str, data: Mapping[str, Any]) -> ShellAnswer:
        """A forked copy of the shell has none of its threads and must not read from its sockets."""
        if name not in self._guards or not event_kind(name).denies:
            return _YES
        reason = "a forked process cannot run hooks"
        self._show(f"{name}: {reason}")
        return ShellAnswer(allowed=False, data=data, reason=reason, owner="hookline")

    def _reload(self) -> None:
        if not self._reloading.acquire(blocking=False):
            return
        try:
            if self._host.refresh(self._environ or self._read_environ()):
                self._use_engine()
                for callback in self.on_reload:
                    callback()
        finally:
            self._checked_at = monotonic()
            self._reloading.release()

    def _use_engine(self) -> None:
        engine = self._host.engine
        engine.on_applied = self._apply
        live = [spec for spec in engine.specs if spec.enabled and not spec.extra.get("unexpanded")]
        self._hooked = frozenset(spec.event for spec in live)
        self._guards = frozenset(spec.event for spec in live if spec.mode == "sync")
        for line in self._host.problems:
            self._show_once(line)

    @property
    def problems(self) -> list[str]:
        """What is wrong with the hooks of this place, as it is shown."""
        return [_shown(line) for line in self._host.problems]

    def _apply(self, late: Applied) -> None:
        apply = self._late.get(late.event.kind.name)
        if apply is not None and not self.closed:
            apply(late)

    def _report(self, decision: Decision) -> None:
        for message in decision.messages:
            self._show(f"{message.hook}: {message.text}")
        for line in trust_lines(decision):
            self._show_once(line)
        if not event_kind(decision.event).denies:
            return
        for outcome in decision.outcomes:
            # No failure is silent, and none is repeated with every key.
            if isinstance(outcome, Failed | TimedOut) and not outcome.needs_trust:
                self._show_once(f"the hook {outcome.hook} failed on {decision.event}: {outcome.error}")

    def _show_once(self, line: str) -> None:
        if line not in self._shown:
            self._shown.add(line)
            self._show(line)

    def _show(self, line: str) -> None:
        self.notify(_shown(line))


def _shown(line: str) -> str:
    return f"hookline: {lines(line)}"


def write_stderr(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _answer(name: str, data: Mapping[str, Any], decision: Decision) -> ShellAnswer:
    allowed = decision.effect == "allow" or (_only_failed(decision) and _leaves(data))
    reason = decision.reason or _DENIED
    if decision.effect == "ask":
        reason = f"{decision.reason or 'a hook wants to ask'} (the shell cannot ask)"
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


def _only_failed(decision: Decision) -> bool:
    return not any(one.reply is not None and one.reply.effect in {"deny", "ask"} for one in decision.outcomes)


def _leaves(data: Mapping[str, Any]) -> bool:
    """A hook that hangs or fails must not keep a person in the shell."""
    if data.get("key") == "ctrl+d":
        return True
    commands = data.get("commands") or [data]
    words = {str(one.get("command") or str(one.get("text", "")).partition(" ")[0]) for one in commands}
    return words <= {"exit", "logout", "quit"} and not set(str(data.get("text", ""))) & set(";|&<>$(`\n")


def _owner(decision: Decision) -> str:
    if decision.aborted is not None:
        return decision.aborted.hook
    for outcome in decision.outcomes:
        if outcome.reply is not None and outcome.reply.effect in {"deny", "ask"}:
            return outcome.hook
    return next((outcome.hook for outcome in decision.outcomes if isinstance(outcome, Failed | TimedOut)), "hookline")
