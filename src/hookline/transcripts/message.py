"""The one shape every agent's transcript is read into."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from hookline.core._dataclass import dataclass, empty, field


def at(value: Any, *path: str) -> Any:
    """What stands at this path of names; None where nothing does."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def table(value: Any, *path: str) -> dict[str, Any]:
    found = at(value, *path)
    return found if isinstance(found, dict) else {}


def rows(value: Any, *path: str) -> list[dict[str, Any]]:
    """The objects in a list."""
    found = at(value, *path)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def words(value: Any, *path: str) -> str:
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def count(value: Any) -> int:
    """A whole number that is not negative; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 1e15 else 0


def texts(value: Any, *path: str) -> str:
    """A text, or the texts of its parts."""
    found = at(value, *path)
    return found if isinstance(found, str) else "\n".join(text for one in rows(found) if (text := words(one, "text")))


def moment(value: Any) -> str:
    """A time in milliseconds or seconds since 1970, or a text, as ISO 8601."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return words(value)
    try:
        return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""


def exit_code(value: Any) -> int:
    """0 also where it is missing."""
    whole = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9
    return int(value) if whole else 0


class Latest:
    """Values by name, for the latest names only: a file may have any number of them."""

    def __init__(self, size: int = 4096) -> None:
        self._size = size
        self._kept: OrderedDict[str, Any] = OrderedDict()

    def get(self, name: str, default: Any = None) -> Any:
        return self._kept.get(name, default)

    def put(self, name: str, value: Any) -> None:
        self._kept[name] = value
        self._kept.move_to_end(name)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def first(self, name: str) -> bool:
        """True once for every name."""
        known = name in self._kept
        self.put(name, self._kept.get(name, True))
        return not known


class Spent:
    """Tokens of model calls that are recorded several times: every token is counted once."""

    def __init__(self) -> None:
        self._counted = Latest(256)

    def new(self, call: str, now: Tokens | None) -> Tokens | None:
        """What this record of the call adds."""
        if now is None:
            return None
        before: Tokens = self._counted.get(call, Tokens()) if call else Tokens()
        more = Tokens(
            input=max(0, now.input - before.input),
            output=max(0, now.output - before.output),
            cached=max(0, now.cached - before.cached),
        )
        if more == Tokens():
            return None
        self._counted.put(call, now)
        return more


#: The last lines of a command's result, after whatever the command itself printed.
_EXITED = re.compile(
    r"\n(?:Exit Code: (-?\d+)|Signal: (\d+))\n(?:(?:Error|Signal|Background PIDs)[^\n]*\n)*Process Group PGID: [^\n]*\s*"
    r"(?:</untrusted_context>\s*)?\Z"
)


def shell_failed(text: str) -> bool:
    """Whether the result of a command shows that it failed, or was ended by a signal."""
    found = _EXITED.search(text[-2000:])
    return found is not None and found[1] != "0"


def pieces(parts: Any) -> list[str]:
    """The texts of a content, without the model's reasoning."""
    if isinstance(parts, str):
        return [parts]
    return [words(part, "text") for part in rows(parts) if part.get("thought") is not True]


def content_text(parts: Any) -> str:
    return "\n".join(text for text in pieces(parts) if text)


def answer(response: Any) -> tuple[str, bool]:
    """The result of a function, and whether it failed."""
    error = at(response, "error")
    text = words(error) or words(response, "output")
    return text, bool(error) or shell_failed(text)


def tokens(usage: dict[str, Any], names: tuple[str, str, str], written: str = "") -> Tokens | None:
    """``names`` are the fields of input, output and cached tokens. ``written`` is the field of tokens written to the
    cache, for agents whose input includes neither those nor the cached ones."""
    if not usage:
        return None
    sent, received, cached = (count(usage.get(name)) for name in names)
    return Tokens(input=sent + count(usage.get(written)) + cached if written else sent, output=received, cached=cached)


Role = Literal["user", "assistant", "tool_call", "tool_result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What one model call used, as far as the agent recorded it. If several messages belong to one call, only one of
    them has its tokens."""

    #: All that was sent, with what was cached.
    input: int = 0
    output: int = 0
    #: The part of ``input`` that came from a cache.
    cached: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMessage:
    """A message, a tool call or its result. Readers leave out the rest: system notes, snapshots, reasoning."""

    role: Role
    #: The text of a message, or the output of a tool.
    text: str = ""
    #: ISO 8601 as the agent wrote it, or "".
    time: str = ""
    tokens: Tokens | None = None
    #: Of a tool call and its result: the agent's own name of the tool, its input, and the id of the call.
    tool: str = ""
    input: Mapping[str, Any] = field(default_factory=empty)
    call: str = ""
    failed: bool = False
    #: Written by the agent itself, not by the person: a reminder, a command's echo, a re-fired reason.
    synthetic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a transcript records about its session."""

    agent: str
    session: str = ""
    cwd: str = ""
    version: str = ""
    branch: str = ""
    started: str = ""
    #: Whether a person took part; None where the agent's transcripts do not show it.
    interactive: bool | None = None
