"""Asking the configured model on behalf of tasks: when there is room for the answer, and when somebody answers at all."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hookline.core.files import UNFINISHED, replace_atomically
from hookline.memory.distill import write_results
from hookline.memory.distill.backends import configured_model
from hookline.memory.distill.model_errors import MAX_WAIT, ModelBusyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.memory.distill.backends import Model
    from hookline.memory.distill.distill_task import RunContext
    from hookline.memory.settings import CompoundLoop

#: Bytes that must be free before a model is asked.
_ROOM = 1 << 16
#: Seconds that nobody is asked after nobody was answered; each time in a row four times as long, up to the longest.
_FIRST_LULL = 30.0


class ModelThrottle:
    """One run's way to the model. ``model`` is asked instead of the configured one."""

    def __init__(self, loop: CompoundLoop, run: RunContext, *, model: Model | None = None) -> None:
        self._loop, self._run_context, self._model = loop, run, model
        self._quiet_until, self._why, self._lulls = 0.0, "", 0

    def model(self, folder: str, renew: Callable[[], object]) -> Model:
        """Found when there is something to ask: a trivial session needs no model. ``folder`` must have room for the
        answer; ``renew`` is called just before the question."""

        def ask(text: str) -> str:
            self._not_in_a_lull()
            places = self._run_context.places
            model = self._model or configured_model(
                self._loop, self._run_context.environ, state=places.state, names=self._run_context.models()
            )
            _make_sure_of_room(folder)
            renew()
            return self._heard(model, text)

        return ask

    def reset(self) -> None:
        self._quiet_until = 0.0

    def _not_in_a_lull(self) -> None:
        left = self._quiet_until - time.monotonic()
        if left > 0:
            raise ModelBusyError(self._why, wait=left)

    def _heard(self, model: Model, text: str) -> str:
        try:
            said = model(text)
        except ModelBusyError as error:
            self._lulls += 1
            wait = error.wait or min(_FIRST_LULL * 4 ** (self._lulls - 1), MAX_WAIT)
            self._quiet_until, self._why = time.monotonic() + wait, str(error)
            raise ModelBusyError(str(error), wait=wait) from error
        self._lulls = 0
        return said


def _make_sure_of_room(folder: str) -> None:
    """An answer that cannot be written down is paid for again and again. Raises OSError on a full disk."""
    probe = os.path.join(folder, f"{UNFINISHED}room-{os.getpid()}")
    try:
        replace_atomically(probe, " " * _ROOM, durable=False)
    except OSError as error:
        error.filename = folder
        raise
    write_results.delete_plan(probe)
