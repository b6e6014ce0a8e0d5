"""A session from its start to its end: turns, what hooks say around them, and what is kept."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hookline.agent.chat import hook_output
from hookline.agent.chat.calls import Toolbox
from hookline.agent.chat.compaction import Compaction
from hookline.agent.chat.context import MODE_WORDS, ChatContext, system_prompt
from hookline.agent.chat.conversation import Conversation
from hookline.agent.chat.events import EventEmitter, Fired, HookAbortError
from hookline.agent.chat.loop import Actor, Worked, work
from hookline.agent.chat.options import MAX_FOLLOW_UPS
from hookline.agent.chat.permissions import Permissions, rule_of
from hookline.agent.chat.replay import Replayed, replay
from hookline.agent.chat.subagent import delegated
from hookline.agent.chat.tools.base import Place
from hookline.agent.chat.transcript import Transcript, folder_of, moment
from hookline.core.describe import failure_text
from hookline.core.errors import StateError
from hookline.core.paths import private_dir
from hookline.llm.names import ModelError
from hookline.runners.cancel import Stop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.result import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a turn ended: end_turn, blocked, max_turns, hook_stopped, interrupted or error."""

    text: str = ""
    stop_reason: str = "end_turn"
    error: str | None = None
    #: What a hook wants to be submitted next, and marked as such.
    follow_up: str = ""


class Session:
    """``start``, then any number of ``submit``, then ``end``, which may be called from any state and acts once."""

    def __init__(self, setting: ChatContext, resume: str | None = None) -> None:
        self.setting = setting
        self.began = time.monotonic()
        self.ended = False
        found = replay(resume) if resume is not None else None
        self.id = found.session if found is not None else str(uuid.uuid4())
        path = resume or os.path.join(folder_of(private_dir(setting.data_dir), setting.cwd), f"{self.id}.jsonl")
        private_dir(os.path.join(setting.data_dir, "chats"))
        transcript = Transcript.open(
            path, session=self.id, cwd=setting.cwd, last=found.last if found is not None else None
        )
        self.conversation = _conversation(setting, transcript, found)
        self.permissions = Permissions(mode=setting.options.mode, rules=[rule_of(one) for one in setting.options.allow])
        self.fired: list[Fired] | None = [] if setting.options.report else None
        self._prompt = self.conversation.last("user")
        self._started = ""
        self._stop = Stop()
        self.actor = self._actor(setting)

    def _actor(self, setting: ChatContext) -> Actor:
        about: dict[str, Any] = {
            "agent_id": f"agent-{self.id}",
            "agent_name": "hookline",
            "model": setting.voice.model,
            "permission_mode": MODE_WORDS[self.permissions.mode],
        }
        herald = EventEmitter(
            engine=setting.engine, conversation=self.conversation, screen=setting.screen, session=self.id, about=about,
            fired=self.fired,
        )  # fmt: skip
        box = Toolbox(
            tools=setting.tools, permissions=self.permissions, place=self._place(), herald=herald,
            screen=setting.screen,
        )  # fmt: skip
        return Actor(
            conversation=self.conversation, herald=herald, box=box, screen=setting.screen, voice=setting.voice,
            system=system_prompt(setting), compaction=Compaction(limit=setting.options.context_limit),
        )  # fmt: skip

    def _place(self) -> Place:
        async def delegate(given: Mapping[str, Any]) -> Any:
            return await delegated(self.actor, given, limit=self.setting.options.max_turns)

        setting = self.setting
        return Place(
            cwd=setting.cwd, environ=setting.environ, settings=setting.engine.settings, stop=self._stop,
            delegate=delegate,
        )  # fmt: skip

    def changed(self, **parts: Any) -> None:
        """Another model, or an engine with reloaded hooks, from the next turn on."""
        self.setting = replace(self.setting, **parts)
        calls, tokens, requests = self.actor.box.calls, self.actor.tokens, self.actor.requests
        self.actor = self._actor(self.setting)
        self.actor.box.calls, self.actor.tokens, self.actor.requests = calls, tokens, requests

    # ── the session ──────────────────────────────────────────────────────────────────────────────────

    async def start(self, source: str) -> None:
        """``source``: startup, resume or clear. What hooks say goes before the next prompt, once."""
        fresh = source != "resume"
        decision = await self.actor.herald.told(
            "SessionStart", source=source, is_new_session=fresh, **self._waiting(fresh=fresh)
        )
        self._started = hook_output.session_started(decision)
        self.keep_mode(decision)

    def _waiting(self, *, fresh: bool) -> dict[str, Any]:
        history = self.conversation.history
        if fresh or not history:
            return {}
        seconds = max(0, round(time.time() - history[-1]["time"]))
        return {"seconds_since_last_response": seconds, "context_tokens": self.conversation.size}

    async def end(self, reason: str) -> None:
        """SessionEnd fires once, whoever ends it. What hooks leave for the next time is written down."""
        if self.ended:
            return
        self.ended = True
        conversation = self.conversation
        try:
            decision = await self.actor.herald.told(
                "SessionEnd",
                reason=reason,
                duration_ms=round((time.monotonic() - self.began) * 1000),
                message_count=conversation.length,
                tool_call_count=conversation.tool_calls,
            )
            for text in hook_output.beside(decision):
                conversation.add_context(text)
            await self.actor.herald.settled()
            await asyncio.to_thread(self.setting.engine.join, self.id)
        finally:
            try:
                conversation.transcript.sync()
            finally:
                conversation.transcript.close()

    # ── a turn ───────────────────────────────────────────────────────────────────────────────────────

    async def submit(self, prompt: str) -> Ended:
        """What a person typed, and after it the turns that hooks submit, each marked."""
        ended = await self._turn(prompt, auto=False)
        for _ in range(MAX_FOLLOW_UPS):
            if not ended.follow_up:
                break
            self.setting.screen.note(f"follow-up: {ended.follow_up}")
            ended = await self._turn(ended.follow_up, auto=True)
        return ended

    async def _turn(self, prompt: str, *, auto: bool) -> Ended:
        """RunStart and RunEnd stand around everything, also around what fails."""
        began, run_id = time.monotonic(), str(uuid.uuid4())
        self._stop = Stop()
        self.actor.box.place = self._place()
        self.actor.herald.about["prompt_id"] = str(uuid.uuid4())
        self._marked(auto=auto)
        before = dict(self.actor.tokens)
        ended, cancelled = await self._guarded(prompt, run_id, auto=auto)
        self._marked(auto=auto)
        late = await self._background_failures()
        # A prompt that a hook blocked is a turn that went as it should.
        error = late or (ended.error if ended.stop_reason != "blocked" else None)
        tokens = {name: count - before[name] for name, count in self.actor.tokens.items()}
        finished = await self.actor.herald.told(
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
            self.setting.screen.note(str(full), "warning")
        if cancelled is not None:
            raise cancelled
        if error and not ended.error:
            self.setting.screen.note(error, "error")
            return replace(ended, stop_reason="error", error=error)
        return ended

    def _marked(self, *, auto: bool) -> None:
        """Every event of a turn that nobody typed says so."""
        about = self.actor.herald.about
        about.pop("auto_submit", None)
        if auto:
            about["auto_submit"] = True

    async def _guarded(self, prompt: str, run_id: str, *, auto: bool) -> tuple[Ended, asyncio.CancelledError | None]:
        herald = self.actor.herald
        try:
            begun = await herald.fire("RunStart", run_id=run_id, started_at=moment(time.time()))
            if begun.effect == "deny":
                return Ended(stop_reason="blocked", error=hook_output.refusals(begun)), None
            return await self._story(prompt, auto=auto), None
        except HookAbortError as error:
            self.setting.screen.note(str(error), "error")
            return Ended(stop_reason="error", error=str(error)), None
        except StateError as error:
            # The turn is lost, the session is not: there may be room on the disk again.
            self.setting.screen.note(str(error), "error")
            return Ended(stop_reason="error", error=str(error)), None
        except ModelError as error:
            self.setting.screen.note(str(error), "error")
            await herald.told("StopFailure", error=str(error), assistant_message=self.conversation.last("assistant"))
            return Ended(stop_reason="error", error=str(error)), None
        except asyncio.CancelledError as cancelled:
            self._stop.set()
            await herald.told("Interrupt")
            return Ended(stop_reason="interrupted", error="interrupted"), cancelled

    async def _background_failures(self) -> str:
        """Background hooks end with the turn, and the failure of one can be the turn's."""
        late = await asyncio.to_thread(self.setting.engine.join, self.id)
        failures = [(spec, outcome.error) for spec, outcome in late if outcome.error and spec.on_failure == "abort"]
        return "\n".join(failure_text(spec.name, error) for spec, error in failures)

    def _notify(self, ended: Ended, error: str | None) -> None:
        herald = self.actor.herald
        if ended.stop_reason == "interrupted":
            return
        if error:
            herald.notify(f"Processing error: {error}", "error", "error")
        elif ended.stop_reason == "max_turns":
            herald.notify("The limit of requests for one turn was reached", "warning", "limit")
        elif ended.stop_reason == "blocked":
            herald.notify("A hook blocked the prompt", "warning", "blocked")
        else:
            herald.notify("Turn completed, awaiting your input", "info", "idle_prompt")

    # ── what happens in a turn ───────────────────────────────────────────────────────────────────────

    async def _story(self, prompt: str, *, auto: bool) -> Ended:
        blocked = await self._admit(prompt, auto=auto)
        if blocked is not None:
            return blocked
        continuations = 0
        while True:
            worked = await work(self.actor, limit=self.setting.options.max_turns)
            if worked.stop_reason != "end_turn":
                return Ended(text=worked.text, stop_reason=worked.stop_reason)
            decision = await self._stopping(worked, continuations)
            if decision.effect != "deny":
                follow_up = decision.attributes.get("follow_up")
                return Ended(text=worked.text, follow_up=follow_up if isinstance(follow_up, str) else "")
            continuations += 1
            self._marked(auto=True)
            self.setting.screen.note("Stop hook blocked, continuing conversation.")
            self.conversation.add_prompt(hook_output.stop_refused(decision.reason), auto=True, meta=True)

    async def _admit(self, prompt: str, *, auto: bool) -> Ended | None:
        """UserPromptSubmit; how the turn ended if the prompt was blocked, else None with the prompt recorded."""
        conversation = self.conversation
        turn = conversation.turns + (not auto)
        decision = await self.actor.herald.fire(
            "UserPromptSubmit", prompt=prompt, messages_length=conversation.length + 1, turn=max(turn, 1),
            is_command=False,
        )  # fmt: skip
        self.keep_mode(decision)
        if decision.effect != "allow":
            told = hook_output.prompt_blocked(decision)
            conversation.transcript.append("system", time.time(), subtype="prompt_blocked", content=told, isMeta=True)
            self.setting.screen.note(told, "warning")
            return Ended(stop_reason="blocked", error=hook_output.refusals(decision))
        conversation.turns = turn
        conversation.close_last_calls()
        said = decision.data.get("prompt", prompt)
        said = said if isinstance(said, str) else prompt
        self._prompt = self._prompt if auto else said
        attachments = hook_output.attached(decision)
        if any("reset" in one.attributes for one in attachments):
            conversation.reset("", keep_reply=False)
        for text in (self._started, *hook_output.before_prompt(decision)):
            if text:
                conversation.add_context(text)
        self._started = ""
        conversation.add_prompt(said, auto=auto)
        for one in attachments:
            conversation.add_context(one.text)
        return None

    async def _stopping(self, worked: Worked, continuations: int) -> Decision:
        conversation = self.conversation
        decision = await self.actor.herald.fire(
            "Stop",
            stop_reason=worked.stop_reason,
            assistant_message=worked.text,
            user_message=self._prompt,
            preceding_reasoning=worked.reasoning or None,
            continuations=continuations,
            message_count=conversation.length,
            tool_call_count=conversation.tool_calls,
        )
        self.keep_mode(decision)
        for text in (*hook_output.beside(decision), *(one.text for one in hook_output.attached(decision))):
            conversation.add_context(text)
        return decision

    def keep_mode(self, decision: Decision) -> None:
        """A mode that a hook set stays with the session, also when it is resumed."""
        if "mode" in decision.attributes:
            mode = str(decision.attributes["mode"] or "")
            self.conversation.transcript.append("system", time.time(), subtype="mode", mode=mode, isMeta=True)

    async def compact(self, instructions: str = "") -> str:
        """On command; at the limit the loop does it by itself."""
        assert self.actor.compaction is not None
        return await self.actor.compaction.compact(self.actor, "manual", instructions)


def _conversation(setting: ChatContext, transcript: Transcript, found: Replayed | None) -> Conversation:
    now = time.time()
    if found is not None:
        if found.mode:
            setting.engine.sessions.settle(found.session, mode=found.mode, continuations=None)
        return Conversation.resumed(transcript, found)
    if setting.options.interactive:
        mode = {"type": "permission-mode", "permissionMode": MODE_WORDS[setting.options.mode]}
        transcript.write({**mode, "sessionId": transcript.session, "timestamp": moment(now)})
    transcript.append("system", now, subtype="init", content="Session started", isMeta=True)
    return Conversation(transcript=transcript)
