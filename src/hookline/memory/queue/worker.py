"""The worker: takes sessions from the queue, one after the other, has them distilled and writes down what is left.

It can be killed at any point. A task is in one place of the queue at any time, an answer is written down before
anything is made of it, and making something of it twice makes it once. What fails is tried again later, and what fails
for good is put aside with the reason: neither holds up the next.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.errors import HooklineError, StateError
from hookline.core.files import prune
from hookline.memory import dir_errors, logs
from hookline.memory.distill import write_results
from hookline.memory.distill.answer import UnreadableAnswerError
from hookline.memory.distill.distill_task import RunContext, SkipTask, distill
from hookline.memory.distill.model_errors import ModelBusyError, ModelFailedError, ModelSetupError
from hookline.memory.distill.throttle import ModelThrottle
from hookline.memory.layout import memory_places
from hookline.memory.queue import dead_letter
from hookline.memory.queue.queue import Queue
from hookline.memory.queue.worker_lock import WorkerLock
from hookline.memory.settings import OWN_AGENT, load, trusted_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.memory.distill.backends import Model
    from hookline.memory.layout import Places
    from hookline.memory.queue.queue import Claim, WaitingTask
    from hookline.memory.settings import KnowledgeLoop

_NAME = "compound-loop"
#: Seconds before the second try; each later one waits four times as long, up to the longest.
_FIRST_RETRY, _MAX_RETRY = 30.0, 3600.0
#: Seconds that are waited after the disk refused.
_DISK_WAIT = 60.0
#: Seconds, beyond what the model may take, after which a claim of another machine counts as left behind.
_LEASE = 900.0
#: Seconds that a worker in the background waits for the next try of a task, rather than leave it to the next session.
_BACKGROUND = 150.0
_STEP = 1.0
#: Ended tasks and given-up ones that are kept at most.
_MAX_DONE, _MAX_DEAD = 1000, 200

#: Tasks in a row that nobody will answer before the others are not tried either: the first may have itself to blame.
_REFUSALS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReport:
    """What one run did: how many tasks ended as ``wrote``, ``nothing``, ``skipped`` or ``failed``, and how many wait
    for another try (``later``). ``busy``: another worker was at it; ``held``: what a person must mend
    before more can be done; ``trouble``: the same of a directory."""

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
    """Work until nothing is due. ``patience``: seconds to wait for what is due soon; ``by_hand``: a person who has mended
    something need not wait; ``now``: everything is due, once; ``model`` is asked instead of the configured one;
    ``progress`` is told every task's name and how it ended. Raises StateError."""
    here = trusted_environment(cwd or os.getcwd(), environ, agent=OWN_AGENT)
    settings, _problems = load(here)
    places = memory_places(settings, paths=here.paths, home=here.home, environ=here.environ)
    work = _Worker(environ, settings, places, model=model, progress=progress, clock=clock)
    work.by_hand, work.now = by_hand, now
    try:
        return work.run(patience)
    except (OSError, StateError) as error:
        raise StateError(dir_errors.describe(error, places)) from error


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
        #: When what was put back may be tried again, by a clock that does not jump.
        self._again: dict[str, float] = {}
        #: What a person must mend, and how many tasks in a row were told so.
        self._refused, self._in_a_row = "", 0
        self._trouble = ""
        self._run_context = RunContext(environ=environ, places=places)
        self._asking = ModelThrottle(settings.compound_loop, self._run_context, model=model)

    def run(self, patience: float) -> WorkerReport:
        for log in (self.places.worker_log, self.places.hooks_log):
            logs.rotate(log)
        if not self.settings.compound_loop.enabled:
            return self._held("disabled")
        until = time.monotonic() + patience
        while True:
            lock = WorkerLock(self.places.worker_lock)
            with lock as held:
                if not held:
                    if self.now:  # it may only be waiting
                        self.queue.wake()
                    self.log("another worker is running, exiting")
                    return WorkerReport(counts=self._counts, busy=True)
                try:
                    self._recover(alone=lock.exclusive)
                    self._drain(until)
                except ModelSetupError as error:
                    return self._held(str(error))
                if self._refused:
                    return self._held(self._refused)
                self._sweep()
                self._index()
            # Who queued while we held the lock has started nobody: look once more without it.
            if not any(not self._wait_of(one) for one in self.queue.pending()):
                return WorkerReport(counts=self._counts, trouble=self._trouble)

    def log(self, message: str) -> None:
        logs.append(self.places.worker_log, _NAME, message, clean=self._run_context.clean(self.settings))

    def _held(self, why: str) -> WorkerReport:
        why = self._clean(why)
        self.log(f"{'no more' if self._counts.keys() - {'later'} else 'nothing'} done: {why}")
        return WorkerReport(counts=self._counts, held=why, trouble=self._trouble)

    # ── the queue ────────────────────────────────────────────────────────────────────────────────────

    def _recover(self, *, alone: bool) -> None:
        lease = self.settings.compound_loop.timeout_seconds + _LEASE
        for name in self.queue.recover(lease, alone=alone):
            self.log(f"taken back: {name}")

    def _drain(self, until: float) -> None:
        while True:
            waits = [(self._wait_of(one), one) for one in self.queue.pending()]
            due = [one for wait, one in waits if not wait]
            for waiting in due:
                claim = self.queue.claim(waiting)
                if claim is not None:
                    self._one(claim)
                else:  # another machine has it, or the directory cannot be written
                    self._again[waiting.name] = time.monotonic() + _DISK_WAIT
            if not due:
                shortest = min((wait for wait, _one in waits), default=None)
                if self.queue.take_wake_request():
                    self._wake()
                    continue
                if shortest is None or self._refused or time.monotonic() + shortest > until:
                    return
                # In small steps: who queues meanwhile finds the lock held and starts nobody.
                time.sleep(min(shortest, _STEP))

    def _wake(self) -> None:
        """A person has mended something, and wants everything tried now."""
        self.now, self._refused, self._in_a_row = True, "", 0
        self._again.clear()
        self._asking.reset()

    def _wait_of(self, waiting: WaitingTask) -> float:
        """As the task says; and as we remember it, since a full disk could not be told."""
        known = self._again.get(waiting.name)
        told = 0.0 if self.now and known is None else self.queue.seconds_until_due(waiting)
        return max(told, (known or 0.0) - time.monotonic(), 0.0)

    def _one(self, claim: Claim) -> None:
        self.log(f"processing {claim.name}")
        plan_file = self.queue.plan_path(claim.name)
        try:
            outcome, words = self._ended(claim, plan_file)
            self.queue.finish(claim, outcome, words)
            write_results.delete_plan(plan_file)
        except ModelSetupError as error:
            self._cannot(claim, error)
        except UnreadableAnswerError as error:
            self._in_a_row = 0
            self._give_up(claim, f"unreadable answer: {error}", str(error.__cause__ or ""))
        except (OSError, StateError) as error:
            reason = dir_errors.describe(error, self.places)
            if blameless := dir_errors.is_directory_error(error, self.places):
                self._trouble = self._clean(reason)
            self._back(claim, reason, failed=not blameless, wait=_DISK_WAIT)
        except ModelBusyError as error:
            self._back(claim, str(error), failed=False, wait=error.wait)
        except ModelFailedError as error:
            self._back(claim, str(error), wait=error.wait)
        except Exception as error:  # a bug in one task must not hold up the others
            self._back(claim, f"{type(error).__name__}: {error}")
        else:
            self._tell(claim, outcome, words)
            self._in_a_row = 0 if outcome != "skipped" else self._in_a_row

    def _ended(self, claim: Claim, plan_file: str) -> tuple[str, str]:
        plan = write_results.load_plan(plan_file, claim.task.created)
        if plan is None:
            try:
                model = self._asking.model(self.queue.claimed, lambda: self.queue.renew(claim))
                plan = distill(self._run_context, claim.task, model)
            except SkipTask as skip:
                return "skipped", str(skip)
            if not self.queue.renew(claim):
                raise ModelFailedError("another machine has taken it")
            write_results.save_plan(plan_file, plan)
        wrote = write_results.apply_plan(plan)
        added = any(one != write_results.DELETED for one in wrote)
        return ("wrote" if added else "nothing"), "; ".join((*wrote, *plan.said.notes))

    # ── how it ends ──────────────────────────────────────────────────────────────────────────────────

    def _tell(self, claim: Claim, outcome: str, words: str) -> None:
        nothing = f"nothing to persist; {words}" if words else "nothing to persist"
        said = {"wrote": f"wrote: {words}", "nothing": nothing, "skipped": f"skipped: {words}"}
        self.log(said.get(outcome, f"error processing {claim.name}: {words}"))
        self._count(claim, outcome)

    def _count(self, claim: Claim, outcome: str) -> None:
        self._counts[outcome] = self._counts.get(outcome, 0) + 1
        if self._progress is not None:
            self._progress(claim.name, outcome)

    def _cannot(self, claim: Claim, error: ModelSetupError) -> None:
        """It waits, and is not tried again in this run. Raises the error if the others would fare no better."""
        self._back(claim, str(error), failed=False, wait=0.0 if self.by_hand else error.wait)
        self._again[claim.name] = math.inf
        self._refused, self._in_a_row = str(error), self._in_a_row + 1
        if not error.wait or self._in_a_row >= _REFUSALS:
            raise error

    def _back(self, claim: Claim, reason: str, *, failed: bool = True, wait: float = 0.0) -> None:
        tries = claim.task.tries + 1
        if failed and tries >= self.settings.compound_loop.attempts:
            self._give_up(claim, f"{reason} (tried {tries} times)")
            return
        pause = max(wait, min(_FIRST_RETRY * 4 ** (tries - 1), _MAX_RETRY) if failed else 0.0)
        self.log(f"error processing {claim.name}: {reason}; " + (f"again in {pause:g} s" if pause else "it waits"))
        self._put_back(claim, pause, self._clean(reason), failed=failed)
        self._count(claim, "later")

    def _put_back(self, claim: Claim, pause: float, reason: str, *, failed: bool) -> None:
        self._again[claim.name] = time.monotonic() + pause
        self.queue.put_back(claim, wait=pause, reason=reason, failed=failed)

    def _give_up(self, claim: Claim, reason: str, answer: str = "") -> None:
        reason = self._clean(reason)
        try:
            dead_letter.write(self.places.dead, claim.name, claim.task, reason, self._clean(answer)[:4000])
            self.queue.finish(claim, "failed", reason)
        except (OSError, StateError) as error:
            self._put_back(claim, _DISK_WAIT, str(error), failed=False)
            return
        self.log(f"error processing {claim.name}: {reason}" + (f": {answer[:200]}" if answer else ""))
        self._count(claim, "failed")

    def _clean(self, text: str) -> str:
        return self._run_context.clean(self.settings)(text)

    def _index(self) -> None:
        """What was written can be found, before the next session begins."""
        from hookline.memory.notes.index import update_index  # it brings SQLite

        if why := update_index(self.places, self._run_context.clean(self.settings)):
            self.log(f"error: {why}")

    def _sweep(self) -> None:
        days = float(self.settings.knowledge.keep_days)
        self.queue.sweep(keep=_MAX_DONE, days=days)
        # By number alone: what somebody may still want must not go because a clock was wrong for a moment.
        prune(self.places.dead, keep=_MAX_DEAD, days=math.inf, now=self.clock())
        prune(self.places.compact_backups, keep=_MAX_DONE, days=days, now=self.clock())
        waiting = {one.name for one in self.queue.pending()} | set(self.queue.claimed_names())
        with contextlib.suppress(OSError):
            for name in os.listdir(self.queue.claimed):
                if name.endswith(".plan") and name.removesuffix(".plan") not in waiting:
                    write_results.delete_plan(os.path.join(self.queue.claimed, name))


def main() -> int:
    """In the background: started by a hook, with an environment that names our directories."""
    environ = dict(os.environ)
    place = environ.get("HOOKLINE_STATE_DIR", "")
    with contextlib.suppress(OSError):
        os.chdir(place)  # no directory of anybody's is held while we work
    try:
        run(environ, cwd=place, patience=_BACKGROUND, by_hand=False)
    except HooklineError as error:  # standard error is the log
        sys.stderr.write(f"{logs.now_text()} {_NAME}: nothing done: {error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
