"""Prepare a run: expand the directives of the messages, choose who answers, and make its tools."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hookline.agent.conversation.directives import DirectiveContext, expand_directives, remove_comments, text_to_send
from hookline.agent.conversation.document import Block, read_conversation
from hookline.agent.conversation.records import ATTACH_ICON, Attachment
from hookline.agent.conversation.replay import InterlocutorTurn, UserTurn, replay_messages
from hookline.agent.exec import Program, run_program_sync
from hookline.agent.hook_events import ConversationEvents, RunError, background_failures
from hookline.agent.lectic_config import Header, Interlocutor, Where, read_macros
from hookline.agent.loop import AgentLoop
from hookline.agent.message import Message, UserMessage
from hookline.agent.model import ModelClient, ModelSettings, open_model
from hookline.agent.output import BlockWriter
from hookline.agent.presenter import FilePresenter
from hookline.agent.providers import choose
from hookline.agent.tools.base import AgentTool, ToolContext, ToolError
from hookline.agent.tools.interlocutor import ToolFactory
from hookline.core.errors import DataError, HooklineError
from hookline.core.settings import Settings
from hookline.dialects.lectic.tokens import expand
from hookline.dialects.lectic.variables import standard_variables
from hookline.runners.base import Stop

_STYLE = "Wrap your lines at 78 characters where that is possible. Write formulas in Unicode rather than in LaTeX."
#: Seconds that a program of the header or of a directive may take.
_PROGRAM_TIMEOUT = 120.0
#: Requests after ``max_tool_use`` in which the model may still say something.
_GRACE = 2
#: Depth of agents that ask agents.
_DEEPEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conversation:
    """The conversation as it is sent, after resets; ``attached`` is what ``:attach`` adds to the answer."""

    items: tuple[UserTurn | InterlocutorTurn, ...]
    person: Interlocutor
    attached: tuple[Attachment, ...] = ()

    @property
    def last_is_user(self) -> bool:
        return bool(self.items) and isinstance(self.items[-1], UserTurn)

    @property
    def turns(self) -> int:
        return sum(isinstance(item, UserTurn) and bool(item.text.strip()) for item in self.items)

    @property
    def history(self) -> list[dict[str, str]]:
        earlier = self.items[:-1] if self.last_is_user else self.items
        shown = [
            ("user", item.text) if isinstance(item, UserTurn) else ("assistant", item.content) for item in earlier
        ]  # fmt: skip
        return [{"role": role, "text": text.strip()} for role, text in shown if text.strip()]


async def read_turns(text: str, header: Header, where: Where) -> _Conversation:
    """Directives are expanded in file order, once per message. Raises ``DataError``."""
    conversation = read_conversation(text, header.interlocutors.keys())
    for item in conversation.items:
        if isinstance(item, Block) and item.name not in header.interlocutors:
            raise DataError(f"interlocutor {item.name} can't be found!")
    if not conversation.items:
        raise DataError("there is nothing to answer: write something below the front matter")
    return await asyncio.to_thread(_expand, conversation.items, header, where)


def _expand(written: Sequence[Any], header: Header, where: Where) -> _Conversation:
    items: list[UserTurn | InterlocutorTurn] = []
    speaker = header.default
    attached: tuple[Attachment, ...] = ()
    macros = read_macros(header.tree)
    for index, item in enumerate(written):
        if isinstance(item, Block):
            items.append(InterlocutorTurn(name=item.name, content=item.content))
            continue
        last = index == len(written) - 1
        around = DirectiveContext(
            environ=where.environ, command=lambda line: _command(line, where), last=last, macros=macros,
            load=lambda text, variables: _load_macro(text, variables, where),
            variables={
                "MESSAGE_INDEX": str(index + 1), "MESSAGES_LENGTH": str(len(written)), "MESSAGE_TEXT": item.text,
            },
        )  # fmt: skip
        text, effects = expand_directives(remove_comments(item.text), around)
        items.append(UserTurn(text=text_to_send(text)))
        speaker = effects.ask or speaker
        if last:
            speaker, attached = effects.aside or speaker, tuple(_attachment(*one) for one in effects.attachments)
        elif effects.reset:
            items.clear()
    if speaker not in header.interlocutors:
        raise DataError(f"interlocutor {speaker} can't be found!")
    return _Conversation(items=tuple(items), person=header.interlocutors[speaker], attached=attached)


def _attachment(text: str, given: Mapping[str, str]) -> Attachment:
    rest = {key: value for key, value in given.items() if key not in {"ARG", "icon", "kind"}}
    return Attachment(content=text, kind="attach", icon=given.get("icon") or ATTACH_ICON, attributes=rest)


def _load_macro(text: str, variables: Mapping[str, str], where: Where) -> str:
    """Variables are filled in in what comes of it, too."""
    environ = {**where.environ, **variables}
    return expand(_load(text, environ, where, Stop()), environ)


def _load(value: str, environ: Mapping[str, str], where: Where, stop: Stop) -> str:
    """Resolve ``file:PATH`` and ``exec:COMMAND``; any other value is returned as it is. A failing program is an
    error: an empty prompt would not be noticed."""
    if value.startswith("file:"):
        path = os.path.join(where.cwd, expand(value.removeprefix("file:").strip(), where.environ))
        try:
            return Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read {path}: {error}") from None
    if not value.startswith("exec:"):
        return value
    command = value.removeprefix("exec:").strip()
    program = Program(
        text=command, environ=environ, cwd=where.cwd, timeout=_PROGRAM_TIMEOUT, state_dir=where.paths.state
    )  # fmt: skip
    raw = run_program_sync(program, stop)
    if raw.error or raw.timed_out or raw.exit_code != 0:
        shown = raw.error or raw.stderr.strip() or f"exit code {raw.exit_code}"
        raise DataError(f"the command {command.splitlines()[0]!r} failed: {shown}")
    return raw.stdout


def _command(line: str, where: Where) -> str:
    """The output of ``:cmd`` for the message; no shell is involved."""
    raw = run_program_sync(Program(text=line, environ=where.environ, cwd=where.cwd, timeout=_PROGRAM_TIMEOUT), Stop())
    if raw.error or raw.timed_out or raw.exit_code != 0:
        shown = raw.error or (
            "it took too long" if raw.timed_out else raw.stderr.strip() or f"exit code {raw.exit_code}"
        )
        return f'<error from="{line}">{shown}</error>'
    return f'<stdout from="{line}">{raw.stdout}</stdout>'


# ── the interlocutors ───────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True, kw_only=True)
class ConversationContext:
    """The active interlocutor with everything it needs, and the others that it may ask."""

    header: Header
    conversation: _Conversation
    events: ConversationEvents
    where: Where
    settings: Settings
    stack: AsyncExitStack = field(repr=False)
    log: Callable[[str, Any], None] = field(repr=False)
    interruption: Callable[[], str] = field(repr=False)
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    #: Failures of background hooks of interlocutors that were called as tools.
    late_failures: list[str] = field(default_factory=list[str])
    account: str = ""
    _prompt: str = ""
    _tools: Mapping[str, AgentTool] = field(default_factory=dict[str, "AgentTool"])

    async def prepare(self) -> None:
        """Load the prompt, the key and the tools of the active interlocutor. Raises ``HooklineError``."""
        person = self.conversation.person
        if person.fields.get("output_schema") is not None:
            raise DataError(f"output_schema of {person.name} is not supported; ask for the shape in the prompt")
        self._prompt = await self.load(person.prompt)
        self.account = (await self.load(person.text("account"))).strip()
        self._tools = await self._factory(person.name, 0, self.stack).make(person)

    def _factory(self, name: str, depth: int, stack: AsyncExitStack) -> ToolFactory:
        async def ask(callee: str, content: str) -> str:
            return await self._ask(callee, content, depth + 1)

        return ToolFactory(header=self.header, context=self._tool_context(name), stack=stack, load=self.load, ask=ask)

    def _tool_context(self, name: str) -> ToolContext:
        where = self.where
        standard = standard_variables(where.environ, sys.platform, str(self.events.common.get("file", "")))
        rest = {key: value for key, value in where.environ.items() if key != "LECTIC_FILE"}
        environ = {**rest, **standard, "LECTIC_INTERLOCUTOR": name}
        return ToolContext(environ=environ, cwd=where.cwd, settings=Settings(state_dir=where.paths.state))

    async def load(self, value: str) -> str:
        if not value.startswith(("file:", "exec:")):
            return value
        stop = Stop()
        try:
            return await asyncio.to_thread(_load, value, self._tool_context("").environ, self.where, stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    def use_model(self, model: str) -> None:
        """From now on events name the model that is really used."""
        self.events = replace(self.events, common={**self.events.common, "model": model})

    # ── the turn ─────────────────────────────────────────────────────────────────────────────────────

    async def first_messages(self, model: ModelClient, output: BlockWriter) -> list[Message]:
        """The messages of the first request. What hooks and ``:attach`` add goes to the top of the answer."""
        conversation = self.conversation
        items = list(conversation.items)
        if conversation.last_is_user:
            last = items[-1]
            assert isinstance(last, UserTurn)
            text, records = await self._submit(last.text)
            for record in (*records, *conversation.attached):
                output.record(record)
            more = tuple(one.content for one in (*records, *conversation.attached) if isinstance(one, Attachment))
            items[-1] = UserTurn(text=text, more=more)
        return replay_messages(items, conversation.person.name, model.provider)

    async def _submit(self, text: str) -> tuple[str, list[Any]]:
        decision = await self.events.fire(
            "UserPromptSubmit",
            prompt=text,
            messages_length=len(self.conversation.items),
            history=self.conversation.history,
        )
        if decision.effect != "allow":
            raise RunError(decision.reason or "a hook refused the message")
        text = str(decision.data["prompt"]) if decision.modified else text
        return text, list(self.events.records(decision))

    async def answer(self, model: ModelClient, output: BlockWriter, head: str) -> None:
        """One turn of the active interlocutor, written to ``output``."""
        messages = await self.first_messages(model, output)
        last = self.conversation.items[-1]
        presenter = FilePresenter(
            events=self.events, output=output, messages=messages, head=head, cancelled=self.interruption,
            log=self.log, prompt=last.text if isinstance(last, UserTurn) else "",
        )  # fmt: skip
        await self._run(self.conversation.person, self._prompt, model, presenter, self._tools)

    async def _run(
        self,
        person: Interlocutor,
        system: str,
        model: ModelClient,
        presenter: FilePresenter,
        tools: Mapping[str, AgentTool],
    ) -> None:
        """``max_tool_use`` counts requests, hook-driven ones as well; after it the model may still say something."""
        most, tokens = person.number("max_tool_use"), person.number("max_tokens")
        loop = AgentLoop(
            events=presenter.events,
            model=model,
            presenter=presenter,
            tools=tools,
            context=self._tool_context(person.name),
            system=f"Your name is {person.name}\n\n{system}\n\n{_STYLE}",
            settings=ModelSettings(
                max_tokens=int(tokens) if tokens is not None else None,
                temperature=person.number("temperature"),
                thinking=person.text("thinking_effort") or None,
            ),
            tokens=self.tokens,
        )
        limit = int(most) if most is not None else 10
        await loop.run(limit=limit + _GRACE + 1, tool_limit=limit)

    # ── another interlocutor ─────────────────────────────────────────────────────────────────────────

    async def _ask(self, name: str, content: str, depth: int) -> str:
        """One turn of another interlocutor, with its own prompt, tools and hooks. No run events."""
        if depth > _DEEPEST:
            raise ToolError("agents call agents too deeply")
        person = self.header.interlocutors[name]
        events = self.events.for_agent(name)
        try:
            account = (await self.load(person.text("account"))).strip()
            chosen = choose(person, self.where.environ, self.settings.models, account=account)
            events = replace(events, common={**events.common, "model": chosen.model})
            # Its own stack: servers must be closed by the task that connected them.
            async with AsyncExitStack() as stack:
                opening = open_model(chosen.name, environ=chosen.environ, table=self.settings.models)
                model = await stack.enter_async_context(opening)
                tools = await self._factory(name, depth, stack).make(person)
                return await self._answer_once(person, content, model, events, tools)
        except RunError:
            raise
        except HooklineError as error:
            raise ToolError(str(error)) from error
        finally:
            self.late_failures += await asyncio.to_thread(background_failures, events.engine)

    async def _answer_once(
        self,
        person: Interlocutor,
        content: str,
        model: ModelClient,
        events: ConversationEvents,
        tools: Mapping[str, AgentTool],
    ) -> str:
        prompt = await self.load(person.prompt)
        decision = await events.fire("UserPromptSubmit", prompt=content, messages_length=1)
        if decision.effect != "allow":
            raise ToolError(decision.reason or "a hook refused the message", "blocked")
        added = [one.content for one in events.records(decision) if isinstance(one, Attachment)]
        text = str(decision.data["prompt"]) if decision.modified else content
        replies: list[str] = []
        presenter = FilePresenter(
            events=events, output=BlockWriter(), messages=[UserMessage(parts=(text, *added))],
            head=f"{content}\n\n:::{person.name}\n\n", cancelled=self.interruption, log=self.log,
            on_reply=replies.append,
        )  # fmt: skip
        await self._run(person, prompt, model, presenter, tools)
        return "\n\n".join(one for one in replies if one.strip())
