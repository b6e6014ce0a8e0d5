"""For commands that answer somebody: whatever hangs, there is an answer, and it comes before the asker gives up.

Hooks have deadlines of their own, which lie before this one. What is left is what hookline itself may hang in: a file
system, a database that is locked, a function that catches everything, a call of C.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock, start_new_thread
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from hookline.core.result import Effect
    from hookline.dialects.base import Answer
    from hookline.engine.build import Runtime
    from hookline.engine.engine import Engine
    from hookline.gateway.request import AgentRequest

#: What agents read as a block, and what is no answer at all.
BLOCK, FAILED = 2, 75
#: Seconds that hooks which still run are given to end, and the failure to be written down.
_TIDYING = 1.5
#: Seconds after which a process ends that cannot even say so: a call of C that lets no other thread run.
_SILENT = 0.5

_SAID = b"hookline: a Python hook cannot be ended at its deadline, since it catches everything; the answer is no\n"


class AnswerDeadline:
    """Speaks for us at the deadline. Who has ``claim`` ed the answer gives it, and nobody else."""

    __slots__ = ("_answer", "_assembly", "_deny", "_hear", "_one", "_ours", "_out", "_over", "_seconds", "_spoken")

    def __init__(self, seconds: float, *, deny: bool) -> None:
        self._seconds = seconds
        self._deny = deny
        self._hear: Callable[[], AgentRequest] | None = None
        self._one: AgentRequest | None = None
        self._assembly: Runtime | None = None
        self._answer: Answer | None = None
        self._ours = False
        self._spoken = allocate_lock()
        self._over = allocate_lock()
        self._over.acquire()
        try:
            self._out = os.dup(1)  # while hooks run, 1 is turned away
        except OSError:
            self._out = -1
        start_new_thread(self._watch, ())
        self._end_in_silence()

    def came(self, hear: Callable[[], AgentRequest]) -> None:
        """The payload is there; should it come to that, ``hear`` will know whose words to answer in."""
        self._hear = hear

    def heard(self, one: AgentRequest) -> None:
        """From now on the agent can be answered in its own words."""
        self._one = one

    def assembled(self, assembly: Runtime) -> None:
        """From now on there are hooks that may have to be ended."""
        self._assembly = assembly

    def decided(self, answer: Answer) -> None:
        """From now on only what comes afterwards can hang: this is what the agent is told."""
        self._answer = answer

    def claim(self) -> None:
        """Returns when it is ours to answer; if the deadline has spoken, the process ends meanwhile."""
        if not self._ours:
            self._spoken.acquire()
            self._ours = True

    def stand_down(self) -> None:
        """Nothing can hang any more."""
        import faulthandler  # part of the interpreter

        faulthandler.cancel_dump_traceback_later()
        self._over.release()
        if self._out >= 0:
            os.close(self._out)

    def failure(self, why: str) -> tuple[int, bytes, bytes]:
        """That hookline has failed, in the agent's own words if we know them: exit code, stdout and stderr."""
        said = f"{why}\n".encode(errors="replace")
        answer = None
        if self._one is None and self._hear is not None:
            with suppress(Exception):
                self._one = self._hear()
        if self._one is not None:
            from hookline.gateway.reply import failure  # noqa: PLC0415
            from hookline.gateway.request import bare_event  # noqa: PLC0415  nearly no call needs them

            with suppress(Exception):  # a bug may be what has brought us here
                answer = failure(self._one.speaker, bare_event(self._one), why, deny=self._deny)
        if answer is None:
            return BLOCK if self._deny else FAILED, b"", said
        told = answer.stderr.encode(errors="replace")
        return answer.exit_code, answer.stdout.encode(errors="replace"), told or said

    def _watch(self) -> None:
        if not self._over.acquire(timeout=self._seconds) and self._spoken.acquire(blocking=False):
            self._give_up()

    def _give_up(self) -> None:
        why = f"hookline failed: there was no answer within {self._seconds:g} s"
        known = self._answer
        if known is not None:
            said = f"hookline: what was decided could not be written down within {self._seconds:g} s\n"
            code, stdout, stderr = known.exit_code, known.stdout.encode(), (said + known.stderr).encode()
        else:
            code, stdout, stderr = self.failure(f"{why}, and a hook here must not be skipped" if self._deny else why)
        with suppress(OSError):
            os.write(2, stderr)
        with suppress(OSError):
            while stdout and self._out >= 0:
                stdout = stdout[os.write(self._out, stdout) :]
        with suppress(Exception):
            self._tidy(why)
        os._exit(BLOCK if stdout and self._deny and code == 0 else code)  # what could not be told is no answer

    def _tidy(self, why: str) -> None:
        """Nothing that hooks have started outlives us, and the record knows; neither may keep us for long."""
        import threading  # noqa: PLC0415  it is there, but not needed before
        import time  # noqa: PLC0415

        until = time.monotonic() + _TIDYING
        engine = self._assembly.engine if self._assembly is not None else None
        works = [
            *([] if self._answer else [lambda: self._write_down(why)]),
            *([engine.close] if engine is not None else []),
        ]
        threads = [threading.Thread(target=_quietly, args=(work,), daemon=True) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0.0))
        _end_children(every=engine is None)

    def _write_down(self, why: str) -> None:
        if self._one is None:
            return
        from hookline.core._dataclass import replace  # noqa: PLC0415
        from hookline.core.result import Decision  # noqa: PLC0415
        from hookline.core.settings import RecordSettings  # noqa: PLC0415
        from hookline.engine.build import record_store  # noqa: PLC0415  nearly no call needs them
        from hookline.gateway.request import bare_event  # noqa: PLC0415
        from hookline.state.record import Record  # noqa: PLC0415

        event, settings = bare_event(self._one), RecordSettings()
        if self._assembly is None:  # nobody knows what the configuration lets us keep
            event = replace(event, data={})
        else:
            settings = self._assembly.engine.settings.record
        effect: Effect = "deny" if self._deny and event.kind.deniable else "allow"
        decision = Decision(event=event.kind.name, effect=effect, reason=why, data=event.data)
        if settings.enabled:
            record_store(self._one.paths, settings, brief=True).write(
                Record(event=event, decision=decision, specs={}, ms=self._seconds * 1000)
            )

    def _end_in_silence(self) -> None:
        """Without Python: even a thread of ours gets no turn beside a call of C that keeps the interpreter."""
        import faulthandler  # part of the interpreter

        with suppress(OSError, ValueError, RuntimeError):
            nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            faulthandler.dump_traceback_later(self._seconds + _TIDYING + _SILENT, exit=True, file=nowhere)


def _quietly(work: object) -> None:
    with suppress(Exception):
        work()  # type: ignore[operator]


def _end_children(*, every: bool) -> None:
    """Kill the processes that we have started: all of them, or those that have not become leaders of their own
    session, as hooks that may outlive us have."""
    import signal  # noqa: PLC0415  nearly no call needs it

    with suppress(OSError):
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
                children = [int(word) for word in file.read().split()]
            for child in children:
                with suppress(OSError):
                    leads = os.getsid(child) == child
                    if leads and every:
                        os.killpg(child, signal.SIGKILL)
                    elif not leads:
                        os.kill(child, signal.SIGKILL)


def hold_deadlines(engine: Engine, refusal: int) -> None:
    """Deadlines of functions hold in system calls too; where a function catches even those, the process ends.

    It ends with ``refusal``: the hooks after that function were never asked, so nothing can be allowed.
    """

    def give_up() -> None:
        with suppress(OSError):
            os.write(2, _SAID)
        with suppress(Exception):
            engine.close()  # nothing that runs in the background may outlive us
        os._exit(refusal)

    from hookline.runners.watchdog import install_interrupt  # noqa: PLC0415  only who runs hooks needs it

    install_interrupt(give_up)


@contextmanager
def ended_by_nobody() -> Generator[None]:
    """A function that ends the process leaves no answer, and with exit code 0 that would be taken for a yes: so it only
    ends itself. Its children may end as they like."""
    end, ours = os._exit, os.getpid()

    def asked_to_end(status: int) -> NoReturn:
        asks = sys._getframe(1).f_globals.get("__name__", "")  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  who asks
        if os.getpid() != ours or asks.startswith("hookline."):
            end(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = asked_to_end
    try:
        yield
    finally:
        os._exit = end
