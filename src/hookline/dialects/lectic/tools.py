"""The tools of an interlocutor, as far as their hooks are concerned: which calls are theirs."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.hook import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookline.dialects.lectic.tree import YamlNode
    from hookline.dialects.lectic.validate import ReportProblem

#: Key that tells the kind of a tool -> the name of the first unnamed one, and whether it is a whole server.
_KINDS = {
    "exec": "exec_tool",
    "sqlite": "sqlite_tool",
    "agent": "agent_tool",
    "a2a": "a2a_tool",
    "mcp_command": "mcp_server",
    "mcp_shttp": "mcp_server",
    "mcp_ws": "mcp_server",
}

#: Kits that hold kits can unfold without end.
_MAX_TOOLS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LecticTool:
    """One tool with its hooks; ``pattern`` matches the names of a server's tools, None for a single tool."""

    name: str
    node: YamlNode
    pattern: Pattern | None = None


def find_tools(interlocutor: YamlNode, root: YamlNode, report: ReportProblem) -> Iterator[LecticTool]:
    """Its tools in order, those of its kits in the kit's place; a kit that is not there is reported."""
    unnamed: Counter[str] = Counter()
    for node in islice(_unfolded(interlocutor, root, (), report), _MAX_TOOLS):
        kind = next((_KINDS[key] for key in _KINDS if key in node.branch), "tool")
        name = node.name
        if name is None:
            name = f"{kind}_{unnamed[kind]}"
            unnamed[kind] += 1
        yield LecticTool(name=name, node=node, pattern=_server(name) if kind == "mcp_server" else None)


def _server(name: str) -> Pattern:
    """``NAME_tool`` in Lectic; other agents say ``mcp__NAME__tool``."""
    return Pattern(style="full", text=f"(?:mcp__)?{re.escape(name)}_.+")


def _unfolded(owner: YamlNode, root: YamlNode, inside: tuple[str, ...], report: ReportProblem) -> Iterator[YamlNode]:
    listed = owner.branch.get("tools")
    for node in listed.items if listed else ():
        kit = node.text("kit")
        if kit is None:
            yield node
        elif kit in inside:
            report(node.at.at(".kit"), f"Kit expansion cycle detected at {kit}", "take the kit out of itself")
        else:
            found = [item for item in _kits(root) if item.name == kit]
            if not found:
                report(node.at.at(".kit"), f"Unknown kit reference: {kit}", "define it in kits")
            for item in found:
                yield from _unfolded(item, root, (*inside, kit), report)


def _kits(root: YamlNode) -> tuple[YamlNode, ...]:
    listed = root.branch.get("kits")
    return listed.items if listed else ()
