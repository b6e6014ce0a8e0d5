"""Python functions, called in this process.

A synchronous function runs in the calling thread, under the watchdog's deadline. What it prints goes where the
process prints: redirecting costs more than the call, and it would redirect the host's other threads too.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from math import inf
from threading import get_ident
from time import monotonic
from types import ModuleType, TracebackType

from hookline.core._dataclass import dataclass, fast_constructor
from hookline.core.event import Event
from hookline.core.hook import Function, HookSpec
from hookline.core.result import NOTHING, RunResult
from hookline.core.typed import Any
from hookline.runners.base import ApprovedFiles, Job, time_limit
from hookline.runners.watchdog import WATCHDOG, HookTimeout

_PREFIX = "_hookline_hooks_"


class _Loader:
    """The modules of one engine.

    A module that is found in a hook's own directory gets a private name, so that ``hooks/guard.py`` of two projects
    are two modules, and a later engine sees a later version of the file. Its relative imports work as always.
    ``import sibling`` works while the module is loaded; afterwards the host's modules are as they were.
    """

    __slots__ = ("_finders", "_lock", "_roots", "_token")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._roots: dict[str, str] = {}
        self._finders: list[Any] = []
        self._token = os.urandom(4).hex()

    def load(self, target: str, base: str, approved: ApprovedFiles | None = None) -> Any:
        """The object; whatever the module raises while it is loaded comes out."""
        module_name, colon, attribute = target.partition(":")
        if not module_name or not colon or not attribute:
            msg = f"{target!r} is not 'package.module:function'"
            raise ImportError(msg)
        found: Any = self._module(module_name, base, approved)
        for part in attribute.split("."):
            try:
                found = getattr(found, part)
            except AttributeError:
                msg = f"{module_name} has no {attribute!r}"
                raise ImportError(msg) from None
        if not callable(found):
            msg = f"{target!r} is not a function"
            raise ImportError(msg)  # noqa: TRY004  # for the caller it is one thing: the target is not there
        return found

    def _module(self, name: str, base: str, approved: ApprovedFiles | None) -> ModuleType:
        if not base or not module_exists(base, name):
            return importlib.import_module(name)
        with self._lock:
            root = self._root(base)
            with _siblings_of(base), self._approved_only(root, base, approved):
                return importlib.import_module(f"{root}.{name}")

    @contextmanager
    def _approved_only(self, root: str, base: str, approved: ApprovedFiles | None) -> Generator[None]:
        """Modules of the project are compiled from the very bytes that were approved, also those imported later."""
        if approved is None:
            yield
            return
        from hookline.runners.approved_modules import ApprovedFinder  # a person's own functions need none

        finder = ApprovedFinder(root, base, approved)
        self._finders.append(finder)
        sys.meta_path.insert(0, finder)
        finder.loading = True
        try:
            yield
        finally:
            finder.loading = False

    def _root(self, base: str) -> str:
        root = self._roots.get(base)
        if root is None:
            root = self._roots[base] = f"{_PREFIX}{self._token}_{len(self._roots)}"
            package = ModuleType(root)
            package.__path__ = [base]
            sys.modules[root] = package
        return root

    def close(self) -> None:
        roots = tuple(self._roots.values())
        self._roots.clear()
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in self._finders]
        for name in list(sys.modules):
            if name.partition(".")[0] in roots:
                sys.modules.pop(name, None)


def module_exists(base: str, name: str) -> bool:
    """Whether a module of this name lies in ``base``; nothing is imported."""
    place = os.path.join(base, *name.split("."))
    return os.path.isfile(f"{place}.py") or os.path.isdir(place)


@contextmanager
def _siblings_of(base: str) -> Generator[None]:
    """``base`` comes first on the path, and what was imported from it is forgotten at the end."""
    names = {entry.removesuffix(".py") for entry in os.listdir(base)} - set(sys.stdlib_module_names)
    hidden = _take_out(names)
    sys.path.insert(0, base)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(base)
        _take_out(names)
        sys.modules.update(hidden)


def _take_out(names: set[str]) -> dict[str, ModuleType]:
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in names}


#: Frames and characters of a traceback that are kept.
_FRAMES = 12
_TRACE = 4000
#: Seconds that a coroutine gets to handle its cancellation before the watchdog ends its loop.
_CLEAN_UP = 0.25

_make_raw = fast_constructor(RunResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Functions that were called one after the other: the milliseconds of those that returned nothing, and what came of
    the one after them, if it was called too, with the seconds it had."""

    silent: Sequence[float] = ()
    last: RunResult | None = None
    limit: float | None = None


_make_calls = fast_constructor(Calls)


class FunctionRunner:
    """Resolves each function once per engine. Never raises, except KeyboardInterrupt."""

    __slots__ = ("_loader", "_resolved")

    def __init__(self) -> None:
        self._loader = _Loader()
        self._resolved: dict[tuple[str, str, str], Callable[[Event], Any]] = {}

    def resolve(self, action: Function, approved: ApprovedFiles | None = None) -> Callable[[Event], Any]:
        """The function itself. Raises ImportError, or whatever its module raises while it is loaded."""
        if action.call is not None:
            given: Callable[[Event], Any] = action.call  # cast() would be a call, and this is the hot path
            return given
        key = (action.target, action.base, action.given)
        found = self._resolved.get(key)
        if found is None:
            found = self._loader.load(action.target, action.base, approved)
            found = self._resolved[key] = found(action.given) if action.given else found
        return found

    def run(self, job: Job) -> RunResult:
        began = monotonic()
        try:
            function = self._resolve_in_time(_function(job), job.timeout, job.approved)
            value = WATCHDOG.call(function, job.event, job.timeout)
            return NOTHING if value is None else _result(value, began, job.timeout)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return _failure(error, began)

    def call_in_turn(
        self, specs: Sequence[HookSpec], event: Event, running: dict[int, tuple[float, HookSpec]] | None = None
    ) -> Calls:
        """Without jobs, up to the first that does not return None, or before one that has to be loaded.

        ``running`` says of each thread whose function it runs, and until when at most.
        """
        silent: list[float] = []
        seconds, now, thread = None, monotonic(), get_ident()
        try:
            for spec in specs:
                action: Any = spec.action
                function = action.call
                if function is None:
                    function = self._resolved.get((action.target, action.base, action.given))
                    if function is None:
                        break
                seconds = time_limit(spec, event, now)
                if running is not None:
                    running[thread] = (inf if seconds is None else now + seconds, spec)
                value = WATCHDOG.call(function, event, seconds)
                if value is not None:
                    return _make_calls(silent=silent, last=_result(value, now, seconds), limit=seconds)
                began, now = now, monotonic()
                silent.append((now - began) * 1000)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return _make_calls(silent=silent, last=_failure(error, now), limit=seconds)
        return _make_calls(silent=silent)

    async def arun(self, job: Job) -> RunResult:
        """For coroutine functions under a running loop, which they may then use."""
        began = monotonic()
        try:
            function = self._resolve_in_time(_function(job), job.timeout, job.approved)
            value = WATCHDOG.call(function, job.event, job.timeout)
            if value is None:
                return NOTHING
            if hasattr(type(value), "__await__"):
                value = await _bounded(value, job.timeout)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            from asyncio import CancelledError  # loaded already where this is awaited

            if isinstance(error, CancelledError):
                raise
            return _failure(error, began)
        return _make_raw(value=value, ms=(monotonic() - began) * 1000)

    def start(self, job: Job) -> RunResult:
        """A function cannot leave the process: it runs in a thread that does not keep the process alive."""
        try:
            self._resolve_in_time(_function(job), job.timeout, job.approved)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return _failure(error, monotonic())
        threading.Thread(target=self.run, args=(job,), name=f"hookline-{job.spec.name}", daemon=True).start()
        return RunResult()

    def close(self) -> None:
        self._resolved.clear()
        self._loader.close()

    def _resolve_in_time(
        self, action: Function, seconds: float | None, approved: ApprovedFiles | None
    ) -> Callable[[Event], Any]:
        """Loading a module runs its code, so it has the same deadline."""
        if action.call is not None or (action.target, action.base, action.given) in self._resolved:
            return self.resolve(action)
        try:
            return WATCHDOG.call(lambda wanted: self.resolve(wanted, approved), action, seconds)
        except Exception as error:
            raise _NotLoadedError(action.target, error) from error


def _function(job: Job) -> Function:
    assert isinstance(job.spec.action, Function)
    return job.spec.action


class _NotLoadedError(Exception):
    """The function could not be loaded; the cause says why."""

    def __init__(self, target: str, cause: Exception) -> None:
        why = str(cause) if isinstance(cause, ImportError) else f"{type(cause).__name__}: {cause}"
        super().__init__(f"cannot load {target!r}: {why}")


def _result(value: Any, began: float, seconds: float | None) -> RunResult:
    if hasattr(type(value), "__await__"):
        value = _finish(value, seconds)
    return _make_raw(value=value, ms=(monotonic() - began) * 1000)


def _failure(error: BaseException, began: float) -> RunResult:
    """An exception for people: one line, and where it happened."""
    ms = (monotonic() - began) * 1000
    if isinstance(error, HookTimeout):
        return RunResult(timed_out=True, ms=ms)
    if isinstance(error, _NotLoadedError):
        return RunResult(error=str(error), stderr=_trace(error.__cause__), ms=ms)
    detail = f": {error}" if str(error) else ""
    return RunResult(error=f"raised {type(error).__name__}{detail}", stderr=_trace(error), ms=ms)


def _trace(error: BaseException | None) -> str:
    import traceback  # only failures pay for it

    if error is None:
        return ""
    shown = traceback.format_exception(type(error), error, _beyond_us(error.__traceback__), limit=-_FRAMES, chain=False)
    return "".join(shown)[-_TRACE:]


def _beyond_us(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins in the hook's own code."""
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("hookline.runners."):
        trace = trace.tb_next
    return trace


async def _bounded(awaitable: Awaitable[Any], seconds: float | None) -> Any:
    """Our deadline is a HookTimeout; a TimeoutError of the hook's own stays what it is."""
    import asyncio  # there is a loop, so it has been imported

    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await awaitable
    except TimeoutError:
        if limit.expired():
            raise HookTimeout from None
        raise


def _finish(awaitable: Awaitable[Any], timeout: float | None) -> Any:
    """Run a coroutine to its end from synchronous code; in a thread of its own if this one has a running loop."""
    import asyncio  # only coroutine functions pay for it

    def drive(waiting: Awaitable[Any]) -> Any:
        return asyncio.run(_bounded(waiting, timeout))

    hard = None if timeout is None else timeout + _CLEAN_UP
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return WATCHDOG.call(drive, awaitable, hard)
    return _in_thread(lambda: WATCHDOG.call(drive, awaitable, hard))


def _in_thread(work: Callable[[], Any]) -> Any:
    from concurrent.futures import Future  # asyncio has imported it already

    future: Future[Any] = Future()

    def carry_out() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=carry_out, name="hookline-coroutine", daemon=True).start()
    return future.result()
