"""The user's own tools: a command and a schema, defined in a ``tools.toml``.

.. code-block:: toml

    [[tool]]
    name = "get_runtime_state"
    description = "What the machine is doing right now."
    run = ["./read-state.sh"]          # argv, no shell; relative to this file
    timeout = "5s"
    permission = "none"                # or "ask", the default

    [tool.parameters]                  # a JSON schema of an object; omit it for no parameters
    type = "object"

The command reads the arguments as one JSON object on stdin; its output is the result.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.agent.message import ToolSpec
from hookline.agent.tools.base import AgentTool, ToolContext, ToolError
from hookline.agent.tools.builtin import BUILT_IN, run_launch
from hookline.core._dataclass import dataclass
from hookline.core.problem import Problem
from hookline.runners.environ import child_environ
from hookline.runners.programs import find_program, missing
from hookline.runners.spawn import Launch

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_FIELDS = frozenset({"name", "description", "run", "timeout", "permission", "parameters", "environ"})
_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _CommandTool:
    """``base`` is the folder of the tools file, in which the program is looked up."""

    argv: tuple[str, ...]
    base: str
    timeout: float
    environ: Mapping[str, str]

    async def use(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
        environ = child_environ(context.environ, frozenset(), self.environ)
        path = environ.get("PATH", os.defpath)
        program = find_program(self.argv[0], path, (self.base,))
        if not program:
            raise ToolError(missing(self.argv[0], path, (self.base,)))
        stdin = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace")
        launch = Launch(program=program, argv=self.argv, environ=environ, cwd=context.cwd, stdin=stdin)
        return await run_launch(launch, self.timeout, context)


def load_tools(files: Sequence[str]) -> tuple[dict[str, AgentTool], list[Problem]]:
    """The tools of these files; a later one replaces one of the same name. A bad entry does not affect the others."""
    tools: dict[str, AgentTool] = {}
    problems: list[Problem] = []
    for file in files:
        entries = _read(file, problems)
        for index, entry in enumerate(entries):
            made = _tool(entry, file)
            if isinstance(made, AgentTool):
                tools[made.name] = made
            else:
                problems.append(Problem(file=file, pointer=f"$.tool[{index}]", finding=made[0], fix=made[1]))
    return tools, problems


def _read(file: str, problems: list[Problem]) -> Sequence[Any]:
    try:
        with open(file, "rb") as source:
            tree = tomllib.load(source)
    except (OSError, ValueError) as error:
        problems.append(Problem(file=file, finding=f"cannot be read: {error}", fix="write valid TOML"))
        return ()
    entries = tree.get("tool", [])
    if not isinstance(entries, list):
        problems.append(Problem(file=file, pointer="$.tool", finding="is not a list", fix="write [[tool]]"))
        return ()
    return entries


def _tool(entry: Any, file: str) -> AgentTool | tuple[str, str]:
    """The tool, or the finding and its fix."""
    if not isinstance(entry, dict):
        return "is not a table", "write [[tool]]"
    if unknown := sorted(set(entry) - _FIELDS):
        return f"unknown fields {', '.join(unknown)}", f"known fields: {', '.join(sorted(_FIELDS))}"
    name, run = entry.get("name"), entry.get("run")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in BUILT_IN:
        return (
            f"the name {name!r} cannot be used",
            "write up to 64 letters, digits, _ or -, and no built-in tool's name",
        )
    argv = (run,) if isinstance(run, str) else tuple(run) if isinstance(run, list) else ()
    if not argv or not all(isinstance(word, str) and word for word in argv):
        return "run is not a command", 'write the words of the command: run = ["./tool.sh", "--json"]'
    timeout = _seconds(entry.get("timeout", _TIMEOUT))
    if timeout is None:
        return f"timeout {entry['timeout']!r} is not a duration", 'write seconds, or a text like "5s"'
    permission = entry.get("permission", "ask")
    if permission not in {"none", "ask"}:
        return f"permission {permission!r} is unknown", 'write "none" or "ask"'
    parameters = entry.get("parameters", {"type": "object", "properties": {}})
    if not isinstance(parameters, dict) or parameters.get("type", "object") != "object":
        return "parameters is not the schema of an object", 'write [tool.parameters] with type = "object"'
    environ = {str(key): str(value) for key, value in (entry.get("environ") or {}).items()}
    command = _CommandTool(argv=argv, base=os.path.dirname(os.path.abspath(file)), timeout=timeout, environ=environ)
    spec = ToolSpec(
        name=name, description=str(entry.get("description", "")), parameters={"type": "object", **parameters}
    )
    return AgentTool(spec=spec, need="nothing" if permission == "none" else "run", use=command.use)


def _seconds(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    found = _SECONDS.fullmatch(value) if isinstance(value, str) else None
    return float(found[1]) * _UNITS[found[2]] if found else None
