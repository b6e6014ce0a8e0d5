"""The doctor's probe: does what an agent sends reach us, and does our answer come back? No hook runs for it.

The doctor leaves a file with a random name in the state directory and puts the name in a variable. A repository can set
the variable but cannot leave the file, so it cannot switch a guard off. The file counts for a minute and serves once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hookline.core.files import read_json, write_json
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.paths import private_dir

#: The variable that names the probe.
PROBE = "HOOKLINE_PROBE"
#: Seconds that a probe counts.
_LASTS = 60.0

_NAME = lazy_pattern(r"[0-9a-f]{32}")


def ask(state: str) -> str:
    """A new probe; its name goes into the environment of the call. Raises ``StateError``."""
    folder = private_dir(os.path.join(private_dir(state), "probes"))
    _sweep(folder)
    name = os.urandom(16).hex()
    write_json(os.path.join(folder, name), {"asked": time.time()})
    return name


def take(environ: Mapping[str, str], state: str) -> str:
    """The file of the probe that the environment names, taken so that nobody else can; "" if there is none."""
    name = environ.get(PROBE, "")
    if _NAME.fullmatch(name) is None:
        return ""
    path = os.path.join(state, "probes", name)
    try:
        fresh = abs(time.time() - os.stat(path).st_mtime) < _LASTS
        os.rename(path, f"{path}.taken")
    except OSError:
        return ""
    return f"{path}.taken" if fresh else ""


def answer(question: str, found: Mapping[str, Any]) -> None:
    """``question`` is what ``take`` gave. Raises ``StateError``."""
    write_json(question, found)


def read_answer(state: str, name: str) -> dict[str, Any] | None:
    """The answer, and the probe is over; None when it did not arrive."""
    path = os.path.join(state, "probes", name)
    found: dict[str, Any] | None = read_json(f"{path}.taken")
    for left in (path, f"{path}.taken"):
        with suppress(OSError):
            os.unlink(left)
    return found if found is not None and "event" in found else None


def _sweep(folder: str) -> None:
    """Remove probes whose doctor is gone."""
    for name in os.listdir(folder):
        left = os.path.join(folder, name)
        with suppress(OSError):
            if time.time() - os.stat(left).st_mtime > 10 * _LASTS:
                os.unlink(left)
