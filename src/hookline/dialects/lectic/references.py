"""After the merge: ``{use: NAME}`` becomes the definition, and the active interlocutor is made whole."""

from __future__ import annotations

from collections.abc import Mapping

from hookline.core._dataclass import replace
from hookline.dialects.lectic.tree import Branch, YamlNode, later, merge, one_per_name
from hookline.dialects.lectic.validate import ReportProblem, is_reference


def resolve_references(root: YamlNode, report: ReportProblem) -> YamlNode:
    """The same tree without references; a reference to nothing is reported and left out."""
    hooks = _by_name(root.branch.get("hook_defs"))
    variables = _by_name(root.branch.get("env_defs"))
    return _active(_Resolver(hooks, variables, report).tree(root))


def _by_name(listed: YamlNode | None) -> dict[str, YamlNode]:
    return {item.name: item for item in (listed.items if listed else ()) if item.name is not None}


def _active(root: YamlNode) -> YamlNode:
    """``interlocutor`` on top of the entry of the same name in ``interlocutors``."""
    active = root.branch.get("interlocutor")
    listed = root.branch.get("interlocutors")
    if active is None or listed is None or active.name is None:
        return root
    for item in listed.items:
        if item.name == active.name:
            whole = merge(item, active)
            hooks = whole.branch.get("hooks")
            if hooks is not None:
                branch: Branch = {**whole.branch, "hooks": replace(hooks, value=one_per_name(hooks.items))}
                whole = replace(whole, value=branch)
            return replace(root, value={**root.branch, "interlocutor": whole})
    return root


class _Resolver:
    def __init__(self, hooks: Mapping[str, YamlNode], variables: Mapping[str, YamlNode], report: ReportProblem) -> None:
        self._hooks = hooks
        self._variables = variables
        self._report = report

    def tree(self, node: YamlNode) -> YamlNode:
        if isinstance(node.value, tuple):
            return replace(node, value=tuple(self.tree(item) for item in node.items))
        if not isinstance(node.value, dict):
            return node
        branch: Branch = {}
        for key, child in node.branch.items():
            branch[key] = self._hook_list(child) if key == "hooks" else self.tree(child)
        return replace(node, value=branch)

    def _hook_list(self, listed: YamlNode) -> YamlNode:
        whole = [hook for item in listed.items if (hook := self._hook(item)) is not None]
        return replace(listed, value=one_per_name(whole))

    def _hook(self, item: YamlNode) -> YamlNode | None:
        if not is_reference(item):
            return self._with_variables(item)
        name = item.branch["use"].value
        definition = self._hooks.get(name)
        if definition is None:
            finding = f"Unknown hook definition: {name}."
            self._report(item.at.at(".use"), finding, f"define it in hook_defs{_known(self._hooks)}")
            return None
        return self._with_variables(replace(definition, at=later(item.at, definition.at)))

    def _with_variables(self, hook: YamlNode) -> YamlNode:
        env = hook.branch.get("env")
        if env is None or set(env.branch) != {"use"}:
            return hook
        name = env.branch["use"].value
        definition = self._variables.get(name) if isinstance(name, str) else None
        if definition is None:
            finding = f"Unknown env definition: {name}."
            self._report(hook.at.at(".env.use"), finding, f"define it in env_defs{_known(self._variables)}")
            # Without its variables, but there: a guard must not vanish for a typing mistake.
            return replace(hook, value={key: child for key, child in hook.branch.items() if key != "env"})
        chosen = definition.branch.get("env")
        if chosen is None:
            kept = {key: child for key, child in definition.branch.items() if key != "name"}
            chosen = YamlNode(value=kept, at=definition.at)
        return YamlNode(value={**hook.branch, "env": chosen}, at=later(hook.at, definition.at))


def _known(definitions: Mapping[str, YamlNode]) -> str:
    return f" (there: {', '.join(definitions)})" if definitions else ""
