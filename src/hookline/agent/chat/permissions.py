"""Which tool calls may run: a mode, and rules such as ``Bash(git *)``. Pure, apart from looking at links.

What only looks inside the working directory is free. Everything else needs a permission: the mode's, a rule's, a
hook's, or the person's.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, get_args

from hookline.core._dataclass import dataclass, field
from hookline.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

Mode = Literal["ask", "accept-edits", "allow", "all"]
_MODES: tuple[Mode, ...] = get_args(Mode)

#: What a tool does to the world: nothing, reads a path, writes a path, anything.
Need = Literal["nothing", "read", "edit", "run"]

Verdict = Literal["allow", "ask", "deny"]

_RULE = re.compile(r"(?P<tool>[A-Za-z0-9_.*-]+)(?:\((?P<pattern>.*)\))?", re.DOTALL)
#: With any of these a command line may be more than the one command a rule speaks of.
_MORE_THAN_ONE = re.compile(r"[;&|<>`$(){}\n\\!]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _PermissionRule:
    """``pattern`` None means every call of the tool."""

    tool: str
    pattern: str | None = None

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"


def rule_of(text: str) -> _PermissionRule:
    found = _RULE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no rule; write a tool, or Tool(pattern) such as 'Bash(git *)' or 'Edit(src/**)'")
    return _PermissionRule(tool=found["tool"], pattern=found["pattern"])


@dataclass(slots=True, kw_only=True)
class Permissions:
    mode: Mode = "ask"
    rules: list[_PermissionRule] = field(default_factory=list[_PermissionRule])

    def judge(self, name: str, need: Need, given: Mapping[str, Any], cwd: str) -> Verdict:
        """``deny`` only where nobody may be asked: the mode allows exactly what its rules name."""
        if need == "nothing" or self.mode == "all" or any(_fits(rule, name, given, cwd) for rule in self.rules):
            return "allow"
        free = need == "read" or (need == "edit" and self.mode == "accept-edits" and not _hidden(given, cwd))
        if free and _inside(given, cwd) and not (name == "Glob" and _climbs(given.get("pattern"))):
            return "allow"
        return "deny" if self.mode == "allow" else "ask"

    def told(self) -> dict[str, list[str]]:
        """As a PermissionRequest carries it."""
        return {"allow": [str(rule) for rule in self.rules], "deny": [], "ask": [], "alwaysAsk": []}


def _fits(rule: _PermissionRule, name: str, given: Mapping[str, Any], cwd: str) -> bool:
    if not fnmatchcase(name, rule.tool):
        return False
    if rule.pattern is None:
        return True
    command = given.get("command")
    if isinstance(command, str):
        return _command_fits(rule.pattern, command.strip())
    path = _path_in(given, cwd)
    if path is None:
        return False
    pattern = os.path.join(os.path.realpath(cwd), os.path.expanduser(rule.pattern))
    return fnmatchcase(path, pattern) or (pattern.endswith("/**") and path.startswith(pattern[:-2]))


def _command_fits(pattern: str, command: str) -> bool:
    """A pattern never covers what follows a second command: only the very same text may hold one."""
    if command == pattern:
        return True
    pattern = pattern.removesuffix(":*") + " *" if pattern.endswith(":*") else pattern
    if _MORE_THAN_ONE.search(command):
        return False
    return fnmatchcase(command, pattern) or (pattern.endswith(" *") and command == pattern[:-2])


def _path_in(given: Mapping[str, Any], cwd: str) -> str | None:
    """The file or folder a call is about, with every link followed; None if it names none that is a text."""
    value = given.get("file_path", given.get("path", "."))
    if not isinstance(value, str) or "\0" in value:
        return None
    return os.path.realpath(os.path.join(cwd, os.path.expanduser(value)))


def _inside(given: Mapping[str, Any], cwd: str) -> bool:
    path, root = _path_in(given, cwd), os.path.realpath(cwd)
    return path is not None and (path == root or path.startswith(root.rstrip("/") + "/"))


def _hidden(given: Mapping[str, Any], cwd: str) -> bool:
    """Behind a dot stand repositories, hooks and settings: what other programs run. Nobody accepts that unseen."""
    path = _path_in(given, cwd)
    return path is None or any(part.startswith(".") for part in os.path.relpath(path, os.path.realpath(cwd)).split("/"))


def _climbs(pattern: Any) -> bool:
    """A pattern can lead out of the folder it starts in."""
    return not isinstance(pattern, str) or pattern.startswith(("/", "~")) or ".." in pattern.split("/")
