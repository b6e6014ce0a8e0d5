"""lash's configuration: sections with settings in a file that is otherwise shell source.

Only ``[section]`` headers and ``key = value`` lines in the sections that concern us are read. Keys repeat and
their order counts, so the tree is ``{section: [[key, value, line], …]}``.
"""

from __future__ import annotations

import re
from typing import Any

from hookline.config.lines import Lines
from hookline.config.syntax import Document

SECTIONS = frozenset({"hooks", "settings", "plugins"})
_SECTION = re.compile(r"\[\s*([A-Za-z0-9_.-]+)\s*\]\s*(?:#.*)?")
_SETTING = re.compile(r"([A-Za-z0-9_.-]+)\s*=\s*(.*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")


def read(path: str, text: str) -> Document:
    del path  # nothing here can be wrong: what is not a setting is shell source
    tree: dict[str, list[list[Any]]] = {}
    lines: dict[str, int] = {"$": 1}
    section = ""
    for number, line in enumerate(text.split("\n"), start=1):
        body = line.strip()
        if head := _SECTION.fullmatch(body):
            section = head[1]
            if section in SECTIONS:
                tree.setdefault(section, [])
                lines.setdefault(f"$.{section}", number)
        elif section in SECTIONS and (found := _SETTING.fullmatch(_COMMENT.sub("", body).strip())):
            lines[f"$.{section}[{len(tree[section])}]"] = number
            lines.setdefault(f"$.{section}.{found[1]}", number)
            tree[section].append([found[1], found[2].strip(), number])
    return Document(tree=tree, line=Lines(lambda: lines))
