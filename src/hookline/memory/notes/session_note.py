"""An exported session as a file: its front matter, and the little of it that a later session is told."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.files import open_without_waiting

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Enough for the front matter and the first prompt of nearly every note.
_HEAD = 8192
_LONGEST_PROMPT = 80
USER = "## User"
#: What YAML reads as plain text and as nothing else: words, moments, versions, ids.
_PLAIN = re.compile(
    r"[A-Za-z_/][\w/.@+-]*(?: [\w/.@+(][\w/.@+()-]*)*|\d{4}-\d\d-\d\d \d\d:\d\d|\d+\.\d+\.\d[\w.+-]*"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[\w-]+"
)
_NOT_TEXT = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionNote:
    """``prompt`` is the first line that the person wrote, cut to a line's length."""

    path: str
    fields: Mapping[str, str]
    prompt: str = ""

    @property
    def date(self) -> str:
        return self.fields.get("date", "")

    @property
    def messages(self) -> int | None:
        given = self.fields.get("messages", "")
        return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None


def front_matter(fields: Mapping[str, str | int]) -> str:
    """Values that YAML could read as something else are quoted: a branch may be called anything."""
    lines = (f"{name}: {value if isinstance(value, int) else _scalar(value)}\n" for name, value in fields.items())
    return f"---\n{''.join(lines)}---\n"


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    return json.dumps(text, ensure_ascii=False)


def read_note(path: str) -> SessionNote | None:
    """None for a file that is no exported session. Only its beginning is read."""
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            head = (file.read(_HEAD) or b"").decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    return parse_note(path, head)


def parse_note(path: str, head: str) -> SessionNote | None:
    if not head.startswith("---"):
        return None
    front, closed, body = head[3:].partition("\n---")
    if not closed:
        return None
    fields: dict[str, str] = {}
    for line in front.split("\n"):  # a value may hold any other kind of line break
        name, colon, value = line.partition(":")
        if colon:
            fields[name.strip()] = _unquoted(value.strip())
    return SessionNote(path=path, fields=fields, prompt=_first_prompt(body))


def _unquoted(value: str) -> str:
    if value[:1] == '"':
        try:
            found = json.loads(value)
        except ValueError:
            return value.strip('"')
        return found if isinstance(found, str) else value
    return value[1:-1].replace("''", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value


def _first_prompt(body: str) -> str:
    """The first line with something on it after the first ``## User``."""
    lines = iter(body.splitlines())
    for line in lines:
        if line.strip() == USER:
            break
    text = next((line.strip() for line in lines if line.strip()), "")
    return text if len(text) <= _LONGEST_PROMPT else f"{text[: _LONGEST_PROMPT - 3]}..."
