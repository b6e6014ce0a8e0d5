"""A recorded session becomes a file that a test can read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.recording import differences

PAYLOADS = Path(__file__).parents[1] / "payloads"
EVENTS = {
    "cursor": ("by-document/cursor", ["sessionStart", "preToolUse", "postToolUse", "stop"]),
    "letta-code": ("letta", ["SessionStart", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop"]),
    "hermes": ("hermes", ["pre_tool_call.terminal", "post_tool_call.read_file"]),
    "kiro": ("by-document/kiro", ["SessionStart", "PreToolUse.fs_write", "PostToolUse.execute_bash", "Stop"]),
    "antigravity": ("by-document/antigravity", ["PreToolUse", "PostToolUse", "Stop"]),
}


@pytest.mark.parametrize("agent", EVENTS)
def test_a_recording_says_what_the_agent_sent(project, agent):
    project.write(".hookline/hookline.toml", "")
    folder, names = EVENTS[agent]
    all_sent = []
    for name in names:
        sent = (PAYLOADS / folder / f"{name}.json").read_text(encoding="utf-8")
        all_sent.append(json.loads(sent))
        sent = sent.replace("user@example.com", "me@elsewhere.org")
        done = project.run("hook", "--agent", agent, "--event", name.partition(".")[0], stdin=sent)
        assert done.code == 0, done.err
    done = project.run("doctor", "--record", agent)
    assert (done.code, done.err) == (0, ""), done
    text = (project.path / f"hookline-{agent}.json").read_text(encoding="utf-8")
    assert [one["native_event"] for one in json.loads(text)["events"]] == [name.partition(".")[0] for name in names]
    assert [one["payload"] for one in json.loads(text)["events"]] == all_sent
    assert differences(text) == []


def test_without_a_session_there_is_nothing_to_send(project):
    done = project.run("doctor", "--record", "cursor")
    assert (done.code, "hookline" in done.err) == (65, True)
