"""Ask git about a repository that nobody approved: nothing that its configuration or attributes name is started.

Its monitor and its hooks stay off, a bare repository counts only where it is named, and attributes are taken from an
empty tree. An older git knows no such tree, and ``.git/info/attributes`` always counts: where the repository itself
configures a filter, which git would start to compare a file, its files must not be compared at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

from hookline.core.code_variables import foreign_parts
from hookline.core.files import read_text
from hookline.core.paths import FOLDER, LOCAL

#: Before the words of every command.
OPTIONS = (
    "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=true", "-c", "log.showSignature=false",
    "-c", "safe.bareRepository=explicit",
)  # fmt: skip
#: Prints what ``read_config`` reads. Exit code 1: there is none of it.
CONFIG = ("config", "--includes", "--show-scope", "--get-regexp", r"^(filter\..*|extensions\.objectformat)$")
#: A submodule has a configuration of its own.
STATUS = ("status", "--ignore-submodules=dirty")
_EMPTY_TREES: Mapping[str, str] = MappingProxyType(
    {
        "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
    }
)


def git_environ(environ: Mapping[str, str], empty_tree: str = "", checkout: str = "") -> dict[str, str]:
    """The caller's variables without git's own, which select another repository or name programs, and without a home
    directory in the checkout. No object is fetched, and nobody is asked."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    for name in ("HOME", "XDG_CONFIG_HOME"):
        if checkout and foreign_parts(name, kept.get(name, "/"), (checkout,)):
            del kept[name]
    kept |= {"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C"}
    kept |= {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    return kept | ({"GIT_ATTR_SOURCE": empty_tree} if empty_tree else {})


def read_config(printed: str, exit_code: int) -> tuple[bool, str]:
    """From what ``CONFIG`` prints: whether the repository may configure a filter, and its empty tree."""
    if exit_code not in {0, 1}:  # a git that does not know these options, or a file that it cannot read
        return True, ""
    rows = [line.partition("\t")[::2] for line in printed.splitlines()]
    # What variables configure is no better: an agent's settings in a repository can set them.
    local = [setting for scope, setting in rows if scope not in {"system", "global"}]
    form = next((one.split()[-1] for one in local if one.startswith("extensions.objectformat ")), "sha1")
    return any(one.startswith("filter.") for one in local), _EMPTY_TREES.get(form, "")


def read_head(checkout: str) -> str | None:
    """``HEAD`` of a checkout or a worktree, from its files, so that a slow git does not matter; None if it is none."""
    git = os.path.join(checkout, ".git")
    if not os.path.lexists(git):
        return None
    if os.path.isfile(git):
        git = os.path.join(checkout, (read_text(git, 1 << 16) or "").removeprefix("gitdir:").strip())
    return (read_text(os.path.join(git, "HEAD"), 1 << 16) or "").strip()


def ignore_local_file(folder: str) -> str:
    """Keep the file of one person out of commits of the repository whose ``.hookline`` this is; "" if nothing was to do.

    Raises OSError.
    """
    path = os.path.join(folder, ".gitignore")
    in_git = os.path.lexists(os.path.join(os.path.dirname(folder), ".git"))
    if os.path.basename(folder) != FOLDER or os.path.islink(folder) or os.path.lexists(path) or not in_git:
        return ""
    with open(path, "x", encoding="utf-8") as file:
        file.write(f"{LOCAL}\n")
    return path
