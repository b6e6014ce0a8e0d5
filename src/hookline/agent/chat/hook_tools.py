"""Read-only tools for hook agents, as the plain functions of a tool set."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookline.agent.permissions import Permissions
from hookline.agent.tools.base import ToolContext, ToolError
from hookline.agent.tools.builtin import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hookline.agent.chat.context import ChatContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOnlyTools:
    """One tool set, under the name that a hook's ``tools`` uses."""

    name: str
    functions: Sequence[Callable[..., Any]]

    @classmethod
    def of(cls, context: ChatContext) -> list[ReadOnlyTools]:
        where = ToolContext(cwd=context.cwd, environ=context.environ, settings=context.engine.settings)

        def use(name: str, arguments: Mapping[str, Any]) -> str:
            tool = BUILT_IN[name]
            if Permissions().judge(name, tool.need, arguments, where.cwd) != "allow":
                return "that is outside the working directory, where a hook's agent may not look"
            try:
                return str(asyncio.run(tool.use(arguments, where)))
            except ToolError as error:
                return str(error)

        def read(file_path: str, offset: int = 1, limit: int = 2000) -> str:
            """Read a text file of the project; lines come with their numbers."""
            return use("Read", {"file_path": file_path, "offset": offset, "limit": limit})

        def glob(pattern: str) -> str:
            """Find files of the project by a pattern such as **/*.py."""
            return use("Glob", {"pattern": pattern})

        def grep(pattern: str, glob: str = "*") -> str:
            """Find lines in the project's files by a regular expression."""
            return use("Grep", {"pattern": pattern, "glob": glob})

        return [cls(name=name, functions=(one,)) for name, one in (("Read", read), ("Glob", glob), ("Grep", grep))]
