"""The tools of an MCP server, as tools of an agent. The caller decides their names."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import Any

from hookline.agent.message import ToolOutput, ToolSpec
from hookline.agent.tools.base import ICONS, AgentTool, ToolContext, ToolError, object_schema, shorten
from hookline.llm.tools.mcp import McpError

#: Characters of what a server that cannot be reached wrote to stderr.
_MOST_SHOWN = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class _McpTool:
    """``inner`` is the tool's name on the server."""

    inner: str
    client: Any = field(repr=False)
    #: Characters of a text that reach the model; 0: all of them.
    limit: int = 0

    async def use(self, arguments: Mapping[str, Any], _context: ToolContext) -> tuple[ToolOutput, ...]:
        try:
            answer = await self.client.call_tool_mcp(self.inner, dict(arguments))
        except Exception as error:
            raise ToolError(f"the MCP server failed: {error}") from error
        outputs = tuple(_output(block, self.limit) for block in answer.content)
        if _get(answer, "is_error", "isError"):
            raise ToolError("\n".join(output.content for output in outputs) or "the tool failed")
        return outputs

    async def list_resources(self, _arguments: Mapping[str, Any], _context: ToolContext) -> str:
        try:
            found = await self.client.list_resources()
        except Exception as error:
            raise ToolError(f"the MCP server failed: {error}") from error
        return "\n".join(f"{one.name}: {one.uri}" for one in found)


@asynccontextmanager
async def connect(
    server: str,
    transport: Any,
    name: Callable[[str], str],
    *,
    icon: str = ICONS["mcp"],
    resources: str = "",
    limit: int = 0,
) -> AsyncGenerator[dict[str, AgentTool]]:
    """The server's tools by the names that ``name`` gives them, until the context ends; ``resources`` names one more
    that lists the server's resources. Raises ``McpError``."""
    from fastmcp.client import Client  # the transport has imported it

    async with AsyncExitStack() as stack:
        errors = stack.enter_context(TemporaryFile("w+", encoding="utf-8", errors="replace"))  # noqa: SIM115  # it is one
        transport.log_file = errors  # of a server that is a program; others have none
        client: Any = Client(transport)
        try:
            await stack.enter_async_context(client)
            listed = await client.list_tools()
        except Exception as error:
            errors.seek(0)
            stderr = f"\nstderr: {shown}" if (shown := errors.read(_MOST_SHOWN).strip()) else ""
            raise McpError(f"the MCP server {server!r} could not be reached: {error}{stderr}") from error
        tools = [
            AgentTool(
                spec=_spec(name(one.name), one),
                use=_McpTool(inner=one.name, client=client, limit=limit).use,
                kind="mcp",
                icon=icon,
            )
            for one in listed
        ]
        if resources:
            spec = ToolSpec(
                name=resources, description="Lists the resources of this server.", parameters=object_schema("")
            )
            use = _McpTool(inner="", client=client).list_resources
            tools.append(AgentTool(spec=spec, use=use, kind="mcp", icon=icon))
        yield {tool.name: tool for tool in tools}


def _spec(name: str, tool: Any) -> ToolSpec:
    schema = _get(tool, "input_schema", "inputSchema")
    parameters = schema if isinstance(schema, dict) else object_schema("")
    return ToolSpec(name=name, description=tool.description or "", parameters=parameters)


def _output(block: Any, limit: int) -> ToolOutput:
    if block.type == "text":
        return ToolOutput(content=shorten(block.text, limit) if limit else block.text)
    mimetype = str(_get(block, "mime_type", "mimeType") or "application/octet-stream")
    if isinstance(data := getattr(block, "data", None), str):
        return ToolOutput(mimetype=mimetype, content=f"data:{mimetype};base64,{data}")
    resource = getattr(block, "resource", None)
    if isinstance(text := getattr(resource, "text", None), str):
        return ToolOutput(content=text)
    return ToolOutput(content=str(getattr(block, "uri", None) or getattr(resource, "uri", "")))


def _get(value: Any, *names: str) -> Any:
    """The first attribute that is set: releases of the library spell them differently."""
    return next((found for name in names if (found := getattr(value, name, None)) is not None), None)
