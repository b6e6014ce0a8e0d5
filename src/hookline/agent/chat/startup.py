"""Open everything a chat needs: hooks, a model and tools; closed together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from hookline.agent.chat.context import ChatContext, ChatOptions
from hookline.agent.chat.events import slim
from hookline.agent.chat.screen import Screen
from hookline.agent.chat.session import Session
from hookline.agent.chat.transcript import find, latest
from hookline.agent.model import ModelClient, ModelError, open_model
from hookline.agent.permissions import Permissions
from hookline.agent.tools.base import MAX_OUTPUT, AgentTool, ToolContext, ToolError
from hookline.agent.tools.builtin import BUILT_IN
from hookline.agent.tools.custom import load_tools
from hookline.core.errors import ConfigError, HooklineError, UsageError
from hookline.engine.build import Runtime
from hookline.llm.names import MissingKeyError


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadOnlyTools:
    """One tool set, under the name that a hook's ``tools`` uses."""

    name: str
    functions: Sequence[Callable[..., Any]]

    @classmethod
    def of(cls, context: ChatContext) -> list[_ReadOnlyTools]:
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


_NO_KEY = (
    "or try it with no key at all: --model script:FILE (a scripted model), or a local server: "
    "OPENAI_BASE_URL=http://localhost:11434/v1 with --model openai-compatible:NAME"
)


@dataclass(slots=True, kw_only=True)
class OpenChat:
    """The parts of a chat that a command such as /reload or /model replaces."""

    assembly: Runtime
    reassemble: Callable[[], Runtime]
    context: ChatContext
    #: Tools of MCP servers, which stay connected as long as the chat is open.
    served: Mapping[str, AgentTool]
    _models: AsyncExitStack

    async def session(self, resume: str | None) -> Session:
        """A new session, or the one that ``resume`` names ("" is the latest of this directory)."""
        context = self.context
        path = None
        if resume is not None:
            path = find(context.data_dir, context.cwd, resume) if resume else latest(context.data_dir, context.cwd)
            if path is None:
                raise UsageError(f"there is no session to continue in {context.cwd}")
        return Session(context, path)

    async def model(self, name: str) -> ModelClient:
        """Open another model and close the previous one."""
        stack = AsyncExitStack()
        model = await _opened(stack, name, self.assembly, self.context.environ)
        await self._models.aclose()
        self._models = stack
        return model

    async def close(self) -> None:
        await self._models.aclose()
        self.assembly.engine.close()


@asynccontextmanager
async def open_chat(
    reassemble: Callable[[], Runtime], options: ChatOptions, screen: Screen, environ: Mapping[str, str]
) -> AsyncGenerator[OpenChat]:
    assembly = reassemble()
    stack, servers = AsyncExitStack(), AsyncExitStack()
    try:
        model = await _opened(stack, options.model, assembly, environ)
        served = await _served(servers, assembly, environ, screen)
        assembly.engine.recorder = slim(assembly.engine.recorder)
        context = ChatContext(
            engine=assembly.engine,
            data_dir=assembly.paths.data,
            environ=environ,
            tools={**load_chat_tools(assembly, options, screen), **served},
            model=model,
            screen=screen,
            options=options,
            cwd=assembly.engine.cwd,
        )
        add_hook_agent_tools(assembly, context)
        opening = OpenChat(assembly=assembly, reassemble=reassemble, context=context, served=served, _models=stack)
    except BaseException:
        await servers.aclose()
        await stack.aclose()
        assembly.engine.close()
        raise
    try:
        yield opening
    finally:
        await servers.aclose()
        await opening.close()


async def _opened(stack: AsyncExitStack, name: str, assembly: Runtime, environ: Mapping[str, str]) -> ModelClient:
    try:
        return await stack.enter_async_context(open_model(name, environ=environ, table=assembly.loaded.settings.models))
    except ModelError as error:
        hint = f"; {_NO_KEY}" if isinstance(error, MissingKeyError) else ""
        raise ConfigError(f"{error}{hint}") from error


async def _served(
    servers: AsyncExitStack, assembly: Runtime, environ: Mapping[str, str], screen: Screen
) -> dict[str, AgentTool]:
    """The tools of every server in the ``[mcp]`` table; one that cannot be reached is reported and left out."""
    written = assembly.loaded.settings.mcp
    if not written:
        return {}
    from hookline.agent.tools.mcp import connect  # most people have no server
    from hookline.llm.tools.mcp import transport

    tools: dict[str, AgentTool] = {}
    for name, one in written.items():
        try:
            way = transport(name, one, environ=environ, cwd=assembly.engine.cwd)
            server = connect(name, way, partial("mcp__{}__{}".format, name), limit=MAX_OUTPUT)
            tools |= await servers.enter_async_context(server)
        except HooklineError as error:
            screen.note(str(error), "warning")
    return tools


def load_chat_tools(assembly: Runtime, options: ChatOptions, screen: Screen) -> dict[str, AgentTool]:
    """The built-in tools, the user's own, and those of files named on the command line. A project's own file is
    read only when it is named: a repository must not add tools by itself."""
    own = os.path.join(assembly.paths.config, "tools.toml")
    files = [*([own] if os.path.exists(own) else []), *map(os.path.abspath, options.tools)]
    custom, problems = load_tools(files)
    for problem in problems:
        screen.note(str(problem), "error")
    return {**BUILT_IN, **custom}


def add_hook_agent_tools(assembly: Runtime, context: ChatContext) -> None:
    """Hook agents get read-only tools: the user's permissions do not cover them."""
    from hookline.core.hook import AgentRun
    from hookline.runners.agent import AgentRunner

    assembly.engine.crew[AgentRun] = AgentRunner(_ReadOnlyTools.of(context))
