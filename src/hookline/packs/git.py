"""Files of a commit, without a checkout: no hook, filter, attribute, submodule or large-file program of the repository runs.

The person's own git configuration counts (credentials, proxy, ``insteadOf``): the commands run in a repository of our own
that is empty and has no configuration. The repository that is fetched is only ever read as objects.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from hookline.core.errors import PackError
from hookline.packs.source import COMMIT, Source
from hookline.packs.tree import FetchedFiles, TreeBuilder

#: Nothing of these may come from a repository, and none of them is needed to read one.
_OPTIONS = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never", "-c", "core.attributesFile=/dev/null",
    "-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
    "-c", "init.templateDir=", "-c", "core.symlinks=false", "-c", "advice.detachedHead=false", "-c", "protocol.version=2",
)  # fmt: skip
_SECONDS = 120.0
_REDIRECT = re.compile(r"warning: redirecting to (\S+)")
_LFS = b"version https://git-lfs.github.com/spec/v1"


def fetch_commit(source: Source) -> FetchedFiles:
    """Raises PackError."""
    if not shutil.which("git"):
        raise PackError("git is not installed, and this pack comes from a repository")
    notes: dict[str, None] = {}
    with _repository(notes, source.place) as run:
        revision = source.revision if COMMIT.fullmatch(source.revision) else _resolve(run, source)
        _fetch(run, source, revision)
        builder = TreeBuilder()
        for note in _read(run, revision, source.path, builder):
            notes[note] = None
        return FetchedFiles(revision=revision, builder=builder, notes=tuple(notes))


class _Run:
    def __init__(self, folder: str, notes: dict[str, None], place: str) -> None:
        self._folder, self._notes, self._place = folder, notes, place
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
        prompt = "1" if sys.stdin is not None and sys.stdin.isatty() else "0"
        self._environ = kept | {
            "GIT_DIR": folder,
            "GIT_TERMINAL_PROMPT": prompt,
            "LC_ALL": "C",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_NO_LAZY_FETCH": "1",
        }

    def __call__(self, *words: str, stdin: bytes = b"", check: bool = True) -> bytes:
        try:
            done = subprocess.run(
                ["git", *_OPTIONS, *words], input=stdin, capture_output=True, cwd=self._folder, env=self._environ, timeout=_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise PackError(f"git did not finish within {_SECONDS:g} s: {self._place}") from None
        told = done.stderr.decode(errors="replace")
        for found in _REDIRECT.finditer(told):
            if urlsplit(found[1]).netloc != urlsplit(self._place).netloc:
                self._notes[f"it was redirected to another host: {found[1]}"] = None
        if check and done.returncode:
            lines = [line for line in told.strip().splitlines() if line] or [f"exit code {done.returncode}"]
            raise PackError(f"git cannot read {self._place}: {lines[-1].removeprefix('fatal: ')}")
        return done.stdout if not done.returncode else b""


#: What a person sets to reach servers; the others select a repository or name files of one.
_KEPT = frozenset(
    "GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_SSL_CAINFO GIT_SSL_NO_VERIFY GIT_PROXY_COMMAND GIT_CONFIG_GLOBAL"
    " GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM".split()
)


@contextmanager
def _repository(notes: dict[str, None], place: str) -> Generator[_Run]:
    folder = tempfile.mkdtemp(prefix="hookline-pack-")
    try:
        run = _Run(folder, notes, place)
        run("init", "--quiet", "--bare", "--template=", folder)
        yield run
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _resolve(run: _Run, source: Source) -> str:
    """The commit of a tag, a branch, or the default branch."""
    wanted = source.revision
    names = [f"refs/tags/{wanted}^{{}}", f"refs/tags/{wanted}", f"refs/heads/{wanted}"] if wanted else ["HEAD"]
    rows = run("ls-remote", "--", source.place).decode(errors="replace").splitlines()
    refs = {name: commit for commit, _, name in (row.partition("\t") for row in rows)}
    found = next((refs[name] for name in names if name in refs), "")
    if COMMIT.fullmatch(found):
        return found
    near = [
        name.removeprefix("refs/tags/") for name in refs if name.startswith("refs/tags/") and not name.endswith("^{}")
    ]
    have = f"; it has the tags {', '.join(near[-8:])}" if near else ""
    raise PackError(f"{source.text} has no {f'tag or branch {wanted!r}' if wanted else 'commits'}{have}")


def _fetch(run: _Run, source: Source, revision: str) -> None:
    """The commit alone where the server allows it, else everything."""
    words = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    tries: Sequence[tuple[str, ...]] = (
        (*words, "--depth=1", "--", source.place, revision),
        (*words, "--", source.place, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"),
    )
    for number, one in enumerate(tries):
        run(*one, check=number == len(tries) - 1)
        if run("cat-file", "-t", revision, check=False).strip() == b"commit":
            return
    raise PackError(f"{source.text} has no commit {revision}")


def _read(run: _Run, revision: str, path: str, builder: TreeBuilder) -> Iterator[str]:
    """Every file of the commit below ``path``, by its exact bytes; what was left out."""
    listing = run("ls-tree", "-r", "-z", "--full-tree", "--long", revision, *(["--", f"{path}/"] if path else []))
    split = (row.decode("utf-8", "surrogateescape").partition("\t") for row in listing.split(b"\0") if row)
    rows = [(facts, name) for facts, _, name in split]
    if not rows:
        raise PackError(f"the commit has no folder {path!r}" if path else "the commit is empty")
    _check_sizes(rows)
    blobs: list[tuple[str, str, str]] = []
    for facts, name in rows:
        mode, kind, sha, _size = facts.split()
        if kind != "blob":
            yield f"{name} is a submodule, which is not fetched"
            continue
        blobs.append((mode, sha, name))
    content = run("cat-file", "--batch", stdin="".join(f"{sha}\n" for _, sha, _ in blobs).encode())
    at = 0
    for mode, _, name in blobs:
        start = content.index(b"\n", at) + 1
        size = int(content[at:start].split()[2])
        data, at = content[start : start + size], start + size + 1
        inner = name[len(path) + 1 :] if path else name
        if mode == "120000":
            builder.link(inner, data.decode("utf-8", "surrogateescape"))
        else:
            builder.add(inner, data, executable=mode == "100755")
        if data.startswith(_LFS):
            yield f"{inner} is only a pointer to a large file, which is not fetched"


def _check_sizes(rows: Sequence[tuple[str, str]]) -> None:
    """Before anything is read into memory."""
    probe = TreeBuilder()
    for number, (facts, name) in enumerate(rows):
        size = facts.split()[3]
        probe.add(f"f{number}", b"")
        probe.charge(name, int(size) if size.isdigit() else 0)
