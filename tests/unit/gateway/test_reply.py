"""What each agent is told of a decision: on every payload that was seen on the real programs, and what is lost on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.core._dataclass import replace
from hookline.core.event import Event, event_kind
from hookline.core.result import Context, Decision, Injected, Message
from hookline.dialects import dialect_named
from hookline.gateway.reply import AgentReply, failure_answer, write_reply

PAYLOADS = Path(__file__).parents[2] / "payloads"
AGENTS = {
    "claude": "claude-code", "codex": "codex", "gemini": "gemini-cli", "letta": "letta-code", "qwen": "qwen-code",
    "copilot": "copilot-cli", "copilot-pascal": "copilot-cli", "opencode": "opencode",
}  # fmt: skip
FILES = [(folder, file) for folder in AGENTS for file in sorted((PAYLOADS / folder).glob("*.json"))]
EVERY = pytest.mark.parametrize(("folder", "file"), FILES, ids=[f"{folder}/{file.stem}" for folder, file in FILES])


def event_of(folder: str, file: Path | str) -> Event:
    path = PAYLOADS / folder / file
    sent = json.loads(path.read_text())
    name = path.stem if folder == "opencode" else path.stem.partition(".")[0]
    came = dialect_named(AGENTS[folder]).event_in(name.removeprefix("event-"), sent, {})
    return Event(
        kind=event_kind(came.event), data=came.data, session=came.session, native=sent, native_name=came.native_name
    )


def worded(agent: str, event: Event, **decision: Any) -> AgentReply:
    fields: dict[str, Any] = {"data": event.data, **decision}
    told = Decision(event=event.kind.name, **fields)
    return write_reply(dialect_named(agent), event, told)


def context(text: str) -> tuple[Injected, ...]:
    return (Injected(hook="h", context=Context(text=text)),)


def changed(event: Event, **fields: Any) -> dict[str, Any]:
    return {"data": {**event.data, **fields}, "modified": True}


@EVERY
def test_no_opinion_is_neutral_on_every_agent(folder: str, file: Path) -> None:
    event = event_of(folder, file)
    wording = worded(AGENTS[folder], event)
    # Letta Code approves a permission on exit code 0, and leaves it to the person on 1.
    neutral = 1 if (folder, event.kind.name) == ("letta", "PermissionRequest") else 0
    assert (wording.answer.exit_code, wording.answer.stdout, wording.answer.stderr) == (neutral, "", "")
    assert (wording.dropped, wording.refused) == ((), ())


@EVERY
def test_only_a_hook_that_said_allow_grants(folder: str, file: Path) -> None:
    event = event_of(folder, file)
    if event.kind.name not in {"PreToolUse", "PermissionRequest"}:
        return
    for decision in (
        {},
        {"context": context("t")},
        {"messages": (Message(hook="h", text="m"),)},
        {"reason": "because"},
    ):
        answer = worded(AGENTS[folder], event, **decision).answer
        assert '"allow"' not in answer.stdout
        assert (folder, event.kind.name, answer.exit_code) != ("letta", "PermissionRequest", 0)
    grants = folder not in {"codex", "gemini", "opencode"} if event.kind.name == "PreToolUse" else True
    answer = worded(AGENTS[folder], event, granted=True).answer
    if folder == "letta":
        assert (answer.exit_code, answer.stdout) == (0, "")
    else:
        assert ('"allow"' in answer.stdout) == grants


@EVERY
def test_a_deny_is_said_with_its_reason_or_known_to_be_lost(folder: str, file: Path) -> None:
    event = event_of(folder, file)
    if not event.kind.deniable:
        return
    wording = worded(AGENTS[folder], event, effect="deny", reason="because of «this»")
    told = wording.answer.stdout + wording.answer.stderr
    assert ("because of «this»" in told) != ("deny" in wording.dropped)


@EVERY
def test_a_failure_of_ours_is_a_block_that_says_so_or_no_opinion(folder: str, file: Path) -> None:
    event, speaker = event_of(folder, file), dialect_named(AGENTS[folder])
    refused = failure_answer(speaker, event, "hookline failed: why", deny=True)
    if event.kind.name in {"PreToolUse", "UserPromptSubmit"} or (event.kind.name == "PermissionRequest"):
        assert refused is not None
        assert "hookline failed: why" in refused.stdout + refused.stderr
    passed = failure_answer(speaker, event, "hookline failed: why", deny=False)
    assert passed == worded(AGENTS[folder], event).answer


@EVERY
def test_what_is_for_the_model_or_the_person_is_said_or_known_to_be_lost(folder: str, file: Path) -> None:
    event = event_of(folder, file)
    for more in ({}, {"effect": "deny", "reason": "no"}):
        if more and not event.kind.deniable:
            continue
        wording = worded(
            AGENTS[folder],
            event,
            context=context("for the model\n«1»"),
            messages=(Message(hook="h", text="hi «2»"),),
            **more,
        )
        said = wording.answer.stdout + wording.answer.stderr
        assert ("«1»" in said) != ("context" in wording.dropped)
        assert "«2»" in said or "messages" in wording.dropped


# ── only what is lost is dropped ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("droppable", [True, False])
def test_a_rewrite_that_can_be_said_survives_a_context_that_cannot(droppable: bool) -> None:
    event = event_of("letta", "PreToolUse.json")
    new = {**event.data["tool_input"], "command": "pwd"}
    wording = worded("letta-code", event, **changed(event, tool_input=new), context=context("t"), droppable=droppable)
    assert json.loads(wording.answer.stdout)["hookSpecificOutput"]["updatedInput"] == new
    assert (wording.dropped, wording.refused) == (("context",), ())


def test_of_two_changes_only_the_one_that_cannot_be_said_is_dropped() -> None:
    event = event_of("claude", "PreToolUse.Bash.json")
    change = changed(event, tool_input={"command": "pwd"}, mood="good")
    soft = worded("claude-code", event, **change, droppable=True)
    assert json.loads(soft.answer.stdout)["hookSpecificOutput"]["updatedInput"] == {"command": "pwd"}
    assert (soft.dropped, soft.refused) == (("change of mood",), ())
    firm = worded("claude-code", event, **change)
    assert json.loads(firm.answer.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (firm.dropped, firm.refused) == ((), ("change of tool_input, mood",))


def test_an_ask_that_is_dropped_leaves_the_rewrite_beside_it() -> None:
    event = event_of("codex", "PreToolUse.Bash.json")
    change = changed(event, tool_input={"command": "pwd"})
    soft = worded("codex", event, effect="ask", reason="sure?", **change, droppable=True)
    assert json.loads(soft.answer.stdout)["hookSpecificOutput"]["updatedInput"] == {"command": "pwd"}
    assert soft.dropped == ("ask",)
    firm = worded("codex", event, effect="ask", reason="sure?", **change)
    assert json.loads(firm.answer.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert firm.refused == ("ask",)


def test_what_an_agent_can_neither_do_nor_refuse_is_dropped_and_not_called_refused() -> None:
    event = event_of("letta", "PostToolUse.json")
    wording = worded("letta-code", event, **changed(event, tool_output="shorter"))
    assert (wording.dropped, wording.refused) == (("change of tool_output",), ())


def test_the_notes_name_the_agent_and_what_became_of_it() -> None:
    answer = worded("codex", event_of("codex", "PreToolUse.Bash.json")).answer
    notes = AgentReply(answer=answer, dropped=("context",), refused=("ask",)).notes("codex")
    assert [note.text for note in notes] == [
        "codex does not support this, so the call was refused: ask",
        "codex does not support this, so it was left out: context",
    ]


@EVERY
def test_nothing_is_degraded_but_towards_deny(folder: str, file: Path) -> None:
    """An ask or a change that is firm never ends in less than the agent's own deny, if it has one here."""
    event = event_of(folder, file)
    if not event.kind.deniable or event.kind.name == "PermissionRequest":
        return
    firm = Decision(event=event.kind.name, effect="ask", reason="sure?", data=event.data)
    for decision in (firm, replace(firm, effect="allow", data={**event.data, "unheard of": 1}, modified=True)):
        wording = write_reply(dialect_named(AGENTS[folder]), event, decision)
        plain = worded(AGENTS[folder], event, effect="deny", reason="x").answer
        if wording.refused:
            assert wording.answer.exit_code == plain.exit_code
        elif decision.effect == "ask" and "ask" not in wording.dropped:
            assert '"ask"' in wording.answer.stdout
