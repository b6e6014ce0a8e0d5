"""Our entries in an agent's TOML file: tables ``[[hooks]]`` at its end, and all other lines stay."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hookline.core.json_edit import JsonError
from hookline.core.own_registration import is_ours
from hookline.deploy.own_entry import OwnEntry, Registration, entry_commands, entry_event, is_own
from hookline.dialects.claude_family.render import toml_table

if TYPE_CHECKING:
    from hookline.deploy.plan import FileFormat

_HEADER = re.compile(r"\s*\[")
#: What some agents write where there are no hooks; beside it no table of hooks may stand.
_EMPTY = re.compile(r"^hooks[ \t]*=[ \t]*\[[ \t]*\][ \t]*\n?", re.MULTILINE)


def tree(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise JsonError(str(error)) from error


def fresh(wanted: Sequence[Registration], form: FileFormat) -> str:
    return "\n".join(toml_table(form.key, one.entry) for one in wanted)


def find(text: str, form: FileFormat | None) -> list[OwnEntry]:
    hooks = tree(text).get("hooks" if form is None else form.key)
    if isinstance(hooks, dict):  # another agent's tables, one list for each event
        return [
            OwnEntry(event=event, value=one)
            for event, groups in hooks.items() if isinstance(groups, list)
            for one in groups if any(map(is_ours, entry_commands(one)))
        ]  # fmt: skip
    return [OwnEntry(event=entry_event(one), value=one) for one in hooks or () if is_own(one)]


def names(text: str, form: FileFormat) -> frozenset[str]:
    return frozenset({form.key} if form.key in tree(text) else ())


def add(text: str, wanted: Sequence[Registration], form: FileFormat) -> str:
    if not wanted:
        return text
    base = _EMPTY.sub("", text) if tree(text).get(form.key) == [] else text
    base += "" if not base or base.endswith("\n") else "\n"
    after = base + "".join(f"\n{toml_table(form.key, one.entry)}" for one in wanted)
    tree(after)
    return after


def remove(text: str, form: FileFormat, kept: frozenset[str]) -> str:
    """Tables of ours go with the empty line before them."""
    del kept
    after = "".join(_left(text.splitlines(keepends=True), form.key))
    tree(after)
    return after


def _left(lines: Sequence[str], key: str) -> Iterator[str]:
    begins = [at for at, line in enumerate(lines) if _HEADER.match(line)]
    ends = dict(zip(begins, [*begins[1:], len(lines)], strict=True))
    at = 0
    while at < len(lines):
        end = ends.get(at, at)
        if lines[at].strip() == f"[[{key}]]" and _is_ours(lines[at:end], key):
            at = _end(lines, at, end)
        elif (
            not lines[at].strip()
            and at + 1 in ends
            and lines[at + 1].strip() == f"[[{key}]]"
            and _is_ours(lines[at + 1 : ends[at + 1]], key)
        ):
            at += 1
        else:
            yield lines[at]
            at += 1


def _is_ours(lines: Sequence[str], key: str) -> bool:
    try:
        table = tomllib.loads("".join(lines))[key][0]
    except (tomllib.TOMLDecodeError, KeyError, IndexError, TypeError):
        return False
    return is_own(table)


def _end(lines: Sequence[str], begin: int, end: int) -> int:
    """After its last line of ours: what follows it and is empty or a comment belongs to the next table."""
    while end - 1 > begin and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end
