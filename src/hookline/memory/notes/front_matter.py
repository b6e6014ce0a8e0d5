"""Front matter as notes have it, ``name: value`` lines between two lines of ``---``; and the beginning of an exported session."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from hookline.core._dataclass import dataclass
from hookline.core.files import open_without_waiting

#: What YAML can only read as plain text: words, times, versions, ids.
_PLAIN = re.compile(
    r"[A-Za-z_/][\w/.@+-]*(?: [\w/.@+(][\w/.@+()-]*)*|\d{4}-\d\d-\d\d \d\d:\d\d|\d+\.\d+\.\d[\w.+-]*"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[\w-]+"
)
_RULE = re.compile(r"^[ \t]*---[ \t\r]*$", re.MULTILINE)
_NOT_TEXT = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def front_matter(fields: Mapping[str, str | int | Sequence[str]]) -> str:
    """Values that YAML could read as something else are quoted: a branch can have any name."""
    lines = (
        f"{name}: {_scalar(value) if isinstance(value, str) else json.dumps(value)}\n" for name, value in fields.items()
    )
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


#: Bytes that contain the front matter and the first prompt of nearly every note.
_NOTE_HEAD = 8192
_MAX_PROMPT = 80
USER = "## User"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionNote:
    """``prompt`` is the first line that the person wrote, shortened."""

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


def read_note(path: str) -> SessionNote | None:
    """None for a file that is not an exported session. Only the beginning of the file is read."""
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            head = (file.read(_NOTE_HEAD) or b"").decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    return parse_note(path, head)


def parse_note(path: str, head: str) -> SessionNote | None:
    fields, body = split_front_matter(head)
    return SessionNote(path=path, fields=fields, prompt=_first_prompt(body)) if fields else None


def _first_prompt(body: str) -> str:
    """The first line that is not blank after the first ``## User``."""
    lines = iter(body.splitlines())
    for line in lines:
        if line.strip() == USER:
            break
    text = next((line.strip() for line in lines if line.strip()), "")
    return text if len(text) <= _MAX_PROMPT else f"{text[: _MAX_PROMPT - 3]}..."
