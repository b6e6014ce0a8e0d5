"""A session in this process, with a model that says what a test tells it and hooks that are functions."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.recording import MemoryRecorder

from hookline.agent.chat import transcript
from hookline.agent.chat.context import ChatContext, ChatOptions
from hookline.agent.chat.replay import replay
from hookline.agent.chat.session import Session
from hookline.agent.message import AssistantMessage, Delta, Done, Text, Thought, ToolCall, UserMessage
from hookline.agent.tools.builtin import BUILT_IN
from hookline.core.hook import Function, HookSpec, Origin
from hookline.core.result import Context, Reply
from hookline.engine.engine import Engine
from hookline.llm.names import ModelError


class Voice:
    name, model = "test:model", "model"

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.sent: list[list[Any]] = []

    async def converse(self, messages: Any, *_tools: Any, **_named: Any) -> AsyncGenerator[Delta]:
        self.sent.append(list(messages))
        reply = self.replies.pop(0) if self.replies else AssistantMessage(text="done")
        if isinstance(reply, Exception):
            raise reply
        if reply.text:
            yield Text(text=reply.text)
        if reply.text == "for ever":
            await asyncio.sleep(60)
        yield Done(message=reply)


class Screen:
    def __init__(self) -> None:
        self.said = ""
        self.notes: list[tuple[str, str]] = []
        self.first_word: float | None = None

    def text(self, piece: str) -> None:
        self.first_word = self.first_word or time.monotonic()
        self.said += piece

    def thinking(self, piece: str) -> None: ...
    def reply_done(self) -> None: ...
    def call_begins(self, *_: Any) -> None: ...
    def call_done(self, *_: Any) -> None: ...

    def note(self, text: str, level: str = "info") -> None:
        self.notes.append((level, text))

    async def ask(self, *_: Any) -> str:
        return "once"


def _hook(event: str, call: Callable[[Any], Any], **more: Any) -> HookSpec:
    return HookSpec(
        id=f"{event}-{id(call)}", name="look", dialect="native", event=event, origin=Origin(file="test"),
        action=Function(target="test:look", call=call), **more,
    )  # fmt: skip


def _session(folder: Path, model: Voice, *specs: HookSpec, resume: str | None = None, **options: Any) -> Session:
    engine = Engine(specs=specs, cwd=str(folder), environ={"PATH": "/usr/bin:/bin"}, recorder=MemoryRecorder())
    context = ChatContext(
        engine=engine, data_dir=str(folder / "data"), environ=engine.environ, tools=BUILT_IN, model=model,  # type: ignore[arg-type]
        screen=Screen(), options=ChatOptions(report=True, **options), cwd=str(folder),  # type: ignore[arg-type]
    )  # fmt: skip
    return Session(context, resume)


def _fired(session: Session, event: str) -> list[Any]:
    return [one.decision.data for one in session.fired or () if one.decision.event == event]


BASH = ToolCall(id="c", name="Bash", arguments={"command": "echo hi"})


def test_hooks_are_told_what_the_model_thought_before_a_call(tmp_path: Path) -> None:
    thinking = AssistantMessage(text="so", thinking=(Thought(text="hm"),), tool_calls=(BASH,))

    async def story() -> Session:
        session = _session(tmp_path, Voice(thinking, AssistantMessage(text="ok", thinking=(Thought(text="well"),))))
        await session.start("startup")
        await session.submit("go")
        await session.end("exit")
        return session

    session = asyncio.run(story())
    (post,) = _fired(session, "PostToolUse")
    assert (post["preceding_reasoning"], post["preceding_assistant_message"]) == ("hm", "so")
    (stop,) = _fired(session, "Stop")
    assert (stop["preceding_reasoning"], stop["assistant_message"], stop["user_message"]) == ("well", "ok", "go")


def test_nobody_waits_for_a_notification_or_an_observer(tmp_path: Path) -> None:
    seen: list[str] = []

    async def story() -> None:
        submitted = asyncio.Event()

        async def slow(event: Any) -> None:
            await asyncio.wait_for(submitted.wait(), 60)
            seen.append(event.data["message"])

        session = _session(tmp_path, Voice(AssistantMessage(text="ok")), _hook("Notification", slow))
        await session.submit("go")
        assert seen == []
        submitted.set()
        await session.end("exit")

    asyncio.run(story())
    assert seen == ["Turn completed, awaiting your input"]


def test_a_cancelled_turn_keeps_what_was_said_and_leaves_no_call_open(tmp_path: Path) -> None:
    async def story() -> Session:
        session = _session(tmp_path, Voice(AssistantMessage(text="for ever"), AssistantMessage(text="here")))
        task = asyncio.ensure_future(session.submit("go"))
        while not session.context.screen.said:  # type: ignore[attr-defined]  # noqa: ASYNC110  # the model speaks
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        ended = await session.submit("still there?")
        assert ended.text == "here"
        return session

    session = asyncio.run(story())
    first, second = _fired(session, "RunEnd")
    assert (first["status"], first["error_message"], second["status"]) == ("error", "interrupted", "success")
    assert AssistantMessage(text="for ever") in session.conversation.messages


def test_a_mode_that_a_hook_sets_stays_with_the_session_when_it_is_resumed(tmp_path: Path) -> None:
    modes: list[str] = []

    def plan(event: Any) -> Reply:
        modes.append(event.mode)
        return Reply(attributes={"mode": "plan"})

    async def story() -> None:
        session = _session(tmp_path, Voice(), _hook("UserPromptSubmit", plan))
        await session.submit("one")
        await session.end("exit")
        again = _session(
            tmp_path, Voice(), _hook("UserPromptSubmit", plan), resume=session.conversation.transcript.path
        )
        await again.submit("two")
        await again.end("exit")

    asyncio.run(story())
    assert modes == ["", "plan"]


def test_follow_ups_end_by_themselves(tmp_path: Path) -> None:
    async def story() -> Voice:
        model = Voice()
        hook = _hook("Stop", lambda _event: Reply(attributes={"follow_up": "more"}))
        session = _session(tmp_path, model, hook)
        await session.submit("go")
        await session.end("exit")
        assert session.conversation.turns == 1
        return model

    assert len(asyncio.run(story()).sent) == 7


def test_a_session_ends_once_and_keeps_what_hooks_leave_for_the_next_time(tmp_path: Path) -> None:
    ends: list[str] = []

    def debrief(event: Any) -> Reply:
        ends.append(event.data["reason"])
        return Reply(context=(Context(text="P\nwent well", placement="session", label="Debrief"),))

    async def story() -> Voice:
        session = _session(tmp_path, Voice(), _hook("SessionEnd", debrief))
        await session.submit("one")
        await asyncio.gather(session.end("exit"), session.end("hangup"))
        model = Voice()
        again = _session(tmp_path, model, resume=session.conversation.transcript.path)
        await again.submit("two")
        await again.end("exit")
        return model

    model = asyncio.run(story())
    assert ends == ["exit"]
    assert UserMessage(parts=("<|results:Debrief|>\nP\nwent well\n<|end_file:Debrief|>",)) in model.sent[0]


def test_a_background_hook_whose_failure_aborts_is_the_turns_failure(tmp_path: Path) -> None:
    def broken(_event: Any) -> None:
        raise RuntimeError("no disk")

    async def story() -> Any:
        hook = _hook("UserPromptSubmit", broken, mode="background", on_failure="abort")
        session = _session(tmp_path, Voice(), hook)
        ended = await session.submit("go")
        await session.end("exit")
        return ended, _fired(session, "RunEnd")[0]

    ended, run = asyncio.run(story())
    assert (ended.stop_reason, run["status"]) == ("error", "error")
    assert "no disk" in run["error_message"]
    assert run["error_message"].startswith("look: ")


def test_a_failed_compaction_costs_nothing(tmp_path: Path) -> None:
    async def story() -> Session:
        model = Voice(AssistantMessage(text="long " * 50), ModelError("too long"), AssistantMessage(text="still fine"))
        session = _session(tmp_path, model, context_limit=20)
        await session.submit("one")
        ended = await session.submit("two")
        assert ended.text == "still fine"
        await session.end("exit")
        return session

    session = asyncio.run(story())
    assert "warning" in [level for level, _ in session.context.screen.notes]  # type: ignore[attr-defined]
    assert len(session.conversation.messages) == 4


def _wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def test_who_heard_a_call_begin_hears_that_it_was_interrupted(tmp_path: Path) -> None:
    started = tmp_path / "started"
    call = ToolCall(id="c", name="Bash", arguments={"command": f"touch {started}; sleep 60"})

    async def story() -> Session:
        model = Voice(AssistantMessage(text="let me", tool_calls=(call,)))
        session = _session(tmp_path, model, _hook("PostToolUseFailure", lambda _event: None), mode="all")
        task = asyncio.create_task(session.submit("go"))
        await asyncio.to_thread(_wait_for, started)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await session.end("exit")
        return session

    (failure,) = _fired(asyncio.run(story()), "PostToolUseFailure")
    assert failure["tool_error"]["type"] == "abort"
    assert failure["preceding_assistant_message"] == "let me"


def test_a_full_disk_costs_the_turn_and_not_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> tuple[Any, Any, Session]:
        session = _session(
            tmp_path, Voice(AssistantMessage(tool_calls=(BASH,)), AssistantMessage(text="yes")), mode="all"
        )
        held = session.conversation
        monkeypatch.setattr(transcript, "os", _FullAfter("tool_result"))
        first = await session.submit("one")
        monkeypatch.undo()
        second = await session.submit("two")
        await session.end("exit")
        assert replay(held.transcript.path).messages == held.messages
        return first, second, session

    first, second, session = asyncio.run(story())
    assert (first.stop_reason, second.text) == ("error", "yes")
    assert "No space left" in first.error
    assert [run["status"] for run in _fired(session, "RunEnd")] == ["error", "success"]
    assert "call was interrupted" in session.conversation.messages[2].content  # type: ignore[union-attr]


class _FullAfter:
    """An ``os`` whose disk has room for half of a line that holds a word, and for none of those after it."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, handle: int, data: memoryview) -> int:
        if self._word.encode() in bytes(data):
            os.write(handle, data[:40])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(handle, data)


def test_what_waits_for_its_first_answer_survives_a_compaction_word_for_word(tmp_path: Path) -> None:
    async def story() -> Session:
        model = Voice(AssistantMessage(text="long " * 50), AssistantMessage(text="SUM"), AssistantMessage(text="yes"))
        hook = _hook("UserPromptSubmit", lambda _event: Reply(context=(Context(text="the rules"),)))
        session = _session(tmp_path, model, hook, context_limit=60)
        await session.submit("one")
        await session.submit("now delete b.txt")
        await session.end("exit")
        return session

    session = asyncio.run(story())
    held = session.conversation
    said = [message.parts[0] for message in held.messages if isinstance(message, UserMessage)]
    assert "SUM" in str(said[0])
    assert [str(part).count("the rules") for part in said[1:]] == [1, 0]
    assert said[-1] == "now delete b.txt"
    assert replay(held.transcript.path).messages == held.messages
    assert held.turns == 2


def test_an_asking_hook_is_heard_even_where_everything_is_allowed(tmp_path: Path) -> None:
    async def story() -> Session:
        hook = _hook("PreToolUse", lambda _event: Reply(effect="ask", reason="sure?"))
        session = _session(tmp_path, Voice(AssistantMessage(tool_calls=(BASH,))), hook, mode="all")
        await session.submit("go")
        await session.end("exit")
        return session

    assert [call.decision for call in asyncio.run(story()).calls] == ["person granted"]


def test_a_hook_can_end_the_turn_after_a_call(tmp_path: Path) -> None:
    async def story() -> Any:
        hook = _hook("PostToolUse", lambda _event: Reply(attributes={"continue": False}))
        model = Voice(AssistantMessage(tool_calls=(BASH,)))
        session = _session(tmp_path, model, hook, mode="all")
        ended = await session.submit("go")
        await session.end("exit")
        return ended, model

    ended, model = asyncio.run(story())
    assert (ended.stop_reason, len(model.sent)) == ("hook_stopped", 1)


def test_the_transcript_says_what_a_knowledge_loop_wants_to_know(tmp_path: Path) -> None:
    async def story() -> Session:
        session = _session(tmp_path, Voice(), interactive=True)
        await session.submit("go")
        await session.end("exit")
        return session

    session = asyncio.run(story())
    records = [json.loads(line) for line in Path(session.conversation.transcript.path).read_text().splitlines()]
    assert [record["type"] for record in records] == ["permission-mode", "system", "user", "assistant"]
    assert {"cwd", "version", "gitBranch", "timestamp"} <= records[1].keys()
