"""What a command does to the world, as values that a policy can judge.

An ``Effect`` says what happens, to what, where, how bad it is by itself, and which words cause it. It never says what
to do about it: that is the policy's part.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from hookline.core._dataclass import dataclass

#: How much is lost or risked if nobody looks: ``low`` is everyday work, ``critical`` ruins a machine or leaks a secret.
Harm = Literal["low", "medium", "high", "critical"]
HARMS: Final[tuple[Harm, ...]] = ("low", "medium", "high", "critical")

#: Every kind of effect, and what it means.
KINDS: Final[Mapping[str, str]] = MappingProxyType({
    "delete": "files are deleted",
    "overwrite": "a file's content is replaced",
    "move": "files are moved away",
    "permissions": "owner, mode or attributes of files change",
    "git-work": "uncommitted work in a repository is lost",
    "git-history": "commits, branches or stashes are lost",
    "git-remote": "the history of a remote repository is rewritten",
    "git-bypass": "checks of a repository are skipped",
    "process": "processes are killed or the machine is stopped",
    "device": "a disk or device is written directly",
    "privilege": "rights of another user are gained",
    "remote-code": "code from the network or hidden code is run",
    "secret": "a secret is read or replaced",
    "send": "data leave the machine",
    "publish": "a package or release is published",
    "install": "software is installed or removed for the whole machine",
    "infrastructure": "cloud, cluster or container resources are destroyed",
    "database": "data in a database are destroyed",
    "persistence": "something is set up to run later or to open a door",
    "guard": "hookline, another guard or an agent's settings are changed",
    "exhaust": "processes or memory are used up",
    "unknown": "what happens cannot be read from the command",
})  # fmt: skip


#: Kind -> a safer way, where none fits better.
SAFER: Final[Mapping[str, str]] = MappingProxyType({
    "delete": "name exactly what may go, or move it away first",
    "overwrite": "write to a new file, compare, then replace",
    "move": "copy it, and let a person remove the original",
    "permissions": "name the files, and give no more than is needed",
    "git-work": "git stash first",
    "git-history": "git branch KEEP first, so that the commits stay reachable",
    "git-remote": "git push --force-with-lease, or a branch of your own",
    "git-bypass": "mend what the check reports",
    "process": "name one process by its number",
    "device": "let a person do it, who sees which disk it is",
    "privilege": "do it without more rights, or let a person do it",
    "remote-code": "save it to a file, read it, then run it",
    "secret": "use the variable or file by name, without printing it",
    "send": "send only what a person named",
    "publish": "let a person or the pipeline publish it",
    "install": "install it into the project or a virtual environment",
    "infrastructure": "show what would change first (plan, diff, --dry-run)",
    "database": "make a dump first, or work on a copy",
    "persistence": "run it once, by hand",
    "guard": "ask the person to do it",
    "exhaust": "give it a limit",
    "unknown": "write the command out, without hidden parts",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One thing that a command does. ``cause`` are the words of the command, ``safer`` is another way to the same end."""

    kind: str
    harm: Harm
    #: What it happens to: a path, a branch, an address.
    what: str = ""
    #: A place: see ``hookline.guard.paths.PLACES``; "" where it has none.
    where: str = ""
    why: str = ""
    cause: str = ""
    safer: str = ""
