"""What keeps a cold run from failing open: functions that ignore their deadline or end the process, and our own failure.

Decision 22 says why Python hooks of a cold run are not run in a child.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from hookline.core._dataclass import replace
from hookline.core.hook import Function
from hookline.core.result import Decision, Effect
from hookline.core.settings import RecordSettings
from hookline.core.typed import TYPE_CHECKING, NoReturn
from hookline.dialects.base import Answer
from hookline.engine.build import Runtime, record_store
from hookline.engine.engine import Engine
from hookline.gateway import reply
from hookline.gateway.request import AgentRequest, bare_event
from hookline.state.record import Record

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the module around it makes an enum of every number first

#: The real one, which ``exit_raises`` does not replace.
EXIT = os._exit

_IGNORED_DEADLINE = b"hookline: a Python hook ignores its deadline, because it catches every exception; refused\n"


def hold_deadlines(engine: Engine, refusal: int) -> None:
    """Deadlines of functions hold in system calls too. If a function catches even those, the process ends.

    It ends with ``refusal``: the hooks after that function did not run, so nothing can be allowed.
    """
    if not any(isinstance(spec.action, Function) for spec in engine.specs):
        return
    from hookline.runners.watchdog import install_interrupt  # noqa: PLC0415  few hooks are functions

    def give_up() -> None:
        with suppress(OSError):
            os.write(2, _IGNORED_DEADLINE)
        with suppress(Exception):
            engine.close()  # stops background hooks
        EXIT(refusal)

    install_interrupt(give_up)


@contextmanager
def exit_raises() -> Generator[None]:
    """A function that calls ``os._exit(0)`` would leave no answer, which agents read as a yes: it fails instead.

    Processes that it forks may exit as they like.
    """
    ours = os.getpid()

    def exit_or_raise(status: int) -> NoReturn:
        if os.getpid() != ours:
            EXIT(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = exit_or_raise
    try:
        yield
    finally:
        os._exit = EXIT


def failure_answer(request: AgentRequest, why: str, *, deny: bool) -> Answer | None:
    return reply.failure_answer(request.dialect, bare_event(request), why, deny=deny)


def clean_up(
    runtime: Runtime | None, request: AgentRequest | None, why: str, *, deny: bool, took: float, within: float
) -> None:
    """Stop everything that hooks have started and record the failure of ``request``, both in bounded time."""
    until = time.monotonic() + within
    works: list[Callable[[], None]] = []
    if request is not None:
        works.append(lambda: _record_failure(runtime, request, why, deny=deny, took=took))
    if runtime is not None:
        works.append(runtime.engine.close)
    from threading import Thread  # noqa: PLC0415  nearly no call needs it

    threads = [Thread(target=_ignore_errors, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0.0))
    _kill_children(session_leaders=runtime is None)


def _ignore_errors(work: Callable[[], None]) -> None:
    with suppress(Exception):
        work()


def _record_failure(runtime: Runtime | None, request: AgentRequest, why: str, *, deny: bool, took: float) -> None:
    event, settings = bare_event(request), RecordSettings()
    if runtime is None:  # the configuration, which says what may be recorded, was not read
        event = replace(event, data={})
    else:
        settings = runtime.engine.settings.record
    effect: Effect = "deny" if deny and event.kind.deniable else "allow"
    decision = Decision(event=event.kind.name, effect=effect, reason=why, data=event.data)
    if settings.enabled:
        store = record_store(request.paths, settings, brief=True)
        store.write(Record(event=event, decision=decision, specs={}, ms=took * 1000))


def _kill_children(*, session_leaders: bool) -> None:
    """Detached hooks may outlive us and lead a session of their own: they are not killed once an engine has them."""
    with suppress(OSError):
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
                children = [int(word) for word in file.read().split()]
            for child in children:
                with suppress(OSError):
                    leads = os.getsid(child) == child
                    if leads and session_leaders:
                        os.killpg(child, signal.SIGKILL)
                    elif not leads:
                        os.kill(child, signal.SIGKILL)
