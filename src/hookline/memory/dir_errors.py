"""A directory of the knowledge loop that cannot be used: whose setting it is, and what a person can do about it."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.core.errors import StateError
from hookline.core.paths import ELSEWHERE, UnusableError, unusable, why_unusable

if TYPE_CHECKING:
    from hookline.memory.layout import Places

_MARK = " cannot be used: "
#: The machine's fault, wherever it happens.
_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)


def is_directory_error(error: OSError | StateError, places: Places) -> bool:
    """Whether no task is to blame for it: a full disk, or one of our own directories that cannot be used."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in _MACHINE:
        return True
    path = _path_of(error)
    return any(_within(path, place) for place in (places.root, places.learnings, places.state))


def describe(error: OSError | StateError, places: Places) -> str:
    """The error in one line, with the setting that names the directory and what to do."""
    path = _path_of(error)
    mend = _mend(path, places)
    if isinstance(error, UnusableError):
        return str(replace(error.place, elsewhere=mend))
    if isinstance(error, OSError) and path and error.errno:
        return str(unusable(path, error, mend))
    return str(error)


def why_unreadable(places: Places) -> str:
    """Why what may be there cannot be read; "" also where there is nothing yet."""
    for place in (places.root, places.state):
        try:
            with os.scandir(place):
                pass
        except FileNotFoundError:
            if os.path.islink(place):
                return str(unusable(place, OSError(errno.EEXIST, ""), _mend(place, places)))
        except OSError as error:
            wrong = OSError(errno.EEXIST, "") if error.errno == errno.ENOTDIR else error
            return str(unusable(place, wrong, _mend(place, places)))
    return ""


def why_unwritable(places: Places) -> list[str]:
    """What would be said if something were to be written now, nothing being touched."""
    found: list[str] = []
    for place in (places.root, places.learnings, places.state):
        if found and _within(place, places.root):
            continue
        why = None
        with suppress(OSError):
            why = why_unusable(place)
        if why is not None and not why.foreign:  # a directory that is shared may belong to somebody else
            found.append(str(replace(why, elsewhere=_mend(place, places))))
    return found


def _mend(path: str, places: Places) -> str:
    if places.learnings_from and _within(path, places.learnings):
        return f"name another directory: {places.learnings_from}"
    if _within(path, places.root) or _within(path, places.learnings) or _in_the_way(path, places.root):
        return f"name another directory: {places.root_from}"
    return ELSEWHERE


def _path_of(error: OSError | StateError) -> str:
    if isinstance(error, UnusableError):
        return error.place.path
    cause = error if isinstance(error, OSError) else error.__cause__
    name = getattr(cause, "filename", None)
    return os.fsdecode(name) if isinstance(name, str | bytes) else ""


def _within(path: str, place: str) -> bool:
    return bool(path) and (f"{path}/".startswith(f"{place.rstrip('/')}/"))


def _in_the_way(path: str, place: str) -> bool:
    """A file where a directory on the way to it should be."""
    return bool(path) and place.startswith(f"{path}/") and not os.path.isdir(path)
