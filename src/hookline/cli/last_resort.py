"""For commands that answer somebody: a function that cannot be ended must not keep the answer for ever."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.run.watchdog import install_interrupt

if TYPE_CHECKING:
    from hookline.engine import Engine

_SAID = b"hookline: a Python hook cannot be ended at its deadline, since it catches everything; the answer is no\n"


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

    install_interrupt(give_up)
