"""A directory of the knowledge loop that cannot be used: which setting names it, and how to fix it."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from hookline.core._dataclass import replace
from hookline.core.errors import StateError
from hookline.core.paths import ELSEWHERE, UnusableError, unusable, why_unusable
from hookline.memory.layout import Places

#: Errors of the machine, whatever the path.
_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)


def is_directory_error(error: OSError | StateError, places: Places) -> bool:
    """Whether no task caused it: a full disk, or one of our own directories that cannot be used."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in _MACHINE:
        return True
    path = _error_path(error)
    return any(_within(path, place) for place in (places.root, places.learnings, places.state))


def describe(error: OSError | StateError, places: Places) -> str:
    """The error in one line, with the setting that names the directory and the fix."""
    path = _error_path(error)
    fix = _fix(path, places)
    if isinstance(error, UnusableError):
        return str(replace(error.place, elsewhere=fix))
    if isinstance(error, OSError) and path and error.errno:
        return str(unusable(path, error, fix))
    return str(error)


def why_unreadable(places: Places) -> str:
    """Why the directories cannot be read; "" if they can, or if there is nothing yet."""
    for place in (places.root, places.state):
        try:
            with os.scandir(place):
                pass
        except FileNotFoundError:
            if os.path.islink(place):
                return str(unusable(place, OSError(errno.EEXIST, ""), _fix(place, places)))
        except OSError as error:
            wrong = OSError(errno.EEXIST, "") if error.errno == errno.ENOTDIR else error
            return str(unusable(place, wrong, _fix(place, places)))
    return ""


def why_unwritable(places: Places) -> list[str]:
    """The errors that writing would give now. Nothing is touched."""
    found: list[str] = []
    for place in (places.root, places.learnings, places.state):
        if found and _within(place, places.root):
            continue
        why = None
        with suppress(OSError):
            why = why_unusable(place)
        if why is not None and not why.foreign:  # a shared directory may belong to another user
            found.append(str(replace(why, elsewhere=_fix(place, places))))
    return found


def _fix(path: str, places: Places) -> str:
    if places.learnings_from and _within(path, places.learnings):
        return f"name another directory: {places.learnings_from}"
    if _within(path, places.root) or _within(path, places.learnings) or _blocks(path, places.root):
        return f"name another directory: {places.root_from}"
    return ELSEWHERE


def _error_path(error: OSError | StateError) -> str:
    if isinstance(error, UnusableError):
        return error.place.path
    cause = error if isinstance(error, OSError) else error.__cause__
    name = getattr(cause, "filename", None)
    return os.fsdecode(name) if isinstance(name, str | bytes) else ""


def _within(path: str, place: str) -> bool:
    return bool(path) and (f"{path}/".startswith(f"{place.rstrip('/')}/"))


def _blocks(path: str, place: str) -> bool:
    """A file where a parent directory should be."""
    return bool(path) and place.startswith(f"{path}/") and not os.path.isdir(path)
