"""The ``exec`` tool: a command or script from the configuration, with arguments from the model.

The model's values become arguments or environment variables, never shell source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hookline.agent.exec import Program, run_program
from hookline.agent.message import ToolOutput, ToolSpec
from hookline.agent.tools.base import ICONS, AgentTool, ToolContext, ToolError, object_schema, string
from hookline.dialects.lectic.tokens import expand_argv

LIMIT = 100_000

_ARGV = object_schema(
    "argv",
    argv={"type": "array", "items": {"type": "string"}, "description": "The arguments of the command, in order."},
)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExecTool:
    command: str
    #: Parameter -> description or JSON schema; None: one list of arguments.
    schema: Mapping[str, Any] | None
    env: Mapping[str, str] = field(repr=False)
    sandbox: str
    limit: int
    timeout: float | None

    async def use(self, arguments: Mapping[str, Any], context: ToolContext) -> tuple[ToolOutput, ...]:
        values = {} if self.schema is None else arguments
        given = {
            name: one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for name, one in values.items()
        }
        environ = {**context.environ, **given, **self.env}
        program = Program(
            text=self.command,
            arguments=tuple(arguments["argv"]) if self.schema is None else (),
            before=expand_argv(self.sandbox, environ) if self.sandbox.strip() else (),
            environ=environ,
            cwd=context.cwd,
            timeout=self.timeout,
            output=max(4 * self.limit, 1 << 16),
            state_dir=context.settings.state_dir,
        )
        raw = await run_program(program)
        if raw.error:
            raise ToolError(raw.error)
        parts = list(_streams(_plain(raw.stdout), _plain(raw.stderr), self.limit))
        if raw.timed_out:
            seconds = f"{self.timeout:g}" if self.timeout is not None else "?"
            parts.append(f"<error>Killed Process: command timeout occurred after {seconds} seconds</error>")
            raise ToolError("\n".join(parts))
        code = raw.exit_code if raw.exit_code is not None else 128 + (raw.signal or 0)
        return tuple(
            ToolOutput(mimetype="application/xml", content=part) for part in (*parts, f"<exitCode>{code}</exitCode>")
        )


def exec_tool(
    name: str,
    command: str,
    *,
    description: str = "",
    schema: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    sandbox: str = "",
    limit: int = LIMIT,
    timeout: float | None = None,
    icon: str = ICONS["exec"],
) -> AgentTool:
    tool = _ExecTool(command=command, schema=schema, env=env or {}, sandbox=sandbox, limit=limit, timeout=timeout)
    about = description or f"Runs this command: {command.strip()}"
    spec = ToolSpec(name=name, description=about, parameters=_parameters(schema))
    return AgentTool(spec=spec, use=tool.use, kind="exec", icon=icon)


def _parameters(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if schema is None:
        return _ARGV
    properties = {name: dict(one) if isinstance(one, Mapping) else string(str(one)) for name, one in schema.items()}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _streams(stdout: str, stderr: str, limit: int) -> list[str]:
    """The limit counts both streams; standard output comes first."""
    kept_out, kept_err = stdout[:limit], stderr[: max(0, limit - len(stdout))]
    parts = [f"<stdout>{kept_out}</stdout>"] if kept_out else []
    parts += [f"<stderr>{kept_err}</stderr>"] if kept_err else []
    if len(stdout) + len(stderr) > limit:
        parts.append(f"<truncated>output exceeded {limit} characters and was truncated</truncated>")
    return parts


def _plain(text: str) -> str:
    """The final text as a terminal would show it: no colours, no overwritten line starts."""
    lines = _ANSI.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)
