"""Measures this process with coverage's C tracer; ``tools/cover.py`` puts it where every Python of the suite finds it.

``import coverage`` takes longer than most of the programs that tests start, and whoever is killed by a signal that
coverage does not see saves nothing. So the tracer is loaded alone, and what it has seen is kept as it is: per file,
pairs of lines, packed into numbers. It depends on how this version of coverage is made, which the lock pins.
(PYTEST_DONT_REWRITE: it is loaded before pytest, whose plugin it is as well.)
"""

from __future__ import annotations

import _thread
import atexit
import os
import posix
import sys
import threading
from contextlib import suppress
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

TRACER, SOURCE, DATA = "@TRACER@", "@SOURCE@", "@DATA@"

seen: dict[str, set[int]] = {}
dispositions: dict[str, Any] = {}


def _tracer_module() -> Any:
    spec = spec_from_file_location("coverage.tracer", loader=ExtensionFileLoader("coverage.tracer", TRACER))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_TRACER = _tracer_module()
_UNTRACED = _thread.start_new_thread


def _disposition(name: str, _frame: object) -> Any:
    one = _TRACER.CFileDisposition()
    one.original_filename = one.canonical_filename = one.source_filename = name
    one.trace, one.reason, one.file_tracer, one.has_dynamic_filename = name.startswith(SOURCE), "", None, False
    return one


def _start() -> Any:
    tracer = _TRACER.CTracer()
    tracer.data, tracer.trace_arcs = seen, True
    tracer.should_trace, tracer.should_trace_cache = _disposition, dispositions
    tracer.lock_data = tracer.unlock_data = tracer.warn = tracer.disable_plugin = tracer.switch_context = _nothing
    tracer.concur_id_func, tracer.should_start_context, tracer.file_tracers = None, None, {}
    return tracer.start()


def _nothing(*_given: object, **_named: object) -> None:
    pass


def _start_in_thread(frame: object, event: str, arg: object) -> Any:
    sys.settrace(None)
    # In Python 3.11 a traced thread that enters a function never gets past its first instruction while an exception
    # waits for another thread, and to raise one in another thread is what the watchdog is for.
    if threading.current_thread().name == "hookline-watchdog":
        return None
    follow = _start()
    return follow(frame, event, arg) if follow else follow


def _start_new_thread(function: Callable[..., object], args: tuple[Any, ...], *keywords: Any) -> int:
    """``_thread.start_new_thread``, which knows no ``settrace``."""

    def run(*given: Any, **named: Any) -> None:
        _start()
        function(*given, **named)

    return _UNTRACED(run, args, *keywords)


def pytest_runtest_setup() -> None:
    """As a plugin of pytest: go on where a test ended it, by an exception in the middle of the tracer's own work."""
    if sys.gettrace() is None:
        _start()


def save() -> None:
    name = f"{DATA}/{os.getpid()}-{os.urandom(4).hex()}"
    with open(f"{name}.new", "w", encoding="utf-8") as file:
        file.writelines(f"{path}\t{' '.join(map(str, pairs.copy()))}\n" for path, pairs in seen.copy().items() if pairs)
    os.replace(f"{name}.new", f"{name}.seen")


def _forget() -> None:
    """A forked child saves what it does itself; the tracer keeps hold of the sets, so they are emptied in place."""
    for pairs in seen.values():
        pairs.clear()


def _saving(end: Callable[..., Any]) -> Callable[..., Any]:
    def saved(*given: object) -> object:
        with suppress(BaseException):  # whoever is out of files or out of time must end all the same
            save()
        return end(*given)

    return saved


os._exit = posix._exit = _saving(os._exit)  # noqa: SLF001  the daemon's client does without os
os.execv, os.execve = _saving(os.execv), _saving(os.execve)
posix.execv, posix.execve = os.execv, os.execve
os.register_at_fork(after_in_child=_forget)
atexit.register(save)
threading.settrace(_start_in_thread)
_thread.start_new_thread = _start_new_thread  # threading keeps the one that it has
_start()
