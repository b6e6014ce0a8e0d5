"""One layer, before it is merged: what has the wrong shape is reported and taken out, the rest stays.

Lectic refuses a whole run for one bad hook. Here a broken hook or file never disables another, also not
the one of the same name that it meant to override.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hookline.dialects.lectic.fields import flaws, is_reference
from hookline.dialects.lectic.local import LocalPathError, resolve_local
from hookline.dialects.lectic.tree import YamlNode, one_per_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.core.problem import ProblemCode, Severity
    from hookline.dialects.lectic.tree import Branch, Spot

MISSING_NAME = "An interlocutor is missing a name. The name needs to be a string."


class ReportProblem(Protocol):
    """Takes one finding with its address."""

    def __call__(
        self, at: Spot, finding: str, fix: str, severity: Severity = "error", code: ProblemCode | None = None
    ) -> None: ...


def tidy(root: YamlNode, directory: str, report: ReportProblem) -> YamlNode:
    """The parts of a layer that concern hooks, each of the right shape."""
    layer = _Layer(directory, report)
    parts: dict[str, Callable[[YamlNode], YamlNode | None]] = {
        "hooks": lambda node: layer.hooks(node, "'hooks' must be an array."),
        "hook_defs": lambda node: layer.definitions(node, "hook_def", layer.hooks(node, "hook_defs must be a list")),
        "env_defs": lambda node: layer.definitions(node, "env_def", layer.items(node, "env_defs must be a list")),
        "interlocutor": layer.interlocutor,
        "interlocutors": layer.interlocutors,
        "kits": layer.kits,
    }
    if not isinstance(root.value, dict):
        report(root.at, "Header must be an object.", "write a mapping at the top of the file")
        return YamlNode(value={}, at=root.at)
    return _rebuilt(root, parts)


def _rebuilt(node: YamlNode, parts: dict[str, Callable[[YamlNode], YamlNode | None]]) -> YamlNode:
    """``node`` with the named children passed through; what comes back as None is left out."""
    branch: Branch = {}
    for key, child in node.branch.items():
        kept = parts[key](child) if key in parts else None
        if kept is not None:
            branch[key] = kept
    return YamlNode(value=branch, at=node.at)


def _keep(node: YamlNode) -> YamlNode:
    return node


class _Layer:
    """The checks of one layer; ``directory`` is where its ``local:`` paths start."""

    def __init__(self, directory: str, report: ReportProblem) -> None:
        self._directory = directory
        self._report = report

    def items(self, node: YamlNode, finding: str) -> YamlNode | None:
        if isinstance(node.value, tuple):
            return node
        self._report(node.at, finding, "write a list")
        return None

    def hooks(self, node: YamlNode, finding: str, owner: str = "") -> YamlNode | None:
        listed = self.items(node, finding)
        if listed is None:
            return None
        good = [kept for item in listed.items if (kept := self._hook(item, owner)) is not None]
        return YamlNode(value=one_per_name(good), at=node.at)

    def _hook(self, item: YamlNode, owner: str) -> YamlNode | None:
        if is_reference(item):
            return self._reference(item)
        found = list(flaws(item))
        for flaw in found:
            intro = f"One or more hooks for {owner} weren't properly specified: " if owner else ""
            self._report(item.at.at(f".{flaw.key}" if flaw.key else ""), intro + flaw.finding, flaw.fix)
        return None if found else self._anchored(item)

    def _reference(self, item: YamlNode) -> YamlNode | None:
        if isinstance(item.branch["use"].value, str):
            return item
        self._report(item.at.at(".use"), "use must name a hook definition", "write the name of a hook_defs entry")
        return None

    def _anchored(self, item: YamlNode) -> YamlNode | None:
        do = item.branch.get("do")
        if do is None:
            return item
        try:
            text = resolve_local(do.value, self._directory)
        except LocalPathError as error:
            self._report(do.at, str(error), "write local:./PATH")
            return None
        return YamlNode(value={**item.branch, "do": YamlNode(value=text, at=do.at)}, at=item.at)

    def definitions(self, node: YamlNode, kind: str, listed: YamlNode | None) -> YamlNode | None:
        if listed is None:
            return None
        named: list[YamlNode] = []
        for item in listed.items:
            if item.name is None:
                self._report(item.at, f"each {kind} must have a string name", "add name:")
            else:
                named.append(item)
        return YamlNode(value=one_per_name(named), at=node.at)

    def interlocutors(self, node: YamlNode) -> YamlNode | None:
        listed = self.items(node, "'interlocutors' must be an array.")
        if listed is None:
            return None
        good = [kept for item in listed.items if (kept := self.interlocutor(item)) is not None]
        return YamlNode(value=tuple(good), at=node.at)

    def interlocutor(self, node: YamlNode) -> YamlNode | None:
        if not isinstance(node.value, dict):
            self._report(node.at, "An interlocutor must be an object.", "write a mapping with name: and prompt:")
            return None
        owner = node.name or "the interlocutor"
        finding = f"The hooks for {owner} need to be given in an array."
        return _rebuilt(
            node,
            {
                "name": _keep,
                "model": _keep,
                "hooks": lambda child: self.hooks(child, finding, owner),
                "tools": lambda child: self._tools(child, f"The tools for {owner} need to be given in an array."),
            },
        )

    def kits(self, node: YamlNode) -> YamlNode | None:
        listed = self.items(node, "'kits' must be an array.")
        if listed is None:
            return None
        finding = "The tools of a kit need to be given in an array."
        parts: dict[str, Callable[[YamlNode], YamlNode | None]] = {
            "name": _keep,
            "tools": lambda child: self._tools(child, finding),
        }
        good = [_rebuilt(item, parts) for item in listed.items if isinstance(item.value, dict)]
        return YamlNode(value=tuple(good), at=node.at)

    def _tools(self, node: YamlNode, finding: str) -> YamlNode | None:
        listed = self.items(node, finding)
        if listed is None:
            return None
        good = [self._tool(item) for item in listed.items if isinstance(item.value, dict)]
        return YamlNode(value=tuple(good), at=node.at)

    def _tool(self, node: YamlNode) -> YamlNode:
        owner = node.name or "the tool"
        kept = {key: child for key, child in node.branch.items() if key != "hooks"}
        hooks = node.branch.get("hooks")
        listed = self.hooks(hooks, f"The hooks for {owner} need to be given in an array.", owner) if hooks else None
        return YamlNode(value={**kept, "hooks": listed} if listed else kept, at=node.at)
