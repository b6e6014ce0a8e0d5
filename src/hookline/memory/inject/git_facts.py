"""The state of a checkout, as far as git reports it in time.

``git status`` can take minutes in a large repository, and a repository's configuration can name programs. So git gets
little time, takes no locks and starts no monitor. What is not known in time is left out, and marked as unknown.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, replace
from hookline.core.files import read_text

if TYPE_CHECKING:
    from subprocess import Popen

#: Seconds for both commands together: a person waits for the first prompt.
TIMEOUT = 2.0
_MAX_SUBJECT = 200
#: Changed files whose names are kept.
_MAX_NAMES = 20
_HEAD = "ref: refs/heads/"
#: The branch in ``HEAD`` with the reftable format, which only git can read.
_REFTABLE = ".invalid"
#: Variables of a git that called us would select another repository.
_GIT_VARIABLES = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE"}
)
_OPTIONS = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=true", "-c", "log.showSignature=false")  # fmt: skip


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
    """None without a checkout or git, or if git rejects the checkout. Never raises."""
    if not checkout:
        return None
    try:
        status = _git(checkout, environ, "status", "--porcelain", "--untracked-files=normal")
    except (OSError, ValueError):
        return None
    try:
        log = _git(checkout, environ, "log", "-1", "--no-color", "--format=%h %s")
    except (OSError, ValueError):
        _kill(status)
        return None
    facts = _collect(checkout, status, log)
    if facts is None or facts.branch:
        return facts
    return replace(facts, branch=_ask_branch(checkout, environ))


def _collect(checkout: str, status: Popen[bytes], log: Popen[bytes]) -> GitFacts | None:
    until = monotonic() + TIMEOUT
    commit, lines = _output(log, until), _output(status, until)
    if lines is not None and status.returncode != 0:
        return None  # not a checkout after all, or another user's
    subject = (commit or b"").decode("utf-8", "replace").strip().partition("\n")[0][:_MAX_SUBJECT]
    branch = current_branch(checkout)
    if lines is None:
        return GitFacts(branch=branch, commit=subject, counted=False)
    entries = lines.splitlines()
    untracked = sum(entry.startswith(b"?") for entry in entries)
    changed = tuple(entry[3:].decode("utf-8", "replace").strip('"') for entry in entries[:_MAX_NAMES])
    return GitFacts(
        branch=branch, commit=subject, modified=len(entries) - untracked, untracked=untracked, changed=changed
    )


def _git(checkout: str, environ: Mapping[str, str], *words: str) -> Popen[bytes]:
    from subprocess import DEVNULL, PIPE, Popen  # only needed in a checkout

    own = {name: value for name, value in environ.items() if name not in _GIT_VARIABLES}
    own |= {"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C"}
    return Popen(
        ["git", *_OPTIONS, *words],
        cwd=checkout, env=own, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL,
    )  # fmt: skip


def _output(process: Popen[bytes], until: float) -> bytes | None:
    """Its output; None if it was too slow and was killed."""
    from subprocess import TimeoutExpired  # loaded by now

    try:
        return process.communicate(timeout=max(0.01, until - monotonic()))[0]
    except TimeoutExpired:
        _kill(process)
        return None


def _kill(process: Popen[bytes]) -> None:
    """Wait for the process only, not for the end of its output: a program that it started may keep that open."""
    process.kill()
    if process.stdout is not None:
        process.stdout.close()
    process.wait()


def _ask_branch(checkout: str, environ: Mapping[str, str]) -> str:
    try:
        named = _git(checkout, environ, "symbolic-ref", "--short", "-q", "HEAD")
    except (OSError, ValueError):
        return "detached"
    return (_output(named, monotonic() + TIMEOUT) or b"").decode("utf-8", "replace").strip() or "detached"


def current_branch(checkout: str) -> str:
    """Read from the files, so that a slow git does not matter. "" if it cannot be read."""
    gitdir = os.path.join(checkout, ".git")
    if not os.path.isdir(gitdir):
        link = read_text(gitdir, 1 << 16) or ""
        gitdir = os.path.join(checkout, link.removeprefix("gitdir:").strip())
    head = (read_text(os.path.join(gitdir, "HEAD"), 1 << 16) or "").strip()
    branch = head.removeprefix(_HEAD) if head.startswith(_HEAD) else "detached"
    return "" if branch == _REFTABLE else branch
