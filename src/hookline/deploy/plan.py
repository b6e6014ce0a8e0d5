"""What to write: pure. ``plan_file`` adds our registrations to a file's text, ``unplan_file`` takes them out again."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Literal

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.agents import Agent
from hookline.core.json_edit import JsonError
from hookline.core.own_registration import is_ours
from hookline.deploy import json_file, toml_file, yaml_file
from hookline.deploy.own_entry import OwnEntry, Registration, entry_commands, entry_event, others

__all__ = [
    "FileFormat",
    "FilePlan",
    "OwnEntry",
    "Registration",
    "foreign_entries",
    "own_entries",
    "plan_file",
    "unplan_file",
]

#: Lines of context in a diff.
_AROUND = 3
_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """Where in an agent's file its entries stand: a list for each event, or one for all of them."""

    form: Literal["map", "list"] = "map"
    #: The member that holds them; "" for the file itself.
    key: str = "hooks"
    #: What a new file begins with.
    head: Mapping[str, Any] = field(default_factory=empty)

    @classmethod
    def of(cls, agent: Agent) -> FileFormat:
        head = {"version": 1} if agent.form == "flat" and not agent.entries else agent.head
        return cls(form="list" if agent.form == "list" else "map", key=agent.key, head=head)


_USUAL = FileFormat()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """A file as it is and as it will be; None: there is none. ``refused`` says why nothing can be done."""

    path: str
    before: str | None
    after: str | None
    refused: str = ""

    @property
    def changes(self) -> bool:
        return not self.refused and self.before != self.after

    def diff(self) -> str:
        """The very change, as a person reads it and ``patch`` applies it."""
        return _unified(
            _lines(self.before), _lines(self.after), self.path if self.before is not None else "/dev/null",
            self.path if self.after is not None else "/dev/null",
        )  # fmt: skip


def _lines(text: str | None) -> list[str]:
    """Only a line feed ends a line: ``splitlines`` knows more ends than ``patch`` does."""
    parts = (text or "").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _unified(old: list[str], new: list[str], before: str, after: str) -> str:
    """A unified diff in the time of the change, not of the file: what both begin and end with is not compared."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    skipped, kept = max(0, head - _AROUND), max(0, tail - _AROUND)
    lines = difflib.unified_diff(
        old[skipped : len(old) - kept], new[skipped : len(new) - kept], before, after, n=_AROUND
    )
    placed = (
        _HUNK.sub(lambda found: _moved(found, skipped), line) if line.startswith("@@") else line for line in lines
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in placed)


def _moved(found: re.Match[str], by: int) -> str:
    return f"@@ -{int(found[1]) + by}{found[2] or ''} +{int(found[3]) + by}{found[4] or ''} @@"


def plan_file(path: str, text: str | None, wanted: Sequence[Registration], form: FileFormat = _USUAL) -> FilePlan:
    """Everything of ours as it is wanted, and nothing else touched."""
    mark = "\ufeff" if text is not None and text.startswith("\ufeff") else ""
    editor = _editor(path, text)
    if text is None or not text.strip("\ufeff \t\r\n"):
        return FilePlan(path=path, before=text, after=mark + editor.fresh(wanted, form))
    plain = text[len(mark) :]
    try:
        found = editor.find(plain, form)
        if _same(found, wanted):
            return FilePlan(path=path, before=text, after=text)
        after = editor.add(editor.remove(plain, form, frozenset()) if found else plain, wanted, form)
        _verify(editor, plain, after, wanted, form)
    except JsonError as error:
        return _refused(path, text, error)
    return FilePlan(path=path, before=text, after=mark + after)


def unplan_file(path: str, text: str | None, original: str | None = None, form: FileFormat = _USUAL) -> FilePlan:
    """Nothing of ours. Lists and objects that became empty go too, unless ``original`` (before us) had them."""
    if text is None:
        return FilePlan(path=path, before=None, after=None)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    plain, editor = text[len(mark) :], _editor(path, text)
    try:
        kept = (
            editor.names(original.removeprefix("\ufeff"), form) if original and original.strip("\ufeff \t\r\n") else ()
        )
        after = editor.remove(plain, form, frozenset(kept))
        _verify(editor, plain, after, (), form)
    except JsonError as error:
        return _refused(path, text, error)
    return FilePlan(path=path, before=text, after=mark + after)


def own_entries(text: str, path: str = "", form: FileFormat | None = None) -> list[OwnEntry]:
    """Raises ``JsonError``. Without ``form`` they are looked for wherever an agent may have them."""
    found: list[OwnEntry] = _editor(path, text).find(text.removeprefix("\ufeff"), form)
    return found


def _editor(path: str, text: str | None) -> Any:
    """What reads and changes a file of this kind: ``tree``, ``find``, ``add``, ``remove``, ``names`` and ``fresh``."""
    if path.endswith(".toml"):
        return toml_file
    # What is JSON may stand in a YAML file as well.
    is_yaml = path.endswith((".yaml", ".yml")) and not (text or "").lstrip("\ufeff \t\r\n").startswith("{")
    return yaml_file if is_yaml else json_file


def _refused(path: str, text: str, error: JsonError) -> FilePlan:
    kind = "TOML" if path.endswith(".toml") else "YAML" if path.endswith((".yaml", ".yml")) else "JSON"
    reason = f"{path} is not {kind} that can be edited: {error}; correct it and try again"
    return FilePlan(path=path, before=text, after=text, refused=reason)


def _same(found: Sequence[OwnEntry], wanted: Sequence[Registration]) -> bool:
    there = sorted(((one.event, one.value) for one in found), key=itemgetter(0))
    return there == sorted(((one.event, one.entry) for one in wanted), key=itemgetter(0))


def _verify(editor: Any, before: str, after: str, wanted: Sequence[Registration], form: FileFormat) -> None:
    """What we write says what we mean and nothing else has changed; otherwise it is our bug, and nothing is written."""
    rest = others(editor.tree(before), form) == others(editor.tree(after), form)
    if not rest or not _same(editor.find(after, form), wanted):
        raise JsonError("it is written in a way that hookline cannot change safely; please report it")


def foreign_entries(text: str | None, path: str = "") -> list[str]:
    """What else the file registers: event and command of each, in the order of the file."""
    if not text or not text.strip("\ufeff \t\r\n"):
        return []
    try:
        tree = _editor(path, text).tree(text.removeprefix("\ufeff"))
    except JsonError:
        return []
    hooks = tree.get("hooks", tree) if isinstance(tree, dict) else None
    found = (
        [(entry_event(one), one) for one in hooks]
        if isinstance(hooks, list)
        else [(event, one) for event, listed in hooks.items() if isinstance(listed, list) for one in listed]
        if isinstance(hooks, dict)
        else []
    )
    return [f"{event}: {line}" for event, one in found for line in entry_commands(one) if not is_ours(line)]
