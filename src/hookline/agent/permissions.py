"""Which tool calls may run: a mode, and rules such as ``Bash(git *)``. Pure, apart from resolving links.

Reading inside the working directory is free. Everything else needs a permission: from the mode, a rule, a hook, or
the user.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

from hookline.core._dataclass import dataclass, field
from hookline.core.errors import UsageError

Mode = Literal["ask", "accept-edits", "allow", "all"]
_MODES: tuple[Mode, ...] = get_args(Mode)

#: What a tool does to the world: nothing, reads a path, writes a path, anything.
Need = Literal["nothing", "read", "edit", "run"]

_Verdict = Literal["allow", "ask", "deny"]

#: A person's answer to a request.
Answer = Literal["once", "always", "no"]

_RULE = re.compile(r"(?P<tool>[A-Za-z0-9_.*-]+)(?:\((?P<pattern>.*)\))?", re.DOTALL)
#: With any of these a command line may be more than the one command that a rule names.
_MORE_THAN_ONE = re.compile(r"[;&|<>`$(){}\n\\!]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _PermissionRule:
    """``pattern`` None means every call of the tool."""

    tool: str
    pattern: str | None = None

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"


def parse_rule(text: str) -> _PermissionRule:
    found = _RULE.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"{text!r} is not a rule; write a tool, or Tool(pattern) such as 'Bash(git *)' or 'Edit(src/**)'"
        )
    return _PermissionRule(tool=found["tool"], pattern=found["pattern"])


@dataclass(slots=True, kw_only=True)
class Permissions:
    mode: Mode = "ask"
    rules: list[_PermissionRule] = field(default_factory=list[_PermissionRule])

    def judge(self, name: str, need: Need, arguments: Mapping[str, Any], cwd: str) -> _Verdict:
        """``deny`` only in the mode ``allow``, which allows exactly what the rules name and asks nobody."""
        if need == "nothing" or self.mode == "all" or any(_matches(rule, name, arguments, cwd) for rule in self.rules):
            return "allow"
        path, root = _path(arguments, cwd), os.path.realpath(cwd)
        inside = path is not None and (path == root or path.startswith(root.rstrip("/") + "/"))
        free = need == "read" or (need == "edit" and self.mode == "accept-edits" and not _hidden(path, root))
        if free and inside and not (name == "Glob" and _climbs(arguments.get("pattern"))):
            return "allow"
        return "deny" if self.mode == "allow" else "ask"

    def remember(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Allow it for the rest of the session: this very command line, or the tool as a whole."""
        command = arguments.get("command")
        exact = command.strip() if name == "Bash" and isinstance(command, str) else None
        self.rules.append(_PermissionRule(tool=name, pattern=exact))

    def event_fields(self) -> dict[str, list[str]]:
        """As a PermissionRequest event carries it."""
        return {"allow": [str(rule) for rule in self.rules], "deny": [], "ask": [], "alwaysAsk": []}


def _matches(rule: _PermissionRule, name: str, arguments: Mapping[str, Any], cwd: str) -> bool:
    if not fnmatchcase(name, rule.tool):
        return False
    if rule.pattern is None:
        return True
    command = arguments.get("command")
    if isinstance(command, str):
        return _command_matches(rule.pattern, command.strip())
    path = _path(arguments, cwd)
    if path is None:
        return False
    pattern = os.path.join(os.path.realpath(cwd), os.path.expanduser(rule.pattern))
    return fnmatchcase(path, pattern) or (pattern.endswith("/**") and path.startswith(pattern[:-2]))


def _command_matches(pattern: str, command: str) -> bool:
    """A pattern never covers a second command: only the identical text may contain one."""
    if command == pattern:
        return True
    pattern = pattern.removesuffix(":*") + " *" if pattern.endswith(":*") else pattern
    if _MORE_THAN_ONE.search(command):
        return False
    return fnmatchcase(command, pattern) or (pattern.endswith(" *") and command == pattern[:-2])


def _path(arguments: Mapping[str, Any], cwd: str) -> str | None:
    """The file or folder of a call, with every link resolved; None if it names none."""
    value = arguments.get("file_path", arguments.get("path", "."))
    if not isinstance(value, str) or "\0" in value:
        return None
    return os.path.realpath(os.path.join(cwd, os.path.expanduser(value)))


def _hidden(path: str | None, root: str) -> bool:
    """Names with a dot are repositories, hooks and settings, which other programs run: never accepted unseen."""
    return path is None or any(part.startswith(".") for part in os.path.relpath(path, root).split("/"))


def _climbs(pattern: Any) -> bool:
    """Whether a pattern can leave the folder that it starts in."""
    return not isinstance(pattern, str) or pattern.startswith(("/", "~")) or ".." in pattern.split("/")
