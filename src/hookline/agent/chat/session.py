"""A chat session from its start to its end: its turns, and the hooks around them."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hookline.agent.chat import events
from hookline.agent.chat.compaction import Compaction
from hookline.agent.chat.context import MAX_FOLLOW_UPS, MODE_WORDS, ChatContext, system_prompt
from hookline.agent.chat.conversation import Conversation
from hookline.agent.chat.events import ChatEvents, FiredEvent, refusals
from hookline.agent.chat.presenter import ChatPresenter
from hookline.agent.chat.replay import TranscriptState, replay
from hookline.agent.chat.screen import ShownCall
from hookline.agent.chat.subagent import run_subagent
from hookline.agent.chat.transcript import Transcript, chat_folder, timestamp
from hookline.agent.hook_events import RunError, fatal_failures
from hookline.agent.loop import AgentLoop, LoopResult
from hookline.agent.permissions import Permissions, parse_rule
from hookline.agent.tools.base import ToolContext
from hookline.core.describe import failure_text
from hookline.core.errors import StateError
from hookline.core.paths import private_dir
from hookline.core.result import Decision
from hookline.llm.names import ModelError
from hookline.runners.base import Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn ended: end_turn, blocked, max_turns, hook_stopped, interrupted or error."""

    text: str = ""
    stop_reason: str = "end_turn"
    error: str | None = None
    #: A prompt that a hook submits next.
    follow_up: str = ""


class Session:
    """``start``, then any number of ``submit``, then ``end``, which is safe in any state and acts once."""

    def __init__(self, context: ChatContext, resume: str | None = None) -> None:
        self.context = context
        self.began = time.monotonic()
        self.ended = False
        found = replay(resume) if resume is not None else None
        self.id = found.session if found is not None else str(uuid.uuid4())
        path = resume or os.path.join(chat_folder(private_dir(context.data_dir), context.cwd), f"{self.id}.jsonl")
        private_dir(os.path.join(context.data_dir, "chats"))
        transcript = Transcript.open(
            path, session=self.id, cwd=context.cwd, last=found.last if found is not None else None
        )
        self.conversation = _conversation(context, transcript, found)
        self.permissions = Permissions(
            mode=context.options.mode, rules=[parse_rule(one) for one in context.options.allow]
        )
        self.fired: list[FiredEvent] | None = [] if context.options.report else None
        self._prompt = self.conversation.last("user")
        self._started = ""
        self._stop = Stop()
        self.calls: list[ShownCall] = []
        self.tokens: dict[str, int] = dict.fromkeys(("input", "cached", "output", "total"), 0)
        self.costs: dict[str, float] = {}
        self._requests = 0
        self._equip()

    def _equip(self) -> None:
        """Build the agent from the context; the counters continue."""
        context = self.context
        common = {
            "agent_id": f"agent-{self.id}",
            "agent_name": "hookline",
            "model": context.model.model,
            "permission_mode": MODE_WORDS[self.permissions.mode],
        }
        self.events = ChatEvents(
            engine=context.engine, conversation=self.conversation, screen=context.screen, session=self.id,
            common=common, fired=self.fired, tokens=self.tokens, costs=self.costs,
        )  # fmt: skip
        self.presenter = ChatPresenter(
            conversation=self.conversation, events=self.events, screen=context.screen, calls=self.calls,
            compaction=Compaction(limit=context.options.context_limit),
        )  # fmt: skip
        self.agent = AgentLoop(
            events=self.events, model=context.model, presenter=self.presenter, tools=context.tools,
            context=self._tool_context(), permissions=self.permissions, system=system_prompt(context),
            tokens=self.tokens, requests=self._requests,
        )  # fmt: skip

    def _tool_context(self) -> ToolContext:
        async def delegate(arguments: Mapping[str, Any]) -> str:
            return await run_subagent(self.agent, self.presenter, arguments, limit=self.context.options.max_turns)

        context = self.context
        return ToolContext(
            cwd=context.cwd, environ=context.environ, settings=context.engine.settings, stop=self._stop,
            delegate=delegate,
        )  # fmt: skip

    def change(self, **parts: Any) -> None:
        """Use another model, or an engine with reloaded hooks, from the next turn on."""
        self.context = replace(self.context, **parts)
        self._requests = self.agent.requests
        self._equip()

    async def start(self, source: str) -> None:
        """``source``: startup, resume or clear. Context from hooks goes before the next prompt, once."""
        fresh, history = source != "resume", self.conversation.history
        pause: dict[str, Any] = {}
        if history and not fresh:
            seconds = max(0, round(time.time() - history[-1]["time"]))
            pause = {"seconds_since_last_response": seconds, "context_tokens": self.conversation.size}
        decision = await self.events.emit("SessionStart", source=source, is_new_session=fresh, **pause)
        self._started = events.session_context(decision)
        self.keep_mode(decision)

    async def end(self, reason: str) -> None:
        """SessionEnd fires once. Context from hooks is kept for the next session."""
        if self.ended:
            return
        self.ended = True
        conversation = self.conversation
        try:
            decision = await self.events.emit(
                "SessionEnd",
                reason=reason,
                duration_ms=round((time.monotonic() - self.began) * 1000),
                message_count=conversation.length,
                tool_call_count=conversation.tool_calls,
            )
            for text in events.context_messages(decision):
                conversation.add_context(text)
            await self.events.wait_pending()
            self.events.finished(await asyncio.to_thread(self.context.engine.join, self.id))
        finally:
            try:
                conversation.transcript.sync()
            finally:
                conversation.transcript.close()

    # ── a turn ───────────────────────────────────────────────────────────────────────────────────────

    async def submit(self, prompt: str) -> TurnResult:
        """Run the user's prompt, and then the turns that hooks submit."""
        ended = await self._turn(prompt, auto=False)
        for _ in range(MAX_FOLLOW_UPS):
            if not ended.follow_up:
                break
            self.context.screen.note(f"follow-up: {ended.follow_up}")
            ended = await self._turn(ended.follow_up, auto=True)
        return ended

    async def _turn(self, prompt: str, *, auto: bool) -> TurnResult:
        """RunStart and RunEnd fire around every turn, also a failed one."""
        began, run_id = time.monotonic(), str(uuid.uuid4())
        self._stop = Stop()
        self.agent.context = self._tool_context()
        self.events.common["prompt_id"] = str(uuid.uuid4())
        self._marked(auto=auto)
        before = dict(self.tokens)
        ended, cancelled = await self._guarded(prompt, run_id, auto=auto)
        self._marked(auto=auto)
        done = await asyncio.to_thread(self.context.engine.join, self.id, leave="running")
        self.events.finished(done)
        late = "\n".join(fatal_failures(done))
        # A prompt that a hook blocked is not an error of the run.
        error = late or (ended.error if ended.stop_reason != "blocked" else None)
        tokens = {name: count - before[name] for name, count in self.tokens.items()}
        finished = await self.events.emit(
            "RunEnd", run_id=run_id, status="error" if error else "success", error_message=error or None,
            duration_ms=round((time.monotonic() - began) * 1000), **({"tokens": tokens} if any(tokens.values()) else {}),
        )  # fmt: skip
        if finished.aborted is not None:
            error = error or failure_text(finished.aborted.hook, finished.aborted.message)
        self._notify(ended, error)
        self._marked(auto=False)
        try:
            self.conversation.transcript.sync()
        except StateError as full:
            self.context.screen.note(str(full), "warning")
        if cancelled is not None:
            raise cancelled
        if error and not ended.error:
            self.context.screen.note(error, "error")
            return replace(ended, stop_reason="error", error=error)
        return ended

    def _marked(self, *, auto: bool) -> None:
        """Mark the events of a turn that nobody typed."""
        about = self.events.common
        about.pop("auto_submit", None)
        if auto:
            about["auto_submit"] = True

    async def _guarded(
        self, prompt: str, run_id: str, *, auto: bool
    ) -> tuple[TurnResult, asyncio.CancelledError | None]:
        events = self.events
        try:
            begun = await events.fire("RunStart", run_id=run_id, started_at=timestamp(time.time()))
            if begun.effect == "deny":
                return TurnResult(stop_reason="blocked", error=refusals(begun)), None
            return await self._converse(prompt, auto=auto), None
        except (RunError, StateError, ModelError) as error:
            # Only the turn is lost, also on a full disk: it may have room again later.
            self.context.screen.note(str(error), "error")
            if isinstance(error, ModelError):
                answer = self.conversation.last("assistant")
                await events.emit("StopFailure", error=str(error), assistant_message=answer)
            return TurnResult(stop_reason="error", error=str(error)), None
        except asyncio.CancelledError as cancelled:
            self._stop.set()
            await events.emit("Interrupt")
            return TurnResult(stop_reason="interrupted", error="interrupted"), cancelled

    def _notify(self, ended: TurnResult, error: str | None) -> None:
        events = self.events
        if ended.stop_reason == "interrupted":
            return
        if error:
            events.notify(f"Processing error: {error}", "error", "error")
        elif ended.stop_reason == "max_turns":
            events.notify("The limit of requests for one turn was reached", "warning", "limit")
        elif ended.stop_reason == "blocked":
            events.notify("A hook blocked the prompt", "warning", "blocked")
        else:
            events.notify("Turn completed, awaiting your input", "info", "idle_prompt")

    async def _converse(self, prompt: str, *, auto: bool) -> TurnResult:
        blocked = await self._admit(prompt, auto=auto)
        if blocked is not None:
            return blocked
        continuations, limit = 0, self.context.options.max_turns
        while True:
            done = await self.agent.run(limit=limit, tool_limit=limit - 1)
            if done.stop_reason != "end_turn":
                return TurnResult(text=done.text, stop_reason=done.stop_reason)
            decision = await self._stopping(done, continuations)
            if decision.effect != "deny":
                follow_up = decision.attributes.get("follow_up")
                return TurnResult(text=done.text, follow_up=follow_up if isinstance(follow_up, str) else "")
            continuations += 1
            self._marked(auto=True)
            self.context.screen.note("Stop hook blocked, continuing conversation.")
            self.conversation.add_prompt(events.stop_refused(decision.reason), auto=True, meta=True)

    async def _admit(self, prompt: str, *, auto: bool) -> TurnResult | None:
        """Fire UserPromptSubmit and add the prompt to the conversation; a result only if the prompt was blocked."""
        conversation = self.conversation
        turn = conversation.turns + (not auto)
        decision = await self.events.fire(
            "UserPromptSubmit", prompt=prompt, messages_length=conversation.length + 1, turn=max(turn, 1),
            is_command=False,
        )  # fmt: skip
        self.keep_mode(decision)
        if decision.effect != "allow":
            notice = events.prompt_blocked(decision)
            conversation.transcript.append("system", time.time(), subtype="prompt_blocked", content=notice, isMeta=True)
            self.context.screen.note(notice, "warning")
            return TurnResult(stop_reason="blocked", error=events.refusals(decision))
        conversation.turns = turn
        conversation.close_last_calls()
        changed = decision.data.get("prompt", prompt)
        prompt = changed if isinstance(changed, str) else prompt
        self._prompt = self._prompt if auto else prompt
        attachments = events.attachments(decision)
        if any("reset" in one.attributes for one in attachments):
            conversation.reset("", keep_reply=False)
        for text in (self._started, *events.context_messages(decision)):
            if text:
                conversation.add_context(text)
        self._started = ""
        conversation.add_prompt(prompt, auto=auto)
        for one in attachments:
            conversation.add_context(one.text)
        return None

    async def _stopping(self, done: LoopResult, continuations: int) -> Decision:
        conversation = self.conversation
        decision = await self.events.fire(
            "Stop",
            stop_reason=done.stop_reason,
            assistant_message=done.text,
            user_message=self._prompt,
            preceding_reasoning=done.reasoning or None,
            continuations=continuations,
            message_count=conversation.length,
            tool_call_count=conversation.tool_calls,
        )
        self.keep_mode(decision)
        if text := events.reply_context(decision):
            conversation.add_to_reply(text)
        for text in (*events.context_messages(decision), *(one.text for one in events.attachments(decision))):
            conversation.add_context(text)
        return decision

    def keep_mode(self, decision: Decision) -> None:
        """A mode that a hook sets stays with the session, also when it is resumed."""
        if "mode" in decision.attributes:
            mode = str(decision.attributes["mode"] or "")
            self.conversation.transcript.append("system", time.time(), subtype="mode", mode=mode, isMeta=True)

    async def compact(self, instructions: str = "") -> str:
        """On command; at the limit it happens automatically."""
        return await self.presenter.compaction.compact(self.agent, self.presenter, "manual", instructions)


def _conversation(context: ChatContext, transcript: Transcript, found: TranscriptState | None) -> Conversation:
    now = time.time()
    if found is not None:
        if found.mode:
            context.engine.sessions.settle(found.session, mode=found.mode, continuations=None)
        return Conversation.resumed(transcript, found)
    if context.options.interactive:
        mode = {"type": "permission-mode", "permissionMode": MODE_WORDS[context.options.mode]}
        transcript.write({**mode, "sessionId": transcript.session, "timestamp": timestamp(now)})
    transcript.append("system", now, subtype="init", content="Session started", isMeta=True)
    return Conversation(transcript=transcript)
