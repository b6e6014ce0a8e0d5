"""Our own model process: it is no session of anybody's, and no hook runs for it.

The worker gives ``claude -p`` a directory of our own to work in, so that its transcript lies with no project's, and a
variable that names a file which the worker holds locked while it waits. At the door the variable counts only with that
lock: a repository can set a variable, but cannot hold a lock on a file in the state directory. And even then the door
lets no tool be used: the process reads text that anybody may have written, and has nothing to do but answer.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

#: The variable that names the lock.
MARK = "HOOKLINE_DISTILLING"
_FOLDER = "distilling"
#: Begins every question of the worker: known also where a transcript does not say its directory.
PREFACE = "You distil finished work sessions for hookline."

_LETTERS = frozenset("0123456789abcdef")


def workplace(state: str) -> str:
    """The directory that our own model process works in."""
    return os.path.join(state, _FOLDER)


def is_ours(*, state: str, cwd: str = "", prompt: str = "") -> bool:
    """Whether a session is our own model's, by its directory or its first prompt: not exported, not the latest."""
    if prompt.lstrip().startswith(PREFACE):
        return True
    return bool(cwd) and os.path.realpath(cwd) == os.path.realpath(workplace(state))


@contextmanager
def marked(state: str) -> Generator[Mapping[str, str]]:
    """The variables of a process for which hookline is off, as long as the context lasts. Raises OSError, StateError."""
    import fcntl  # noqa: PLC0415  the door only looks at the variable

    from hookline.core.paths import private_dir  # noqa: PLC0415

    folder = private_dir(workplace(private_dir(state)))
    _sweep(folder)
    name = os.urandom(16).hex()
    path = os.path.join(folder, name)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        # The second is for our own commands and for hooks that would ask a model.
        yield {MARK: name, "HOOKLINE_NO_HOOKS": "1"}
    finally:
        with suppress(OSError):
            os.unlink(path)
        os.close(handle)


def off(environ: Mapping[str, str], state: str) -> bool:
    """Whether hookline is off for who says this variable."""
    name = environ.get(MARK, "")
    return _is_name(name) and _held(os.path.join(workplace(state), name))


def _is_name(name: str) -> bool:
    return len(name) == 32 and _LETTERS.issuperset(name)


def _held(path: str) -> bool:
    from hookline.core.files import is_locked  # noqa: PLC0415  only who has the variable is asked for more

    return is_locked(path, ours=True)


def _sweep(folder: str) -> None:
    """Marks whose worker is gone."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if _is_name(name) and not _held(path):
            with suppress(OSError):
                os.unlink(path)
