"""Task: work for a subagent, which has its own conversation and reports once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.agent.message import ToolSpec
from hookline.agent.tools.base import AgentTool, ToolContext, ToolError, object_schema, string


async def _use(arguments: Mapping[str, Any], context: ToolContext) -> str:
    if context.delegate is None:
        raise ToolError("a subagent cannot start another one; do the work yourself")
    return await context.delegate(arguments)


TASK = AgentTool(
    spec=ToolSpec(
        name="Task",
        description=(
            "Give a task to a subagent. It sees nothing of this conversation, so say everything it must know; "
            "its last message is the result."
        ),
        parameters=object_schema(
            "description prompt",
            description=string("the task in three to five words"),
            prompt=string("what to do, and what to report"),
            subagent_type=string("the kind of subagent; default: general-purpose"),
        ),
    ),
    need="nothing",
    use=_use,
)
