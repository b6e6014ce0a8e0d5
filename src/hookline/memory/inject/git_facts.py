"""The state of a checkout, as far as git reports it in time.

``git status`` can take minutes in a large repository, and a repository's configuration can name programs. So git gets
little time, and starts none of those (see ``core.git``). What is not known then is left out, and marked as unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, replace
from hookline.core.git import CONFIG, OPTIONS, STATUS, git_environ, read_config, read_head
from hookline.core.isolation import system_program

if TYPE_CHECKING:
    from subprocess import Popen

#: Seconds for both commands together: a person waits for the first prompt.
TIMEOUT = 2.0
_MAX_SUBJECT = 200
#: Changed files whose names are kept.
_MAX_NAMES = 20
_SLOW, _FILTERS = "git status is too slow here", "the repository configures filters, which git status would run"
_HEAD = "ref: refs/heads/"
#: The branch in ``HEAD`` with the reftable format, which only git can read.
_REFTABLE = ".invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFacts:
    branch: str
    #: Short hash and subject; "" before the first commit.
    commit: str = ""
    modified: int = 0
    untracked: int = 0
    #: Why changes were not counted; "" if they were.
    uncounted: str = ""
    #: Names of changed files, the first of them.
    changed: tuple[str, ...] = ()


def git_facts(checkout: str, environ: Mapping[str, str]) -> GitFacts | None:
    """None without a checkout or git, or if git rejects the checkout. Never raises."""
    if not checkout:
        return None
    until = monotonic() + TIMEOUT
    status: Popen[bytes] | None = None
    try:
        asked = _git(checkout, git_environ(environ, checkout=checkout), *CONFIG)
        printed = _output(asked, until)
        if printed is None:
            return GitFacts(branch=current_branch(checkout), uncounted=_SLOW)
        filters, empty_tree = read_config(printed.decode("utf-8", "replace"), asked.returncode)
        own = git_environ(environ, empty_tree, checkout)
        status = None if filters else _git(checkout, own, *STATUS, "--porcelain", "--untracked-files=normal")
        log = _git(checkout, own, "log", "-1", "--no-color", "--format=%h %s")
    except (OSError, ValueError):
        if status is not None:
            _kill(status)
        return None
    facts = _collect(checkout, status, log, until)
    if facts is None or facts.branch:
        return facts
    return replace(facts, branch=_ask_branch(checkout, own))


def _collect(checkout: str, status: Popen[bytes] | None, log: Popen[bytes], until: float) -> GitFacts | None:
    commit = _output(log, until)
    lines = None if status is None else _output(status, until)
    if status is not None and lines is not None and status.returncode != 0:
        return None  # not a checkout after all, or another user's
    subject = (commit or b"").decode("utf-8", "replace").strip().partition("\n")[0][:_MAX_SUBJECT]
    branch = current_branch(checkout)
    if lines is None:
        return GitFacts(branch=branch, commit=subject, uncounted=_FILTERS if status is None else _SLOW)
    entries = lines.splitlines()
    untracked = sum(entry.startswith(b"?") for entry in entries)
    changed = tuple(entry[3:].decode("utf-8", "replace").strip('"') for entry in entries[:_MAX_NAMES])
    return GitFacts(
        branch=branch, commit=subject, modified=len(entries) - untracked, untracked=untracked, changed=changed
    )


def _git(checkout: str, environ: Mapping[str, str], *words: str) -> Popen[bytes]:
    from subprocess import DEVNULL, PIPE, Popen  # only needed in a checkout

    program = system_program("git", environ)
    if not program:
        raise FileNotFoundError("git")
    return Popen([program, *OPTIONS, *words], cwd=checkout, env=environ, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)


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
    """ "" if it cannot be read."""
    head = read_head(checkout) or ""
    branch = head.removeprefix(_HEAD) if head.startswith(_HEAD) else "detached"
    return "" if branch == _REFTABLE else branch
