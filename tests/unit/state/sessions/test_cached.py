"""Sessions that are remembered give the answers that the stored ones give, whoever else writes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from hookline.state.sessions.sqlite import ResidentSessions, StoredSessions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "sessions.db")


def test_the_answers_are_those_of_the_stored_kind(tmp_path: Path):
    plain = StoredSessions(str(tmp_path / "a" / "s.db"))
    quick = ResidentSessions(str(tmp_path / "b" / "s.db"))
    seeded = random.Random(3)
    for _ in range(300):
        session, kind = seeded.choice(["one", "two", ""]), seeded.choice(["PreToolUse", "Stop", "UserPromptSubmit"])
        match seeded.randrange(8):
            case 0:
                mode = seeded.choice([None, "", "plan"])
                for each in (plain, quick):
                    each.settle(session, mode=mode, continuations=2)
            case 1:
                assert plain.peek(session, kind) == quick.peek(session, kind)
            case 2:
                for each in (plain, quick):
                    each.forget(session)
            case _:
                typed = kind == "UserPromptSubmit"
                assert plain.begin(session, kind, typed=typed, prompt="x" if typed else "") == quick.begin(
                    session, kind, typed=typed, prompt="x" if typed else ""
                )
    plain.close()
    quick.close()


def test_what_another_process_writes_is_seen_at_once(path: str):
    mine, theirs = ResidentSessions(path), StoredSessions(path)
    for _ in range(3):
        mine.begin("s", "PreToolUse", typed=False)

    theirs.settle("s", mode="plan", continuations=None)
    theirs.begin("s", "UserPromptSubmit", typed=True, prompt="hello")

    facts = mine.begin("s", "PreToolUse", typed=False)
    assert (facts.mode, facts.turn, facts.last_prompt) == ("plan", 1, "hello")
    mine.close()
    theirs.close()


def test_what_was_counted_in_memory_is_written_at_the_end(path: str):
    mine = ResidentSessions(path)
    for _ in range(10):
        mine.begin("s", "PreToolUse", typed=False)
    mine.close()

    theirs = StoredSessions(path)
    assert theirs.peek("s", "PreToolUse").generation == 10
    theirs.close()
