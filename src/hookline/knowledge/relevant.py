"""Notes that fit a session that begins. The search brings them; until then there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.knowledge.scene import Scene


def relevant(scene: Scene) -> str:
    """A line per note, at most ``scene.settings.context_inject.relevant_notes``; "" for none.

    Called while a person waits for a first prompt: it must answer within some 50 ms, and may raise nothing.
    """
    del scene
    return ""
