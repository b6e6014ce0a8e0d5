"""Letta Code and OpenCode name no transcript at the end of a turn: it is found all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.memory.note_world import NoteWorld
from tests.unit.transcripts.test_real_transcripts import opencode_database, sample

from hookline.core._dataclass import replace
from hookline.core.event import Event
from hookline.memory.context import hook_context
from hookline.memory.distill.distill_task import RunContext, distill
from hookline.memory.notes.session_export import session_export
from hookline.memory.queue.enqueue import enqueue
from hookline.memory.queue.queue import Queue

CONFIG = "[knowledge]\nmin_messages = 2\n[compound_loop]\nenabled = true\nmin_messages = 1\nmin_user_chars = 1\n"


@pytest.fixture
def world(tmp_path: Path) -> NoteWorld:
    made = NoteWorld(tmp_path)
    made.config(CONFIG)
    return made


def conversation(world: NoteWorld, folder: str, cwd: Path) -> Path:
    text = Path(sample("letta-code")).read_text().replace("/home/user/project", str(cwd))
    return world.write(world.home / ".letta/lc-local-backend/conversations" / folder / "messages.jsonl", text)


def turn(world: NoteWorld, agent: str, session: str = "") -> Event:
    return replace(world.event("Stop", agent=agent), session=session)


def test_a_turn_of_letta_is_the_newest_conversation_of_its_directory(world: NoteWorld) -> None:
    mine = conversation(world, "mine", world.project)
    conversation(world, "another", world.home)
    session_export(turn(world, "letta-code"))
    (note,) = world.notes()
    assert f"cwd: {world.project}\n" in note.read_text()
    scene = hook_context(turn(world, "letta-code"), "compound-loop")
    assert scene is not None
    queued = enqueue(scene, start=False)
    assert queued.transcript == str(mine)
    (waiting,) = Queue(scene.places.queue).pending()
    assert waiting.task.session_id == "local-conv-1"


def test_a_directory_without_a_conversation_has_no_session_of_letta(world: NoteWorld) -> None:
    session_export(turn(world, "letta-code"))
    conversation(world, "another", world.home)
    session_export(turn(world, "letta-code"))
    assert world.log().count("skipped: no transcript") == 2


def test_a_session_in_opencodes_database_is_exported_queued_and_distilled(world: NoteWorld) -> None:
    folder = world.home / ".local/share/opencode"
    folder.mkdir(parents=True)
    opencode_database(folder)
    event = turn(world, "opencode", "ses_e1e8a4c53ffev9NY03mCF6dqRT")
    session_export(event)
    (note,) = world.notes()
    assert "agent: opencode\n" in note.read_text()
    scene = hook_context(event, "compound-loop")
    assert scene is not None
    assert enqueue(scene, start=False).name
    assert enqueue(scene, start=False).skip_reason == "debounce"
    (waiting,) = Queue(scene.places.queue).pending()
    bench = RunContext(environ=world.environ, places=scene.places)
    plan = distill(bench, waiting.task, lambda _question: '{"handoff": ["go on"]}')
    assert plan.results.handoff == ("go on",)
    assert plan.source_mtime > 0
