"""What is kept before a compaction. Numbers in names are those of lazy-harness's cases, as its document has them."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.memory.note_world import INTERACTIVE, edited, git, said
from tests.unit.transcripts.test_real_transcripts import opencode_database

from hookline import transcripts
from hookline.core._dataclass import replace
from hookline.core.event import Event, event_kind
from hookline.core.hook import Command, HookSpec, Origin
from hookline.core.result import Replied
from hookline.dialects import dialect_named
from hookline.engine.fold import begin, finish, step
from hookline.memory.notes.backup import pre_compact

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.memory.note_world import NoteWorld


def flat(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def test_23_a_message_of_fifteen_characters_counts_and_one_of_fourteen_does_not(world: NoteWorld) -> None:
    reply = world.compact(world.transcript(flat("user", "x" * 14), flat("user", "y" * 15)))
    assert reply is not None
    assert reply.context[0].text == f"## Tasks in progress\n- {'y' * 15}"


@pytest.mark.parametrize("shape", ["flat", "nested"])
def test_23_the_last_five_messages_and_ten_files_are_kept(world: NoteWorld, shape: str) -> None:
    blocks = [edited(f"/p/f{n:02}.py") for n in (*range(12, 0, -1), 5)]
    if shape == "flat":
        records: list[Any] = [flat("user", f"do the task number {n}") for n in range(9)]
        records += [flat("assistant", one["message"]["content"]) for one in blocks]
    else:
        records = [INTERACTIVE, *(said("user", f"do the task number {n}") for n in range(9)), *blocks]
    reply = world.compact(world.transcript(*records))
    assert reply is not None
    tasks = "".join(f"\n- do the task number {n}" for n in range(4, 9))
    files = "".join(f"\n- /p/f{n:02}.py" for n in range(3, 13))
    assert reply.context[0].text == f"## Tasks in progress{tasks}\n\n## Files worked on{files}"


def test_a_long_message_is_cut_to_two_hundred(world: NoteWorld) -> None:
    reply = world.compact(world.transcript(INTERACTIVE, said("user", "z" * 300)))
    assert reply is not None
    assert reply.context[0].text == f"## Tasks in progress\n- {'z' * 200}"


@pytest.mark.parametrize("field", ["transcript_path", "transcriptPath", "input"])
def test_versions_of_agents_name_the_transcript_differently(world: NoteWorld, field: str) -> None:
    assert world.compact(world.conversation(), field) is not None


def test_the_summary_is_a_file_with_the_moment_in_a_comment(world: NoteWorld) -> None:
    world.compact(world.conversation(turns=1))
    file = world.memory() / "pre-compact-summary.md"
    comment, *rest = file.read_text().splitlines()
    assert comment.startswith("<!-- generated 20")
    assert comment.endswith(" -->")
    assert rest == ["## Tasks in progress", "- please mend the parser"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_transcript_is_copied_as_it_is(world: NoteWorld) -> None:
    transcript = world.conversation()
    world.compact(transcript)
    world.compact(transcript)
    copies = sorted((world.state / "compact-backups").iterdir())
    assert [copy.read_bytes() for copy in copies] == [transcript.read_bytes()] * 2
    assert all(copy.name[8] == "-" and "-proj" in copy.name and copy.suffix == ".jsonl" for copy in copies)
    assert copies[0].stat().st_mode & 0o777 == 0o600


def test_a_copy_has_the_name_of_the_directory_whatever_the_remote_is_called(world: NoteWorld) -> None:
    git(world.repository(), "remote", "add", "origin", "git@example.org:me/Another-Name.git")
    world.compact(world.conversation())
    (copy,) = (world.state / "compact-backups").iterdir()
    assert re.fullmatch(r"\d{8}-\d{6}-proj\.jsonl", copy.name)


def test_old_copies_go(world: NoteWorld) -> None:
    old = world.write(world.state / "compact-backups/20200101-000000-proj.jsonl", "")
    ages_ago = time.time() - 40 * 86400
    os.utime(old, (ages_ago, ages_ago))
    world.compact(world.conversation())
    assert not old.exists()
    assert len(list((world.state / "compact-backups").iterdir())) == 1


def test_of_an_agent_that_always_tells_it_the_last_copy_of_a_session_is_kept(world: NoteWorld) -> None:
    """Gemini CLI fires its event before every call of the model."""

    def before_a_call(path: Path) -> int:
        pre_compact(world.event("PreCompact", agent="gemini-cli", trigger="auto", transcript_path=str(path)))
        return len(list((world.state / "compact-backups").iterdir()))

    assert [before_a_call(world.conversation(turns=number)) for number in (1, 2, 3)] == [1, 1, 1]
    other = world.transcript(INTERACTIVE, said("user", "a task of another session"), name="other.jsonl")
    assert before_a_call(other) == 2


def test_a_session_in_a_database_is_copied_as_a_transcript_that_can_be_read(world: NoteWorld) -> None:
    folder = world.home / ".local/share/opencode"
    folder.mkdir(parents=True)
    database = opencode_database(folder)
    event = replace(world.event("PreCompact", agent="opencode"), session="ses_e1e8a4c53ffev9NY03mCF6dqRT")
    assert pre_compact(event) is not None
    (copy,) = (world.state / "compact-backups").iterdir()
    kept, there = (list(transcripts.read(path)) for path in (str(copy), database))
    assert [(one.role, one.text, one.tool, one.failed) for one in kept] == [
        (one.role, one.text, one.tool, one.failed) for one in there
    ]
    assert transcripts.about(str(copy)).session == event.session


def test_without_a_transcript_nothing_is_written(world: NoteWorld) -> None:
    assert world.compact(world.tmp / "not-there.jsonl") is None
    assert not world.knowledge.exists()
    assert world.log().endswith("pre-compact: skipped: no transcript\n")


def test_a_session_in_which_nothing_was_said_leaves_no_summary(world: NoteWorld) -> None:
    assert world.compact(world.transcript(INTERACTIVE, said("user", "yes"))) is None
    assert not world.knowledge.exists()


def test_what_an_agent_made_up_is_no_task(world: NoteWorld) -> None:
    records = [INTERACTIVE, said("user", "<system-reminder>do not forget</system-reminder>")]
    assert world.compact(world.transcript(*records)) is None


def test_secrets_do_not_reach_the_summary(world: NoteWorld) -> None:
    key = "sk-ant-api03-" + "k" * 60
    reply = world.compact(world.transcript(INTERACTIVE, said("user", f"please use {key}")))
    assert reply is not None
    assert key not in reply.context[0].text
    assert key not in (world.memory() / "pre-compact-summary.md").read_text()


def test_the_next_session_is_told(world: NoteWorld) -> None:
    world.compact(world.conversation())
    assert "Pre-compact context:\n## Tasks in progress\n- please mend the parser" in world.told()


def test_25_claude_code_is_given_the_text_itself_since_it_refuses_an_object_here(world: NoteWorld) -> None:
    reply = world.compact(world.conversation(turns=1))
    event = Event(kind=event_kind("PreCompact"), data={})
    action = Command(form="argv", argv=("x",))
    spec = HookSpec(
        id="1", name="pre-compact", dialect="lazy", event="PreCompact", origin=Origin(file="f"), action=action
    )
    outcome = Replied(id="1", hook="pre-compact", reply=reply)
    decision = finish(step(begin(event.kind, event.data), spec, outcome), [outcome])
    answer = dialect_named("claude").reply_out(event, decision)
    assert (answer.stdout, answer.lost) == ("## Tasks in progress\n- please mend the parser", ())
