"""One child from start to end, in one poll loop: no threads, no sleeping, and its whole group ends with it.

``ProcessRun`` handles what is ready and returns how long it can wait. Its driver asks the system: a poll loop
here, an event loop in ``process_async``.

The deadline covers the spawn, the write, the reads and the close. What can happen in between:

    running ──deadline or stop──▶ ending (SIGTERM) ──grace──▶ killed (SIGKILL) ──▶ given up (noted)
       │                             │                          │
       └──── the child exited ───────┴──────────────────────────┘
                    ▼
        draining: others may still hold its pipes ──▶ closing (SIGKILL to the group) ──▶ left (noted)

A hook in a person's own run (``host``) is not closed after draining if it succeeded: ``waiting`` for the rest of its
output lasts until its deadline.

The child is reaped last: until then its number, which is also the group's, cannot be given to anybody else,
so a signal to the group can hit nobody but the group.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence
from contextlib import suppress

from hookline.core._dataclass import fast_constructor, replace
from hookline.core.result import RunResult
from hookline.core.settings import Settings
from hookline.core.typed import TYPE_CHECKING, Any, Literal, TypeAlias
from hookline.runners.base import Stop
from hookline.runners.spawn import Capture, Launch, pipe, spawn, why_not

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the module around it makes an enum of every number first

#: Seconds that the pipes of an exited child are read on while somebody else holds them.
DRAIN = 0.1
#: Seconds that the pipes of a killed group need at most to close.
_CLOSE = 0.03
#: Seconds after which a process that survives SIGKILL (stuck in the kernel) is given up.
_GIVE_UP = 1.0
#: Seconds between two looks at the child where the system has no process descriptors.
_LOOK = 0.005
_CHUNK = 1 << 16
#: No time to wait at all: the run is over.
OVER = -1.0

_Phase: TypeAlias = Literal["running", "ending", "killed", "draining", "waiting", "closing", "over"]
_ALIVE = frozenset({"running", "ending", "killed"})
_BY_CTRL_C = (-signal.SIGINT, 128 + signal.SIGINT)

_make_raw = fast_constructor(RunResult)


def run_process(launch: Launch, *, timeout: float | None, settings: Settings, stop: Stop) -> RunResult:
    """Run it to its end, at most ``timeout`` seconds plus the grace."""
    poll = select.poll()
    watch = ProcessRun(launch, settings, stop, timeout, poll)
    try:
        try:
            watch.start()
        except OSError as error:
            return watch.not_started(error)
        patience: float | None = 0.0
        while patience != OVER:
            patience = watch.step(poll.poll(None if patience is None else patience * 1000))
    finally:
        watch.finish()
    return watch.raw()


class ProcessRun:
    """The state of one run. ``finish`` may be called at any point and leaves nothing behind."""

    __slots__ = (
        "_began", "_born", "_captures", "_deadline", "_launch", "_next", "_notes", "_open", "_phase", "_pid", "_pidfd", "_poll", "_rest",
        "_settings", "_status", "_stdin", "_stop", "_stopped", "_terminal", "_timed_out", "_wait",
    )  # fmt: skip

    def __init__(
        self, launch: Launch, settings: Settings, stop: Stop, timeout: float | None, poll: select.poll | select.epoll
    ) -> None:
        self._began = time.monotonic()
        self._launch = launch
        self._settings = settings
        self._stop = stop
        self._poll = poll
        self._phase: _Phase = "running"
        #: When the phase ends by itself.
        self._next = self._deadline = None if timeout is None else self._began + timeout
        self._pid = -1
        self._born: list[int] = []
        self._pidfd = -1
        self._stdin = -1
        self._rest = memoryview(launch.stdin)
        self._captures: dict[int, Capture] = {}
        #: The outputs that somebody can still write to.
        self._open: set[int] = set()
        self._status: int | None = None
        self._timed_out = False
        self._stopped = False
        self._notes: list[str] = []
        #: While the terminal is lent, and while a person may end the waiting for output.
        self._terminal: Any = None
        self._wait: Stop | None = None

    # ── start ────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Pipes, child, poll. A payload that fits into the pipe is in it before the child asks for it."""
        theirs: list[int] = []
        try:
            stdin = self._open_stdin(theirs) if self._rest else None
            stdout = self._open_output(theirs)
            stderr = self._open_output(theirs)
            if self._launch.terminal and self._launch.host.terminal.borrow():
                self._terminal = self._launch.host.terminal
            elif self._launch.terminal:
                self._launch = replace(self._launch, terminal=False)
            self._pid = spawn(self._launch, stdin, stdout, stderr, self._born)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        if self._launch.on_start is not None:
            self._launch.on_start()
        self._watch_exit()
        self._open.update(self._captures)
        for descriptor in self._open:
            self._poll.register(descriptor, select.POLLIN)
        if self._stdin >= 0:
            self._poll.register(self._stdin, select.POLLOUT)
        self._poll.register(self._stop.fileno(), select.POLLIN)

    def _open_stdin(self, theirs: list[int]) -> int:
        read, self._stdin = pipe()
        theirs.append(read)
        os.set_blocking(self._stdin, False)
        self._write()
        return read

    def _open_output(self, theirs: list[int]) -> int:
        read, write = pipe()
        theirs.append(write)
        name = "stderr" if self._captures else "stdout"
        limit = self._settings.limits.output
        if self._launch.host is not None:
            limit = max(limit, self._launch.host.output)
        self._captures[read] = Capture(name, limit, self._settings.state_dir)
        return write

    def _watch_exit(self) -> None:
        try:
            self._pidfd = os.pidfd_open(self._pid)
        except (AttributeError, OSError):
            return  # macOS, or a sandbox that forbids it: the loop looks every few milliseconds instead
        self._poll.register(self._pidfd, select.POLLIN)

    # ── on the way ───────────────────────────────────────────────────────────────────────────────────

    def step(self, ready: Sequence[tuple[int, int]]) -> float | None:
        """Take in what is ready; the seconds until something must happen by itself, or ``OVER``."""
        for descriptor, _ in ready:
            self._hear(descriptor)
        alive = self._phase in _ALIVE
        if alive and self._pidfd < 0 and self._look():
            self._exited()
            alive = False
        if not alive and not self._open:
            return OVER
        wait = None
        if self._next is not None and (wait := self._next - time.monotonic()) <= 0:
            self._advance()
            wait = 0.0
        if self._phase == "over":
            return OVER
        if alive and self._pidfd < 0:
            return _LOOK if wait is None else min(wait, _LOOK)
        return wait

    def _hear(self, descriptor: int) -> None:
        if descriptor in self._open:
            if not self._read(descriptor):
                self._poll.unregister(descriptor)
                self._open.discard(descriptor)
        elif descriptor == self._stdin:
            self._write()
        elif descriptor == self._pidfd:
            self._poll.unregister(descriptor)
            self._exited()
        elif descriptor == self._stop.fileno():
            self._poll.unregister(descriptor)
            self._stopped = self._phase == "running"
            self._next = time.monotonic() if self._stopped or self._phase == "waiting" else self._next
        elif self._wait is not None and descriptor == self._wait.fileno():
            self._poll.unregister(descriptor)
            self._notes.append("the rest of its output was not waited for")
            self._phase = "over"

    @property
    def leaving(self) -> bool:
        """One of its outputs is closed: it is probably about to end."""
        return self._phase == "running" and len(self._open) < len(self._captures)

    @property
    def orderly(self) -> bool:
        """It ended by itself and everybody let go of its outputs, so that ``finish`` has nothing to wait for."""
        return self._phase == "draining" and not self._timed_out and not self._stopped

    def _read(self, descriptor: int) -> bool:
        data = os.read(descriptor, _CHUNK)
        if data:
            self._captures[descriptor].feed(data)
        return bool(data)

    def _write(self) -> None:
        """Write as much as the pipe takes. A child that does not read is not a failure."""
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._stdin, self._rest[: 1 << 20]) :]
        except BlockingIOError:
            return
        except OSError:  # the child closed its end
            pass
        self._close_stdin()

    def _close_stdin(self) -> None:
        if self._pid >= 0:
            self._poll.unregister(self._stdin)
        os.close(self._stdin)
        self._stdin = -1

    def _exited(self) -> None:
        """The child has exited; other processes of its group get a moment to finish writing, but not the terminal."""
        self._give_back_terminal()
        until = time.monotonic() + DRAIN
        if self._phase == "ending" and self._next is not None:
            until = max(until, self._next)  # they got SIGTERM too, and have the same grace
        if self._stdin >= 0:
            self._close_stdin()
        self._phase, self._next = "draining", until

    def _advance(self) -> None:
        now = time.monotonic()
        match self._phase:
            case "running":
                self._timed_out = not self._stopped
                self._signal(signal.SIGTERM)
                self._phase, self._next = "ending", now + self._settings.limits.grace
            case "ending":
                self._signal(signal.SIGKILL)
                self._phase, self._next = "killed", now + _GIVE_UP
            case "killed":
                self._notes.append(f"process {self._pid} could not be killed, not even with SIGKILL")
                self._phase = "over"
            case "draining" if self._succeeded():
                until = now + self._launch.host.patience
                self._phase, self._next = "waiting", min(until, self._deadline or until)
            case "waiting" if self._wait is None and not self._stop.is_set() and now < (self._deadline or now + 1):
                wait: Stop = self._launch.host.wait(min(self._open))
                self._poll.register(wait.fileno(), select.POLLIN)
                self._wait = wait
                self._next = self._deadline
            case "draining" | "waiting":
                self._timed_out = self._phase == "waiting" and not self._stop.is_set()
                self._signal(signal.SIGKILL)
                self._phase, self._next = "closing", now + _CLOSE
            case "closing":
                self._notes.append("a process that left the hook's group still holds its output; it was not ended")
                self._phase = "over"
            case "over":
                pass

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._pid, number)
        except OSError:  # nobody left, or only what is no longer ours
            return

    def _look(self) -> bool:
        """Reap without waiting (only where there are no process descriptors)."""
        try:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid:
            self._status = status
        return bool(pid)

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────

    def finish(self) -> None:
        """Kill the group, reap, close; also when the loop was left by an exception."""
        if self._born and self._pid < 0:  # interrupted while it was being started
            self._pid = self._born[0]
        if self._pid >= 0:
            if self._succeeded():
                self._reap()
                self._launch.host.end_attached(self._pid)
            else:
                self._signal(signal.SIGKILL)
                self._reap()
                self._await_group()
            self._pid = -1
            self._born.clear()
        self._give_back_terminal()
        if self._wait is not None:
            self._launch.host.waited(self._wait)
        if self._launch.terminal and self._status is not None and os.waitstatus_to_exitcode(self._status) in _BY_CTRL_C:
            self._launch.host.interrupt()  # Ctrl-C reached only the group in front, which the hook's was
        for descriptor, capture in self._captures.items():
            os.close(descriptor)
            capture.close()
        for descriptor in (self._stdin, self._pidfd):
            if descriptor >= 0:
                os.close(descriptor)
        self._stdin = self._pidfd = -1

    def _succeeded(self) -> bool:
        """Whether it may leave processes behind: in a person's own run, after it ended well."""
        if self._launch.host is None or self._timed_out or self._stopped or self._stop.is_set():
            return False
        if self._status is not None:
            return self._status == 0
        with suppress(ChildProcessError):
            found = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            return found is not None and found.si_code == os.CLD_EXITED and found.si_status == 0
        return False

    def _give_back_terminal(self) -> None:
        if self._terminal is not None:
            self._terminal.give_back()
            self._terminal = None

    def _reap(self) -> None:
        if self._status is not None:
            return
        until = time.monotonic() + _GIVE_UP
        if self._pidfd >= 0 and self._phase not in {"draining", "closing"}:
            waiting = select.poll()
            waiting.register(self._pidfd, select.POLLIN)
            waiting.poll(_GIVE_UP * 1000)
        while not self._look() and time.monotonic() < until:
            time.sleep(_LOOK)

    def _await_group(self) -> None:
        """SIGKILL takes a moment; the caller may look for the processes."""
        until = 0.0
        while True:
            try:
                os.killpg(self._pid, 0)
            except OSError:
                return
            now = time.monotonic()
            until = until or now + _CLOSE
            if now >= until:
                return
            time.sleep(0.001)

    def not_started(self, error: OSError) -> RunResult:
        return RunResult(error=why_not(self._launch, error), ms=self._ms())

    def _ms(self) -> float:
        return (time.monotonic() - self._began) * 1000

    def raw(self) -> RunResult:
        out, err = self._captures.values()
        code = None if self._status is None else os.waitstatus_to_exitcode(self._status)
        return _make_raw(
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            stdout=out.text(),
            stderr=err.text(),
            error=self._error(code),
            timed_out=self._timed_out,
            ms=self._ms(),
            cut=out.cut,
            spilled=tuple(capture.path for capture in (out, err) if capture.path),
            notes=(*self._launch.notes, *out.notes(), *err.notes(), *self._notes),
        )

    def _error(self, code: int | None) -> str:
        if self._stopped:
            return "stopped from outside before it finished"
        if code is None and not self._timed_out:
            return "its exit status was lost: other code in this process waits for all children"
        return ""
