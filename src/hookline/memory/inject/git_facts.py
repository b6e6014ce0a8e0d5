"""What git says about a checkout, in a moment or not at all.

A repository can be so large that ``git status`` takes minutes, and its own configuration can name programs. So git
gets little time, takes no locks and starts no monitor; what it does not say in time is left out, and said to be.
"""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, replace
from hookline.core.files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import Popen

#: Seconds for both questions together: a person waits for the first prompt.
TIMEOUT = 2.0
_LONGEST_SUBJECT = 200
#: Changed files whose names are kept.
_MOST_NAMES = 20
_HEAD = "ref: refs/heads/"
#: Stands in ``HEAD`` where the branches are kept in tables, which only git can read.
_IN_TABLES = ".invalid"
#: Variables of a git that called us; they would point it at another repository.
_OF_GIT = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE"})
_QUIETLY = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=true", "-c", "log.showSignature=false")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFacts:
    branch: str
    #: Short hash and subject; "" before the first commit.
    commit: str = ""
    modified: int = 0
    untracked: int = 0
    #: git did not finish counting.
    counted: bool = True
    #: Names of changed files, the first of them.
    changed: tuple[str, ...] = ()


def git_facts(checkout: str, environ: Mapping[str, str]) -> GitFacts | None:
    """None where there is no checkout, no git, or git does not believe in it. Never raises."""
    if not checkout:
        return None
    try:
        status = _git(checkout, environ, "status", "--porcelain", "--untracked-files=normal")
    except (OSError, ValueError):
        return None
    try:
        log = _git(checkout, environ, "log", "-1", "--no-color", "--format=%h %s")
    except (OSError, ValueError):
        _end(status)
        return None
    facts = _heard(checkout, status, log)
    if facts is None or facts.branch:
        return facts
    return replace(facts, branch=_asked(checkout, environ))


def _heard(checkout: str, status: Popen[bytes], log: Popen[bytes]) -> GitFacts | None:
    until = monotonic() + TIMEOUT
    commit, lines = _answer(log, until), _answer(status, until)
    if lines is not None and status.returncode != 0:
        return None  # not a checkout after all, or somebody else's
    subject = (commit or b"").decode("utf-8", "replace").strip().partition("\n")[0][:_LONGEST_SUBJECT]
    branch = current_branch(checkout)
    if lines is None:
        return GitFacts(branch=branch, commit=subject, counted=False)
    entries = lines.splitlines()
    untracked = sum(entry.startswith(b"?") for entry in entries)
    changed = tuple(entry[3:].decode("utf-8", "replace").strip('"') for entry in entries[:_MOST_NAMES])
    return GitFacts(
        branch=branch, commit=subject, modified=len(entries) - untracked, untracked=untracked, changed=changed
    )


def _git(checkout: str, environ: Mapping[str, str], *words: str) -> Popen[bytes]:
    from subprocess import DEVNULL, PIPE, Popen  # only a checkout needs it

    own = {name: value for name, value in environ.items() if name not in _OF_GIT}
    own |= {"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C"}
    return Popen(
        ["git", *_QUIETLY, *words],
        cwd=checkout, env=own, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL,
    )  # fmt: skip


def _answer(process: Popen[bytes], until: float) -> bytes | None:
    """What it printed; None if it was too slow and was ended."""
    from subprocess import TimeoutExpired  # loaded by now

    try:
        return process.communicate(timeout=max(0.01, until - monotonic()))[0]
    except TimeoutExpired:
        _end(process)
        return None


def _end(process: Popen[bytes]) -> None:
    """Its end is waited for, not that of what it printed: a program that it started may still hold that open."""
    process.kill()
    if process.stdout is not None:
        process.stdout.close()
    process.wait()


def _asked(checkout: str, environ: Mapping[str, str]) -> str:
    try:
        named = _git(checkout, environ, "symbolic-ref", "--short", "-q", "HEAD")
    except (OSError, ValueError):
        return "detached"
    return (_answer(named, monotonic() + TIMEOUT) or b"").decode("utf-8", "replace").strip() or "detached"


def current_branch(checkout: str) -> str:
    """Read, not asked: it must not be lost when git is slow. "" where it cannot be read."""
    gitdir = os.path.join(checkout, ".git")
    if not os.path.isdir(gitdir):
        told = read_text(gitdir, 1 << 16) or ""
        gitdir = os.path.join(checkout, told.removeprefix("gitdir:").strip())
    head = (read_text(os.path.join(gitdir, "HEAD"), 1 << 16) or "").strip()
    branch = head.removeprefix(_HEAD) if head.startswith(_HEAD) else "detached"
    return "" if branch == _IN_TABLES else branch
