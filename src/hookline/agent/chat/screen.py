"""What the chat shows and asks, on a terminal or without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.agent.permissions import Answer

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """One tool call and its result; ``decision`` says who allowed or refused it."""

    id: str
    name: str
    input: Any
    output: str = ""
    is_error: bool = False
    duration_ms: int = 0
    decision: str = ""


class Screen(Protocol):
    """No method may fail a turn."""

    def text(self, piece: str) -> None:
        """The next piece of the answer, as it comes."""
        ...

    def thinking(self, piece: str) -> None: ...

    def reply_done(self) -> None:
        """One reply is complete; its tool calls follow, or nothing."""
        ...

    def call_begins(self, name: str, given: Mapping[str, Any], agent: str) -> None: ...

    def call_done(self, call: ShownCall, agent: str) -> None: ...

    def note(self, text: str, level: Level = "info") -> None: ...

    async def ask(self, name: str, given: Mapping[str, Any], reason: str) -> Answer | None:
        """Ask for a permission; None when there is nobody to ask."""
        ...
