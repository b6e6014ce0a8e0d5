"""Task: a piece of work for a subagent, which has a conversation of its own and reports once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.agent.chat.tools.base import ChatTool, Output, Place, failed, schema, text
from hookline.agent.message import Tool


async def use(given: Mapping[str, Any], place: Place) -> Output:
    if place.delegate is None:
        return failed("a subagent cannot start another one; do it yourself")
    return await place.delegate(given)


TASK = ChatTool(
    tool=Tool(
        name="Task",
        description=(
            "Hand a piece of work to a subagent. It sees nothing of this conversation, so say everything it must know; "
            "its last message is the result."
        ),
        parameters=schema(
            "description prompt",
            description=text("the task in three to five words"),
            prompt=text("what to do, and what to report"),
            subagent_type=text("the kind of subagent; general-purpose unless told"),
        ),
    ),
    need="nothing",
    use=use,
)
