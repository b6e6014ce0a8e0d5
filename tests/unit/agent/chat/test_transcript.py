"""What is written down is what comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.agent.chat.conversation import Conversation
from hookline.agent.chat.replay import replay
from hookline.agent.chat.transcript import Transcript, chat_folder, current_branch, find, latest
from hookline.agent.message import AssistantMessage, Thought, ToolCall, Usage
from hookline.core.errors import StateError, UsageError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


def _open(folder: Path, name: str = "s") -> Conversation:
    transcript = Transcript.open(str(folder / f"{name}.jsonl"), session=name, cwd=str(folder))
    return Conversation(transcript=transcript)


STEP = st.one_of(
    st.tuples(st.just("prompt"), TEXT, st.booleans()),
    st.tuples(st.just("context"), TEXT, st.just(False)),
    st.tuples(st.just("reply"), TEXT, st.booleans()),
    st.tuples(st.just("reset"), TEXT, st.just(False)),
    st.tuples(st.just("compact"), TEXT, st.just(False)),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, max_size=12), number=st.integers(0, 10**9))
def test_a_replayed_conversation_is_the_one_that_was_held(
    tmp_path: Path, steps: list[tuple[str, str, bool]], number: int
) -> None:
    held = _open(tmp_path, f"s{number}")
    Path(held.transcript.path).write_bytes(b"")
    for kind, text, more in steps:
        match kind:
            case "prompt":
                held.add_prompt(text, auto=more)
            case "context":
                held.add_context(text)
            case "reply":
                calls = (ToolCall(id="call_0", name="Bash", arguments={"command": text}),) if more else ()
                thought = Thought(text=text, provider="p", opaque={"signature": "s"})
                reply = AssistantMessage(text=text, thinking=(thought,), tool_calls=calls)
                held.add_reply(reply, Usage(input=3, cached=1, output=2, total=5), "m", "stop")
                held.close_calls(reply)
            case "reset":
                held.reset(text, keep_reply=False)
            case _:
                held.compacted(text, "manual", 1)
    held.transcript.close()
    found = replay(held.transcript.path)
    assert found.messages == held.messages
    assert found.open_calls == {}
    assert [(e["role"], e["text"], e.get("meta")) for e in found.history] == [
        (e["role"], e["text"], e.get("meta")) for e in held.history
    ]


def test_a_reset_keeps_the_reply_whose_results_are_still_to_come(tmp_path: Path) -> None:
    held = _open(tmp_path)
    held.add_prompt("old")
    call = ToolCall(id="c", name="Bash", arguments={})
    reply = AssistantMessage(text="hm", tool_calls=(call,))
    held.add_reply(reply, None, "m", "tool_call")
    held.reset("new start", keep_reply=True)
    held.add_result(call, "out", is_error=False)
    held.transcript.close()
    assert replay(held.transcript.path).messages == held.messages
    assert [type(message).__name__ for message in held.messages] == ["UserMessage", "AssistantMessage", "ToolResult"]


def test_a_session_that_died_before_its_summary_was_written_has_lost_nothing(tmp_path: Path) -> None:
    held = _open(tmp_path)
    held.add_prompt("the question")
    held.add_reply(AssistantMessage(text="the answer"), None, "m", "stop")
    said = list(held.messages)
    held.compacted("summary", "auto", 9)
    held.transcript.close()
    path = Path(held.transcript.path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    assert replay(str(path)).messages == said


def test_a_resumed_conversation_is_as_large_as_it_was(tmp_path: Path) -> None:
    held = _open(tmp_path)
    held.add_prompt("hi")
    call = ToolCall(id="c", name="Bash", arguments={})
    held.add_reply(
        AssistantMessage(tool_calls=(call,)), Usage(input=900, cached=100, output=50, total=950), "m", "stop"
    )
    held.add_result(call, "x" * 400, is_error=False)
    held.transcript.close()
    path = held.transcript.path
    again = Conversation.resumed(Transcript.open(path, session="s", cwd=str(tmp_path)), replay(path))
    assert (again.size, again.tool_calls) == (held.size, held.tool_calls) == (1050, 1)
    again.transcript.close()


def test_records_form_a_chain_that_others_can_read(tmp_path: Path) -> None:
    held = _open(tmp_path)
    held.add_prompt("hi")
    held.add_reply(AssistantMessage(text="ho"), Usage(input=3, cached=1, output=2, total=5), "m", "stop")
    first, second = (json.loads(line) for line in Path(held.transcript.path).read_text().splitlines())
    assert (first["parentUuid"], second["parentUuid"]) == (None, first["uuid"])
    assert (first["type"], second["type"]) == ("user", "assistant")
    assert second["message"]["content"] == [{"type": "text", "text": "ho"}]
    assert second["message"]["usage"] == {"input_tokens": 2, "cache_read_input_tokens": 1, "output_tokens": 2}
    for name in ("sessionId", "timestamp", "cwd", "version", "gitBranch"):
        assert name in first


def test_garbage_in_a_transcript_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    good = json.dumps({"type": "user", "message": {"role": "user", "content": "hi"}, "uuid": "u"})
    path.write_bytes(b"\xff\xfe\n[1]\n{}\nnull\n" + good.encode() + b'\n{"type": "user", "mess')
    found = replay(str(path))
    assert [entry["text"] for entry in found.history] == ["hi"]
    Transcript.open(str(path), session="s", cwd=str(tmp_path), last="u").close()
    assert path.read_bytes().endswith(good.encode() + b"\n")


def test_sessions_are_found_by_the_beginning_of_their_id(tmp_path: Path) -> None:
    folder = Path(chat_folder(str(tmp_path), "/work/a b"))
    assert folder.name == "-work-a-b"
    folder.mkdir(parents=True)
    for name in ("abc1", "abc2", "xyz"):
        (folder / f"{name}.jsonl").touch()
    assert find(str(tmp_path), "/work/a b", "xy").endswith("xyz.jsonl")
    assert find(str(tmp_path), "/elsewhere", "xyz").endswith("xyz.jsonl")
    for wanted in ("abc", "nothing", ""):
        with pytest.raises(UsageError):
            find(str(tmp_path), "/work/a b", wanted)
    assert latest(str(tmp_path), "/nowhere") is None


def test_the_branch_is_read_without_running_git(tmp_path: Path) -> None:
    assert current_branch("/") == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/a/b\n")
    (tmp_path / "sub").mkdir()
    assert current_branch(str(tmp_path / "sub")) == "a/b"


def test_a_data_directory_that_cannot_be_used_is_told_with_the_variable_for_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="XDG_DATA_HOME"):
        _open(tmp_path / "file")
