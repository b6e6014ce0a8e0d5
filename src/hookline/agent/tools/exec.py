"""The ``exec`` tool: a command or a script of the configuration, with arguments of the model.

What the model gives are arguments or environment variables; it never becomes source of a shell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.conversation.records import Result
from hookline.agent.exec import Program, run_program
from hookline.agent.message import Tool
from hookline.agent.tools.base import ICONS, ToolError
from hookline.dialects.lectic.tokens import argv_of

if TYPE_CHECKING:
    from hookline.agent.tools.base import Place

LIMIT = 100_000

_ARGV: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "argv": {"type": "array", "items": {"type": "string"}, "description": "The arguments of the command, in order."}
    },
    "required": ["argv"],
    "additionalProperties": False,
}
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecTool:
    name: str
    command: str
    place: Place
    description: str = ""
    #: Parameter -> description or JSON schema; None: one list of arguments.
    schema: Mapping[str, Any] | None = None
    env: Mapping[str, str] = field(repr=False)
    sandbox: str = ""
    limit: int = LIMIT
    timeout: float | None = None
    icon: str = ICONS["exec"]
    kind: str = "exec"

    @property
    def told(self) -> Tool:
        about = self.description or f"Runs this command: {self.command.strip()}"
        return Tool(name=self.name, description=about, parameters=self._parameters())

    def _parameters(self) -> Mapping[str, Any]:
        if self.schema is None:
            return _ARGV
        properties = {
            name: dict(one) if isinstance(one, Mapping) else {"type": "string", "description": str(one)}
            for name, one in self.schema.items()
        }
        return {
            "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
        }  # fmt: skip

    async def use(self, arguments: Mapping[str, Any]) -> tuple[Result, ...]:
        given = {} if self.schema is None else {name: _as_text(value) for name, value in arguments.items()}
        environ = {**self.place.environ, **given, **self.env}
        program = Program(
            text=self.command,
            arguments=tuple(arguments["argv"]) if self.schema is None else (),
            before=argv_of(self.sandbox, environ) if self.sandbox.strip() else (),
            environ=environ,
            cwd=self.place.cwd,
            timeout=self.timeout,
            output=max(4 * self.limit, 1 << 16),
            state_dir=self.place.state_dir,
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
            Result(mimetype="application/xml", content=part) for part in (*parts, f"<exitCode>{code}</exitCode>")
        )


def _streams(stdout: str, stderr: str, limit: int) -> list[str]:
    """The limit is for both together; standard output comes first."""
    kept_out, kept_err = stdout[:limit], stderr[: max(0, limit - len(stdout))]
    parts = [f"<stdout>{kept_out}</stdout>"] if kept_out else []
    parts += [f"<stderr>{kept_err}</stderr>"] if kept_err else []
    if len(stdout) + len(stderr) > limit:
        parts.append(f"<truncated>output exceeded {limit} characters and was truncated</truncated>")
    return parts


def _plain(text: str) -> str:
    """As it would stand on a terminal in the end: no colours, no overwritten beginnings of lines."""
    lines = _ANSI.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
