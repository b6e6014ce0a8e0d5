"""Another interlocutor as a tool: it is told one thing, works on it with its own tools, and answers once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.conversation.records import Result
from hookline.agent.message import Tool
from hookline.agent.tools.base import ICONS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"content": {"type": "string", "description": "What to tell the agent."}},
    "required": ["content"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    name: str
    person: str
    description: str
    ask: Callable[[str], Awaitable[str]] = field(repr=False)
    icon: str = ICONS["agent"]
    kind: str = "agent"

    @property
    def told(self) -> Tool:
        about = self.description or f"Asks {self.person} and gives back the answer."
        return Tool(name=self.name, description=about, parameters=_PARAMETERS)

    async def use(self, arguments: Mapping[str, Any]) -> tuple[Result, ...]:
        return (Result(mimetype="text/plain", content=await self.ask(arguments["content"])),)
