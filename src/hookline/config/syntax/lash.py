"""lash's configuration: sections with settings in a file that is otherwise shell source.

Only ``[section]`` headers and ``key = value`` lines in the sections that concern us are read. Keys repeat and
their order counts, so the tree is ``{section: [[key, value, line], …]}``.
"""

from __future__ import annotations

import re
from typing import Any

from hookline.config.syntax import Document, Lines
from hookline.core.problem import Problem
from hookline.core.suggest import nearest

_SECTIONS = frozenset({"hooks", "settings", "plugins"})
_SECTION = re.compile(r"\[\s*([A-Za-z0-9_.-]+)\s*\]\s*(?:#.*)?")
_SETTING = re.compile(r"([A-Za-z0-9_.-]+)\s*=\s*(.*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_FAMILIES = "process|session|pipeline|variable|job|config|env|file|completion|error|plugin|display|input|prompt|key"
_TYPES = "observe|blocking|fire_and_forget|async_apply|plugin"
#: What can only be a setting that lost its key or its equals sign, and is no shell source.
_BROKEN = {
    "hooks": re.compile(
        rf"=.*|(?:{_FAMILIES})\.[a-z_]+(?:[\s:].*)?|(?:\S+[\s=:]+){{0,3}}(?:{_TYPES})(?:\([^)]*\))?:\S.*"
    ),
    "plugins": re.compile(r".+"),
}


def read(path: str, text: str) -> Document:
    tree: dict[str, list[list[Any]]] = {}
    lines: dict[str, int] = {"$": 1}
    problems: list[Problem] = []
    section = ""
    for number, line in enumerate(text.split("\n"), start=1):
        body = line.strip()
        if head := _SECTION.fullmatch(body):
            section = head[1]
            if section in _SECTIONS:
                tree.setdefault(section, [])
                lines.setdefault(f"$.{section}", number)
            elif near := nearest(section, _SECTIONS):
                problems.append(_no_section(path, section, number, near))
            continue
        body = _COMMENT.sub("", body).strip()
        if section in _SECTIONS and (found := _SETTING.fullmatch(body)):
            lines[f"$.{section}[{len(tree[section])}]"] = number
            lines.setdefault(f"$.{section}.{found[1]}", number)
            tree[section].append([found[1], found[2].strip(), number])
        elif section in _BROKEN and (_BROKEN[section].fullmatch(body) or _misspelt_event(section, body)):
            problems.append(_no_setting(path, section, number, body))
    return Document(tree=tree, line=Lines(lambda: lines), problems=tuple(problems))


def _no_setting(path: str, section: str, line: int, text: str) -> Problem:
    fix = "write event = type:path" if section == "hooks" else "write name = /path/to/executable"
    return Problem(file=path, line=line, pointer=f"$.{section}", finding=f"{text[:80]!r} is not a setting", fix=fix)


def _misspelt_event(section: str, body: str) -> bool:
    """Whether a line under [hooks] begins with what is nearly an event: shell source seldom does."""
    first = re.split(r"[\s:=]", body, maxsplit=1)[0]
    if section != "hooks" or "." not in first or "/" in first:
        return False
    from hookline.core.event import EVENTS  # only a line that is no setting needs the names

    return bool(nearest(first, EVENTS, cutoff=0.8))


def _no_section(path: str, section: str, line: int, near: str) -> Problem:
    return Problem(
        file=path, line=line, pointer=f"$.{section}", severity="warning",
        finding=f"nothing under [{section}] is read: lash has no such section", fix=f"did you mean [{near}]?",
    )  # fmt: skip
