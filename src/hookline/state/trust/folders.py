"""A project that was moved is still the one in which guards were approved: its folders say so, or its files.

Moving a folder changes neither its number nor when it was made; a clone or a copy has folders of its own. A move to
another disk is a copy and a deletion, so a copy whose original is gone is the project that was approved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from hookline.core.files import note
from hookline.state.trust.digest import Digests, file_signature
from hookline.state.trust.judge import Approval
from hookline.state.trust.names import find_repository

#: The project's own, and those that somebody could move out of it into a new one.
_FOLDERS = ("", ".git", ".hookline")
#: From linux/stat.h and linux/fcntl.h: the size of what statx fills in, where the birth is in it, and what is asked.
_SIZE, _SECONDS, _NANOSECONDS = 256, slice(80, 88), slice(88, 92)
_HERE, _NO_FOLLOW, _BIRTH = -100, 0x100, 0x800


def folders_born(root: str) -> tuple[tuple[int, int], ...]:
    """Number and birth of each folder that has both."""
    found = ((number, _born(path)) for path, number in _numbers(root))
    return tuple((number, born) for number, born in found if born)


def find_moved(approvals: Sequence[Approval], places: Iterable[str]) -> tuple[Approval, ...]:
    """Those that were made in what is now the first of these places that something was approved in."""
    births = {one for approval in approvals for one in approval.folders_born}
    numbers = {number for number, _ in births}
    for place in dict.fromkeys(places):
        here = {(number, _born(path)) for path, number in _numbers(place) if number in numbers} & births
        found = tuple(a for a in approvals if here.intersection(a.folders_born)) or tuple(_copied(approvals, place))
        if found:
            return found
    return ()


def fingerprint(file: str, root: str, digests: Digests) -> str:
    """The bytes of a file, and its name in the project; "" where it is not in it."""
    name, (signature, digest) = os.path.relpath(file, root), digests.signed(file)
    return "" if signature is None or name.startswith("../") else f"{signature[1]} {digest} {name}"


def _copied(approvals: Sequence[Approval], place: str) -> Iterator[Approval]:
    """Those whose file is here, byte for byte, and no longer where it was approved."""
    digests = Digests()
    for one in approvals:
        size, _, name = one.fingerprint.split(" ", 2) if one.fingerprint else ("", "", "")
        here = os.path.join(place, name)
        signature = file_signature(here) if name else None
        if signature is None or str(signature[1]) != size or os.path.realpath(here) == one.file:
            continue
        note(one.file)  # while it is there, this is a copy
        if not os.path.lexists(one.file) and fingerprint(here, place, digests) == one.fingerprint:
            yield one


def _numbers(root: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for name in _FOLDERS:
        path = os.path.join(root, name) if name else root
        with suppress(OSError):  # not there
            if name == ".git" and os.path.isfile(path):
                path = _repository(path)
            found.append((path, os.lstat(path).st_ino))
    return found


def _repository(mark: str) -> str:
    """The folder of Git whose worktree this was before it was moved. Anybody can write a ``.git`` file: where the
    worktree still is where it was made, this is none."""
    folder, made_for = find_repository(mark)
    return mark if os.path.lexists(made_for) else folder


def _born(path: str) -> int:
    """In nanoseconds since the epoch; 0 where the system does not tell."""
    try:
        stat = os.lstat(path)
        if seconds := getattr(stat, "st_birthtime", 0):  # Python asks for it on macOS and BSD only
            return int(seconds * 1_000_000_000)
        import ctypes  # only where a number is that of an approved folder

        filled = ctypes.create_string_buffer(_SIZE)
        if ctypes.CDLL(None).statx(_HERE, os.fsencode(path), _NO_FOLLOW, _BIRTH, filled):
            return 0
    except (OSError, AttributeError):
        return 0
    seconds, nanoseconds = (int.from_bytes(filled.raw[part], "little") for part in (_SECONDS, _NANOSECONDS))
    return seconds * 1_000_000_000 + nanoseconds
