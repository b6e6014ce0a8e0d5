"""The tools of one interlocutor, made from its configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.message import ToolOutput, ToolSpec
from hookline.agent.tools.base import ICONS, AgentTool, ToolContext, object_schema, string
from hookline.agent.tools.exec import LIMIT as EXEC_LIMIT
from hookline.agent.tools.exec import exec_tool
from hookline.core.errors import DataError
from hookline.dialects.lectic.tokens import expand, expand_argv

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from hookline.agent.lectic_config import Header, Interlocutor

#: The key that gives the kind, in the order of precedence, and the name of an unnamed tool.
_KINDS: Mapping[str, str] = {
    "exec": "exec_tool", "sqlite": "sqlite_tool", "agent": "agent_tool", "a2a": "a2a_tool",
    "mcp_command": "mcp_server", "mcp_shttp": "mcp_server", "mcp_ws": "mcp_server", "native": "native",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFactory:
    """``load`` reads ``file:`` and ``exec:`` values, ``ask`` runs another interlocutor, and MCP servers stay
    connected until ``stack`` ends."""

    header: Header
    context: ToolContext
    stack: AsyncExitStack = field(repr=False)
    load: Callable[[str], Awaitable[str]] = field(repr=False)
    ask: Callable[[str, str], Awaitable[str]] = field(repr=False)

    async def make(self, person: Interlocutor) -> dict[str, AgentTool]:
        found: dict[str, AgentTool] = {}
        unnamed: Counter[str] = Counter()
        for entry in self._entries(person.fields.get("tools") or [], ()):
            key = next((key for key in _KINDS if key in entry), "")
            name = entry.get("name")
            if not isinstance(name, str):
                default = _KINDS.get(key, "")
                name, unnamed[default] = f"{default}_{unnamed[default]}", unnamed[default] + 1
            for tool in await self._make(key, name, entry, person):
                if tool.name in found:
                    raise DataError(f"the name {tool.name} is being used twice. Each tool needs a unique name")
                found[tool.name] = tool
        return found

    def _entries(self, listed: list[Any], inside: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
        """The entries, with every kit replaced by its tools."""
        kits = {kit.get("name"): kit for kit in self.header.tree.get("kits") or () if isinstance(kit, dict)}
        for item in listed:
            if not isinstance(item, dict) or not ({*_KINDS, "kit"} & item.keys()):
                raise DataError(
                    f"The tool provided by {item} wasn't recognized. Check the tool section of your YAML header."
                )
            name = item.get("kit")
            if not isinstance(name, str):
                yield item
            elif name in inside:
                raise DataError(f"Kit expansion cycle detected at {name}")
            elif name not in kits:
                raise DataError(f"Unknown kit reference: {name}")
            else:
                yield from self._entries(kits[name].get("tools") or [], (*inside, name))

    async def _make(self, key: str, name: str, entry: Mapping[str, Any], person: Interlocutor) -> tuple[AgentTool, ...]:
        about = await self._about(entry)
        icon = {"icon": entry["icon"]} if isinstance(entry.get("icon"), str) else {}
        match key:
            case "exec":
                return (self._exec(name, entry, person, about, icon),)
            case "sqlite":
                return (self._sqlite(name, entry, about, icon),)
            case "agent":
                return (self._agent(name, str(entry["agent"]), about, icon),)
            case "mcp_command" | "mcp_shttp" | "mcp_ws":
                return await self._mcp(name, entry, self._sandbox(entry, person), icon)
            case _:
                raise DataError(f"{key} tools are not supported; use exec, sqlite, agent or an MCP server")

    def _agent(self, name: str, callee: str, about: str, icon: Mapping[str, str]) -> AgentTool:
        """Another interlocutor as a tool: it gets one message, works on it with its own tools, and answers once."""
        if callee not in self.header.interlocutors:
            raise DataError(f"There's no interlocutor named {callee} for the agent tool {name}")

        async def use(arguments: Mapping[str, Any], _context: ToolContext) -> tuple[ToolOutput, ...]:
            return (ToolOutput(content=await self.ask(callee, arguments["content"]), mimetype="text/markdown"),)

        spec = ToolSpec(
            name=name,
            description=about or f"Asks {callee} and returns the answer.",
            parameters=object_schema("content", content=string("The message to the agent.")),
        )
        return AgentTool(spec=spec, use=use, kind="agent", icon=icon.get("icon", ICONS["agent"]))

    async def _mcp(
        self, name: str, entry: Mapping[str, Any], sandbox: str, icon: Mapping[str, str]
    ) -> tuple[AgentTool, ...]:
        """Each tool of the server is called ``SERVER_TOOL``."""
        from hookline.agent.tools.mcp import connect  # only a conversation with a server needs it

        resources = f"{name}_list_resources" if isinstance(entry.get("name"), str) else ""
        server = connect(
            name,
            self._transport(name, entry, sandbox),
            lambda tool: f"{name}_{tool}",
            resources=resources,
            icon=icon.get("icon", ICONS["mcp"]),
        )
        tools = await self.stack.enter_async_context(server)
        return tuple(
            tool for tool in tools.values()
            if tool.name == resources or _wanted(tool.name.removeprefix(f"{name}_"), entry)
        )  # fmt: skip

    def _transport(self, name: str, entry: Mapping[str, Any], sandbox: str) -> Any:
        from hookline.llm.tools.mcp import transport

        environ = self.context.environ
        if "mcp_shttp" in entry:
            table = {"url": entry["mcp_shttp"], "headers": entry.get("headers")}
        elif "mcp_command" in entry:
            environ = {**environ, **_strings(entry.get("env"))}
            words = [*expand_argv(sandbox, environ), *expand_argv(str(entry["mcp_command"]), environ)]
            table = {"command": words, "args": entry.get("args")}
        else:
            raise DataError("MCP over WebSocket is not supported; use mcp_command or mcp_shttp")
        return transport(name, table, environ=environ, cwd=self.context.cwd)

    async def _about(self, entry: Mapping[str, Any]) -> str:
        texts = [await self.load(str(entry[key])) for key in ("usage", "description", "details") if entry.get(key)]
        return "\n\n".join(texts)

    def _exec(
        self, name: str, entry: Mapping[str, Any], person: Interlocutor, about: str, icon: Mapping[str, str]
    ) -> AgentTool:
        command, schema = entry["exec"], entry.get("schema")
        if not isinstance(command, str) or not (schema is None or isinstance(schema, dict)):
            raise DataError(
                f"The tool provided by {name} wasn't recognized. Check the tool section of your YAML header."
            )
        return exec_tool(
            name,
            command,
            description=about,
            schema=schema,
            env=_strings(entry.get("env")),
            sandbox=self._sandbox(entry, person),
            limit=_whole(entry.get("limit"), EXEC_LIMIT),
            timeout=_seconds(entry.get("timeoutSeconds")),
            **icon,
        )

    def _sqlite(self, name: str, entry: Mapping[str, Any], about: str, icon: Mapping[str, str]) -> AgentTool:
        from hookline.agent.tools.sqlite import LIMIT, sqlite_tool  # only queries need SQLite

        return sqlite_tool(
            name,
            expand(str(entry["sqlite"]), self.context.environ),
            description=about,
            readonly=bool(entry.get("readonly")),
            limit=_whole(entry.get("limit"), LIMIT),
            extensions=_texts(entry.get("extensions")),
            init_sql=str(entry.get("init_sql") or ""),
            **icon,
        )

    def _sandbox(self, entry: Mapping[str, Any], person: Interlocutor) -> str:
        """The tool's own, else the interlocutor's, else the conversation's."""
        for source in (entry, person.fields, self.header.tree):
            if isinstance(source.get("sandbox"), str):
                return str(source["sandbox"])
        return ""


def _strings(value: Any) -> dict[str, str]:
    return {str(key): str(item) for key, item in (value or {}).items()}


def _wanted(name: str, entry: Mapping[str, Any]) -> bool:
    only, exclude = entry.get("only"), entry.get("exclude")
    return not (isinstance(only, list) and name not in only) and not (isinstance(exclude, list) and name in exclude)


def _whole(value: Any, usual: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else usual


def _seconds(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, list) else ()
