"""The files of an approved hook, on this disk: whether they are as approved, before it runs and when it has run.

Where the kernel reports changes (``core.file_watch``), the files are watched first and looked at afterwards. What has
happened since is then known without another look, also what was undone again in the meantime: a script that was
replaced while the hook ran, a module that was there for a moment. Elsewhere the files are looked at twice, and only
what is different then is noticed.

Whoever has mapped a file into memory changes it without an event, and for a while without a trace in its times. So a file
that is held open for writing is not as approved (the kernel grants no lease on it), and one that was opened since is
looked at.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from hookline.core._dataclass import dataclass
from hookline.core.file_watch import (
    ATTRIB,
    CREATE,
    DELETE_SELF,
    IS_FOLDER,
    MODIFY,
    MOVE_SELF,
    MOVED_TO,
    OF_A_FILE,
    OF_A_FOLDER,
    OPEN,
    OVERFLOW,
)
from hookline.core.typed import Any
from hookline.state.trust.code_files import CODE, SKIPPED, counts, entries, files_below, is_code, is_folder, is_listable
from hookline.state.trust.digest import Digests, Signature, file_signature
from hookline.state.trust.watch import Watch, is_being_written, lease

#: Events that are remembered; who asks for older ones has seen a change.
_REMEMBERED = 512
_TRIES = 4
_BUSY = "files that are being changed"
#: Files that are held at once to ask whether somebody writes them.
_HELD = 64
#: Seconds for which a look at files that are watched stands in a process that does not stay.
_FRESH = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """What an approval covers; paths are relative to the project where they are in it."""

    #: Path and SHA-256; the signatures are those of the same files when they were approved.
    files: tuple[tuple[str, str], ...] = ()
    signatures: tuple[Signature, ...] = ()
    #: Folders in which no further file may appear, each with the rule that says which.
    folders: tuple[tuple[str, str], ...] = ()
    #: Paths at which nothing was: a file there would be run instead of an approved one, or besides.
    absent: tuple[str, ...] = ()
    #: Symbolic links on the way to the files, with their targets; None where older versions did not keep them.
    links: tuple[tuple[str, str], ...] | None = ()
    #: Variables of the caller that files were found by.
    variables: tuple[tuple[str, str], ...] = ()
    #: Those of the files that the definition itself names.
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """A hook at one moment: what an approval of it would cover, and what it would not."""

    cover: Cover = Cover()
    #: What the hook also uses and nobody checks: programs on PATH, files elsewhere, modules, addresses.
    unpinned: tuple[str, ...] = ()
    #: What a person should know before approving: why not more is covered.
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        return self.cover.files


class CoveredFiles:
    """One approval, in one project."""

    __slots__ = (
        "_approved", "_count", "_digests", "_environ", "_events", "_known", "_looked", "_new_folder", "_once", "_opened", "_prefix",
        "_signatures", "_steps", "_verified", "_watch", "_watched", "_way", "cover", "root",
    )  # fmt: skip

    def __init__(
        self,
        cover: Cover,
        root: str,
        digests: Digests,
        environ: Mapping[str, str],
        watch: Watch | None = None,
        *,
        #: How hooks get to ``root``, if not by its real path.
        way: str = "",
    ) -> None:
        self.cover = cover
        self.root = root
        self._way = way or root
        self._prefix = root.rstrip("/") + "/"
        self._digests = digests
        self._environ = environ
        self._watch = watch
        #: False once it is known that they cannot be.
        self._watched = True
        #: Path -> digest, in the order of the signatures.
        self._known = dict(cover.files)
        self._approved = cover.signatures or (None,) * len(self._known)
        self._steps = _folders_above((*self._known, *cover.absent, *(folder for folder, _ in cover.folders)))
        self._looked = 0.0
        #: One that is not watched yet.
        self._new_folder = False
        #: What the files looked like when all was as approved, and how many events had been reported by then.
        self._signatures: tuple[Signature | None, ...] = ()
        self._verified = -1
        self._count = 0
        self._events: deque[tuple[int, str, str, bool]] = deque(maxlen=_REMEMBERED)
        #: Files that were opened since, perhaps by who maps them; of those in ``_once`` it is known that nobody has kept them.
        self._opened, self._once = set[str](), set[str]()

    def check(self) -> tuple[str, ...]:
        """What is not as it was approved; without a look at the files where none has been reported to change."""
        if self.is_empty:
            return ()
        watch = self._watch
        if watch is None or not self._watched:
            return self._look()
        with watch.lock:
            watch.look()
            if self._verified < 0 or self._new_folder or self._reported_since(self._verified):
                return self._verify(watch)
            self._verified = self._count
            if watch.resident:
                return self._verify(watch) if self._mapped(self._signatures) else ()
            fresh = time.monotonic() - self._looked < _FRESH
            return () if fresh or not self._different(self._signatures) else self._verify(watch)

    @property
    def is_empty(self) -> bool:
        cover = self.cover
        return not (cover.files or cover.folders or cover.absent or cover.variables)

    @property
    def is_exact(self) -> bool:
        """Whether everything that the hook runs is known; an older version kept only what its definition names."""
        return self.cover.links is not None

    def digest(self, path: str) -> str:
        return self._known.get(os.path.relpath(path, self.root), "")

    def as_tree(self) -> dict[str, Any]:
        return {"root": self.root, "files": self._known}

    @property
    def has_modules(self) -> bool:
        return sum(path.endswith(".py") for path in self._known) > 1

    def is_covered(self, folder: str) -> bool:
        shown = os.path.relpath(folder, self.root) + "/"
        return any(rule == CODE and shown.startswith(f"{path}/") for path, rule in self.cover.folders)

    def start_run(self) -> RunCheck:
        """To be asked for right before the hook is started, after ``check``."""
        return RunCheck(self, self._verified, self._signatures)

    def changed_since(self, number: int, signatures: tuple[Signature | None, ...]) -> tuple[str, ...]:
        watch = self._watch
        if watch is None or not self._watched:
            return self._look() or self._different(signatures)
        with watch.lock:
            watch.look()
            changed = self._reported_since(number) or (
                self._mapped(signatures) if watch.resident else self._different(signatures)
            )
            if changed:  # what was seen before the run says nothing any more
                self._verified = -1
            return changed

    def forget(self) -> None:
        """Look at everything again next time."""
        self._verified, self._watched = -1, True

    @property
    def version(self) -> str:
        """Changes with every change of a file, also with one that was undone."""
        return str(hash(self._signatures) & 0xFFFFFFFFFFFF)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────

    def _verify(self, watch: Watch) -> tuple[str, ...]:
        """Watch first, look afterwards: what changes in between is reported."""
        for _ in range(_TRIES):
            before = self._count
            self._watched = True
            self._watch_steps(watch)
            changed = self._look(watch) or self._hold(watch)
            watch.look()
            if changed or not self._reported_since(before):
                self._verified = -1 if changed else self._count
                self._new_folder = False
                return changed
        self._verified = -1
        return (_BUSY,)

    def _look(self, watch: Watch | None = None) -> tuple[str, ...]:
        """What is not as approved; the folders that are listed are watched from then on."""
        cover = self.cover
        changed = [f"${name}" for name, value in cover.variables if self._environ.get(name, "") != value]
        changed += self._moved_links()
        signatures = self._signatures_now()
        for index, (path, then) in enumerate(zip(self._known, self._approved, strict=True)):
            if signatures[index] != then or then is None:
                if not self._same_content(path):
                    changed.append(path)
                signatures[index] = file_signature(self._path(path))
        changed += [f"appeared: {path}" for path in cover.absent if os.path.lexists(self._path(path))]
        for folder, rule in _outermost(cover):
            changed += self._strangers(folder, rule, watch)
        self._signatures, self._looked = tuple(signatures), time.monotonic()
        return tuple(changed)

    def _strangers(self, folder: str, rule: str, watch: Watch | None) -> Iterator[str]:
        """The files of a folder that nobody approved and that count; the folder, if we may not see what is in it."""
        left, seen = [folder], set[str]()
        while left:
            here = left.pop()
            if watch is not None:
                self._add(watch, here, rule, partial(self._on_entry, rule))
            if not is_listable(self._path(here)):
                yield f"cannot be listed: {here}"
            for entry in entries(self._path(here)):
                path = f"{here}/{entry.name}" if here else entry.name
                if path in self._known:
                    continue
                inner = is_folder(entry)
                if inner and rule == CODE:
                    real = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                    if real not in seen:  # links may lead in circles
                        seen.add(real)
                        left.append(path)
                elif counts(rule, entry.path, inner):
                    yield f"appeared: {path}"

    def _moved_links(self) -> list[str]:
        """A link leads to the very same files, but scripts that follow it find their neighbours elsewhere."""
        if self.cover.links is None:
            return []
        links = dict(self.cover.links)
        moved = [path for path, target in links.items() if _target(self._path(path)) != target]
        return moved + [path for path in self._steps if path not in links and os.path.islink(self._path(path))]

    def _same_content(self, path: str) -> bool:
        whole, links = self._path(path), self.cover.links
        if links is not None and os.path.islink(whole) and path not in dict(links):
            return False
        return self._digests.of(whole) == self._known[path] and not is_being_written(whole)

    def _mapped(self, signatures: tuple[Signature | None, ...]) -> tuple[str, ...]:
        """Of the files that were opened since, those that were changed."""
        if not self._opened and not self._once:
            return ()
        then = dict(zip(self._known, signatures, strict=True))
        opened = self._opened | self._once
        self._once.clear()
        return tuple(path for path in opened if file_signature(self._path(path)) != then[path])

    def _hold(self, watch: Watch) -> tuple[str, ...]:
        """The files that somebody holds open for writing. While the others are held nobody can begin to, so what was
        opened before that is no longer of interest."""
        if not watch.resident:
            return ()
        written: list[str] = []
        paths = list(self._known)
        for start in range(0, len(paths), _HELD):
            held = {path: lease(self._path(path)) for path in paths[start : start + _HELD]}
            try:
                written += [path for path, handle in held.items() if handle is None]
                watch.held = frozenset(self._path(path) for path, handle in held.items() if handle is not None)
                watch.look()
                self._opened.difference_update(path for path, handle in held.items() if handle is not None)
            finally:
                watch.held = frozenset()
                for handle in held.values():
                    if handle is not None and handle >= 0:
                        os.close(handle)
        return tuple(f"open for writing: {path}" for path in written) or self._different(self._signatures)

    def _different(self, signatures: tuple[Signature | None, ...]) -> tuple[str, ...]:
        """The files that were touched since."""
        now = tuple(self._signatures_now())
        if now == signatures:
            return ()
        return tuple(path for path, one, then in zip(self._known, now, signatures, strict=True) if one != then)

    def _signatures_now(self) -> list[Signature | None]:
        prefix = self._prefix
        return [file_signature(path if path[0] == "/" else prefix + path) for path in self._known]

    def _path(self, path: str) -> str:
        return path if path.startswith("/") else self._prefix + path

    # ── watching ─────────────────────────────────────────────────────────────────────────────────────

    def _watch_steps(self, watch: Watch) -> None:
        """Every folder on the way from the project to a file, where links lead, and the way to the project itself."""
        outside = (path for path, _ in self.cover.links or () if path[0] == "/")
        for path in (self.root, self._way, *outside):
            watch.follow(path, id(self), self._on_way)
        for folder in ("", *self._steps):
            if os.path.isdir(self._path(folder)):
                self._add(watch, folder, "", self._on_step)
        for path, _ in self.cover.links or ():
            folder, name = os.path.split(os.path.realpath(self._path(path)))
            listener = partial(self._on_target, path, name)
            self._watched &= watch.add(folder, OF_A_FOLDER | MODIFY, (id(self), path, name), listener)
        if watch.resident:
            for path in self._known:
                listener = partial(self._on_file, path)
                self._watched &= watch.add(self._path(path), OF_A_FILE | OPEN, (id(self), path), listener)

    def _add(self, watch: Watch, folder: str, rule: str, listener: Callable[[str, str, int], None]) -> None:
        mask = OF_A_FOLDER | MODIFY | ATTRIB
        self._watched &= watch.add(self._path(folder), mask, (id(self), folder, rule), partial(listener, folder))

    def _on_step(self, folder: str, name: str, mask: int) -> None:
        path = f"{folder}/{name}" if folder else name
        if mask & (OVERFLOW | DELETE_SELF | MOVE_SELF):
            self._report("", folder or ".", certain=True)
        elif path in self._known or (path in self._steps and mask & OF_A_FOLDER) or path in self.cover.absent:
            self._report("", path, certain=True)

    def _on_way(self) -> None:
        self._report("", self.root, certain=True)

    def _on_entry(self, rule: str, folder: str, name: str, mask: int) -> None:
        path = f"{folder}/{name}" if folder else name
        if name and path not in self._known and mask & (CREATE | MOVED_TO | ATTRIB):
            self._new_folder |= bool(mask & IS_FOLDER)
            self._report(f"{rule}/" if mask & IS_FOLDER else rule, path, certain=False)
        self._on_step(folder, name, mask)

    def _on_target(self, path: str, target: str, name: str, mask: int) -> None:
        if name == target or mask & (OVERFLOW | DELETE_SELF | MOVE_SELF):
            self._report("", path, certain=True)

    def _on_file(self, path: str, _name: str, mask: int) -> None:
        if mask & OPEN:
            held = self._watch is not None and self._path(path) in self._watch.held
            (self._once if held else self._opened).add(path)
        if mask & (OF_A_FILE | OVERFLOW):
            self._report("", path, certain=True)

    def _report(self, rule: str, path: str, *, certain: bool) -> None:
        self._count += 1
        self._events.append((self._count, rule, path, certain))

    def _reported_since(self, number: int) -> tuple[str, ...]:
        """The changes that matter; a new file whose nature its name does not tell is looked at."""
        if self._count == number:
            return ()
        if number < 0 or (self._events and self._events[0][0] > number + 1):
            return (_BUSY,)
        found: dict[str, None] = {}
        for count, rule, path, certain in self._events:
            if count > number and (certain or self._is_suspect(rule, path)):
                found[path if certain else f"appeared: {path}"] = None
        return tuple(found)

    def _is_suspect(self, rule: str, path: str) -> bool:
        whole, folder = self._path(path), rule.endswith("/")
        if os.path.basename(path) in SKIPPED:
            return False
        if not folder:
            return counts(rule, whole, False)
        if not os.path.isdir(whole):  # gone again: a package may have been imported from it
            return os.path.basename(path).isidentifier()
        name = os.path.basename(path)
        if name in sys.stdlib_module_names or f"{path}.py" in self._known:  # it would be imported instead
            return True
        return rule == f"{CODE}/" and any(is_code(entry.path) for _, entry in files_below(whole))


class RunCheck:
    """One run of a hook: ``changed`` is asked when it has ended."""

    __slots__ = ("_files", "_number", "_signatures")

    def __init__(self, files: CoveredFiles, number: int, signatures: tuple[Signature | None, ...]) -> None:
        self._files = files
        self._number = number
        self._signatures = signatures

    def changed(self) -> tuple[str, ...]:
        """What was not as approved all the time."""
        return self._files.changed_since(self._number, self._signatures)


def _outermost(cover: Cover) -> Iterator[tuple[str, str]]:
    """Without the folders that are listed with one above them."""
    whole = {folder for folder, rule in cover.folders if rule == CODE}
    apart = SKIPPED.union(path for path, _ in cover.links or ())
    for folder, rule in cover.folders:
        above = folder if rule == CODE else ""
        while above and above not in apart and os.path.basename(above) not in apart:
            above = above.rpartition("/")[0]
            if above in whole:
                break
        else:
            yield folder, rule


def _folders_above(paths: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return frozenset(found)


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
