"""The files and folders that a hook was found to use, on this disk, with what an approval of them would hold."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from functools import cache

from hookline.core._dataclass import dataclass
from hookline.core.agents import AGENTS
from hookline.core.paths import FILE, FOLDER, LOCAL
from hookline.state.trust.code_files import CODE, files_below, is_code, is_folder
from hookline.state.trust.digest import Digests, Signature, file_signature

#: A folder with more is not covered as a whole: most of it is not the hook's, and every call would pay for it.
MOST_FILES, _MOST_BYTES = 200, 5 << 20
#: Files that a hook keeps for itself, unless it runs them.
_KEPT_BY_HOOKS = (".log", ".pid", ".lock", ".tmp", ".swp")


@cache
def _hook_folders() -> frozenset[str]:
    """Names of folders whose content belongs to hooks."""
    homes = {row.home.rpartition("/")[2] for row in AGENTS.values()}
    return frozenset({"hooks", FOLDER, *(home for home in homes if home.startswith("."))})


@cache
def own_files() -> frozenset[str]:
    """Where hooks are written: their definitions are approved one by one."""
    agents = (path for row in AGENTS.values() for scope, path in row.files.items() if scope != "user")
    return frozenset({f"{FOLDER}/{FILE}", f"{FOLDER}/{LOCAL}", FILE, *agents})


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    signature: Signature
    digest: str
    named: bool


class FoundFiles:
    """``root`` is the project, and ``covers`` are the files that the hook itself names to be covered."""

    def __init__(self, root: str, digests: Digests, covers: tuple[str, ...]) -> None:
        self._root = os.path.realpath(root)
        self._digests = digests
        self._covers = covers
        self._files: dict[str, _File] = {}
        self._folders: dict[tuple[str, str], None] = {}
        self._absent: dict[str, None] = {}
        self._links: dict[str, str] = {}
        self._unpinned: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        #: Files still to be searched for names, those that are run, and names of files that the hook writes.
        self._unread: list[str] = []
        self._executed: set[str] = set()
        self._written: set[str] = set()

    def _candidates(self, word: str, bases: Iterable[str]) -> Iterator[str]:
        if not word or len(word) > 4096 or "\0" in word or word in {".", "/"}:
            return
        if os.path.isabs(word):
            yield os.path.normpath(word)
        for base in bases:
            # An absolute-looking word may be the rest of one that began with a variable we do not know.
            yield os.path.normpath(os.path.join(base, word.lstrip("/")))

    def _inside(self, path: str) -> bool:
        """By its name or by what it leads to: a link out of the project is pinned by its target's content."""
        return is_below_root(path, self._root) or is_below_root(os.path.realpath(path), self._root)

    def _match_names(self, word: str, bases: Iterable[str]) -> None:
        for path in self._candidates(word, bases):
            folder, pattern = os.path.split(path)
            if not self._inside(path) or len(glob.escape(folder)) != len(folder):
                continue
            matches = [one for one in glob.glob(path, include_hidden=True) if os.path.isfile(one)]
            for one in matches:
                self._executed.add(self._shown(one))
                self._take(one, named=False)
                self._unread.append(one)
            if os.path.isdir(folder) and (matches or folder != self._root):
                self._folders[self._shown(folder), pattern] = None

    def _take(self, path: str, *, named: bool) -> bool:
        """Pin one file, and search it for names."""
        shown = self._shown(path)
        known = self._files.get(shown)
        if known is not None:
            if named and not known.named:
                self._files[shown] = _File(signature=known.signature, digest=known.digest, named=True)
            return True
        if file_signature(path) is None or shown in own_files():
            return False
        signature, digest = self._digests.signed(path)
        if signature is None:
            self._unpinned[f"{shown} (unreadable)"] = None
            return False
        self._files[shown] = _File(signature=signature, digest=digest, named=named)
        self._note_links(path)
        if os.path.basename(path).startswith("python"):
            self._cover_environment(os.path.dirname(os.path.dirname(path)))
        if not named or _is_program(path):
            self._unread.append(path)
        if not self._covers and is_code(path) and self._is_in_hook_folder(shown):
            self._cover_folder(os.path.dirname(path), limited=True)
        return True

    def _take_or_miss(self, path: str) -> bool:
        """A file that counts from the moment it is there."""
        if self._take(path, named=False):
            return True
        if self._inside(path) and not os.path.lexists(path):
            self._absent[self._shown(path)] = None
        return False

    def _is_in_hook_folder(self, shown: str) -> bool:
        return not os.path.isabs(shown) and not _hook_folders().isdisjoint(os.path.dirname(shown).split("/"))

    def _cover_folder(self, folder: str, *, limited: bool) -> None:
        """All files below it, unless there are too many."""
        shown = self._shown(folder)
        if (shown, CODE) in self._folders or not shown:
            return
        entries = list(files_below(folder))
        files = [entry for _, entry in entries if not is_folder(entry) and file_signature(entry.path)]
        size = sum(entry.stat().st_size for entry in files)
        if limited and (len(files) > MOST_FILES or size > _MOST_BYTES):
            much = f"{len(files)} files" if len(files) > MOST_FILES else f"{size >> 20} MB"
            self._notes[f"{shown} has {much}: only the script and what it names are covered"] = None
            return
        self._folders[shown, CODE] = None
        for _, entry in entries:
            if is_folder(entry):
                self._note_links(entry.path)
            else:
                self._take(entry.path, named=False)

    def _is_covered(self, path: str) -> bool:
        shown = self._shown(path)
        return any(rule == CODE and shown.startswith(f"{folder}/") for folder, rule in self._folders)

    def _cover_environment(self, folder: str) -> None:
        """Python runs more than modules of a virtual environment, before everything else."""
        if not self._take(os.path.join(folder, "pyvenv.cfg"), named=False):
            return
        for place in glob.glob(f"{glob.escape(folder)}/lib/python*/site-packages"):
            self._match_names(os.path.join(place, "*.pth"), (place,))
            for name in ("sitecustomize", "usercustomize"):
                self._take_or_miss(os.path.join(place, f"{name}.py"))
                self._take_or_miss(os.path.join(place, name, "__init__.py"))

    def _note_links(self, path: str) -> None:
        """On the way from the project; the whole way to a file that is named from outside."""
        inside = is_below_root(path, self._root)
        while is_below_root(path, self._root) if inside else path != "/":
            if os.path.islink(path):
                self._links[self._shown(path) if inside else path] = os.readlink(path)
            path = os.path.dirname(path)

    def _leave_out_written(self) -> None:
        """A file that the hook itself writes cannot be covered, or its first run would end the approval."""
        for path in list(self._files):
            kept = path.endswith(_KEPT_BY_HOOKS) or os.path.basename(path) in self._written
            if kept and path not in self._executed and not is_code(os.path.join(self._root, path)):
                del self._files[path]
                self._unpinned[f"{path} (written)"] = None

    def _shown(self, path: str) -> str:
        if not is_below_root(path, self._root) and path != self._root:
            real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
            path = real if is_below_root(real, self._root) else path
        if path == self._root:
            return ""
        return os.path.relpath(path, self._root) if is_below_root(path, self._root) else path


def _is_program(path: str) -> bool:
    """It says itself that it can be run; a suffix alone may be that of a file to be checked."""
    try:
        with open(path, "rb") as file:
            return os.access(path, os.X_OK) or file.read(2) == b"#!"
    except OSError:
        return False


def is_below_root(path: str, root: str) -> bool:
    return path.startswith(root.rstrip("/") + "/")
