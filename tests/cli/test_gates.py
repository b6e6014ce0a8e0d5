"""hookline status tells of gates that should have fired and did not."""

from __future__ import annotations

import json
from datetime import UTC, datetime


def happen(project, event, agent="claude-code", **fields):
    payload = {"session_id": "S", "cwd": str(project.path), "tool_name": "Bash", "tool_input": {}, **fields}
    project.run("hook", "--agent", agent, "--event", event, stdin=json.dumps(payload))


def missed(project):
    return project.run("status", "--json").json["missed"]


def deployed(project, agent="claude"):
    project.run("deploy", "--agent", agent, "--events", "PreToolUse", "PostToolUse", PATH="/usr/bin:/bin")


def test_a_tool_that_ended_and_was_never_asked_about_is_told(project):
    deployed(project)
    happen(project, "PreToolUse", tool_use_id="t1")
    happen(project, "PostToolUse", tool_use_id="t1", tool_response="x")
    assert missed(project) == []
    happen(project, "PostToolUse", tool_use_id="t2", tool_response="x")
    (one,) = missed(project)
    assert one == {"agent": "claude-code", "session": "S", "tool": "Bash", "calls": 1, "seen_in": "record"}
    told = project.run("status").out
    assert "claude-code ran Bash once in session S without asking hookline" in told
    assert "hookline doctor --agent claude-code --run" in told


def test_nothing_is_missing_where_nobody_asked_for_it(project):
    happen(project, "PostToolUse", tool_use_id="t2", tool_response="x")
    assert missed(project) == []
    project.run("deploy", "--agent", "claude", "--events", "PostToolUse", PATH="/usr/bin:/bin")
    assert missed(project) == []


def test_calls_without_names_are_counted(project):
    deployed(project, "gemini")
    happen(project, "BeforeTool", "gemini-cli", tool_name="run_shell_command")
    for _ in range(3):
        happen(project, "AfterTool", "gemini-cli", tool_name="run_shell_command", tool_response={"llmContent": "x"})
    (one,) = missed(project)
    assert (one["tool"], one["calls"]) == ("Bash", 2)


def transcript(project, *calls):
    now = datetime.now(UTC).isoformat()
    lines = []
    for number, failed in calls:
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": "ls"}}
        lines.append({"type": "assistant", "message": {"id": f"m{number}", "role": "assistant", "content": [call]}})
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "ok", "is_error": failed}
        lines.append({"type": "user", "message": {"role": "user", "content": [result]}})
    file = project.home / "transcript.jsonl"
    every = ({"sessionId": "S", "uuid": str(n), "timestamp": now, **line} for n, line in enumerate(lines))
    file.write_text("".join(json.dumps(line) + "\n" for line in every))
    return str(file)


def test_a_tool_that_only_the_transcript_knows_is_told(project):
    deployed(project)
    path = transcript(project, (1, False), (2, False), (3, True))
    happen(project, "SessionStart", source="startup", transcript_path=path)
    happen(project, "PreToolUse", tool_use_id="toolu_1", transcript_path=path)
    (one,) = missed(project)
    assert (one["calls"], one["seen_in"]) == (1, "transcript")
    assert "according to its transcript" in project.run("status").out
