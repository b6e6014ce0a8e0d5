"""Where a path lies: in the project, at home, in a temporary directory, in the system, on a device or elsewhere.

The file system is asked only through ``KnownPlaces.resolve``, which follows links; without it, paths are judged by their
names alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from fnmatch import translate
from functools import lru_cache
from typing import Final, Literal

from hookline.core._dataclass import dataclass
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.reading import Glob, Word

_PlaceName = Literal[
    "root", "system", "home", "project", "temp", "device", "mount", "outside", "remote", "network", "unknown"
]
#: What a rule may name as ``where``, beside "outside project" and a path.
PLACES: Final[tuple[_PlaceName, ...]] = (
    "root", "system", "home", "project", "temp", "device", "mount", "outside", "remote", "network", "unknown",
)  # fmt: skip

_TEMP = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm", "/var/folders")  # noqa: S108 (names only)
_HARMLESS = lazy_pattern(
    r"/dev/(null|zero|full|u?random|tty\d*|stdin|stdout|stderr|ptmx|fd(/.*)?|pts(/.*)?)$|/proc/self/fd/"
)
_SYSTEM = words(
    "bin boot dev etc lib lib32 lib64 libx32 proc root run sbin sys usr var opt System Library Applications private cores"
)
_MOUNTS = frozenset(["mnt", "media", "Volumes", "srv", "net"])
_HOMES = lazy_pattern(r"/(home|Users|export/home)(/[^/]+)?$|/(root|var/root)$")
_BELOW_HOMES = lazy_pattern(r"/(home|Users|export/home)/[^/]+/|/(root|var/root)/")
#: What a pattern such as ``/et?`` may mean.
_LANDMARKS = tuple(
    f"/{name}" for name in sorted(words("etc usr bin sbin lib var boot home root opt dev sys proc Users System"))
)
_SOMEBODY = lazy_pattern(r"~[A-Za-z_][\w-]*(/|$)")
#: How deep below the root a directory still counts as a whole part of the system.
_WHOLE_DEPTH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPath:
    """One judged path. ``whole``: all of the place, or a directory that much else depends on."""

    name: _PlaceName
    path: str
    whole: bool = False

    @property
    def outside(self) -> bool:
        """Neither in the project nor in a temporary directory."""
        return self.name not in {"project", "temp"}


def _same(path: str) -> str:
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPlaces:
    """What paths are judged against. All paths are absolute."""

    cwd: str
    project: str
    home: str
    temp: tuple[str, ...] = ()
    #: Follows links; the path itself where nothing is known.
    resolve: Callable[[str], str] = _same


UNKNOWN_PLACE: Final = JudgedPath(name="unknown", path="")


def locate(
    word: Word, places: KnownPlaces, directory: str, *, remote: bool = False, follow: bool = False
) -> JudgedPath:
    """The place of one argument of a program that runs in ``directory``. ``follow``: the last name may be a link."""
    if not word.known and not word.prefix:
        return place_of_unknown(word)
    if word.known and not word.globs:
        return locate_path(word.text, places, directory, remote=remote, follow=follow)
    prefix = word.prefix
    if not word.known:
        found = locate_path(prefix.rpartition("/")[0] or prefix, places, directory, remote=remote, follow=follow)
        return JudgedPath(name=found.name, path=absolute(prefix, places, directory), whole=False)
    return _of_pattern(word, places, directory, remote=remote)


def place_of_unknown(word: Word) -> JudgedPath:
    if any(source.name == "mktemp" for source in word.sources):
        return JudgedPath(name="temp", path="")
    if _SOMEBODY.match(word.source):  # another person's home, which only the system knows
        return JudgedPath(name="home", path="", whole="/" not in word.source.strip("/"))
    return UNKNOWN_PLACE


def _of_pattern(word: Word, places: KnownPlaces, directory: str, *, remote: bool) -> JudgedPath:
    text = word.text
    folder, _, last = text.rpartition("/")
    if last.strip("*?.[]!") == "" or (last == "" and folder.endswith("*")):  # all of a directory
        folder = folder or ("/" if text.startswith("/") else ".")
        found = locate_path(folder, places, directory, remote=remote, follow=True)
        return JudgedPath(name=found.name, path=found.path, whole=found.whole)
    pattern = _pattern("".join(_escape(piece) for piece in word.pieces))
    for landmark in (*_LANDMARKS, places.home):
        if pattern.match(landmark):
            return locate_path(landmark, places, directory, remote=remote)
    found = locate_path(
        word.prefix.rpartition("/")[0] or ("/" if text.startswith("/") else "."), places, directory, remote=remote
    )
    return JudgedPath(name=found.name, path=absolute(text, places, directory), whole=False)


def _escape(piece: object) -> str:
    return piece.text if isinstance(piece, Glob) else re.sub(r"([*?[])", r"[\1]", str(piece))


@lru_cache(maxsize=64)
def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(translate(text))
    except re.error:  # a range such as [z-a]
        return re.compile(r"(?!)")


def absolute(path: str, places: KnownPlaces, directory: str) -> str:
    """The path from the root, without ``.`` and ``..``."""
    return posixpath.normpath("/" + posixpath.join(directory, path).lstrip("/"))


def expand_home(path: str, home: str) -> str:
    """``~`` as programs expand it; a shell's words come without it."""
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return "/home/" + path[1:] if path.startswith("~") else path


def locate_path(
    path: str, places: KnownPlaces, directory: str, *, remote: bool = False, follow: bool = False
) -> JudgedPath:
    """The place of a path that is known to the letter."""
    full = absolute(path, places, directory)
    if remote:
        return _remote(path, full, places)
    named = _name(full, places)
    if path.endswith(("/", "/.")) or follow:
        real = places.resolve(full)
    else:
        parent, _, last = full.rpartition("/")
        real = posixpath.join(places.resolve(parent or "/"), last)
    if real == full:
        return named
    linked = _name(real, places)
    return linked if (linked.outside and not named.outside) or linked.whole else named


def _remote(path: str, full: str, places: KnownPlaces) -> JudgedPath:
    found = _name(full, places) if path.startswith(("/", "~")) else UNKNOWN_PLACE
    if found.name == "temp" and not found.whole:
        return found
    return JudgedPath(name="remote", path=full, whole=found.whole or found.name == "root")


def _name(path: str, places: KnownPlaces) -> JudgedPath:
    if path == "/":
        return JudgedPath(name="root", path=path, whole=True)
    if path == places.home or places.home.startswith(path + "/"):
        return JudgedPath(name="home", path=path, whole=True)
    if path == places.project or places.project.startswith(path + "/"):
        return JudgedPath(name="project" if path == places.project else "outside", path=path, whole=True)
    if path.startswith(places.project + "/"):
        return JudgedPath(name="project", path=path)
    for temp in (*_TEMP, *places.temp):
        if path == temp or path.startswith(temp + "/"):
            return JudgedPath(name="temp", path=path, whole=path == temp)
    return _elsewhere(path, places)


def _elsewhere(path: str, places: KnownPlaces) -> JudgedPath:
    if _HOMES.match(path):
        return JudgedPath(name="home", path=path, whole=True)
    if path.startswith(places.home + "/") or _BELOW_HOMES.match(path):
        return JudgedPath(name="home", path=path)
    parts = path.split("/")[1:]
    if parts[0] == "dev" and len(parts) > 1:
        return _device(path, parts)
    if parts[0] in _MOUNTS:
        return JudgedPath(name="mount", path=path, whole=len(parts) <= _WHOLE_DEPTH)
    if parts[0] in _SYSTEM:
        return JudgedPath(name="system", path=path, whole=len(parts) <= _WHOLE_DEPTH)
    return JudgedPath(name="outside", path=path)


def _device(path: str, parts: list[str]) -> JudgedPath:
    if parts[1] in {"tcp", "udp"}:
        return JudgedPath(name="network", path=path)
    return JudgedPath(name="temp" if _HARMLESS.match(path) else "device", path=path)
