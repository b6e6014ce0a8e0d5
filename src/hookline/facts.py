"""What a session knows at the moment an event is fired."""

from __future__ import annotations

from hookline.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Made by a session store, read by ``match``, the engine and ``fold``."""

    #: Typed user turns so far, this one included.
    turn: int = 0
    mode: str = ""
    #: How often this kind of event was fired in this session, this time included.
    generation: int = 0
    #: How often in a row a Stop was denied in this turn.
    continuations: int = 0
    #: The latest prompt that a person typed, for message_contains on later events of the turn.
    last_prompt: str = ""
