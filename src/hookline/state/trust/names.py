"""What approvals call a file and its project: the same in every worktree of a repository."""

from __future__ import annotations

import os

from hookline.core.files import read_text
from hookline.core.paths import repository_root

#: Bytes of a file of Git that names a folder.
_LONGEST = 1 << 16


def file_project(file: str) -> str:
    """The project that a configuration file belongs to: its repository, else the folder its own is hidden in."""
    folder = os.path.dirname(os.path.abspath(file))
    hidden = os.path.basename(folder).startswith(".")
    return repository_root(folder) or (os.path.dirname(folder) if hidden else folder)


def shared_name(path: str) -> str:
    """What approvals call a file: its real path, which in a worktree is that of the same file in the repository."""
    real = os.path.realpath(path)
    root = repository_root(real)
    mark = os.path.join(root, ".git")
    if not root or not os.path.isfile(mark):
        return real
    try:
        common, made_for = find_repository(mark)
    except OSError:
        return real
    # Only where the repository knows this worktree: anybody can write a .git file.
    if made_for != mark or os.path.basename(common) != ".git":
        return real
    return os.path.normpath(os.path.join(os.path.dirname(common), os.path.relpath(real, root)))


def find_repository(mark: str) -> tuple[str, str]:
    """The folder of Git that a worktree's ``.git`` file names, and the file that this was made for. Raises OSError."""
    own = os.path.realpath(os.path.join(os.path.dirname(mark), _line(mark).removeprefix("gitdir:").strip()))
    common = os.path.realpath(os.path.join(own, _line(os.path.join(own, "commondir"))))
    if os.path.dirname(own) != os.path.join(common, "worktrees"):  # it names a repository that does not know it
        raise FileNotFoundError(own)
    return common, os.path.realpath(_line(os.path.join(own, "gitdir")))


def _line(path: str) -> str:
    text = read_text(path, _LONGEST, errors="surrogateescape")  # a stranger's: perhaps a pipe, or without an end
    if text is None:
        raise FileNotFoundError(path)
    return text.partition("\n")[0].strip()


def is_below(path: str, root: str) -> bool:
    return path.startswith(os.path.abspath(root).rstrip("/") + "/")
