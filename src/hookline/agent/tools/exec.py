"""The ``exec`` tool: a command or script from the configuration, with arguments from the model.

The model's values become arguments or environment variables, never shell source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hookline.agent.exec import Program, run_program
from hookline.agent.message import ToolOutput, ToolSpec
from hookline.agent.tools.base import ICONS, AgentTool, ToolContext, ToolError, object_schema, string
from hookline.core.result import RunResult
from hookline.dialects.lectic.tokens import expand_argv

LIMIT = 100_000

_ARGV = object_schema(
    "argv",
    argv={"type": "array", "items": {"type": "string"}, "description": "The arguments of the command, in order."},
)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


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
    """``schema``: parameter -> description or JSON schema; None: one list of arguments."""

    async def use(arguments: Mapping[str, Any], context: ToolContext) -> tuple[ToolOutput, ...]:
        values = {} if schema is None else arguments
        given = {
            key: one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for key, one in values.items()
        }
        environ = {**context.environ, **given, **(env or {})}
        program = Program(
            text=command,
            arguments=tuple(arguments["argv"]) if schema is None else (),
            before=expand_argv(sandbox, environ) if sandbox.strip() else (),
            environ=environ,
            cwd=context.cwd,
            timeout=timeout,
            output=max(4 * limit, 1 << 16),
            state_dir=context.settings.state_dir,
        )
        return _outputs(await run_program(program), limit, timeout)

    about = description or f"Runs this command: {command.strip()}"
    spec = ToolSpec(name=name, description=about, parameters=_parameters(schema))
    return AgentTool(spec=spec, use=use, kind="exec", icon=icon)


def _outputs(raw: RunResult, limit: int, timeout: float | None) -> tuple[ToolOutput, ...]:
    if raw.error:
        raise ToolError(raw.error)
    parts = list(_streams(_plain(raw.stdout), _plain(raw.stderr), limit))
    if raw.timed_out:
        seconds = f"{timeout:g}" if timeout is not None else "?"
        parts.append(f"<error>Killed Process: command timeout occurred after {seconds} seconds</error>")
        raise ToolError("\n".join(parts))
    code = raw.exit_code if raw.exit_code is not None else 128 + (raw.signal or 0)
    return tuple(
        ToolOutput(mimetype="application/xml", content=part) for part in (*parts, f"<exitCode>{code}</exitCode>")
    )


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
