"""Add a table to a ``hookline.toml`` or remove one; every other byte stays."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from hookline.config.files import Unread, read_text
from hookline.core._dataclass import dataclass
from hookline.core.errors import ConfigError, UsageError
from hookline.core.files import atomic_writer, backup
from hookline.core.paths import FILE, FOLDER, LOCAL, project_root, unusable
from hookline.tui.new_hook import check_draft
from hookline.tui.toml_edit import remove_table

if TYPE_CHECKING:
    from hookline.core.paths import Paths
    from hookline.dialects.base import Lookup
    from hookline.tui.catalog import Hook
    from hookline.tui.new_hook import Draft

_PLACE = re.compile(r"\$\.hook\[(\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    file: str
    #: A copy of the file before the change.
    backup: str


def layer_file(layer: str, cwd: str, home: str, paths: Paths) -> str:
    """The file of a layer: ``user``, ``project`` or ``local``."""
    if layer == "user":
        return os.path.join(paths.config, FILE)
    if layer not in {"project", "local"}:
        raise UsageError(f"hooks can be added to the user, project or local file, not {layer!r}")
    return os.path.join(project_root(cwd, home), FOLDER, FILE if layer == "project" else LOCAL)


def add_hook(draft: Draft, file: str, lookup: Lookup) -> str:
    """Append the hook to ``file``; return its real path. Raises UsageError if the hook would not load."""
    target = _target(file)
    text = _text(target, missing="")
    verdict = check_draft(draft, text, target, lookup)
    if verdict.findings:
        raise UsageError("; ".join(verdict.findings))
    _replace(target, text, verdict.text)
    return target


def remove_hook(hook: Hook, paths: Paths) -> Removed:
    """Remove the hook's table from its file, after a backup."""
    place = _PLACE.fullmatch(hook.origin.pointer)
    if hook.dialect != "native" or place is None:
        msg = f"{hook.name!r} is defined in {hook.origin.file} ({hook.dialect}); delete it there, or switch it off"
        raise UsageError(msg)
    target = _target(hook.origin.file)
    text = _text(target, missing=None)
    left = remove_table(text, "hook", int(place[1])) if _is_still_at(text, int(place[1]), hook.name) else None
    if left is None:
        raise ConfigError(f"{hook.name!r} cannot be removed from {target} exactly; delete it with an editor")
    copy = backup(paths.state, target, text)
    _replace(target, text, left)
    return Removed(file=target, backup=copy)


def _is_still_at(text: str, index: int, name: str) -> bool:
    """Whether it is still there: the file may have been edited since it was loaded."""
    import tomllib  # only a deletion needs it here

    try:
        found = tomllib.loads(text)["hook"][index]
    except (ValueError, KeyError, IndexError, TypeError):
        return False
    return not isinstance(found.get("name"), str) or found["name"] == name


def _target(file: str) -> str:
    """The target of a symbolic link; a project's link must not lead out of the project."""
    real = os.path.realpath(file)
    folder = os.path.dirname(os.path.abspath(file))
    if os.path.basename(folder) == FOLDER and not real.startswith(os.path.realpath(os.path.dirname(folder)) + os.sep):
        raise ConfigError(f"{file} is a link out of its project to {real}; edit that file yourself")
    return real


def _text(path: str, *, missing: str | None) -> str:
    text = read_text(path)
    if not isinstance(text, Unread):
        return text
    if text.missing and missing is not None:
        return missing
    raise ConfigError(str(text.problem))


def _replace(path: str, before: str, after: str) -> None:
    """Replace atomically, unless the file has changed meanwhile. Its permissions stay."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with atomic_writer(path, keep_mode=True) as file:
            file.write(after.encode("utf-8-sig" if _has_mark(path) else "utf-8"))
            if _text(path, missing="") != before:
                raise ConfigError(f"{path} has just changed; nothing was written")
    except OSError as error:
        elsewhere = "write it elsewhere (--to user, project or local)"
        raise ConfigError(str(unusable(folder, error, elsewhere))) from error


def _has_mark(path: str) -> bool:
    """Whether the file begins with a byte order mark, which the loader removes."""
    try:
        with open(path, "rb") as file:
            return file.read(3) == b"\xef\xbb\xbf"
    except OSError:
        return False
