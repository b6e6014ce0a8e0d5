"""The files of a pack as values: what may be in one, its digest, and its way to and from a folder.

Whatever they come from (a folder, a commit, an archive), files pass ``TreeBuilder`` and nothing else does: no path that
leads elsewhere, no link that leaves the folder, no special file, and only so many of them.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from hookline.core._dataclass import dataclass
from hookline.core.errors import PackError

#: A plugin has some dozens; the limits keep a hostile one from filling disk and memory.
MOST_FILES, MOST_BYTES, LARGEST = 5_000, 64 << 20, 16 << 20
_LONGEST_PATH, _DEEPEST, _MOST_LINKS = 512, 32, 8
#: Folders that are no part of what was published.
_LEFT_OUT = frozenset({".git", ".hg", ".svn", "__pycache__", ".DS_Store"})


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    data: bytes
    executable: bool = False


#: Path from the pack's root, with slashes -> file; in order of the paths.
Tree: TypeAlias = Mapping[str, File]


class TreeBuilder:
    """Takes files one by one and refuses the first that is not allowed. Links are resolved at the end."""

    def __init__(self) -> None:
        self._files: dict[str, File] = {}
        self._links: dict[str, str] = {}
        self._size = 0

    def add(self, path: str, data: bytes, *, executable: bool = False) -> None:
        name = _checked(path)
        if name is None:
            return
        self.charge(path, len(data))
        self._claim(name)
        self._files[name] = File(data=data, executable=executable)

    def link(self, path: str, target: str) -> None:
        name = _checked(path)
        if name is None:
            return
        if target.startswith("/") or "\\" in target or "\0" in target:
            raise PackError(f"{path!r} is a link that leaves the folder, to {target!r}; a pack is complete in itself")
        self.charge(path, 0)
        self._claim(name)
        self._links[name] = target

    def charge(self, path: str, size: int) -> None:
        """Before a file is read, as far as its size is known by then."""
        if size > LARGEST:
            raise PackError(f"{path!r} is larger than {LARGEST >> 20} MiB")
        self._size += size
        if self._size > MOST_BYTES or len(self._files) + len(self._links) >= MOST_FILES:
            raise PackError(f"the pack has more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB")

    def _claim(self, name: str) -> None:
        if name in self._files or name in self._links:
            raise PackError(f"{name!r} is in the pack twice")

    def tree(self, folder: str = "") -> Tree:
        """What was taken, below ``folder``."""
        prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
        files = {path: file for path, file in self._files.items() if path.startswith(prefix)}
        for path in self._links:
            if path.startswith(prefix):
                files |= dict(self._linked(path, prefix))
        found = {path[len(prefix) :]: files[path] for path in sorted(files)}
        _check_names(found)
        return found

    def _linked(self, path: str, prefix: str) -> Iterator[tuple[str, File]]:
        """A link within the folder is what it leads to: agents and archives treat links differently."""
        target = self._resolve(path, 0)
        if not f"{target}/".startswith(prefix) or target == path or f"{path}/".startswith(f"{target}/"):
            raise PackError(f"{path!r} is a link that leaves the folder, to {self._links[path]!r}")
        if target in self._files:
            yield path, self._files[target]
            return
        inner = [one for one in self._files if one.startswith(f"{target}/")]
        if not inner:
            raise PackError(f"{path!r} is a link to {self._links[path]!r}, which is not in the pack")
        for one in inner:
            self.charge(one, len(self._files[one].data))
            yield path + one[len(target) :], self._files[one]

    def _resolve(self, path: str, depth: int) -> str:
        if depth > _MOST_LINKS:
            raise PackError(f"{path!r} is a link that leads in circles")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), self._links[path]))
        if target.startswith("..") or target == ".":
            raise PackError(f"{path!r} is a link that leaves the folder, to {self._links[path]!r}")
        return self._resolve(target, depth + 1) if target in self._links else target


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedFiles:
    builder: TreeBuilder
    #: What pins them: a commit, the SHA-256 of an archive, the version of a package.
    revision: str
    #: What a person should know.
    notes: tuple[str, ...] = ()


def _checked(path: str) -> str | None:
    """The path as it is kept; None for what is left out. Raises PackError."""
    parts = path.removeprefix("./").split("/")
    bad = (
        not path or "\\" in path or len(path.encode(errors="replace")) > _LONGEST_PATH or len(parts) > _DEEPEST
        or any(part in {"", ".", ".."} or len(part.encode(errors="replace")) > 255 for part in parts)
        or any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co"} for char in path)
    )  # fmt: skip
    if bad:
        raise PackError(f"{path[:200]!r} is not a path that a pack may contain")
    return None if any(part.casefold() in _LEFT_OUT or part in _LEFT_OUT for part in parts) else "/".join(parts)


def _check_names(tree: Tree) -> None:
    """On some disks two names are one, and the second would replace the first."""
    names: dict[str, str] = {}
    for path in tree:
        parts = path.split("/")
        for number in range(1, len(parts) + 1):
            part = "/".join(parts[:number])
            known = names.setdefault(unicodedata.normalize("NFC", part).casefold(), part)
            if known != part:
                raise PackError(f"{path!r} and {known!r} are the same file on some disks")
        if any("/".join(parts[:number]) in tree for number in range(1, len(parts))):
            raise PackError(f"{path!r} is below a file")


def tree_digest(tree: Tree) -> str:
    """The same for the same published files, wherever they come from."""
    lines = (
        f"{hashlib.sha256(one.data).hexdigest()} {'x' if one.executable else '-'} {path}\n"
        for path, one in sorted(tree.items())
    )
    return f"sha256:{hashlib.sha256(''.join(lines).encode('utf-8', 'surrogateescape')).hexdigest()}"


def read_folder(root: str) -> Tree:
    """A folder as it is; nothing is followed. Raises PackError."""
    builder = TreeBuilder()
    for here, folders, names in os.walk(root, onerror=_unreadable):
        folders.sort()
        base = os.path.relpath(here, root)
        for name in [*names, *(one for one in folders if os.path.islink(os.path.join(here, one)))]:
            path = os.path.join(here, name)
            _take(builder, path, os.path.normpath(os.path.join(base, name)))
        folders[:] = [one for one in folders if one not in _LEFT_OUT]
    return builder.tree()


def _unreadable(error: OSError) -> None:
    raise PackError(f"{error.filename} cannot be read: {error.strerror}") from error


def _take(builder: TreeBuilder, path: str, name: str) -> None:
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            builder.link(name, os.readlink(path))
            return
        if not stat.S_ISREG(status.st_mode):
            raise PackError(f"{name!r} is not a file")
        if status.st_size > LARGEST:
            builder.charge(name, status.st_size)
        with open(path, "rb", opener=lambda file, flags: os.open(file, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            builder.add(name, file.read(LARGEST + 1), executable=bool(status.st_mode & 0o100))
    except OSError as error:
        _unreadable(error)


def write_folder(tree: Tree, root: str, *, read_only: bool = False) -> None:
    """Into a new folder of our own, so that no link of somebody else is on the way."""
    os.mkdir(root, 0o700)
    for path, file in tree.items():
        whole = os.path.join(root, path)
        os.makedirs(os.path.dirname(whole), 0o700, exist_ok=True)
        mode = (0o700 if file.executable else 0o600) & (0o500 if read_only else 0o700)
        handle = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        with os.fdopen(handle, "wb") as out:
            out.write(file.data)


class FolderTree(Mapping[str, File]):
    """A folder that is not ours to keep: names first, and content only of the files that are asked for."""

    def __init__(self, root: str) -> None:
        self._root, self._names = root, dict[str, None]()
        for here, folders, names in os.walk(root):
            folders[:] = sorted(one for one in folders if one not in _LEFT_OUT and one != "node_modules")
            base = os.path.relpath(here, root)
            self._names |= dict.fromkeys(os.path.normpath(os.path.join(base, name)) for name in names)
            if len(self._names) > MOST_FILES:
                break

    def __getitem__(self, path: str) -> File:
        if path not in self._names:
            raise KeyError(path)
        builder = TreeBuilder()
        _take(builder, os.path.join(self._root, path), path)
        return builder.tree()[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
