#!/usr/bin/env python3
"""Denies commands that destroy data for good: a protection against slips, not against attackers.

``env GUARD=off COMMAND`` runs one anyway.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Any

from hookline.shell.plugins.protocol import deny, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_HOOKS = [
    {"event": event, "mode": "blocking", "on_error": "deny"} for event in ("pipeline.pre_execute", "process.pre_spawn")
]

_OVERRIDE = "GUARD=off"
#: Programs that run another command, and their options that take a word.
_WRAPPERS: Mapping[str, str] = {
    "sudo": "ughpC", "doas": "uC", "env": "uCS", "nice": "n", "ionice": "cn", "time": "fo", "nohup": "", "command": "",
    "exec": "a", "xargs": "IdnPLsE", "setsid": "", "stdbuf": "ioe", "timeout": "ks",
}  # fmt: skip
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "xonsh"})
#: Directories that nobody wants to lose.
_PRECIOUS = re.compile(
    r"/+|~/?|\$\{?HOME\}?/?|\.{1,2}/?|\*|(/|~/|\./)\*|/(bin|boot|dev|etc|home|lib\w*|opt|root|s?bin|srv|usr|var)/*\*?|(.*/)?\.git/?"
)
_DISK = re.compile(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|mapper/|md)\w*")
_MAX_DEPTH = 4


def _reply(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    reason = next(filter(None, (danger(words) for words in _commands(message["data"]))), "")
    return deny(f"{reason} (if you mean it: env {_OVERRIDE} …)") if reason else None


def _commands(data: Mapping[str, Any]) -> Iterator[list[str]]:
    if isinstance(data.get("command"), str):
        yield [data["command"], *map(str, data.get("args") or ())]
    for command in data.get("commands") or ():
        redirects = [
            f">{each.get('path', '')}" for each in command.get("redirects") or () if ">" in str(each.get("op"))
        ]
        yield [str(command.get("command", "")), *map(str, command.get("args") or ()), *redirects]


def danger(words: Sequence[str], depth: int = 0) -> str:
    """Why this command must not run; "" when it may."""
    bare = _unwrap(list(words))
    if not bare or depth > _MAX_DEPTH:
        return ""
    name = os.path.basename(bare[0])
    if name in _SHELLS and "-c" in bare[:-1]:
        return _inside(bare[bare.index("-c") + 1], depth)
    if any(_DISK.fullmatch(word[1:]) for word in bare if word.startswith(">")):
        return "it would overwrite a disk"
    check = _CHECKS.get(name) or (_CHECKS["mkfs"] if name.startswith("mkfs.") else None)
    return check(bare[1:]) if check else ""


def _unwrap(words: list[str]) -> list[str]:
    """Without ``sudo``, ``env X=1`` and the like; empty if the person confirmed it."""
    while words:
        name = os.path.basename(words[0])
        if "=" in words[0] and not words[0].startswith("="):
            if words.pop(0) == _OVERRIDE:
                return []
        elif name in _WRAPPERS:
            taking = _WRAPPERS[os.path.basename(words.pop(0))]
            while words and words[0].startswith("-"):
                option = words.pop(0)
                if words and len(option) == 2 and option[1] in taking:
                    words.pop(0)
            if name == "timeout" and words:
                words.pop(0)
        else:
            return words
    return words


def _inside(text: str, depth: int) -> str:
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;()")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return ""
    command: list[str] = []
    for word in [*words, ";"]:
        if set(word) <= set("|&;()"):
            if reason := danger(command, depth + 1):
                return reason
            command = []
        else:
            command.append(word)
    return ""


def _flags(words: Sequence[str]) -> tuple[set[str], list[str]]:
    """Single letters and long options, and the other words."""
    flags: set[str] = set()
    rest: list[str] = []
    for number, word in enumerate(words):
        if word == "--":
            return flags, [*rest, *words[number + 1 :]]
        if word.startswith("--"):
            flags.add(word.split("=", 1)[0])
        elif word.startswith("-") and len(word) > 1:
            flags |= set(word[1:])
        else:
            rest.append(word)
    return flags, rest


def _rm(words: Sequence[str]) -> str:
    flags, targets = _flags(words)
    if "--no-preserve-root" in flags:
        return "rm --no-preserve-root removes everything"
    if not flags & {"r", "R", "--recursive"}:
        return ""
    lost = [target for target in targets if _precious(target)]
    return f"rm would remove {' and '.join(lost)} with everything in it" if lost else ""


def _precious(target: str) -> bool:
    home = os.path.expanduser("~")
    whole = os.path.abspath(os.path.expanduser(target))
    return bool(_PRECIOUS.fullmatch(target)) or whole in {home, "/"} or home.startswith(whole.rstrip("/") + "/")


def _dd(words: Sequence[str]) -> str:
    targets = (word.removeprefix("of=") for word in words if word.startswith("of="))
    return "dd would overwrite a disk" if any(map(_DISK.fullmatch, targets)) else ""


def _mkfs(words: Sequence[str]) -> str:
    return "it would replace everything on the device" if words else ""


def _permissions(words: Sequence[str]) -> str:
    flags, rest = _flags(words)
    deep = flags & {"R", "--recursive"}
    return "it would change every file in there" if deep and any(_precious(word) for word in rest[1:]) else ""


def _git(words: Sequence[str]) -> str:
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in {"-C", "-c"} else 1 :]
    if not words:
        return ""
    flags, rest = _flags(words[1:])
    match words[0]:
        case "push" if flags & {"f", "--force", "--mirror"} or any(word.startswith("+") for word in rest):
            return "git push --force can discard what others pushed; --force-with-lease checks first"
        case "reset" if "--hard" in flags:
            return "git reset --hard discards uncommitted changes"
        case "clean" if flags & {"f", "--force"} and not flags & {"n", "--dry-run"}:
            return "git clean -f removes untracked files; -n shows which"
        case "checkout" | "restore" if rest in (["."], ["*"]) and "--staged" not in flags:
            return f"git {words[0]} {rest[0]} discards every uncommitted change"
        case _:
            return ""


_CHECKS: Mapping[str, Callable[[Sequence[str]], str]] = {
    "rm": _rm, "dd": _dd, "mkfs": _mkfs, "wipefs": _mkfs, "shred": _mkfs, "chmod": _permissions, "chown": _permissions,
    "git": _git,
}  # fmt: skip


if __name__ == "__main__":
    serve(_HOOKS, _reply)
