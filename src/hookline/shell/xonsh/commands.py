"""Convert a pipeline from xonsh's form to that of hooks, and back."""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from hookline.shell.xonsh.patch_points import xsh
from hookline.shell.xonsh.variables import argument_text

#: What needs quotes in a pattern.
_UNSAFE = re.compile(r"[^\w@%+=:,./~*?\[\]-]+")


def split_pipeline(cmds: list[Any]) -> tuple[list[list[Any]], bool]:
    """The commands of a pipeline, and whether it runs in the background."""
    return [cmd for cmd in cmds if not isinstance(cmd, str)], bool(cmds) and cmds[-1] == "&"


def command_data(cmd: list[Any]) -> dict[str, Any]:
    """``['ls', ('>', 'x')]`` as a hook sees it."""
    words: list[str] = []
    redirects: list[dict[str, str]] = []
    for part in cmd:
        if isinstance(part, tuple):
            redirects.append(_redirect(part))
        elif isinstance(part, list):
            words += map(argument_text, part)
        else:
            words.append(argument_text(part))
    return {"command": words[0] if words else "", "args": words[1:], "redirects": redirects}


def _redirect(part: tuple[Any, ...]) -> dict[str, str]:
    op, where = (*part, "", "")[:2]
    if isinstance(where, list):
        where = where[0] if where else ""
    return {"op": str(op), "path": argument_text(where) if where != "" else ""}


class UnexpandedGlobs:
    """The patterns that xonsh expanded for the next pipeline: ``rm *`` and ``rm a b c`` are not the same to a guard."""

    def __init__(self) -> None:
        self._local = threading.local()

    def install(self) -> None:
        """xonsh calls these attributes of its session for every pattern; the second for ``g`*```."""
        session = xsh()
        plain, search, by_glob = session.glob, session.pathsearch, session.globsearch

        def glob(pattern: Any, *args: Any, **kwargs: Any) -> Any:
            return self._keep(pattern, plain(pattern, *args, **kwargs))

        def pathsearch(function: Any, pattern: Any, pymode: bool = False, *args: Any, **kwargs: Any) -> Any:
            found = search(function, pattern, pymode, *args, **kwargs)
            return found if pymode or function is not by_glob else self._keep(pattern, found)

        session.glob, session.pathsearch = glob, pathsearch

    def _keep(self, pattern: Any, found: Any) -> Any:
        if isinstance(pattern, str):
            self._seen()[tuple(map(str, found))] = _pattern_text(pattern)
        return found

    def take(self) -> dict[tuple[str, ...], str]:
        """Words -> the pattern they came from."""
        found, self._local.seen = self._seen(), {}
        return found

    def _seen(self) -> dict[tuple[str, ...], str]:
        found: dict[tuple[str, ...], str] = getattr(self._local, "seen", {})
        self._local.seen = found
        return found


def _pattern_text(pattern: str) -> str:
    """With its variables expanded, and quotes where they are needed."""
    text = str(xsh().expand_path(pattern, expand_user=False)) if "$" in pattern else pattern
    return _UNSAFE.sub(lambda found: shlex.quote(found[0]), text)


def pipeline_text(
    commands: list[dict[str, Any]], *, background: bool, globs: Mapping[tuple[str, ...], str] = MappingProxyType({})
) -> str:
    """The pipeline as one line, with words quoted where needed, and patterns as they were typed."""
    return " | ".join(command_text(one, globs) for one in commands) + (" &" if background else "")


def _with_globs(words: list[str], globs: Mapping[tuple[str, ...], str]) -> Iterator[str]:
    index = 0
    while index < len(words):
        fits = [found for found in globs if found and tuple(words[index : index + len(found)]) == found]
        longest = max(fits, key=len, default=())
        yield globs[longest] if longest else shlex.quote(words[index])
        index += len(longest) or 1


def command_text(command: dict[str, Any], globs: Mapping[tuple[str, ...], str]) -> str:
    words = list(_with_globs([command["command"], *command["args"]], globs))
    for redirect in command["redirects"]:
        words += [redirect["op"], *([shlex.quote(redirect["path"])] if redirect["path"] else [])]
    return " ".join(words)


def rebuild(cmds: list[Any], before: list[dict[str, Any]], after: Any, *, background: bool) -> list[Any] | None:
    """The pipeline with the hooks' changes; unchanged commands keep their objects. None if it is not valid."""
    if not isinstance(after, list) or not after or not all(map(_is_valid, after)):
        return None
    own, _ = split_pipeline(cmds)
    result: list[Any] = []
    for index, command in enumerate(after):
        same = index < len(before) and command == before[index]
        result += [*(["|"] if result else []), own[index] if same else _cmd(command)]
    return [*result, "&"] if background else result


def _is_valid(command: Any) -> bool:
    if not isinstance(command, dict) or not isinstance(command.get("command"), str) or not command["command"]:
        return False
    args, redirects = command.get("args", []), command.get("redirects", [])
    return (
        isinstance(args, list)
        and all(isinstance(each, str) for each in args)
        and isinstance(redirects, list)
        and all(isinstance(each, dict) and isinstance(each.get("op"), str) for each in redirects)
    )


def _cmd(command: dict[str, Any]) -> list[Any]:
    redirects = [
        (each["op"], each["path"]) if each.get("path") else (each["op"],) for each in command.get("redirects", [])
    ]
    return [command["command"], *command.get("args", []), *redirects]
