"""A question that is no event: does what an agent sends reach us, and does our answer come back? No hook runs for it.

Who asks has left a file with a random name in the state directory, and says the name in a variable. A repository can
set the variable but cannot leave the file, so no guard can be switched off with it: the file lies where only the
person can write, counts for a minute and serves once. Without it the variable means nothing.
"""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The variable that names the question.
PROBE = "HOOKLINE_PROBE"
#: Seconds that a question counts.
_LASTS = 60.0

_NAME = re.compile(r"[0-9a-f]{32}")


def ask(state: str) -> str:
    """A new question; its name is for the environment of whoever shall answer. Raises ``StateError``."""
    from hookline.core.files import write_private  # noqa: PLC0415
    from hookline.core.paths import private_dir  # noqa: PLC0415  who answers agents all day does without

    folder = private_dir(os.path.join(private_dir(state), "probes"))
    _sweep(folder)
    name = os.urandom(16).hex()
    write_private(os.path.join(folder, name), {"asked": time.time()})
    return name


def taken(environ: Mapping[str, str], state: str) -> str:
    """The open question that the environment names, taken so that nobody else can; "" if there is none."""
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


def answer(question: str, told: Mapping[str, Any]) -> None:
    """``question`` is what ``taken`` gave. Raises ``StateError``."""
    from hookline.core.files import write_private  # noqa: PLC0415  nobody has asked, mostly

    write_private(question, told)


def answered(state: str, name: str) -> dict[str, Any] | None:
    """What was answered, and the question is forgotten; None when nobody has heard it."""
    path = os.path.join(state, "probes", name)
    told: dict[str, Any] | None = None
    with suppress(OSError, ValueError), open(f"{path}.taken", encoding="utf-8") as file:
        told = json.load(file)
    for left in (path, f"{path}.taken"):
        with suppress(OSError):
            os.unlink(left)
    return told if told is not None and "event" in told else None


def _sweep(folder: str) -> None:
    """Questions whose asker is gone."""
    for name in os.listdir(folder):
        left = os.path.join(folder, name)
        with suppress(OSError):
            if time.time() - os.stat(left).st_mtime > 10 * _LASTS:
                os.unlink(left)
