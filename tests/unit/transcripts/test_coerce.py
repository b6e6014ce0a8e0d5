"""Records that the samples do not have: older versions, wrappers, documents of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import transcripts
from hookline.transcripts import Tokens, TranscriptMessage
from hookline.transcripts.message import shell_failed


def told(folder: Path, agent: str, *records: dict[str, Any]) -> list[TranscriptMessage]:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return list(transcripts.read(str(path), agent))


def claude(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "sessionId": "s", "message": {"role": "user", "content": content}, **more}


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ("<task-notification>\n<task-id>1</task-id></task-notification>", {}),
        ("<command-name>/clear</command-name>", {}),
        ("<local-command-stdout>done</local-command-stdout>", {}),
        ("[Request interrupted by user for tool use]", {}),
        ("Expanded text of a command", {"isMeta": True}),
        ("This session is being continued from a previous conversation", {"isCompactSummary": True}),
        ("Do what the main agent says", {"isSidechain": True}),
        ([{"type": "text", "text": "<system-reminder>x</system-reminder>"}], {}),
    ],
)
def test_what_claude_code_says_in_the_persons_place(tmp_path: Path, content: Any, more: dict[str, Any]) -> None:
    assert [one.synthetic for one in told(tmp_path, "claude-code", claude(content, **more))] == [True]


def test_a_reminder_before_the_persons_words_is_taken_off(tmp_path: Path) -> None:
    (said,) = told(tmp_path, "claude-code", claude("<system-reminder>x\n</system-reminder>\n\nmend the roof"))
    assert (said.text, said.synthetic) == ("mend the roof", False)


def test_context_of_a_hook_before_the_persons_words_is_taken_off(tmp_path: Path) -> None:
    text = "<hook_context>NOTE</hook_context>\n\nmend the roof"
    (said,) = told(tmp_path, "gemini-cli", {"id": "1", "type": "user", "content": [{"text": text}]})
    assert (said.text, said.synthetic) == ("mend the roof", False)


def test_a_reply_in_several_records_costs_what_the_last_of_them_says(tmp_path: Path) -> None:
    def part(block: dict[str, Any], output: int) -> dict[str, Any]:
        usage = {
            "input_tokens": 3, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7, "output_tokens": output,
        }  # fmt: skip
        message = {"id": "m", "role": "assistant", "content": [block], "usage": usage}
        return {"type": "assistant", "sessionId": "s", "requestId": "r", "message": message}

    messages = told(
        tmp_path, "claude-code", part({"type": "thinking", "thinking": "hm"}, 1), part({"type": "text", "text": "a"}, 1),
        part({"type": "tool_use", "id": "c", "name": "Read", "input": {}}, 40),
    )  # fmt: skip
    assert [one.role for one in messages] == ["assistant", "tool_call"]
    assert messages[0].tokens == Tokens(input=100, output=1, cached=90)
    assert messages[1].tokens == Tokens(output=39)


def test_an_older_codex_that_only_counts_together(tmp_path: Path) -> None:
    def item(**payload: Any) -> dict[str, Any]:
        return {"type": "response_item", "timestamp": "t", "payload": payload}

    def counted(total: int, last: int) -> dict[str, Any]:
        info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": {"input_tokens": last}}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    messages = told(
        tmp_path, "codex",
        item(type="message", role="user", content=[{"type": "input_text", "text": "<environment_context>x"}]),
        item(type="message", role="user", content=[{"type": "input_text", "text": "hello"}]),
        item(type="function_call", name="shell", call_id="c", arguments='{"command": ["false"]}'),
        counted(10, 10),
        counted(10, 10),
        item(type="function_call_output", call_id="c", output="Exit code: 1\nWall time: 0 seconds\nOutput:\n"),
        item(type="custom_tool_call", name="apply_patch", call_id="d", input="*** Begin Patch"),
        item(type="custom_tool_call_output", call_id="d", output={"content": "no", "success": False}),
        item(type="message", role="assistant", content=[{"type": "output_text", "text": "sorry"}]),
        counted(30, 20),
    )  # fmt: skip
    assert [one.synthetic for one in messages if one.role == "user"] == [True, False]
    assert [one.failed for one in messages if one.role == "tool_result"] == [True, True]
    assert [one.tokens.input for one in messages if one.tokens] == [10, 20]
    assert messages[2].input == {"command": ["false"]}


def test_an_older_gemini_wrote_one_document(tmp_path: Path) -> None:
    document = {
        "sessionId": "s", "projectHash": "p", "startTime": "2026-01-01T00:00:00Z",
        "messages": [
            {"id": "1", "type": "user", "content": "hello", "timestamp": "t"},
            {"id": "2", "type": "gemini", "content": "hi", "tokens": {"input": 4, "output": 2, "cached": 1}},
            {"id": "3", "type": "info", "content": "left out"},
        ],
    }  # fmt: skip
    path = tmp_path / "session.json"
    path.write_text(json.dumps(document, indent=2))
    assert transcripts.detect(str(path)) == "gemini-cli"
    assert transcripts.about(str(path)).session == "s"
    assert [(one.role, one.text) for one in transcripts.read(str(path))] == [("user", "hello"), ("assistant", "hi")]


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("Output: x\nExit Code: 3\nProcess Group PGID: 7", True),
        ("Output: x\nExit Code: 3\nSignal: 9\nProcess Group PGID: 7\n</untrusted_context>", True),
        ("<untrusted_context>\nOutput: (empty)\nSignal: 9\nProcess Group PGID: 48\n</untrusted_context>", True),
        ("Output: x\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)", False),
        ("Output: x\nProcess Group PGID: 7", False),
        # The command itself printed it; the agent's own lines come after.
        ("Output: x\nExit Code: 3\nProcess Group PGID: 1\nProcess Group PGID: 7", False),
        ("Output: Exit Code: 3\nmore\nProcess Group PGID: 7", False),
    ],
)
def test_only_the_last_lines_say_how_a_command_ended(text: str, failed: bool) -> None:
    assert shell_failed(text) is failed


LEC = """\
---
interlocutor:
  name: Bot
---
First question
in two lines

:::Bot

Let me look.

<tool-call with="exec" id="c1" is-error="true" kind="exec">
<arguments><command>
\u2506ls <\u2502dir>
</command></arguments>
<results><result type="text/plain">
\u2506nothing
\u2506there
</result></results>
</tool-call>

<inline-attachment kind="hook" icon="x">
<command>
\u2506note
</command>
<content type="text/plain">
\u2506a note of a hook
</content>
</inline-attachment>

\\:::is no end of the block
Done.

:::

Second question
"""


def test_our_own_conversation_document(tmp_path: Path) -> None:
    path = tmp_path / "talk.lec"
    path.write_text(LEC)
    assert transcripts.detect(str(path)) == "hookline"
    found = list(transcripts.read(str(path)))
    assert [one.role for one in found] == [
        "user", "assistant", "tool_call", "tool_result", "user", "assistant", "user",
    ]  # fmt: skip
    assert found[0].text == "First question\nin two lines"
    assert (found[2].tool, found[2].call, found[2].input) == ("exec", "c1", {"command": "ls <dir>"})
    assert (found[3].text, found[3].failed) == ("nothing\nthere", True)
    assert (found[4].text, found[4].synthetic) == ("a note of a hook", True)
    assert found[5].text == ":::is no end of the block\nDone."
    assert found[6].text == "Second question"


def test_a_document_is_read_on_from_the_end_of_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "talk.lec"
    path.write_text(LEC)
    place = next(end for end, one in transcripts.read_from(str(path)) if one.text.startswith(":::is"))
    assert [one.text for _end, one in transcripts.read_from(str(path), place)] == ["Second question"]


def test_what_codex_tells_itself_when_it_compacts_is_no_answer(tmp_path: Path) -> None:
    def said(role: str, text: str) -> dict[str, object]:
        return {"type": "response_item", "payload": {"type": "message", "role": role, "content": [{"text": text}]}}

    cost = {"type": "token_usage_record", "payload": {"usage": {"input_tokens": 1, "output_tokens": 1}}}
    compacted = {"type": "compacted", "payload": {"message": "Here is the summary:\nIt was mended."}}
    rows = [
        said("user", "mend it"),
        said("assistant", "Done."),
        cost,
        said("assistant", "It was mended."),
        cost,
        compacted,
    ]
    file = tmp_path / "rollout.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in [*rows, said("user", "and now?")]))
    told = [(one.text, one.synthetic, one.tokens is not None) for one in transcripts.read(str(file), "codex")]
    assert told == [
        ("mend it", False, False), ("Done.", False, True), ("It was mended.", True, True), ("and now?", False, False),
    ]  # fmt: skip
