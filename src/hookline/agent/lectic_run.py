"""One invocation of ``hookline run``: from the text of a conversation to its next answer.

The order is Lectic's: an error before the hooks are known ends the run without any event; from the choice of
the model on, ``run_end`` always fires, and ``error`` with it if something went wrong.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from hookline.agent.approval import ConversationFiles
from hookline.agent.chat.transcript import timestamp
from hookline.agent.hook_events import ConversationEvents, RunError, background_failures, build_runtime
from hookline.agent.lectic_config import Header, Where, read_header
from hookline.agent.model import open_model
from hookline.agent.output import BlockWriter, Format, rewrite, save_aside
from hookline.agent.providers import choose
from hookline.agent.setup import ConversationContext, read_turns
from hookline.core.describe import failure_text
from hookline.core.errors import DataError, HooklineError
from hookline.runners.host import Host, Terminal

#: A closed terminal ends a run too, unless the user ignored SIGHUP (nohup).
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _uuid7() -> str:
    """Sorts by time: 48 bits of milliseconds, then random bits."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    return str(uuid.UUID(int=value & ~(0x3 << 62) | 0x2 << 62))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The options of one run. ``text`` is the whole input, ``before`` the bytes of the file as it was read."""

    text: str
    where: Where
    #: As typed; hooks see it like this.
    file: str = ""
    inplace: bool = False
    before: bytes = field(default=b"", repr=False)
    #: The file's lines end with CR LF, which is kept; ``text`` has plain LF.
    dos: bool = False
    form: Format = "full"
    model: str = ""
    trust_all: bool = False
    approve: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """Where the run writes: ``out`` is the answer, ``tell`` is for the user, ``log`` for debugging."""

    out: Callable[[str], None]
    tell: Callable[[str], None]
    log: Callable[[str, Any], None]


@dataclass(slots=True, kw_only=True)
class ConversationRun:
    """One run, from set-up to exit code."""

    request: RunRequest
    streams: Streams
    output: BlockWriter = field(init=False)
    id: str = field(default_factory=_uuid7)
    began: float = field(default_factory=time.monotonic)
    #: The signal that ended the run, if any.
    ended_by: signal.Signals | None = None
    ending: bool = False
    #: The answer was saved, but not in the conversation's file.
    kept: bool = False
    exit_code: int = 0
    _task: asyncio.Future[None] | None = field(default=None, repr=False)
    _host: Host = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.output = BlockWriter(self.request.form, self.streams.out)
        self._host = Host(self.streams.tell, lambda: self._on_signal(signal.SIGINT), Terminal.find())

    async def perform(self) -> int:
        """The exit code: 0, 1 for an error, 129, 130 or 143 for a signal."""
        if self.request.form == "full":
            self.streams.out(f"{_trimmed(self.request.text)}\n\n")
        async with AsyncExitStack() as stack:
            try:
                context = await self._set_up(stack)
            except HooklineError as error:
                self._fail(str(error))
                return 1
            self._listen()
            try:
                await self._run_turn(context, stack)
            finally:
                self._stop_listening()
        return self.exit_code

    async def _set_up(self, stack: AsyncExitStack) -> ConversationContext:
        """Everything that may fail before any hook fires."""
        request = self.request
        found = ConversationFiles(request.where, trust_all=request.trust_all, approve=request.approve)
        header = read_header(request.text, request.where, found)
        conversation = await read_turns(request.text, header, request.where)
        session = _session(header, request)
        assembly = build_runtime(header, request.where, self._host, trust_all=request.trust_all, sessions=bool(session))
        engine = assembly.engine
        stack.callback(engine.close)
        # Otherwise nobody would notice a guard that could not be loaded.
        for problem in assembly.loaded.problems:
            if problem.severity == "error":
                self.streams.tell(str(problem))
        common = {
            "session_id": session or self.id,
            "turn": conversation.turns,
            "interlocutor": conversation.person.name,
            "cwd": request.where.cwd,
            **({"file": request.file} if request.file else {}),
        }
        events = ConversationEvents(engine=engine, common=common, tell=self.streams.tell)
        context = ConversationContext(
            header=header,
            conversation=conversation,
            events=events,
            where=request.where,
            stack=stack,
            settings=assembly.loaded.settings,
            log=self.streams.log,
            interruption=self._interruption,
        )
        await context.prepare()
        return context

    # ── the turn ─────────────────────────────────────────────────────────────────────────────────────

    async def _run_turn(self, context: ConversationContext, stack: AsyncExitStack) -> None:
        message = ""
        self._task = asyncio.ensure_future(self._answer(context, stack))
        try:
            await self._task
        except asyncio.CancelledError:
            if self.ended_by is None:
                raise
            message = self._interruption()
            self.output.cut()
            self.exit_code = 128 + int(self.ended_by)
        except HooklineError as error:
            message = self._interruption() if self.ended_by else str(error)
            self._fail(message)
            self.exit_code = 128 + int(self.ended_by) if self.ended_by else 1
        self._save_unprinted(message)
        await self._end(context, message)

    async def _answer(self, context: ConversationContext, stack: AsyncExitStack) -> None:
        conversation, request = context.conversation, self.request
        chosen = choose(
            conversation.person,
            request.where.environ,
            context.settings.models,
            given=request.model,
            account=context.account,
        )
        model = await stack.enter_async_context(
            open_model(chosen.name, environ=chosen.environ, table=context.settings.models)
        )
        context.use_model(chosen.model)
        decision = await context.events.fire("RunStart", run_id=self.id, started_at=timestamp(time.time()))
        if decision.effect != "allow":
            raise RunError(decision.reason or "a hook refused the run")
        self.output.open(conversation.person.name)
        await context.answer(model, self.output, f"{_trimmed(request.text)}\n\n:::{conversation.person.name}\n\n")
        self.output.close()
        if request.inplace:
            text = f"{_trimmed(request.text)}\n\n:::{conversation.person.name}\n\n{self.output.content}:::"
            self._write(text)

    def _write(self, text: str) -> None:
        if self.request.dos:
            text = text.replace("\n", "\r\n")
        try:
            rewrite(self.request.where.file, text, before=self.request.before)
        except DataError as error:
            kept = save_aside(self.request.where.paths.state, text)
            self.kept = bool(kept)
            raise RunError(f"{error}; the conversation with the answer is in {kept}" if kept else str(error)) from error

    def _save_unprinted(self, message: str) -> None:
        """After an error the file is not changed. An answer that was not printed is saved elsewhere, or printed
        if that fails: an answer is never thrown away."""
        if not message or self.kept or self.request.form != "none" or not self.output.content.strip():
            return
        kept = save_aside(self.request.where.paths.state, self.output.content)
        if kept:
            self.streams.tell(f"the answer so far is in {kept}")
        else:
            self.streams.out(self.output.content)

    def _fail(self, message: str) -> None:
        self.streams.log("error", message)
        self.output.fail(message)
        if self.request.form == "none":
            self.streams.tell(message)

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────

    async def _end(self, context: ConversationContext, message: str) -> None:
        """Fire ``run_end`` and ``error``, and wait for background hooks; a failure of one of them fails
        the run. Errors of hooks go to the user and never into the conversation."""
        self.ending = True
        data: dict[str, Any] = {
            "run_id": self.id,
            "status": "error" if message else "success",
            "duration_ms": round((time.monotonic() - self.began) * 1000),
        }
        data |= {"error_message": message} if message else {}
        data |= {"tokens": context.tokens} if context.tokens else {}
        late = context.late_failures
        if late and not message:
            data |= {"status": "error", "error_message": "\n".join(late)}
        engine = context.events.engine
        decision = await asyncio.to_thread(engine.fire_sync, "RunEnd", {**context.events.common, **data})
        context.events.report(decision)
        failures = [] if message or decision.data.get("status") != "error" else [str(decision.data["error_message"])]
        failures += [failure_text(aborted.hook, aborted.message)] if (aborted := decision.aborted) is not None else []
        failures += await asyncio.to_thread(background_failures, engine)
        if failures:
            self.streams.tell("<hook-error>\n" + "\n".join(failures) + "\n</hook-error>")
            self.exit_code = self.exit_code or 1

    # ── signals ──────────────────────────────────────────────────────────────────────────────────────

    def _interruption(self) -> str:
        return f"Interrupted by {self.ended_by.name}" if self.ended_by else "Interrupted: the run was ended"

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._on_signal, number)

    def _stop_listening(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    def _on_signal(self, number: signal.Signals) -> None:
        """The first signal ends the turn in good order, a second one at once. Before both, Ctrl-C ends the waiting for
        output that a hook left to others."""
        if number == signal.SIGINT and self._host.end_waits():
            return
        if self.ended_by is not None or self.ending:
            os._exit(128 + int(number))
        self.ended_by = number
        if self._task is not None:
            self._task.cancel()


def _session(header: Header, request: RunRequest) -> str:
    """A conversation file is one session, over all its runs."""
    given = header.tree.get("id")
    if isinstance(given, str) and given:
        return given
    return f"lec-{uuid.uuid5(uuid.NAMESPACE_URL, os.path.realpath(request.where.file))}" if request.where.file else ""


def _trimmed(text: str) -> str:
    return text.strip("\ufeff \t\r\n\v\f")
