"""MCP servers as tool sets, through pydantic-ai's client. Imported only when a hook agent uses one."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hookline.core.errors import HooklineError
from hookline.core.extras import install_command

_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


class McpError(HooklineError):
    """A server that cannot be used as configured."""


def _missing(error: ImportError) -> McpError:
    return McpError(f"MCP servers need more packages: {install_command('models')} ({error})")


def toolset(name: str, written: Any, *, environ: Mapping[str, str], cwd: str) -> Any:
    """The server's tools for an agent; they are called ``name_tool``, so that two servers cannot take each other's
    names."""
    try:
        from pydantic_ai.mcp import MCPToolset
    except ImportError as error:
        raise _missing(error) from error
    made = transport(name, written, environ=environ, cwd=cwd)
    return MCPToolset(made, id=name, tool_error_behavior="retry").prefixed(re.sub(r"\W", "_", name))


def transport(name: str, written: Any, *, environ: Mapping[str, str], cwd: str) -> Any:
    """The transport to a server, configured as a command line (text or list), or as a table with
    ``command``/``args``/``env`` or ``url``/``headers``."""
    try:
        from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    except ImportError as error:
        raise _missing(error) from error
    table = _table(name, written)
    if url := table.get("url"):
        headers = {key: _filled(str(value), environ) for key, value in (table.get("headers") or {}).items()}
        return StreamableHttpTransport(_filled(str(url), environ), headers=headers)
    argv = _argv(name, table)
    own = {key: _filled(str(value), environ) for key, value in (table.get("env") or {}).items()}
    # Not kept alive: the server ends with this run. Its log output must not get into a hook's answer.
    return StdioTransport(
        argv[0], argv[1:], env={**environ, **own}, cwd=str(table.get("cwd") or cwd or os.getcwd()), keep_alive=False,
        log_file=Path(os.devnull),
    )  # fmt: skip


def _table(name: str, written: Any) -> Mapping[str, Any]:
    if isinstance(written, Mapping):
        return written
    if isinstance(written, str):
        return {"url": written} if written.startswith(("http://", "https://")) else {"command": written}
    if isinstance(written, Sequence) and written:
        return {"command": list(written)}
    raise McpError(
        f'the MCP server {name!r} is neither a command nor a URL; write {name} = "command --option" in [mcp]'
    )


def _argv(name: str, table: Mapping[str, Any]) -> list[str]:
    command = table.get("command") or ""
    try:
        words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    except ValueError as error:
        raise McpError(f"the command of the MCP server {name!r} cannot be split into words: {error}") from error
    argv = [*words, *(str(word) for word in table.get("args") or ())]
    if not argv:
        raise McpError(f"the MCP server {name!r} has no command; write command = [...] or url = ...")
    return argv


def _filled(text: str, environ: Mapping[str, str]) -> str:
    """Expand ``$TOKEN`` from the caller's environment, so that no secret has to be in a file."""
    return _VARIABLE.sub(lambda found: environ.get(found[1], ""), text)
