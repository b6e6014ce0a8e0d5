"""Where packs lie: by digest, once as they were published and once to work in; and what was approved of them.

Hooks run in the working copy, so that what they write beside themselves does not touch what was published. Before a hook
runs, the working copy is compared with what was approved (``state.trust.covered``): a changed file, and a file with code
that was not there, both refuse.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from hookline.core._dataclass import dataclass, replace
from hookline.core.errors import PackError
from hookline.core.files import lock, note, open_without_waiting, write_json
from hookline.core.hook import hook_id
from hookline.core.paths import Paths, private_dir
from hookline.dialects.base import Syntax
from hookline.state.trust.code_files import CODE
from hookline.state.trust.covered import Cover
from hookline.state.trust.digest import Digests, Signature, file_signature

if TYPE_CHECKING:
    from hookline.dialects.plugins import HooksFile
    from hookline.packs.tree import Tree

_FILE = "packs.json"
_RECOVER = "To go back to what the other one says, delete the file that is wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A file with hooks (``dialects.plugins.HooksFile``), as it was approved."""

    path: str
    dialect: str
    syntax: Syntax
    part: str
    sha256: str
    signature: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """One pack as a person approved it for one ``hookline.toml``."""

    #: The configuration file that names it.
    file: str
    source: str
    revision: str
    digest: str
    name: str
    when: float = 0.0
    #: Guarded events at which it can refuse: without its files, they are refused.
    guards: tuple[str, ...] = ()
    definitions: tuple[Definition, ...] = ()
    fail_closed: bool = False
    #: Variables for its hooks, as its table sets them.
    env: tuple[tuple[str, str], ...] = ()
    #: A folder of programs that its hooks find first: what they said they need.
    programs: str = ""


class PackStore:
    """The packs of one user."""

    def __init__(self, paths: Paths, root: str = "") -> None:
        """``root`` is where their files are, if not with the person's data."""
        self._own = os.path.join(paths.data, "packs")
        self._root = root or self._own
        self._approvals = os.path.join(paths.state, _FILE)
        self._covers = os.path.join(paths.state, "packs")
        #: The same once more, beside the digests of the files.
        self._copy = os.path.join(self._covers, "approved.json")

    # ── the files ────────────────────────────────────────────────────────────────────────────────────

    def folder(self, digest: str) -> str:
        """The working copy: what hooks see as their plugin's root."""
        return os.path.join(self._root, _hex(digest), "work")

    def link_modules(self, digest: str, modules: Mapping[str, str]) -> None:
        """Node modules of this machine, found from the working copy and no part of it."""
        from hookline.packs.node import link_modules

        link_modules(modules, os.path.join(self._root, _hex(digest)))

    def data_folder(self, name: str, source: str) -> str:
        """Where a pack keeps its own files, whatever its version; no other pack has the same."""
        return os.path.join(self._own, "data", f"{name}-{hook_id(source, '', 'pack')}")

    def has(self, digest: str) -> bool:
        return os.path.isdir(self._published(digest))

    def read(self, digest: str) -> Tree:
        """The published files. Raises PackError if they are not there, or not these."""
        from hookline.packs.tree import read_folder, tree_digest

        if not self.has(digest):
            raise PackError(f"{digest} is not in the store; to fetch it: hookline sync")
        tree = read_folder(self._published(digest))
        if tree_digest(tree) != digest:
            raise PackError(f"the stored copy of {digest} was changed; to fetch it again: hookline sync")
        return tree

    def put(self, tree: Tree) -> str:
        """Keep the files and make a fresh working copy; the digest. Raises PackError and StateError."""
        from hookline.packs.tree import tree_digest

        digest = tree_digest(tree)
        folder = os.path.join(private_dir(self._root), _hex(digest))
        with lock(os.path.join(self._root, "store")):
            try:
                known = self.read(digest) == tree
            except PackError:
                known = False
            if not known:
                _replace(tree, folder, "published", read_only=True)
            _replace(tree, folder, "work")
        return digest

    def drop(self, digest: str) -> None:
        """Forget the files, not the data."""
        import shutil

        with lock(os.path.join(self._root, "store")):
            shutil.rmtree(os.path.join(self._root, _hex(digest)), ignore_errors=True)
            with suppress(FileNotFoundError):
                os.unlink(self._cover_path(digest))

    def _published(self, digest: str) -> str:
        return os.path.join(self._root, _hex(digest), "published")

    # ── what was approved ────────────────────────────────────────────────────────────────────────────

    def approved(self) -> tuple[Approved, ...]:
        """Raises PackError if it cannot be read, or is not what a person approved.

        The rows are kept a second time, beside what their files must look like: a guard does not end because the list of
        approvals and the line that names it are gone.
        """
        first, copy = (_read_bytes(path) for path in (self._approvals, self._copy))
        known = {(row.file, row.source): row for row in _rows(self._approvals, first)}
        for row in () if first == copy else _rows(self._copy, copy):
            if known.setdefault((row.file, row.source), row) != row:
                raise PackError(f"{self._approvals} was changed: {self._copy} differs about {row.source}. {_RECOVER}")
        return tuple(known.values())

    def doubtful(self) -> tuple[Approved, ...]:
        """What may have been approved, where ``approved`` raises."""
        rows: list[Approved] = []
        for path in (self._approvals, self._copy):
            with suppress(PackError):
                rows += _rows(path, _read_bytes(path))
        return tuple(rows)

    def approve(self, one: Approved, files: Sequence[HooksFile]) -> None:
        """``files`` define hooks. What the working copy contains now is what may run. Raises StateError."""
        digests, root = Digests(), self.folder(one.digest)
        kept = sorted(
            os.path.relpath(os.path.join(here, name), root) for here, _, names in os.walk(root) for name in names
        )
        signed = {path: digests.signed(os.path.join(root, path)) for path in kept}
        cover = {
            "root": root,
            "files": [(path, digest) for path, (_, digest) in signed.items()],
            "signatures": [signature for signature, _ in signed.values()],
        }
        private_dir(self._covers)
        write_json(self._cover_path(one.digest), cover)
        private_dir(self.data_folder(one.name, one.source))
        definitions = tuple(
            Definition(
                path=file.path, dialect=file.dialect, syntax=file.syntax, part=file.part, sha256=signed[file.path][1],
                signature=cast("Signature", signed[file.path][0]),
            )
            for file in files
        )  # fmt: skip
        row = replace(one, when=time.time(), definitions=definitions)
        before = self.approved()
        left = self._write(
            lambda rows: [*(old for old in rows if (old.file, old.source) != (one.file, one.source)), row]
        )
        for digest in {old.digest for old in before} - {kept.digest for kept in left}:
            self.drop(digest)

    def revoke(self, gone: Sequence[Approved]) -> None:
        """Raises StateError."""
        keys = {(one.file, one.source, one.digest) for one in gone}
        left = self._write(lambda rows: [one for one in rows if (one.file, one.source, one.digest) not in keys])
        for digest in {one.digest for one in gone} - {one.digest for one in left}:
            self.drop(digest)

    def _write(self, change: Callable[[Sequence[Approved]], list[Approved]]) -> list[Approved]:
        from dataclasses import asdict  # only who approves something writes

        with lock(self._approvals):
            left = change(self.approved())
            private_dir(self._covers)
            for path in (self._approvals, self._copy):
                write_json(path, {"version": 1, "packs": [asdict(row) for row in left]})
        return left

    def cover(self, digest: str) -> Cover | None:
        """What the working copy must look like; None where nobody approved it."""
        path = self._cover_path(digest)
        note(path)
        try:
            with open(path, encoding="utf-8", opener=open_without_waiting) as file:
                tree = json.load(file)
            files = tuple((str(name), str(value)) for name, value in tree["files"])
            signatures = tuple(tuple(map(int, one)) for one in tree["signatures"])
            return Cover(files=files, signatures=cast("tuple[Signature, ...]", signatures), folders=(("", CODE),))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def published_cover(self, digest: str) -> Cover:
        """For a pack that counts as trusted without an approval. Raises PackError."""
        import hashlib

        files = tuple((path, hashlib.sha256(file.data).hexdigest()) for path, file in self.read(digest).items())
        return Cover(files=files, folders=(("", CODE),))

    def _cover_path(self, digest: str) -> str:
        return os.path.join(self._covers, f"{_hex(digest)}.json")


def _read_bytes(path: str) -> bytes | None:
    note(path)
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            return file.read() or b""
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from None


def _rows(path: str, data: bytes | None) -> tuple[Approved, ...]:
    try:
        return tuple(_approved(row) for row in json.loads(data)["packs"]) if data is not None else ()
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> PackError:
    return PackError(f"{path} cannot be read ({error}); no pack is approved until it is. {_RECOVER}")


def is_changed(root: str, one: Definition, digests: Digests) -> bool:
    path = os.path.join(root, one.path)
    return file_signature(path) != one.signature and digests.of(path) != one.sha256


def _hex(digest: str) -> str:
    kind, _, value = digest.partition(":")
    if kind != "sha256" or len(value) != 64 or not set(value) <= set("0123456789abcdef"):
        raise PackError(f"{digest[:80]!r} is not a digest; write sha256: and 64 hexadecimal digits")
    return value


def _replace(tree: Tree, folder: str, name: str, *, read_only: bool = False) -> None:
    import shutil

    from hookline.packs.tree import write_folder

    private_dir(folder)
    new, target = os.path.join(folder, f".new-{os.getpid()}"), os.path.join(folder, name)
    shutil.rmtree(new, ignore_errors=True)
    write_folder(tree, new, read_only=read_only)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(new, target)


def _approved(row: Any) -> Approved:
    return Approved(
        file=str(row["file"]),
        source=str(row["source"]),
        revision=str(row["revision"]),
        digest=str(row["digest"]),
        name=str(row["name"]),
        when=float(row["when"]),
        guards=tuple(map(str, row["guards"])),
        definitions=tuple(map(_definition, row["definitions"])),
        fail_closed=bool(row["fail_closed"]),
        env=tuple((str(name), str(value)) for name, value in row["env"]),
        programs=str(row["programs"]),
    )  # fmt: skip


def _definition(one: Any) -> Definition:
    signature = cast("Signature", tuple(map(int, one["signature"])))
    return Definition(
        path=one["path"],
        dialect=one["dialect"],
        syntax=one["syntax"],
        part=one["part"],
        sha256=one["sha256"],
        signature=signature,
    )
