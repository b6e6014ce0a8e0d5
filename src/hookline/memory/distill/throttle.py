"""Ask the configured model only when the disk has room for the answer, and not while the model is busy."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hookline.core.files import UNFINISHED, replace_atomically
from hookline.memory.distill import write_results
from hookline.memory.distill.backends import select_model
from hookline.memory.distill.model_errors import MAX_WAIT, ModelBusyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.memory.distill.backends import Model
    from hookline.memory.distill.distill_task import RunContext
    from hookline.memory.settings import CompoundLoop

#: Bytes that must be free.
_ROOM = 1 << 16
#: Seconds to pause after a busy model; four times as long each time in a row, up to the maximum.
_FIRST_PAUSE = 30.0


class ModelThrottle:
    """For one run. ``model`` replaces the configured one."""

    def __init__(self, loop: CompoundLoop, run: RunContext, *, model: Model | None = None) -> None:
        self._loop, self._run_context, self._model = loop, run, model
        self._paused_until, self._reason, self._pauses = 0.0, "", 0

    def model(self, folder: str, renew: Callable[[], object]) -> Model:
        """The configured model is looked up at the first prompt: a trivial session needs none. ``folder`` must have room
        for the answer; ``renew`` is called just before the request."""

        def ask(text: str) -> str:
            self._check_pause()
            places = self._run_context.places
            model = self._model or select_model(
                self._loop, self._run_context.environ, state=places.state, names=self._run_context.models()
            )
            _check_room(folder)
            renew()
            return self._ask(model, text)

        return ask

    def reset(self) -> None:
        self._paused_until = 0.0

    def _check_pause(self) -> None:
        left = self._paused_until - time.monotonic()
        if left > 0:
            raise ModelBusyError(self._reason, wait=left)

    def _ask(self, model: Model, text: str) -> str:
        try:
            answer = model(text)
        except ModelBusyError as error:
            self._pauses += 1
            wait = error.wait or min(_FIRST_PAUSE * 4 ** (self._pauses - 1), MAX_WAIT)
            self._paused_until, self._reason = time.monotonic() + wait, str(error)
            raise ModelBusyError(str(error), wait=wait) from error
        self._pauses = 0
        return answer


def _check_room(folder: str) -> None:
    """An answer that cannot be saved is paid for again and again. Raises OSError on a full disk."""
    probe = os.path.join(folder, f"{UNFINISHED}room-{os.getpid()}")
    try:
        replace_atomically(probe, " " * _ROOM, durable=False)
    except OSError as error:
        error.filename = folder
        raise
    write_results.delete_plan(probe)
