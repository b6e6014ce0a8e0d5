"""The worker: distils the sessions in the queue one after the other, and writes the results.

It can be killed at any point. A task is in one place of the queue at any time, an answer is saved before anything is
written from it, and writing it twice changes nothing. A task that fails is retried later, and one that fails for good is
put aside with the reason; neither holds up the next.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.errors import HooklineError, StateError
from hookline.core.files import list_names, prune
from hookline.memory import context, layout
from hookline.memory.distill import write_results
from hookline.memory.distill.answer import UnreadableAnswerError
from hookline.memory.distill.backends import ModelThrottle
from hookline.memory.distill.distill_task import RunContext, SkipTask, distill
from hookline.memory.distill.model_errors import ModelBusyError, ModelFailedError, ModelSetupError
from hookline.memory.layout import Places, memory_places
from hookline.memory.queue import task
from hookline.memory.queue.launch import WorkerLock
from hookline.memory.queue.queue import Claim, Queue, WaitingTask
from hookline.memory.settings import OWN_AGENT, KnowledgeLoop, load, resolve_environment

if TYPE_CHECKING:
    from hookline.memory.distill.backends import Model

_NAME = "compound-loop"
#: Seconds before the first retry, four times as long before each further one, and the maximum.
_FIRST_RETRY, _MAX_RETRY = 30.0, 3600.0
#: Seconds to wait after an error of the disk.
_DISK_WAIT = 60.0
#: Seconds, beyond the model's timeout, after which a claim of another machine is abandoned.
_LEASE = 900.0
#: Seconds that a background worker waits for a retry, or for the end of a session, instead of leaving it to the next one.
_BACKGROUND_WAIT, _MAX_QUIET = 150.0, 900.0
_STEP = 1.0
#: Finished tasks, and dead letters, that are kept.
_MAX_DONE, _MAX_DEAD = 1000, 200

#: Setup errors in a row after which no other task is tried: the first may be that task's own fault.
_MAX_SETUP_ERRORS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReport:
    """The number of tasks that ended as ``wrote``, ``nothing``, ``skipped`` or ``failed``, or wait for a retry
    (``later``). ``busy``: another worker was running; ``held``: what a person must fix first; ``trouble``: the same for
    a directory."""

    counts: Mapping[str, int] = field(default_factory=empty)
    busy: bool = False
    held: str = ""
    trouble: str = ""


def run(
    environ: Mapping[str, str],
    *,
    cwd: str = "",
    patience: float = 0.0,
    by_hand: bool = True,
    now: bool = False,
    model: Model | None = None,
    progress: Callable[[str, str], None] | None = None,
    clock: Callable[[], float] = time.time,
) -> WorkerReport:
    """Work until nothing is due. ``patience``: seconds to wait for tasks that are due soon; ``by_hand``: a person started
    it, so setup errors delay nothing; ``now``: every task is due, once; ``model`` replaces the configured one;
    ``progress`` gets every task's name and outcome. Raises StateError."""
    here = resolve_environment(cwd or os.getcwd(), environ, agent=OWN_AGENT)
    settings, _problems = load(here)
    places = memory_places(settings, paths=here.paths, home=here.home, environ=here.environ)
    work = _Worker(environ, settings, places, model=model, progress=progress, clock=clock)
    work.by_hand, work.now = by_hand, now
    try:
        report = work.run(patience)
        if settings.knowledge.git and not report.busy:
            work.sync()
        return report
    except (OSError, StateError) as error:
        raise StateError(layout.describe_error(error, places)) from error


class _Worker:
    def __init__(
        self,
        environ: Mapping[str, str],
        settings: KnowledgeLoop,
        places: Places,
        *,
        model: Model | None,
        progress: Callable[[str, str], None] | None,
        clock: Callable[[], float],
    ) -> None:
        self.environ, self.settings, self.places, self.clock = environ, settings, places, clock
        self.by_hand, self.now = True, False
        self.queue = Queue(places.queue, clock=clock)
        self._progress = progress
        self._counts: dict[str, int] = {}
        #: When tasks that were put back may be retried, by a monotonic clock.
        self._retry_at: dict[str, float] = {}
        #: What a person must fix, and the number of setup errors in a row.
        self._setup_error, self._in_a_row = "", 0
        self._trouble = ""
        self._unindexed = False
        self._run_context = RunContext(environ=environ, places=places)
        self._throttle = ModelThrottle(settings.compound_loop, self._run_context, model=model)

    def run(self, patience: float) -> WorkerReport:
        for log in (self.places.worker_log, self.places.hooks_log):
            context.rotate_log(log)
        if not self.settings.compound_loop.enabled:
            # A vault is shared without a model, too: then this is no news.
            return self._held("disabled") if self.by_hand else WorkerReport(held="disabled")
        until = time.monotonic() + patience
        while True:
            lock = WorkerLock(self.places.worker_lock)
            with lock as held:
                if not held:
                    if self.now:  # it may be waiting for a retry
                        self.queue.wake()
                    self.log("another worker is running, exiting")
                    return WorkerReport(counts=self._counts, busy=True)
                lease = self.settings.compound_loop.timeout_seconds + _LEASE
                for name in self.queue.recover(lease, alone=lock.exclusive):
                    self.log(f"recovered: {name}")
                try:
                    self._drain(until)
                except ModelSetupError as error:
                    return self._held(str(error))
                if self._setup_error:
                    return self._held(self._setup_error)
                self._sweep()
                self._index()
            # A task that was queued while we held the lock started no worker: look again.
            if all(self._wait(one) for one in self.queue.pending()):
                return WorkerReport(counts=self._counts, trouble=self._trouble)

    def log(self, message: str) -> None:
        context.append_log(self.places.worker_log, _NAME, message, clean=self._run_context.clean(self.settings))

    def _held(self, why: str) -> WorkerReport:
        why = self._clean(why)
        self.log(f"{'no more' if self._counts.keys() - {'later'} else 'nothing'} done: {why}")
        return WorkerReport(counts=self._counts, held=why, trouble=self._trouble)

    def _drain(self, until: float) -> None:
        while True:
            waits = [(self._wait(one), one) for one in self.queue.pending()]
            due = [one for wait, one in waits if not wait]
            for waiting in due:
                claim = self.queue.claim(waiting)
                if claim is not None:
                    self._process(claim)
                else:  # another machine has it, or the directory is not writable
                    self._retry_at[waiting.name] = time.monotonic() + _DISK_WAIT
            if not due:
                if self.queue.take_wake_request():
                    self._wake()
                    continue
                soon = [wait for wait, one in waits if wait <= self._patience(one, until)]
                if not soon or self._setup_error:
                    return
                if self._unindexed:
                    self._index()
                # In small steps: a task that is queued meanwhile starts no worker, because we hold the lock.
                time.sleep(min(*soon, _STEP))

    def _patience(self, waiting: WaitingTask, until: float) -> float:
        """Seconds that it is worth to wait for a task."""
        return _MAX_QUIET if waiting.task.awaits_end and not self.by_hand else until - time.monotonic()

    def _wake(self) -> None:
        """A person has fixed something and wants every task tried now."""
        self.now, self._setup_error, self._in_a_row = True, "", 0
        self._retry_at.clear()
        self._throttle.reset()

    def _wait(self, waiting: WaitingTask) -> float:
        """Seconds; as the task says and as we remember, since a full disk could not store it."""
        known = self._retry_at.get(waiting.name)
        stored = 0.0 if self.now and known is None else self.queue.seconds_until_due(waiting)
        return max(stored, (known or 0.0) - time.monotonic(), 0.0)

    def _process(self, claim: Claim) -> None:
        self.log(f"processing {claim.name}")
        self._unindexed = True
        plan_file = self.queue.plan_path(claim.name)
        try:
            outcome, text = self._distill(claim, plan_file)
            self.queue.finish(claim, outcome, text)
            write_results.delete_plan(plan_file)
        except ModelSetupError as error:
            self._hold(claim, error)
        except UnreadableAnswerError as error:
            self._in_a_row = 0
            self._give_up(claim, f"unreadable answer: {error}", str(error.__cause__ or ""))
        except (OSError, StateError) as error:
            reason = layout.describe_error(error, self.places)
            if is_directory := layout.is_directory_error(error, self.places):
                self._trouble = self._clean(reason)
            self._retry(claim, reason, failed=not is_directory, wait=_DISK_WAIT)
        except ModelBusyError as error:
            self._retry(claim, str(error), failed=False, wait=error.wait)
        except ModelFailedError as error:
            self._retry(claim, str(error), wait=error.wait)
        except Exception as error:  # a bug in one task must not hold up the others
            self._retry(claim, f"{type(error).__name__}: {error}")
        else:
            nothing = f"nothing to persist; {text}" if text else "nothing to persist"
            self.log(nothing if outcome == "nothing" else f"{outcome}: {text}")
            self._count(claim, outcome)
            self._in_a_row = 0 if outcome != "skipped" else self._in_a_row

    def _distill(self, claim: Claim, plan_file: str) -> tuple[str, str]:
        plan = write_results.load_plan(plan_file, claim.task.created)
        if plan is None:
            try:
                model = self._throttle.model(self.queue.claimed, lambda: self.queue.renew(claim))
                plan = distill(self._run_context, claim.task, model)
            except SkipTask as skip:
                return "skipped", str(skip)
            if not self.queue.renew(claim):
                raise ModelFailedError("another machine has taken the task")
            write_results.save_plan(plan_file, plan)
        wrote = write_results.apply_plan(plan, self.places)
        return ("wrote" if wrote else "nothing"), "; ".join((*wrote, *plan.results.notes))

    def _count(self, claim: Claim, outcome: str) -> None:
        self._counts[outcome] = self._counts.get(outcome, 0) + 1
        if self._progress is not None:
            self._progress(claim.name, outcome)

    def _hold(self, claim: Claim, error: ModelSetupError) -> None:
        """Let it wait until the next run. Raises the error if the other tasks would fail too."""
        self._retry(claim, str(error), failed=False, wait=0.0 if self.by_hand else error.wait)
        self._retry_at[claim.name] = math.inf
        self._setup_error, self._in_a_row = str(error), self._in_a_row + 1
        if not error.wait or self._in_a_row >= _MAX_SETUP_ERRORS:
            raise error

    def _retry(self, claim: Claim, reason: str, *, failed: bool = True, wait: float = 0.0) -> None:
        tries = claim.task.tries + 1
        if failed and tries >= self.settings.compound_loop.attempts:
            self._give_up(claim, f"{reason} (tried {tries} times)")
            return
        pause = max(wait, min(_FIRST_RETRY * 4 ** (tries - 1), _MAX_RETRY) if failed else 0.0)
        self.log(f"error processing {claim.name}: {reason}; " + (f"retry in {pause:g} s" if pause else "it waits"))
        self._put_back(claim, pause, self._clean(reason), failed=failed)
        self._count(claim, "later")

    def _put_back(self, claim: Claim, pause: float, reason: str, *, failed: bool) -> None:
        self._retry_at[claim.name] = time.monotonic() + pause
        self.queue.put_back(claim, wait=pause, reason=reason, failed=failed)

    def _give_up(self, claim: Claim, reason: str, answer: str = "") -> None:
        reason = self._clean(reason)
        try:
            task.write_dead_letter(self.places.dead, claim.name, claim.task, reason, self._clean(answer)[:4000])
            self.queue.finish(claim, "failed", reason)
        except (OSError, StateError) as error:
            self._put_back(claim, _DISK_WAIT, str(error), failed=False)
            return
        self.log(f"error processing {claim.name}: {reason}" + (f": {answer[:200]}" if answer else ""))
        self._count(claim, "failed")

    def _clean(self, text: str) -> str:
        return self._run_context.clean(self.settings)(text)

    def _index(self) -> None:
        """Make the new notes searchable before the next session begins."""
        from hookline.memory.notes.index import update_index  # it imports SQLite

        self._unindexed = False
        if why := update_index(self.places, self._run_context.clean(self.settings)):
            self.log(f"error: {why}")

    def sync(self) -> None:
        """Share what was learned; an error waits for the next time."""
        from hookline.memory.journal.sync import sync  # few share their vault

        try:
            if done := sync(self.places, self.environ):
                self.log(f"vault: {done}")
                self._index()
        except (OSError, StateError) as error:
            self.log(f"error: the vault was not synchronised: {layout.describe_error(error, self.places)}")

    def _sweep(self) -> None:
        days = float(self.settings.knowledge.keep_days)
        self.queue.sweep(keep=_MAX_DONE, days=days)
        # By number only: a wrong clock must not remove what a person may still want.
        prune(self.places.dead, keep=_MAX_DEAD, days=math.inf, now=self.clock())
        prune(self.places.compact_backups, keep=_MAX_DONE, days=days, now=self.clock())
        waiting = {one.name for one in self.queue.pending()} | set(self.queue.claimed_names())
        for name in list_names(self.queue.claimed):
            if name.endswith(".plan") and name.removesuffix(".plan") not in waiting:
                write_results.delete_plan(os.path.join(self.queue.claimed, name))


def main() -> int:
    """In the background: started by a hook, with our directories in the environment."""
    environ = dict(os.environ)
    place = environ.get("HOOKLINE_STATE_DIR", "")
    with contextlib.suppress(OSError):
        os.chdir(place)  # do not keep a project's directory in use
    try:
        run(environ, cwd=place, patience=_BACKGROUND_WAIT, by_hand=False)
    except HooklineError as error:  # standard error is the log
        sys.stderr.write(f"{context.now_text()} {_NAME}: nothing done: {error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
