"""The tools of one interlocutor, made from what is written about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.tools.agent import AgentTool
from hookline.agent.tools.exec import LIMIT as EXEC_LIMIT
from hookline.agent.tools.exec import ExecTool
from hookline.core.errors import DataError
from hookline.dialects.lectic.tokens import expand

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from contextlib import AsyncExitStack

    from hookline.agent.lectic_config import Header, Interlocutor
    from hookline.agent.tools.base import HostTool, Place

#: The key that tells the kind, in the order in which it is looked for, and what an unnamed one is called.
_KINDS: Mapping[str, str] = {
    "exec": "exec_tool", "sqlite": "sqlite_tool", "agent": "agent_tool", "a2a": "a2a_tool",
    "mcp_command": "mcp_server", "mcp_shttp": "mcp_server", "mcp_ws": "mcp_server", "native": "native",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes tools. ``load`` reads ``file:`` and ``exec:`` values, ``ask`` runs another interlocutor, and servers
    stay connected until ``stack`` ends."""

    header: Header
    place: Place
    stack: AsyncExitStack = field(repr=False)
    load: Callable[[str], Awaitable[str]] = field(repr=False)
    ask: Callable[[str, str], Awaitable[str]] = field(repr=False)

    async def tools_of(self, person: Interlocutor) -> dict[str, HostTool]:
        found: dict[str, HostTool] = {}
        unnamed: Counter[str] = Counter()
        for written in self._written(person.fields.get("tools") or [], ()):
            key = next((key for key in _KINDS if key in written), "")
            given = written.get("name")
            name = given if isinstance(given, str) else f"{_KINDS.get(key)}_{unnamed[_KINDS.get(key, '')]}"
            unnamed[_KINDS.get(key, "")] += int(not isinstance(given, str))
            for tool in await self._make(key, name, written, person):
                if tool.told.name in found:
                    raise DataError(f"the name {tool.told.name} is being used twice. Each tool needs a unique name")
                found[tool.told.name] = tool
        return found

    def _written(self, listed: list[Any], inside: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
        """Kits unfolded in their places."""
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
                yield from self._written(kits[name].get("tools") or [], (*inside, name))

    async def _make(
        self, key: str, name: str, written: Mapping[str, Any], person: Interlocutor
    ) -> tuple[HostTool, ...]:
        about = await self._about(written)
        icon = {"icon": written["icon"]} if isinstance(written.get("icon"), str) else {}
        match key:
            case "exec":
                return (self._exec(name, written, person, about, icon),)
            case "sqlite":
                return (self._sqlite(name, written, about, icon),)
            case "agent":
                callee = str(written["agent"])
                if callee not in self.header.interlocutors:
                    raise DataError(f"There's no interlocutor named {callee} for the agent tool {name}")
                ask = self.ask

                async def asked(content: str) -> str:
                    return await ask(callee, content)

                return (AgentTool(name=name, person=callee, description=about, ask=asked, **icon),)
            case "mcp_command" | "mcp_shttp" | "mcp_ws":
                from hookline.agent.tools.mcp import connected  # only who has a server pays for it

                sandbox = self._sandbox(written, person)
                return await self.stack.enter_async_context(connected(name, written, self.place, sandbox))
            case _:
                raise DataError(f"hookline has no {key} tools; use exec, sqlite, agent or an MCP server instead")

    async def _about(self, written: Mapping[str, Any]) -> str:
        texts = [await self.load(str(written[key])) for key in ("usage", "description", "details") if written.get(key)]
        return "\n\n".join(texts)

    def _exec(
        self, name: str, written: Mapping[str, Any], person: Interlocutor, about: str, icon: Mapping[str, str]
    ) -> HostTool:
        command, schema = written["exec"], written.get("schema")
        if not isinstance(command, str) or not (schema is None or isinstance(schema, dict)):
            raise DataError(
                f"The tool provided by {name} wasn't recognized. Check the tool section of your YAML header."
            )
        return ExecTool(
            name=name,
            command=command,
            place=self.place,
            description=about,
            schema=schema,
            env={str(key): str(value) for key, value in (written.get("env") or {}).items()},
            sandbox=self._sandbox(written, person),
            limit=_whole(written.get("limit"), EXEC_LIMIT),
            timeout=_seconds(written.get("timeoutSeconds")),
            **icon,
        )

    def _sqlite(self, name: str, written: Mapping[str, Any], about: str, icon: Mapping[str, str]) -> HostTool:
        from hookline.agent.tools.sqlite import LIMIT, SqliteTool  # only who queries needs SQLite

        return SqliteTool(
            name=name,
            path=expand(str(written["sqlite"]), self.place.environ),
            place=self.place,
            description=about,
            readonly=bool(written.get("readonly")),
            limit=_whole(written.get("limit"), LIMIT),
            extensions=_texts(written.get("extensions")),
            init_sql=str(written.get("init_sql") or ""),
            **icon,
        )

    def _sandbox(self, written: Mapping[str, Any], person: Interlocutor) -> str:
        """The tool's own, else the interlocutor's, else the conversation's."""
        for source in (written, person.fields, self.header.tree):
            if isinstance(source.get("sandbox"), str):
                return str(source["sandbox"])
        return ""


def _whole(value: Any, usual: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else usual


def _seconds(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, list) else ()
