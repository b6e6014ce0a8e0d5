"""MCP servers as tools of a conversation: each tool of the server is called ``SERVER_TOOL``."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookline.agent.conversation.records import Result
from hookline.agent.message import Tool
from hookline.agent.tools.base import ICONS, ToolError
from hookline.core.errors import DataError
from hookline.dialects.lectic.tokens import argv_of, expand

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from hookline.agent.tools.base import Place

_NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class _McpTool:
    """One tool of a server that is connected for the run."""

    name: str
    inner: str
    description: str
    parameters: Mapping[str, Any]
    client: Any = field(repr=False)
    icon: str = ICONS["mcp"]
    kind: str = "mcp"

    @property
    def told(self) -> Tool:
        return Tool(name=self.name, description=self.description, parameters=self.parameters)

    async def use(self, arguments: Mapping[str, Any]) -> tuple[Result, ...]:
        try:
            answer = await self.client.call_tool_mcp(self.inner, dict(arguments))
        except Exception as error:
            raise ToolError(f"the MCP server failed: {error}") from error
        results = tuple(_result(block) for block in answer.content)
        if answer.is_error:
            raise ToolError("\n".join(result.content for result in results) or "the tool failed")
        return results


@dataclass(frozen=True, slots=True, kw_only=True)
class _McpResources:
    """What a named server offers to read."""

    name: str
    client: Any = field(repr=False)
    icon: str = ICONS["mcp"]
    kind: str = "mcp"

    @property
    def told(self) -> Tool:
        return Tool(name=self.name, description="Lists the resources of this server.", parameters=_NO_PARAMETERS)

    async def use(self, arguments: Mapping[str, Any]) -> tuple[Result, ...]:
        del arguments
        try:
            found = await self.client.list_resources()
        except Exception as error:
            raise ToolError(f"the MCP server failed: {error}") from error
        lines = [f"{one.name}: {one.uri}" for one in found]
        return (Result(mimetype="text/plain", content="\n".join(lines)),)


@asynccontextmanager
async def connected(
    name: str, written: Mapping[str, Any], place: Place, sandbox: str
) -> AsyncGenerator[tuple[_McpTool | _McpResources, ...]]:
    """The server's tools, until the context ends."""
    try:
        from fastmcp.client import Client  # only who uses a server pays for it
    except ImportError as error:
        raise DataError(f"MCP servers need the models extra: pip install 'hookline[models]' ({error})") from error
    client: Any = Client(_transport(written, place, sandbox))
    try:
        await client.__aenter__()
    except Exception as error:
        raise DataError(f"the MCP server {name} could not be reached: {error}") from error
    try:
        found = await client.list_tools()
        chosen = [tool for tool in found if _wanted(tool.name, written)]
        icon = written["icon"] if isinstance(written.get("icon"), str) else ICONS["mcp"]
        tools: list[_McpTool | _McpResources] = [
            _McpTool(
                name=f"{name}_{tool.name}",
                inner=tool.name,
                description=tool.description or "",
                parameters=_schema(tool),
                client=client,
                icon=icon,
            )
            for tool in chosen
        ]
        if isinstance(written.get("name"), str):
            tools.append(_McpResources(name=f"{name}_list_resources", client=client, icon=icon))
        yield tuple(tools)
    finally:
        await client.__aexit__(None, None, None)


def _transport(written: Mapping[str, Any], place: Place, sandbox: str) -> Any:
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    env = {str(key): str(value) for key, value in (written.get("env") or {}).items()}
    if "mcp_shttp" in written:
        headers = {str(key): expand(str(value), place.environ) for key, value in (written.get("headers") or {}).items()}
        return StreamableHttpTransport(expand(str(written["mcp_shttp"]), place.environ), headers=headers)
    if "mcp_command" not in written:
        raise DataError("MCP over WebSocket is not supported; use mcp_command or mcp_shttp")
    environ = {**place.environ, **env}
    command = str(written["mcp_command"])
    arguments = [str(one) for one in written.get("args") or ()]
    words = [*argv_of(sandbox, environ), *argv_of(command, environ), *arguments]
    if not words:
        raise DataError("cmd must not be empty")
    return StdioTransport(
        words[0], words[1:], env=environ, cwd=place.cwd, keep_alive=False, log_file=Path(os.devnull)
    )  # fmt: skip


def _wanted(name: str, written: Mapping[str, Any]) -> bool:
    only, exclude = written.get("only"), written.get("exclude")
    return not (isinstance(only, list) and name not in only) and not (isinstance(exclude, list) and name in exclude)


def _schema(tool: Any) -> Mapping[str, Any]:
    schema = tool.input_schema
    return schema if isinstance(schema, dict) else _NO_PARAMETERS


def _result(block: Any) -> Result:
    if block.type == "text":
        return Result(mimetype="text/plain", content=block.text)
    mimetype = str(getattr(block, "mime_type", None) or "application/octet-stream")
    if isinstance(data := getattr(block, "data", None), str):
        return Result(mimetype=mimetype, content=f"data:{mimetype};base64,{data}")
    resource = getattr(block, "resource", None)
    if isinstance(text := getattr(resource, "text", None), str):
        return Result(mimetype="text/plain", content=text)
    return Result(mimetype="text/plain", content=str(getattr(block, "uri", None) or getattr(resource, "uri", "")))
