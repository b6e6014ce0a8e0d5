"""Front matter as notes have it: ``name: value`` lines between two lines of ``---``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

#: What YAML can only read as plain text: words, times, versions, ids.
_PLAIN = re.compile(
    r"[A-Za-z_/][\w/.@+-]*(?: [\w/.@+(][\w/.@+()-]*)*|\d{4}-\d\d-\d\d \d\d:\d\d|\d+\.\d+\.\d[\w.+-]*"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[\w-]+"
)
_RULE = re.compile(r"^[ \t]*---[ \t\r]*$", re.MULTILINE)
_NOT_TEXT = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def front_matter(fields: Mapping[str, str | int]) -> str:
    """Values that YAML could read as something else are quoted: a branch can have any name."""
    lines = (f"{name}: {value if isinstance(value, int) else _scalar(value)}\n" for name, value in fields.items())
    return f"---\n{''.join(lines)}---\n"


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields, and the text below them; no fields and the whole text where there is no front matter."""
    begin = _RULE.match(text)
    end = _RULE.search(text, begin.end()) if begin else None
    if begin is None or end is None:
        return {}, text
    fields: dict[str, str] = {}
    for line in text[begin.end() : end.start()].split("\n"):  # a value may contain any other kind of line break
        name, colon, value = line.partition(":")
        if colon:
            fields[name.strip()] = _unquote(value.strip())
    return fields, text[end.end() + 1 :]


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    return json.dumps(text, ensure_ascii=False)


def _unquote(value: str) -> str:
    if value[:1] == '"':
        try:
            found = json.loads(value)
        except ValueError:
            return value.strip('"')
        return found if isinstance(found, str) else value
    return value[1:-1].replace("''", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value
