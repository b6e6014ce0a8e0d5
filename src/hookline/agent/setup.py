"""What a run has before it: the messages with their directives carried out, who speaks, with which tools."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hookline.agent.conversation.directives import Around, expanded
from hookline.agent.conversation.document import Block, read_conversation
from hookline.agent.conversation.records import ATTACH_ICON, Attachment
from hookline.agent.conversation.replay import Answered, Said, replayed
from hookline.agent.conversation.user_text import sent_text, without_comments
from hookline.agent.exec import Program, run_now, run_program
from hookline.agent.hook_events import RunError
from hookline.agent.loop import Turn
from hookline.agent.message import UserMessage
from hookline.agent.model import ModelSettings, open_model
from hookline.agent.output import Sink
from hookline.agent.providers import choose
from hookline.agent.tools.base import Place, ToolError
from hookline.agent.tools.toolbox import Maker
from hookline.core.describe import failure_text
from hookline.core.errors import DataError, HooklineError
from hookline.core.result import Failed, TimedOut
from hookline.dialects.lectic.directories import standard_variables
from hookline.dialects.lectic.tokens import expand
from hookline.runners.cancel import Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hookline.agent.hook_events import Firing
    from hookline.agent.lectic_config import Header, Interlocutor, Where
    from hookline.agent.message import Message
    from hookline.agent.model import ModelClient
    from hookline.agent.tools.base import HostTool
    from hookline.core.settings import Settings

_STYLE = "Wrap your lines at 78 characters where that is possible. Write formulas in Unicode rather than in LaTeX."
#: Seconds that a program of the header or of a directive may take.
PATIENCE = 120.0
#: Agents that ask agents.
_DEEPEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """The conversation as it is sent, after resets; ``attached`` are the texts of ``:attach``."""

    items: tuple[Said | Answered, ...]
    person: Interlocutor
    attached: tuple[str, ...] = ()

    @property
    def last_is_user(self) -> bool:
        return bool(self.items) and isinstance(self.items[-1], Said)

    @property
    def turns(self) -> int:
        return sum(isinstance(item, Said) and bool(item.text.strip()) for item in self.items)

    @property
    def history(self) -> list[dict[str, str]]:
        earlier = self.items[:-1] if self.last_is_user else self.items
        told = [
            ("user", item.text) if isinstance(item, Said) else ("assistant", item.content) for item in earlier
        ]  # fmt: skip
        return [{"role": role, "text": text.strip()} for role, text in told if text.strip()]


async def read_scene(text: str, header: Header, where: Where) -> _Scene:
    """Directives are carried out in file order, once per message. Raises ``DataError``."""
    conversation = read_conversation(text, header.interlocutors.keys())
    for item in conversation.items:
        if isinstance(item, Block) and item.name not in header.interlocutors:
            raise DataError(f"interlocutor {item.name} can't be found!")
    if not conversation.items:
        raise DataError("there is nothing to answer: write something below the front matter")
    return await asyncio.to_thread(_carried_out, conversation.items, header, where)


def _carried_out(written: Sequence[Any], header: Header, where: Where) -> _Scene:
    items: list[Said | Answered] = []
    speaker = header.default
    attached: tuple[str, ...] = ()
    for index, item in enumerate(written):
        if isinstance(item, Block):
            items.append(Answered(name=item.name, content=item.content))
            continue
        last = index == len(written) - 1
        around = Around(environ=where.environ, command=lambda line: _command(line, where), last=last)
        text, effects = expanded(without_comments(item.text), around)
        items.append(Said(text=sent_text(text)))
        speaker = effects.ask or speaker
        if last:
            speaker, attached = effects.aside or speaker, tuple(effects.attachments)
        elif effects.reset:
            items.clear()
    if speaker not in header.interlocutors:
        raise DataError(f"interlocutor {speaker} can't be found!")
    return _Scene(items=tuple(items), person=header.interlocutors[speaker], attached=attached)


def _command(line: str, where: Where) -> str:
    """What ``:cmd`` puts into the message; no shell is involved."""
    raw = run_now(Program(text=line, environ=where.environ, cwd=where.cwd, timeout=PATIENCE), Stop())
    if raw.error or raw.timed_out or raw.exit_code != 0:
        told = raw.error or (
            "it took too long" if raw.timed_out else raw.stderr.strip() or f"exit code {raw.exit_code}"
        )
        return f'<error from="{line}">{told}</error>'
    return f'<stdout from="{line}">{raw.stdout}</stdout>'


# ── who takes part ───────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True, kw_only=True)
class ConversationContext:
    """The active interlocutor with everything it needs, and the others that it may ask."""

    header: Header
    scene: _Scene
    firing: Firing
    where: Where
    settings: Settings
    stack: AsyncExitStack = field(repr=False)
    log: Callable[[str, Any], None] = field(repr=False)
    interruption: Callable[[], str] = field(repr=False)
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    #: Background hooks of interlocutors that were asked as tools, and failed.
    late_failures: list[str] = field(default_factory=list[str])
    account: str = ""
    _prompt: str = ""
    _tools: Mapping[str, HostTool] = field(default_factory=dict[str, "HostTool"])

    async def prepare(self) -> None:
        """The prompt, the key and the tools of who speaks. Raises ``DataError`` or ``HooklineError``."""
        person = self.scene.person
        if person.fields.get("output_schema") is not None:
            raise DataError(f"output_schema of {person.name} is not supported; ask for the shape in the prompt")
        self._prompt = await self.load(person.prompt)
        self.account = (await self.load(person.text("account"))).strip()
        self._tools = await self._maker(person.name, 0, self.stack).tools_of(person)

    def _maker(self, name: str, depth: int, stack: AsyncExitStack) -> Maker:
        async def ask(callee: str, content: str) -> str:
            return await self._ask(callee, content, depth + 1)

        return Maker(header=self.header, place=self._place(name), stack=stack, load=self.load, ask=ask)

    def _place(self, name: str) -> Place:
        where = self.where
        standard = standard_variables(where.environ, sys.platform, str(self.firing.common.get("file", "")))
        rest = {key: value for key, value in where.environ.items() if key != "LECTIC_FILE"}
        environ = {**rest, **standard, "LECTIC_INTERLOCUTOR": name}
        return Place(environ=environ, cwd=where.cwd, state_dir=where.paths.state)

    async def load(self, value: str) -> str:
        """``file:PATH`` and ``exec:COMMAND`` give what they name, anything else itself. A program that fails is an
        error: an empty prompt would not be noticed."""
        if value.startswith("file:"):
            path = os.path.join(self.where.cwd, expand(value.removeprefix("file:"), self.where.environ))
            try:
                return await asyncio.to_thread(_text_of, path)
            except (OSError, UnicodeDecodeError) as error:
                raise DataError(f"cannot read {path}: {error}") from None
        if not value.startswith("exec:"):
            return value
        command = value.removeprefix("exec:").lstrip()
        raw = await run_program(
            Program(
                text=command,
                environ=self._place("").environ,
                cwd=self.where.cwd,
                timeout=PATIENCE,
                state_dir=self.where.paths.state,
            )
        )
        if raw.error or raw.timed_out or raw.exit_code != 0:
            told = raw.error or raw.stderr.strip() or f"exit code {raw.exit_code}"
            raise DataError(f"the command {command.splitlines()[0]!r} failed: {told}")
        return raw.stdout

    def speak_as(self, model: str) -> None:
        """From now on events name the model that is really asked."""
        self.firing = replace(self.firing, common={**self.firing.common, "model": model})

    # ── the turn ─────────────────────────────────────────────────────────────────────────────────────

    async def opening(self, voice: ModelClient, sink: Sink) -> list[Message]:
        """The messages of the first request. What hooks and ``:attach`` add stands at the top of the answer."""
        scene = self.scene
        items = list(scene.items)
        if scene.last_is_user:
            last = items[-1]
            assert isinstance(last, Said)
            text, records = await self._submit(last.text)
            attached = [Attachment(content=one, kind="attach", icon=ATTACH_ICON) for one in scene.attached]
            for record in (*records, *attached):
                sink.record(record)
            more = tuple(one.content for one in (*records, *attached) if isinstance(one, Attachment))
            items[-1] = Said(text=text, more=more)
        return replayed(items, scene.person.name, voice.provider)

    async def _submit(self, text: str) -> tuple[str, list[Any]]:
        decision = await self.firing.fire(
            "UserPromptSubmit",
            prompt=text,
            messages_length=len(self.scene.items),
            history=self.scene.history,
        )
        if decision.effect != "allow":
            raise RunError(decision.reason or "a hook refused the message")
        text = str(decision.data["prompt"]) if decision.modified else text
        return text, list(self.firing.said(decision))

    def turn(self, voice: ModelClient, sink: Sink, head: str) -> Turn:
        person, prompt, tools = self.scene.person, self._prompt, self._tools
        last = self.scene.items[-1]
        said = last.text if isinstance(last, Said) else ""
        given = {"voice": voice, "sink": sink, "firing": self.firing, "tools": tools, "head": head, "prompt": said}
        return self._turn(person, prompt, **given)

    def _turn(self, person: Interlocutor, system: str, **given: Any) -> Turn:
        most = person.number("max_tool_use")
        tokens = person.number("max_tokens")
        return Turn(
            **given,
            system=f"Your name is {person.name}\n\n{system}\n\n{_STYLE}",
            settings=ModelSettings(
                max_tokens=int(tokens) if tokens is not None else None,
                temperature=person.number("temperature"),
                thinking=person.text("thinking_effort") or None,
            ),
            max_tool_use=int(most) if most is not None else 10,
            interruption=self.interruption,
            log=self.log,
            tokens=self.tokens,
        )

    # ── another interlocutor ─────────────────────────────────────────────────────────────────────────

    async def _ask(self, name: str, content: str, depth: int) -> str:
        """One turn of another interlocutor, with its own prompt, tools and hooks. No run events."""
        if depth > _DEEPEST:
            raise ToolError("agents ask agents too deeply")
        person = self.header.interlocutors[name]
        firing = self.firing.for_agent(name)
        try:
            account = (await self.load(person.text("account"))).strip()
            chosen = choose(person, self.where.environ, self.settings.models, account=account)
            firing = replace(firing, common={**firing.common, "model": chosen.model})
            # A stack of its own: servers are let go by the task that connected them.
            async with AsyncExitStack() as stack:
                opening = open_model(chosen.name, environ=chosen.environ, table=self.settings.models)
                voice = await stack.enter_async_context(opening)
                tools = await self._maker(name, depth, stack).tools_of(person)
                return await self._asked(person, content, voice, firing, tools)
        except RunError:
            raise
        except HooklineError as error:
            raise ToolError(str(error)) from error
        finally:
            await asyncio.to_thread(self._join, firing)

    async def _asked(
        self, person: Interlocutor, content: str, voice: ModelClient, firing: Firing, tools: Mapping[str, HostTool]
    ) -> str:
        prompt = await self.load(person.prompt)
        decision = await firing.fire("UserPromptSubmit", prompt=content, messages_length=1)
        if decision.effect != "allow":
            raise ToolError(decision.reason or "a hook refused the message", "blocked")
        told = [one.content for one in firing.said(decision) if isinstance(one, Attachment)]
        text = str(decision.data["prompt"]) if decision.modified else content
        heard: list[str] = []
        head = f"{content}\n\n:::{person.name}\n\n"
        given = {"voice": voice, "sink": Sink(), "firing": firing, "tools": tools, "head": head}
        turn = self._turn(person, prompt, **given, on_reply=heard.append)
        await turn.play([UserMessage(parts=(text, *told))])
        return "\n\n".join(one for one in heard if one.strip())

    def _join(self, firing: Firing) -> None:
        self.late_failures += [
            failure_text(spec.name, outcome.error)
            for spec, outcome in firing.engine.join()
            if isinstance(outcome, Failed | TimedOut) and spec.on_failure == "abort"
        ]


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
