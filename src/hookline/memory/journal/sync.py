"""The vault as a git repository, which several machines or a team share through a remote.

Only journals and the notes of entries are committed, never sessions. A machine appends to its own journals, so these merge
without conflicts. Notes are views: an edit that somebody else committed is first read back as a change, then our own copy
wins the merge and all views are written again.

Git starts nothing that the repository brings along: no hooks, no filters or drivers of its attributes, no links, no
submodules. A person's own configuration counts, since it says who they are and how they reach the remote.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from hookline.core.errors import StateError
from hookline.core.files import list_names, modification_time, read_text, replace_atomically
from hookline.core.isolation import system_program
from hookline.memory.dir_lock import lock_directory
from hookline.memory.journal.files import FOLDER, Journal
from hookline.memory.journal.views import read_edit, refresh
from hookline.memory.layout import DECISIONS, FAILURES, Places
from hookline.memory.project import Project

#: Seconds for one command; a remote may not answer.
_TIMEOUT = 60.0
#: Seconds after which git's lock was left by a killed process: our commands take less.
_STALE = 600.0
#: In git's directory while we merge.
_MERGING = "hookline-merges"
#: Other machines may push between our fetch and our push.
_TRIES = 4
_OPTIONS = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.attributesFile=/dev/null", "-c", "core.fsmonitor=false",
    "-c", "core.symlinks=false", "-c", "core.quotePath=false", "-c", "submodule.recurse=false",
    "-c", "fetch.recurseSubmodules=false", "-c", "safe.bareRepository=explicit", "-c", "core.autocrlf=false",
)  # fmt: skip
_NAMED = r"^(filter|merge|diff)\..*\.(smudge|clean|process|required|driver|command|textconv)$"
#: Attributes are taken from this tree, which is empty.
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def sync(places: Places, environ: Mapping[str, str]) -> str:
    """Commit what is new here, merge what others pushed, push; what happened, for the log. Raises StateError if git fails
    and OSError; nothing is lost then, and it can be repeated."""
    if not os.path.exists(os.path.join(places.root, ".git")):
        return ""
    git = _Git(places.root, environ)
    with lock_directory(places.root):
        git.recover()
        for journal, name in _journals(places):
            for entry in journal.state().entries.values():
                if not entry.changes[0].machine and entry.project:  # only a file of an earlier version has it
                    journal.adopt(entry)
            refresh(places, journal, name)
        done = ["committed"] if git.commit(places) else []
        if not git.has("HEAD"):
            git.run("commit", "--quiet", "--allow-empty", "-m", "Begin a vault")
        remote, theirs = git.upstream()
        for attempt in range(_TRIES if remote else 0):
            git.run("fetch", "--quiet", "--no-tags", remote)
            if git.has(theirs) and git.text("rev-list", "--count", f"HEAD..{theirs}") != "0":
                _merge(git, places, theirs)
                done.append("merged")
            if git.has(theirs) and git.text("rev-list", "--count", f"{theirs}..HEAD") == "0":
                break
            pushed = git.run("push", "--quiet", remote, f"HEAD:{theirs.partition('/')[2]}", check=attempt == _TRIES - 1)
            if pushed is not None:
                done.append("pushed")
                break
    return ", ".join(dict.fromkeys(done))


def _journals(places: Places) -> Iterator[tuple[Journal, str]]:
    """Of every project in the vault, with the project's name."""
    for folder in list_names(os.path.join(places.root, "memory")):
        path = os.path.join(places.root, "memory", folder)
        if os.path.isdir(path) and not os.path.islink(path):
            project = Project(name=folder, root="", key="", folder=folder)
            yield Journal(places, project, memory=path), _name(path)


def _name(memory: str) -> str:
    """As its entries say it; a folder's name has a digest at its end."""
    for file in (DECISIONS, FAILURES):
        with suppress(ValueError, AttributeError):
            line = json.loads((read_text(os.path.join(memory, file)) or "").partition("\n")[0])
            if isinstance(name := line.get("project"), str) and name:
                return name
    return os.path.basename(memory).rpartition("-")[0] or os.path.basename(memory)


def _merge(git: _Git, places: Places, theirs: str) -> None:
    base = git.text("merge-base", "HEAD", theirs, check=False) or "HEAD"
    changed = git.text("diff", "--name-only", "-z", "--diff-filter=AM", base, theirs, "--", "*.md")
    known = dict(_journals(places))
    for path in filter(None, changed.split("\0")):
        parts = path.split("/")
        for journal in known:
            if parts[0] != "memory" or parts[1] == journal.folder:
                read_edit(journal, git.text("show", f"{theirs}:{path}"))
                break
    git.commit(places)
    replace_atomically(mark := git.path(_MERGING), "")
    try:
        git.run("merge", "--quiet", "--no-edit", "--allow-unrelated-histories", "-s", "ort", "-X", "ours", theirs)
    except StateError:
        git.run("merge", "--abort", check=False)
        os.unlink(mark)
        raise
    os.unlink(mark)
    for journal, name in _journals(places):
        refresh(places, journal, name)
    git.commit(places)


class _Git:
    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self._root = root
        kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        self._environ = kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_ATTR_SOURCE": _EMPTY_TREE}
        self._program = system_program("git", environ)
        self._options = list(_OPTIONS)
        if self._program and not self.text("config", "user.email", check=False):
            self._options += ["-c", "user.name=hookline", "-c", "user.email=hookline@localhost"]
        # Older versions take attributes of the tree all the same: what they could name runs nothing.
        for name in self.text("config", "--name-only", "--get-regexp", _NAMED, check=False).splitlines():
            self._options += ["-c", f"{name}={'false' if name.endswith('.required') else ''}"]

    def run(self, *words: str, check: bool = True) -> str | None:
        """Its output; None if it failed and may. Raises StateError."""
        import subprocess  # few share their vault

        if not self._program:
            raise StateError("git is not installed, and [knowledge] git = true needs it")
        try:
            ended = subprocess.run(
                [self._program, *self._options, *words], cwd=self._root, env=self._environ, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=_TIMEOUT, check=False, start_new_session=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise StateError(f"git {words[0]} in {self._root} took longer than {_TIMEOUT:g} s") from None
        if ended.returncode:
            if not check:
                return None
            said = ended.stderr.decode("utf-8", "replace").strip()[-300:]
            raise StateError(f"git {words[0]} in {self._root} failed: {said}; try: git -C {self._root} status")
        return ended.stdout.decode("utf-8", "surrogateescape")

    def text(self, *words: str, check: bool = True) -> str:
        return (self.run(*words, check=check) or "").removesuffix("\n")

    def path(self, name: str) -> str:
        return os.path.join(self._root, self.text("rev-parse", "--git-path", name))

    def recover(self) -> None:
        """Clear away what a killed process left: a lock that nobody holds, and a merge of ours."""
        lock = self.path("index.lock")
        if 0 < modification_time(lock) < time.time() - _STALE:
            os.unlink(lock)
        if os.path.exists(mark := self.path(_MERGING)):
            self.run("merge", "--abort", check=False)
            os.unlink(mark)
        elif os.path.exists(self.path("MERGE_HEAD")):
            raise StateError(f"a merge waits for a person in {self._root}; try: git -C {self._root} status")

    def has(self, name: str) -> bool:
        return self.run("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}", check=False) is not None

    def upstream(self) -> tuple[str, str]:
        """The remote and its branch (``origin/main``); empty without a remote."""
        branch = self.text("symbolic-ref", "--short", "HEAD", check=False) or "main"
        remote = self.text("config", f"branch.{branch}.remote", check=False)
        remotes = self.text("remote").split()
        remote = remote if remote in remotes else "origin" if "origin" in remotes else ""
        merged = self.text("config", f"branch.{branch}.merge", check=False).removeprefix("refs/heads/")
        return remote, f"{remote}/{merged or branch}"

    def commit(self, places: Places) -> bool:
        """Whether there was anything to commit."""
        below = os.path.relpath(places.learnings, places.root)
        globs = [f"{FOLDER}/*.jsonl", f"memory/*/{FOLDER}/*.jsonl", "memory/*/decisions/*.md", "memory/*/failures/*.md"]
        globs += [] if below.startswith("..") else [f"{below}/**/*.md"]
        for glob in globs:  # one at a time: a pattern without a file is an error
            self.run("add", "--force", "--", f":(glob){glob}", check=False)
        if self.run("diff", "--cached", "--quiet", check=False) is not None:
            return False
        self.run("commit", "--quiet", "-m", "Remember what sessions taught")
        return True
