"""Convert a pipeline from xonsh's form to that of hooks, and back."""

from __future__ import annotations

import shlex
from typing import Any

from hookline.shell.xonsh.variables import argument_text


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


def pipeline_text(commands: list[dict[str, Any]], *, background: bool) -> str:
    """The pipeline as one line, with words quoted where needed."""
    return " | ".join(map(_command_text, commands)) + (" &" if background else "")


def _command_text(command: dict[str, Any]) -> str:
    words = [shlex.quote(each) for each in (command["command"], *command["args"])]
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
