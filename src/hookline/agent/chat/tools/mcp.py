"""Tools of MCP servers, under the names that hooks know them by: ``mcp__server__tool``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from hookline.agent.chat.tools.base import ChatTool, Output, Place, failed, shortened
from hookline.agent.message import Tool
from hookline.llm.tools.mcp import McpError, transport

_ANY: Mapping[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Served:
    inner: str
    client: Any = field(repr=False)

    async def use(self, given: Mapping[str, Any], _place: Place) -> Output:
        try:
            answer = await self.client.call_tool_mcp(self.inner, dict(given))
        except Exception as error:
            return failed(f"the MCP server failed: {error}")
        text = shortened("\n".join(_text(block) for block in answer.content))
        wrong = getattr(answer, "is_error", None) or getattr(answer, "isError", None)
        return failed(text or "the tool failed") if wrong else Output(text=text or "(no output)")


async def connected(
    stack: AsyncExitStack, name: str, written: Any, *, environ: Mapping[str, str], cwd: str
) -> dict[str, ChatTool]:
    """The tools of one server, until the stack is closed. Raises ``McpError``."""
    way = transport(name, written, environ=environ, cwd=cwd)
    from fastmcp.client import Client  # transport() has found it

    try:
        client: Any = await stack.enter_async_context(Client(way))
        found = await client.list_tools()
    except Exception as error:
        raise McpError(f"the MCP server {name!r} could not be reached: {error}") from error
    tools: dict[str, ChatTool] = {}
    for one in found:
        called = f"mcp__{name}__{one.name}"
        parameters = getattr(one, "inputSchema", None) or getattr(one, "input_schema", None) or _ANY
        told = Tool(name=called, description=one.description or "", parameters=parameters)
        tools[called] = ChatTool(tool=told, need="run", use=_Served(inner=one.name, client=client).use)
    return tools


def _text(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    kind = getattr(block, "mimeType", None) or getattr(block, "mime_type", None) or block.type
    return f"({kind}, which cannot be shown here)"
