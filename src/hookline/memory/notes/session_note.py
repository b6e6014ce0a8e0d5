"""An exported session as a file: its front matter and its first prompt, which later sessions are shown."""

from __future__ import annotations

from collections.abc import Mapping

from hookline.core._dataclass import dataclass
from hookline.core.files import open_without_waiting
from hookline.memory.notes.front_matter import split_front_matter

#: Bytes that contain the front matter and the first prompt of nearly every note.
_HEAD = 8192
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
            head = (file.read(_HEAD) or b"").decode("utf-8", "replace")
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
