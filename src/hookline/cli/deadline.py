"""A deadline for ``hookline hook``: whatever hangs, the agent gets an answer before it gives up on us.

Hooks have earlier deadlines of their own. This one is for what hookline itself may hang in: a file system, a locked
database, a function that catches every exception, a C call. Decision 9 explains the design.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from hookline.cli.stdio import file_identity, was_closed
from hookline.core.result import encode
from hookline.core.typed import TYPE_CHECKING

if TYPE_CHECKING:  # a call that the daemon answers loads none of these
    from hookline.dialects.base import Answer
    from hookline.engine.build import Runtime
    from hookline.gateway.request import AgentRequest

#: Exit codes: what agents read as a block, and two that they read as no answer: none was found, none could be written.
BLOCK, _NO_ANSWER, _UNWRITTEN = 2, 75, 74
#: Seconds for stopping hooks and recording the failure.
_CLEAN_UP = 1.5
#: Seconds after which the interpreter's own timer ends a process whose C call lets no other thread run.
_SILENT = 0.5


class AnswerDeadline:
    """Answers for us at the deadline. Whoever gets ``claim`` first gives the answer, and nobody else.

    The attributes are what is known so far; the caller sets them as it goes.
    """

    __slots__ = (
        "_began", "_claimed", "_deny", "_lock", "_over", "_reader", "_seconds", "_stdout", "answer", "parse", "request",
        "runtime",
    )  # fmt: skip

    def __init__(self, seconds: float, *, deny: bool) -> None:
        self._began = monotonic()
        self._seconds = seconds
        self._deny = deny
        #: Parses the payload, should the deadline come before the caller has done so.
        self.parse: Callable[[], AgentRequest] | None = None
        #: From here on we can answer in the agent's own format.
        self.request: AgentRequest | None = None
        #: From here on there are hooks to stop.
        self.runtime: Runtime | None = None
        #: From here on only the work after the decision can hang: this is what the agent gets.
        self.answer: Answer | None = None
        self._claimed = False
        self._lock = allocate_lock()
        self._over = allocate_lock()
        self._over.acquire()
        try:
            self._stdout = os.dup(1)  # while hooks run, 1 leads to stderr
        except OSError:
            self._stdout = -1
        self._reader = None if was_closed(sys.stdout) else file_identity(self._stdout)
        start_new_thread(self._watch, ())
        self._set_timer()

    def extend(self, seconds: float) -> None:
        """Hooks may take this long in all, counted from the start."""
        if seconds > self._seconds:
            self._seconds = seconds
            self._set_timer()

    def _left(self) -> float:
        return max(0.0, self._began + self._seconds - monotonic())

    def _set_timer(self) -> None:
        with suppress(OSError, ValueError, RuntimeError):
            nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            faulthandler.dump_traceback_later(self._left() + _CLEAN_UP + _SILENT, exit=True, file=nowhere)

    def claim(self) -> None:
        """Return once the answer is ours to give; if the deadline came first, the process ends here."""
        if not self._claimed:
            self._lock.acquire()
            self._claimed = True

    def cancel(self) -> None:
        """Nothing can hang any more."""
        faulthandler.cancel_dump_traceback_later()
        self._over.release()
        if self._stdout >= 0:
            os.close(self._stdout)

    def failure(self, why: str) -> tuple[int, bytes, bytes]:
        """A failure of hookline, in the agent's format if we know it: exit code, stdout and stderr."""
        if self.request is None and self.parse is not None:
            with suppress(Exception):
                self.request = self.parse()
        answer = None
        if self.request is not None:
            with suppress(Exception):  # a bug may be what brought us here
                from hookline.cli.failsafe import failure_answer

                answer = failure_answer(self.request, why, deny=self._deny)
        if answer is None:
            return BLOCK if self._deny else _NO_ANSWER, b"", encode(f"{why}\n")
        return answer.exit_code, encode(answer.stdout), encode(answer.stderr or f"{why}\n")

    def _watch(self) -> None:
        while not self._over.acquire(timeout=self._left()):
            if self._left():  # it was extended
                continue
            if self._lock.acquire(blocking=False):
                self._give_up()
            return

    def _give_up(self) -> None:
        from hookline.cli.failsafe import EXIT, clean_up  # nearly no call needs it

        why = f"hookline failed: there was no answer within {self._seconds:g} s"
        known = self.answer
        if known is not None:
            note = f"hookline: the decision could not be recorded within {self._seconds:g} s\n"
            code, stdout, stderr = known.exit_code, encode(known.stdout), encode(note + known.stderr)
        else:
            code, stdout, stderr = self.failure(f"{why}, so this is refused" if self._deny else why)
        code = self.write(code, stdout, stderr)
        with suppress(Exception):
            failed = None if known is not None else self.request
            clean_up(self.runtime, failed, why, deny=self._deny, took=self._seconds, within=_CLEAN_UP)
        EXIT(code)

    def write(self, code: int, stdout: bytes, stderr: bytes) -> int:
        """Write an answer past Python's streams and give its exit code: one that was not written does not count."""
        with suppress(OSError):
            os.write(2, stderr)
        with suppress(OSError):
            while stdout and self._reader is not None and self._reader == file_identity(self._stdout):
                stdout = stdout[os.write(self._stdout, stdout) :]
        unwritten = BLOCK if self._deny else _UNWRITTEN
        return unwritten if stdout and code == 0 else code
