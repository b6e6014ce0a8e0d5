"""lash's configuration: sections with settings in a file that is otherwise shell source.

Only ``[section]`` headers and ``key = value`` lines in the sections that concern us are read. Keys repeat and
their order counts, so the tree is ``{section: [[key, value, line], …]}``.
"""

from __future__ import annotations

import re
from typing import Any

from hookline.config.lines import Lines
from hookline.config.syntax import Document
from hookline.problem import Problem

SECTIONS = frozenset({"hooks", "settings", "plugins"})
_SECTION = re.compile(r"\[\s*([A-Za-z0-9_.-]+)\s*\]\s*(?:#.*)?")
_SETTING = re.compile(r"([A-Za-z0-9_.-]+)\s*=\s*(.*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_FAMILIES = "process|session|pipeline|variable|job|config|env|file|completion|error|plugin|display|input|prompt|key"
#: What can only be a setting that lost its key or its equals sign, and is no shell source.
_BROKEN = {"hooks": re.compile(rf"=.*|(?:{_FAMILIES})\.[a-z_]+(?:[\s:].*)?"), "plugins": re.compile(r".+")}


def read(path: str, text: str) -> Document:
    tree: dict[str, list[list[Any]]] = {}
    lines: dict[str, int] = {"$": 1}
    problems: list[Problem] = []
    section = ""
    for number, line in enumerate(text.split("\n"), start=1):
        body = line.strip()
        if head := _SECTION.fullmatch(body):
            section = head[1]
            if section in SECTIONS:
                tree.setdefault(section, [])
                lines.setdefault(f"$.{section}", number)
            continue
        body = _COMMENT.sub("", body).strip()
        if section in SECTIONS and (found := _SETTING.fullmatch(body)):
            lines[f"$.{section}[{len(tree[section])}]"] = number
            lines.setdefault(f"$.{section}.{found[1]}", number)
            tree[section].append([found[1], found[2].strip(), number])
        elif section in _BROKEN and _BROKEN[section].fullmatch(body):
            problems.append(_no_setting(path, section, number, body))
    return Document(tree=tree, line=Lines(lambda: lines), problems=tuple(problems))


def _no_setting(path: str, section: str, line: int, text: str) -> Problem:
    fix = "write event = type:path" if section == "hooks" else "write name = /path/to/executable"
    return Problem(file=path, line=line, pointer=f"$.{section}", finding=f"{text[:80]!r} is no setting", fix=fix)
