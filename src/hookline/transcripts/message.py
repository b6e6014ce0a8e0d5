"""The one shape every agent's transcript is read into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from hookline.core._dataclass import dataclass, empty, field

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["user", "assistant", "tool_call", "tool_result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What one model call used, as far as the agent wrote it down.

    Of a call that is written down in several messages, every token is told once, with one of them.
    """

    #: All that was sent, with what was cached.
    input: int = 0
    output: int = 0
    #: The part of ``input`` that came from a cache.
    cached: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMessage:
    """One thing somebody said or did. A reader leaves out what is neither: system notes, snapshots, reasoning."""

    role: Role
    #: What was said; of a tool result, what the tool gave back.
    text: str = ""
    #: ISO 8601 as the agent wrote it, or "".
    time: str = ""
    tokens: Tokens | None = None
    #: Of a tool call and its result: the agent's own name of the tool, its input, and what ties the two together.
    tool: str = ""
    input: Mapping[str, Any] = field(default_factory=empty)
    call: str = ""
    failed: bool = False
    #: The agent made it up itself (a reminder, a command's echo, a re-fired reason): not the person's words.
    synthetic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a transcript says of its session, as far as it says it."""

    agent: str
    session: str = ""
    cwd: str = ""
    version: str = ""
    branch: str = ""
    started: str = ""
    #: A person sat there; None where the agent's transcript cannot tell.
    interactive: bool | None = None
