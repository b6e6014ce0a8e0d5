"""An event that comes through two registrations is decided once; two equal calls through one are two events."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.result import Aborted, Context, Decision, Injected, Message
from hookline.gateway import dedupe_memory
from hookline.gateway.dedupe import Deduper, DedupeTurn, Key, event_key
from hookline.gateway.dedupe_file import DaemonDeduper, FileDeduper
from hookline.gateway.dedupe_memory import MemoryDeduper
from hookline.gateway.request import dialect_for_payload

PAYLOADS = Path(__file__).parents[2] / "payloads"
KEY: Key = ("session", "PreToolUse", "t1")
EVENT = Event(kind=event_kind("PreToolUse"), data={"tool_name": "Bash", "tool_input": {"command": "ls"}}, id="e1")


def said(reason: str = "no", **more: Any) -> Decision:
    return Decision(event="PreToolUse", effect="deny", reason=reason, data=EVENT.data, **more)


@pytest.fixture(params=["memory", "file", "both"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Deduper:
    if request.param == "both":
        FileDeduper(str(tmp_path)).enter(("other",), "another/agent", 0.0).leave()
        return DaemonDeduper().at(str(tmp_path))
    return MemoryDeduper() if request.param == "memory" else FileDeduper(str(tmp_path))


def decide(turn: DedupeTurn, decision: Decision) -> None:
    assert turn.earlier is None
    turn.keep(EVENT, decision)
    turn.leave()


def test_the_second_registration_is_told_what_the_first_was(memory: Deduper) -> None:
    decide(memory.enter(KEY, "user", 0.0), said())
    second = memory.enter(KEY, "project", 0.0)
    assert second.earlier is not None
    assert (second.earlier.event_id, second.earlier.registration) == ("e1", "user")
    assert second.earlier.for_event(EVENT) == said()


def test_equal_calls_through_one_registration_are_as_many_events(memory: Deduper) -> None:
    decide(memory.enter(KEY, "user", 0.0), said("first"))
    decide(memory.enter(KEY, "user", 0.0), said("second"))
    told = [memory.enter(KEY, "project", 0.0).earlier for _ in range(2)]
    assert [one.decision.reason for one in told if one is not None] == ["first", "second"]
    assert memory.enter(KEY, "project", 0.0).earlier is None


@pytest.mark.parametrize("warm_first", [True, False])
def test_who_stays_and_who_comes_and_goes_know_of_one_another(tmp_path: Path, warm_first: bool) -> None:
    """One registration is answered by the daemon, the other by a process of its own."""
    state = str(tmp_path)
    warm, cold = DaemonDeduper().at(state), FileDeduper(state)
    decide(cold.enter(("earlier",), "project", 0.0), said())  # from now on the daemon knows
    first, second = (warm, cold) if warm_first else (cold, warm)
    names = ("user", "project") if warm_first else ("project", "user")
    decide(first.enter(KEY, names[0], 0.0), said("first"))
    decide(first.enter(KEY, names[0], 0.0), said("second"))
    told = [second.enter(KEY, names[1], 0.0).earlier for _ in range(2)]
    assert [one.decision.reason for one in told if one is not None] == ["first", "second"]
    assert second.enter(KEY, names[1], 0.0).earlier is None


def test_whoever_called_without_the_daemon_before_is_known_to_the_next_registration(tmp_path: Path) -> None:
    """The first event of a session starts the daemon, and is answered without it."""
    state = str(tmp_path)
    decide(FileDeduper(state).enter(("start",), "user/own", 0.0), said())
    warm = DaemonDeduper().at(state)
    decide(warm.enter(KEY, "user/own", 0.0), said())
    assert warm.enter(KEY, "user/host", 0.0).earlier is not None
    assert warm.enter(KEY, "user/host", 0.0).earlier is None


def test_nothing_is_written_where_all_come_to_who_stays(tmp_path: Path) -> None:
    warm = DaemonDeduper().at(str(tmp_path))
    decide(warm.enter(KEY, "user", 0.0), said())
    assert warm.enter(KEY, "project", 0.0).earlier is not None
    decide(FileDeduper(str(tmp_path)).enter(("other",), "user", 0.0), said())
    before = len(list((tmp_path / "once").iterdir()))
    decide(warm.enter((*KEY, "2"), "user", 0.0), said())  # its own name is no company
    assert len(list((tmp_path / "once").iterdir())) == before


def test_another_event_is_another_event(memory: Deduper) -> None:
    decide(memory.enter(KEY, "user", 0.0), said())
    assert memory.enter((*KEY, "other"), "project", 0.0).earlier is None


def test_whoever_comes_second_waits_for_the_first(memory: Deduper) -> None:
    first = memory.enter(KEY, "user", 0.0)
    found: list[DedupeTurn] = []
    waiting = threading.Thread(target=lambda: found.append(memory.enter(KEY, "project", 0.0)))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    decide(first, said())
    waiting.join(60)
    assert found[0].earlier is not None


def test_if_the_first_one_fails_the_second_runs(memory: Deduper) -> None:
    first = memory.enter(KEY, "user", 0.0)
    found: list[DedupeTurn] = []
    waiting = threading.Thread(target=lambda: found.append(memory.enter(KEY, "project", 0.0)))
    waiting.start()
    first.leave()
    waiting.join(60)
    decide(found[0], said("by the second"))
    third = memory.enter(KEY, "local", 0.0).earlier
    assert third is not None
    assert third.decision.reason == "by the second"


def test_nobody_waits_beyond_the_deadline(memory: Deduper) -> None:
    memory.enter(KEY, "user", 0.0)
    began = time.monotonic()
    assert memory.enter(KEY, "project", began + 0.05).earlier is None
    assert time.monotonic() - began < 20


def test_a_decision_is_the_same_whichever_way_it_was_kept(memory: Deduper) -> None:
    new = {**EVENT.data, "tool_input": {"command": "pwd"}, "extra": [1]}
    decision = Decision(
        event="PreToolUse", granted=True, data=new, modified=True, reason="r", attributes={"continue": False},
        context=(Injected(hook="h", context=Context(text="t", placement="comment", label="l", attributes={"a": "b"})),),
        messages=(Message(hook="h", text="m"),), aborted=Aborted(hook="h", message="m"), droppable=True,
    )  # fmt: skip
    decide(memory.enter(KEY, "user", 0.0), decision)
    earlier = memory.enter(KEY, "project", 0.0).earlier
    assert earlier is not None
    assert earlier.for_event(EVENT) == decision
    assert set(earlier.decision.data) == {"tool_input", "extra"}  # and nothing of what was only passing


def test_what_was_decided_a_while_ago_is_not_told_again(memory: Deduper, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("hookline.gateway.dedupe_memory", "hookline.gateway.dedupe_file"):
        monkeypatch.setattr(f"{module}.KEPT_SECONDS", -1.0)
    decide(memory.enter(KEY, "user", 0.0), said())
    assert memory.enter(KEY, "project", 0.0).earlier is None


def test_a_memory_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedupe_memory, "_MOST", 10)
    memory = MemoryDeduper()
    for number in range(100):
        decide(memory.enter((str(number),), "user", 0.0), said())
    assert len(memory) <= 11
    assert memory.running == 0


def test_only_who_would_wait_is_told_so() -> None:
    memory = MemoryDeduper()
    assert not memory.would_wait(KEY, "project")
    first = memory.enter(KEY, "user", 0.0)
    assert (memory.would_wait(KEY, "project"), memory.would_wait(KEY, "user")) == (True, False)
    decide(first, said())
    assert not memory.would_wait(KEY, "project")


def test_files_are_private_and_old_ones_go(tmp_path: Path) -> None:
    memory = FileDeduper(str(tmp_path))
    decide(memory.enter(KEY, "user", 0.0), said())
    (file,) = (tmp_path / "once").iterdir()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    os.utime(file, (0, 0))
    decide(memory.enter(("other",), "user", 0.0), said())
    assert not file.exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '[{"at": 9e99, "asked": []}]', "null", '[{"at": 9e99, "asked": [], "decision": {}}]']
)
def test_a_file_that_is_damaged_is_no_answer(tmp_path: Path, text: str) -> None:
    memory = FileDeduper(str(tmp_path))
    decide(memory.enter(KEY, "user", 0.0), said())
    (file,) = (tmp_path / "once").iterdir()
    file.write_text(text)
    decide(memory.enter(KEY, "project", 0.0), said())


def test_without_a_place_to_remember_everybody_runs(tmp_path: Path) -> None:
    (tmp_path / "once").write_text("in the way")
    memory = FileDeduper(str(tmp_path))
    decide(memory.enter(KEY, "user", 0.0), said())
    decide(memory.enter(KEY, "project", 0.0), said())


# ── which events are the same ────────────────────────────────────────────────────────────────────────


def key(agent: str, event: str, file: str) -> Key:
    payload = json.loads((PAYLOADS / file).read_text())
    for name in ("sessionId", "session_id"):
        if name in payload:
            payload[name] = "one session"
    return event_key(dialect_for_payload(agent, payload).event_in(event, payload, {}))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("preToolUse", "PreToolUse"), ("userPromptSubmitted", "UserPromptSubmit"), ("sessionStart", "SessionStart"),
        ("agentStop", "Stop"), ("permissionRequest", "PermissionRequest"), ("sessionEnd", "SessionEnd"),
        ("postToolUse", "PostToolUse"),
    ],
)  # fmt: skip
def test_copilot_through_claudes_file_and_through_its_own_is_the_same_event(theirs: str, ours: str) -> None:
    own = key("copilot-cli", theirs, f"copilot/{theirs}.json")
    assert key("claude-code", ours, f"copilot-pascal/{ours}.json") == own


def test_calls_that_an_agent_numbers_are_told_apart_by_their_numbers() -> None:
    payload = json.loads((PAYLOADS / "claude/PreToolUse.Bash.json").read_text())
    claude = dialect_for_payload("claude-code", payload)
    one = event_key(claude.event_in("PreToolUse", payload, {}))
    assert event_key(claude.event_in("PreToolUse", {**payload, "tool_use_id": "other"}, {})) != one
    assert event_key(claude.event_in("PreToolUse", {**payload, "session_id": "other"}, {})) != one
    assert event_key(claude.event_in("PreToolUse", dict(reversed(payload.items())), {})) == one
