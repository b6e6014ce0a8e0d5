"""A subagent: its own conversation, the same tools except Task, and hooks at its start and its end."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hookline.agent.chat import events
from hookline.agent.chat.conversation import Conversation
from hookline.agent.chat.presenter import ChatPresenter
from hookline.agent.chat.transcript import Transcript
from hookline.agent.loop import AgentLoop
from hookline.agent.tools.base import ToolError
from hookline.llm.names import ModelError

_GENERAL = "general-purpose"


async def run_subagent(parent: AgentLoop, presenter: ChatPresenter, arguments: Mapping[str, Any], *, limit: int) -> str:
    """Its last message is the result. A refused SubagentStop sends it back to work with the reason."""
    kind = arguments.get("subagent_type") or _GENERAL
    name = f"a{uuid.uuid4().hex[:16]}"
    own = _presenter(presenter, name, kind)
    agent = replace(
        parent,
        events=own.events,
        presenter=own,
        tools={key: tool for key, tool in parent.tools.items() if key != "Task"},
        context=replace(parent.context, delegate=None),
        system=f"{parent.system}\n\nYou are a subagent ({kind}): do the one task you are given and report.",
        requests=0,
    )  # It shares the parent's count of tokens.
    who = {"subagent_type": kind, "subagent_id": name}
    try:
        started = await own.events.fire("SubagentStart", **who)
        for text in events.context_messages(started):
            own.conversation.add_context(text)
        own.conversation.add_prompt(arguments["prompt"])
        return await _work(agent, own, who, arguments["prompt"], limit)
    except ModelError as error:
        await own.events.fire("SubagentStop", **who, success=False, error=str(error), stop_reason="error")
        raise ToolError(f"the subagent failed: {error}") from error
    finally:
        parent.requests += agent.requests
        own.conversation.transcript.close()


async def _work(agent: AgentLoop, own: ChatPresenter, who: dict[str, Any], prompt: str, limit: int) -> str:
    continuations = 0
    while True:
        done = await agent.run(limit=limit, tool_limit=limit - 1)
        decision = await own.events.fire(
            "SubagentStop",
            **who,
            stop_reason=done.stop_reason,
            assistant_message=done.text,
            user_message=prompt,
            preceding_reasoning=done.reasoning or None,
            continuations=continuations,
            success=True,
        )
        if decision.effect != "deny" or done.stop_reason != "end_turn":
            return done.text or "(the subagent gave no answer)"
        continuations += 1
        own.conversation.add_prompt(events.stop_refused(decision.reason), auto=True, meta=True)


def _presenter(parent: ChatPresenter, name: str, kind: str) -> ChatPresenter:
    main = parent.conversation.transcript
    path = os.path.join(main.path.removesuffix(".jsonl"), "subagents", f"agent-{name}.jsonl")
    transcript = Transcript.open(path, session=main.session, cwd=main.cwd, agent_id=name)
    conversation = Conversation(transcript=transcript)
    common = {
        **parent.events.common, "agent_id": name, "agent_type": kind, "turn": parent.conversation.turns,
        "transcript_path": main.path, "agent_transcript_path": path,
    }  # fmt: skip
    events = replace(parent.events, conversation=conversation, common=common)
    return ChatPresenter(
        conversation=conversation, events=events, screen=parent.screen, compaction=parent.compaction, agent=kind,
        calls=parent.calls,
    )  # fmt: skip
