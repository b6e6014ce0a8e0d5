"""A subagent: a conversation of its own, the same tools but Task, and hooks at its beginning and its end."""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hookline.agent.chat import hook_output
from hookline.agent.chat.calls import Toolbox
from hookline.agent.chat.conversation import Conversation
from hookline.agent.chat.loop import Actor, Worked, work
from hookline.agent.chat.tools.base import Output, failed
from hookline.agent.chat.transcript import Transcript
from hookline.llm.names import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

_GENERAL = "general-purpose"


async def delegated(parent: Actor, given: Mapping[str, Any], *, limit: int) -> Output:
    """Its last message is the result. A refused SubagentStop sends it back to work with the reason."""
    kind = given.get("subagent_type") or _GENERAL
    name = f"a{uuid.uuid4().hex[:16]}"
    actor = _born(parent, name, kind)
    herald, conversation = actor.herald, actor.conversation
    who = {"subagent_type": kind, "subagent_id": name}
    try:
        begun = await herald.fire("SubagentStart", **who)
        for text in hook_output.beside(begun):
            conversation.add_context(text)
        conversation.add_prompt(given["prompt"])
        return await _until_it_may_stop(actor, who, given["prompt"], limit)
    except ModelError as error:
        await herald.fire("SubagentStop", **who, success=False, error=str(error), stop_reason="error")
        return failed(f"the subagent failed: {error}")
    finally:
        for counted, tokens in actor.tokens.items():
            parent.tokens[counted] += tokens
        parent.requests += actor.requests
        conversation.transcript.close()


async def _until_it_may_stop(actor: Actor, who: dict[str, Any], prompt: str, limit: int) -> Output:
    continuations = 0
    while True:
        worked = await work(actor, limit=limit)
        decision = await actor.herald.fire("SubagentStop", **who, **_end(worked, prompt, continuations))
        if decision.effect != "deny" or worked.stop_reason != "end_turn":
            return Output(text=worked.text or "(the subagent said nothing)")
        continuations += 1
        actor.conversation.add_prompt(hook_output.stop_refused(decision.reason), auto=True, meta=True)


def _end(worked: Worked, prompt: str, continuations: int) -> dict[str, Any]:
    return {
        "stop_reason": worked.stop_reason, "assistant_message": worked.text, "user_message": prompt,
        "preceding_reasoning": worked.reasoning or None, "continuations": continuations, "success": True,
    }  # fmt: skip


def _born(parent: Actor, name: str, kind: str) -> Actor:
    main = parent.conversation.transcript
    folder = os.path.join(main.path.removesuffix(".jsonl"), "subagents")
    path = os.path.join(folder, f"agent-{name}.jsonl")
    transcript = Transcript.open(path, session=main.session, cwd=main.cwd, agent_id=name)
    conversation = Conversation(transcript=transcript)
    about = {
        **parent.herald.about, "agent_id": name, "agent_type": kind, "turn": parent.conversation.turns,
        "transcript_path": main.path, "agent_transcript_path": path,
    }  # fmt: skip
    herald = replace(parent.herald, conversation=conversation, about=about)
    tools = {key: tool for key, tool in parent.box.tools.items() if key != "Task"}
    place = replace(parent.box.place, delegate=None)
    box = Toolbox(
        tools=tools, permissions=parent.box.permissions, place=place, herald=herald, screen=parent.screen,
        agent=kind, calls=parent.box.calls,
    )  # fmt: skip
    return Actor(
        conversation=conversation, herald=herald, box=box, screen=parent.screen, voice=parent.voice,
        system=f"{parent.system}\n\nYou are a subagent ({kind}): do the one task you are given and report.",
        compaction=parent.compaction, aloud=False,
    )  # fmt: skip
