"""A session that is forgotten is nowhere any more; its neighbours lose nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path

import pytest
from tests.unit.memory.loop_world import World, set_time

from hookline.core._dataclass import replace
from hookline.core.errors import StateError
from hookline.core.event import Event, event_kind
from hookline.core.settings import RecordSettings
from hookline.memory.context import memory_context
from hookline.memory.inject.context_inject import context_inject
from hookline.memory.notes import forget as forgetting
from hookline.memory.notes import index as indexing
from hookline.memory.notes.backup import pre_compact, summary_header, summary_session
from hookline.memory.notes.session_export import session_export
from hookline.memory.queue.launch import WorkerLock
from hookline.state.record.store import store_in
from hookline.state.sessions.sqlite import StoredSessions

GONE, KEPT = "11111111-aaaa-4000-8000-000000000001", "22222222-bbbb-4000-8000-000000000002"
WORD = "zanzibar"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def lived(world: World, session: str, word: str) -> None:
    """A whole session: exported, compacted, queued and distilled; and once more, which was given up."""
    world.transcript(session, prompt=f"Please mend the {word} of the migration, and say what {word} means. " * 5)
    session_export(world.event(session))
    pre_compact(world.event(session, "PreCompact"))
    world.stop(session, force=True)
    answer = {
        "decisions": [{"summary": f"{word} is kept in SQLite"}],
        "failures": [{"summary": f"{word} ran twice", "prevention": "a lock"}],
        "learnings": [{"title": f"About {word}", "learning": f"{word} needs a lock"}],
        "handoff": [f"document {word}"],
    }
    world.work(answer)
    world.transcript(
        session, turns=4, prompt=f"Please mend the {word} of the migration, and say what {word} means. " * 5
    )
    world.stop(session, force=True)
    world.work(f"I will not say anything about {word}")


def test_what_a_killed_writer_left_is_forgotten_too_and_goes_away_by_itself(world: World) -> None:
    lived(world, GONE, WORD)
    lived(world, KEPT, "quinine")
    (memory,) = (world.data / "knowledge/memory").iterdir()
    (month,) = (world.data / "knowledge/learnings").iterdir()
    folders = (memory, month, world.state / "compact-backups")
    for folder in folders:
        left, fresh = folder / ".new-1-aaaa", folder / ".new-1-bbbb"
        left.write_text(WORD)
        set_time(left, time.time() - 60)
        fresh.write_text("somebody is writing")
    forget(world, GONE)
    assert [sorted(one.name for one in folder.glob(".new-*")) for folder in folders] == [[".new-1-bbbb"]] * 3
    for folder in folders:
        set_time(folder / ".new-1-bbbb", time.time() - 7200)
    lived(world, "33333333-cccc", "vermilion")
    assert not any(one for folder in folders for one in folder.glob(".new-*"))


def test_a_chat_of_our_own_goes_with_its_transcript_and_later_chats_lose_what_they_were_told(world: World) -> None:
    lived(world, GONE, WORD)
    folder = world.data / "chats" / "proj"
    folder.mkdir(parents=True)
    mine, later = folder / f"{GONE}.jsonl", folder / f"{KEPT}.jsonl"
    mine.write_bytes(world.transcript_file(GONE).read_bytes())
    told = {"type": "system", "content": f"Recent decisions:\n- {WORD} is kept in SQLite\n\nand more"}
    later.write_text(json.dumps(told) + "\n")
    prompt = f"Please mend the {WORD} of the migration, and say what {WORD} means. " * 5
    history = world.state / "chat_history"
    history.write_text(f"\n# 2026-01-01 00:00:00\n+{prompt.strip()}\n\n# 2026-01-01 00:00:01\n+another\n+line\n")
    assert forget(world, GONE)["chats"] == 1
    assert not mine.exists()
    assert WORD not in later.read_text()
    assert json.loads(later.read_text())["content"].endswith("and more")
    assert history.read_text() == "\n# 2026-01-01 00:00:01\n+another\n+line\n"


def forget(world: World, session: str) -> dict[str, int]:
    desk = memory_context(str(world.project), world.environ)
    store = store_in(str(world.state), RecordSettings())
    try:
        with indexing.open_index(desk.places, desk.clean) as index:
            index.sync(desk.places, thorough=True)
            assert session in forgetting.list_sessions(desk.places, index, store)
            gone = forgetting.forget_session(desk.places, session, index, store)
            assert session not in forgetting.list_sessions(desk.places, index, store)
            return gone
    finally:
        store.close()


def files_with(world: World, word: str) -> list[str]:
    places = (world.state, world.data)
    files = [file for place in places for file in place.rglob("*") if file.is_file()]
    return [file.name for file in files if word.encode() in file.read_bytes() or word in file.name]


def test_nothing_of_a_session_is_left_anywhere(world: World) -> None:
    lived(world, KEPT, "kilimanjaro")
    lived(world, GONE, WORD)
    world.stop(GONE, force=True)
    assert len(files_with(world, WORD)) >= 7
    gone = forget(world, GONE)
    assert files_with(world, WORD) == []
    assert files_with(world, GONE) == []
    assert gone["decisions and failures"] == 2
    assert gone["notes"] == 2, "the session's own, and a learning"
    assert gone["tasks"] == 3
    assert gone["dead letters"] == gone["backups"] == 1


def test_its_neighbours_lose_nothing(world: World) -> None:
    lived(world, GONE, WORD)
    lived(world, KEPT, "kilimanjaro")
    before = {name for name in files_with(world, "kilimanjaro") if not name.startswith(indexing.FILE)}
    forget(world, GONE)
    assert {name for name in files_with(world, "kilimanjaro") if not name.startswith(indexing.FILE)} == before
    assert world.summaries("decisions.jsonl") == ["kilimanjaro is kept in SQLite"]
    told = context_inject(
        Event(
            kind=event_kind("SessionStart"),
            data={},
            session="n",
            agent="codex",
            cwd=str(world.project),
            environ=world.environ,
        )
    )
    assert told is not None
    assert "kilimanjaro" in told.context[0].text
    assert WORD not in told.context[0].text


def test_a_task_that_a_killed_worker_left_is_forgotten_with_its_plan(world: World) -> None:
    world.transcript(GONE)
    world.stop(GONE, force=True)
    queue = world.queue()
    (waiting,) = queue.pending()
    claim = queue.claim(waiting)
    assert claim is not None
    Path(queue.claimed, f"{claim.name}.plan").write_text("{}")
    forget(world, GONE)
    assert os.listdir(queue.claimed) == []


def test_an_answer_that_could_not_be_written_yet_is_forgotten_with_its_task(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(world, KEPT, "quinine")
    world.transcript(GONE)
    world.stop(GONE)
    with monkeypatch.context() as patch:
        patch.setattr("hookline.memory.distill.write_results.apply_plan", full)
        world.work({"decisions": [{"summary": f"{WORD} is kept"}]})
    assert files_with(world, WORD)
    forget(world, GONE)
    assert files_with(world, WORD) == []


def full(_plan: object) -> list[str]:
    raise OSError(28, "No space left on device")


def test_nobody_forgets_what_a_worker_is_at(world: World) -> None:
    lived(world, GONE, WORD)
    world.stop(GONE, force=True)
    (waiting,) = world.queue().pending()
    assert world.queue().claim(waiting) is not None
    with WorkerLock(str(world.state / "queue/.worker.lock")) as held:
        assert held
        with pytest.raises(StateError, match="try again"):
            forget(world, GONE)
    assert world.summaries("decisions.jsonl")


def test_a_worker_that_waits_or_is_at_another_session_keeps_nobody_from_forgetting(world: World) -> None:
    lived(world, GONE, WORD)
    world.stop(GONE, force=True)
    with WorkerLock(str(world.state / "queue/.worker.lock")) as held:
        assert held
        forget(world, GONE)
    assert files_with(world, WORD) == []


def test_the_state_of_the_session_goes_with_its_last_prompt(world: World) -> None:
    lived(world, GONE, WORD)
    sessions = StoredSessions(str(world.state / "sessions.db"))
    for session, prompt in ((GONE, WORD), (KEPT, "kilimanjaro")):
        sessions.begin(session, "UserPromptSubmit", typed=True, prompt=prompt)
    sessions.close()
    (world.state / "open-sessions.db").write_bytes(b"")
    assert forget(world, GONE)["states"] == 1
    assert files_with(world, WORD) == []
    assert sessions.peek(KEPT, "Stop").last_prompt == "kilimanjaro"
    sessions.close()


def test_recorded_events_of_the_session_go_too(world: World) -> None:
    lived(world, GONE, WORD)
    store = store_in(str(world.state), RecordSettings())
    store.prune()  # makes the file
    store.close()
    row = [None, "id", 1.0, GONE, 1, "a", "Stop", "Stop", "/", "allow", 0, WORD, None, 0, 1.0, 1, WORD]
    with sqlite3.connect(world.state / "hookline.db") as database:
        database.execute(f"INSERT INTO firings VALUES ({', '.join('?' * 24)})", row + [None] * (24 - len(row)))
        number = database.execute("SELECT number FROM firings").fetchone()[0]
        spilled = world.state / "spilled.stdout"
        spilled.write_text(WORD)
        values = [
            number,
            0,
            "h",
            "h",
            "lazy",
            "replied",
            None,
            0,
            1.0,
            "",
            WORD,
            "",
            json.dumps([str(spilled)]),
            None,
            None,
        ]
        database.execute(f"INSERT INTO runs VALUES ({', '.join('?' * 15)})", values)
    database.close()
    assert forget(world, GONE)["recorded events"] == 1
    assert files_with(world, WORD) == []


def test_what_a_later_session_was_told_of_it_leaves_the_record(world: World) -> None:
    lived(world, GONE, WORD)
    store = store_in(str(world.state), RecordSettings())
    store.prune()
    store.close()
    told = [f'[{{"text": "- {WORD} is kept in SQLite"}}]', '[{"text": "something else that was told"}]']
    with sqlite3.connect(world.state / "hookline.db") as database:
        for context in told:
            row = [
                None,
                "id",
                1.0,
                KEPT,
                1,
                "a",
                "SessionStart",
                "",
                "/",
                "allow",
                0,
                "",
                None,
                0,
                1.0,
                1,
                "{}",
                None,
                context,
            ]
            database.execute(
                f"INSERT INTO firings VALUES ({', '.join('?' * 24)})", row + [None] * (23 - len(row)) + [context]
            )  # the answer has it too
    database.close()
    assert forget(world, GONE)["told to later sessions"] == 1
    assert files_with(world, WORD) == []
    with sqlite3.connect(world.state / "hookline.db") as database:
        assert database.execute("SELECT context FROM firings").fetchall() == [(None,), (told[1],)]
    database.close()


def test_a_session_forgotten_twice_is_gone_once(world: World) -> None:
    lived(world, GONE, WORD)
    assert forget(world, GONE)
    desk = memory_context(str(world.project), world.environ)
    with indexing.open_index(desk.places, desk.clean) as index:
        assert forgetting.forget_session(desk.places, GONE, index, None) == {}


def test_a_session_that_its_transcript_calls_otherwise_goes_as_a_whole(world: World) -> None:
    file = world.transcript(GONE, prompt=f"Please mend the {WORD} of it all. " * 10)
    file.write_text(file.read_text().replace(GONE, KEPT))
    session_export(world.event(GONE))
    world.stop(GONE, force=True)
    world.work({"decisions": [{"summary": f"{WORD} it is"}]})
    forget(world, KEPT)
    assert files_with(world, WORD) == []


@pytest.mark.parametrize("name", ["", "a b", "x --> y", 'q"uote', "\n", "é", "s-1"])
def test_a_summary_says_whose_it_is(name: str) -> None:
    line = summary_header("2026-04-12T10:00:00+00:00", name)
    assert line.count("-->") == 1
    assert line.startswith("<!-- generated 2026-04-12T10:00:00+00:00")
    assert summary_session(line) == name
    assert summary_session("<!-- generated 2026-04-12 -->") == ""


def test_a_session_that_only_its_file_names_leaves_no_copy_and_no_summary(world: World) -> None:
    """Records without an id, from an agent that does not say it either."""
    for session, word in ((GONE, WORD), (KEPT, "quinine")):
        file = world.transcript(session, prompt=f"Please mend the {word} of the migration. " * 5)
        records = [json.loads(line) for line in file.read_text().splitlines()]
        kept = [{key: value for key, value in one.items() if key != "sessionId"} for one in records]
        file.write_text("".join(json.dumps(one) + "\n" for one in kept))
        for hook, name in ((session_export, "Stop"), (pre_compact, "PreCompact")):
            hook(replace(world.event(session, name), session=""))
    assert forget(world, GONE)["backups"] == 1
    assert files_with(world, WORD) == []
    assert files_with(world, GONE) == []
    assert len(list((world.state / "compact-backups").glob("*.jsonl"))) == 1
    assert forget(world, KEPT)["backups"] == 1
