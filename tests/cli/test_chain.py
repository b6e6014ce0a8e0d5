"""One event whole in the terminal, and events for other programs."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Project

HOOKS = """
[[hook]]
name = "rewrite"
on = "PreToolUse"
match = {"tool_input.command" = "^ls"}
shell = "echo '{\\"data\\": {\\"tool_input\\": {\\"command\\": \\"ls -la\\"}}}'"

[[hook]]
name = "no-rm"
on = "PreToolUse"
match = "Bash"
shell = "if grep -q 'rm -rf'; then echo 'rm by hand' >&2; exit 2; fi"
on_failure = "deny"

[[hook]]
name = "last"
on = "PreToolUse"
shell = "true"
"""
PAYLOAD = {
    "session_id": "s1", "transcript_path": "/t.jsonl", "permission_mode": "default", "hook_event_name": "PreToolUse",
    "tool_name": "Bash", "tool_use_id": "u1",
}  # fmt: skip


@pytest.fixture
def fired(project: Project) -> Project:
    project.write("hooks.toml", HOOKS)
    for command in ("ls", "rm -rf /x"):
        payload = {**PAYLOAD, "cwd": str(project.path), "tool_input": {"command": command}}
        done = project.run("hook", "--agent", "claude-code", "--config", "hooks.toml", stdin=json.dumps(payload))
        assert done.code == 0
    return project


def ids(project: Project) -> list[str]:
    return [json.loads(line)["id"] for line in project.run("log", "--json").out.splitlines()]


def test_a_refused_call_names_who_refused_it_and_why_others_did_not_run(fired: Project) -> None:
    one = fired.run("log", "--chain", ids(fired)[1], "--json").json
    assert (one["summary"], one["reason"], one["subject"]) == ("Refused by no-rm", "rm by hand", "Bash rm -rf /x")
    assert [(s["hook"], s["verdict"], s["skip"]) for s in one["steps"]] == [
        ("no-rm", "refused", None),
        ("last", "skipped", "stopped"),
    ]
    assert json.loads(one["answer"]["stdout"])["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert one["sent"] == {**PAYLOAD, "cwd": str(fired.path), "tool_input": {"command": "rm -rf /x"}}


def test_an_event_that_no_agent_sent_has_no_answer(fired: Project) -> None:
    assert fired.run("replay", ids(fired)[1], "--agent", "gemini-cli", "--config", "hooks.toml").code == 0
    assert "answer:" not in fired.run("log", "--chain", "last").out
    fired.fire("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "rm -rf /x"}}, "--config", "hooks.toml")
    assert fired.run("log", "--chain", "last", "--json").json["answer"] is None


def test_a_rewrite_is_shown_as_a_diff(fired: Project) -> None:
    text = fired.run("log", "--chain", ids(fired)[0]).out
    assert '- "command": "ls"' in text
    assert '+ "command": "ls -la"' in text
    assert "1. changed" in text


ASK = """
[[hook]]
name = "careful"
on = "PreToolUse"
shell = 'echo "{\\"effect\\": \\"ask\\", \\"reason\\": \\"careful: sure?\\"}"'
"""


def test_a_question_that_the_agent_cannot_ask_is_named_as_why_the_call_was_refused(project: Project) -> None:
    project.write("hooks.toml", ASK)
    payload = {**PAYLOAD, "turn_id": "t", "model": "m", "cwd": str(project.path), "tool_input": {"command": "make"}}
    assert project.run("hook", "--agent", "codex", "--config", "hooks.toml", stdin=json.dumps(payload)).code == 0
    one = project.run("log", "--chain", "last", "--json").json
    assert one["summary"] == "Refused: careful asked, and codex cannot ask a person here"
    assert (one["reason"], one["why"]) == ("careful: sure?", "sure?")
    assert [(step["verdict"], step["reason"]) for step in one["steps"]] == [("asked", "sure?")]


def test_the_latest_event_that_matches_is_found_by_a_part_of_its_command(fired: Project) -> None:
    command = 'echo "grüße \\ 100%"'
    for one in (command, "echo 100"):
        fired.fire("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": one}}, "--config", "hooks.toml")

    def found(*words: str) -> str:
        return str(fired.run("log", "--chain", "last", "--json", *words).json["subject"])

    assert found("--text", command) == found("--text", "100%") == f"Bash {command}"
    assert found("--effect", "deny") == found("--text", "BY HAND") == "Bash rm -rf /x"
    done = fired.run("log", "--chain", "last", "--text", "no such text")
    assert (done.code, done.err) == (65, "hookline: no recorded event matches; see: hookline log\n")


def test_an_unknown_id_is_an_error_that_names_the_next_command(fired: Project) -> None:
    done = fired.run("log", "--chain", "zzz")
    assert (done.code, done.err) == (65, "hookline: no event has an id that begins with 'zzz'; see: hookline log\n")


def test_events_are_exported_as_json_lines_csv_and_parquet(fired: Project) -> None:
    lines = fired.run("log", "--format", "jsonl").out
    assert [json.loads(line)["effect"] for line in lines.splitlines()] == ["allow", "deny"]
    rows = list(csv.DictReader(fired.run("log", "--format", "csv").out.splitlines()))
    assert [(row["effect"], row["reason"]) for row in rows] == [("allow", ""), ("deny", "rm by hand")]
    assert fired.run("log", "--format", "parquet", "--output", "e.parquet").code == 0
    table = pq.read_table(fired.path / "e.parquet").to_pylist()
    assert [(row["id"], row["effect"]) for row in table] == list(zip(ids(fired), ("allow", "deny"), strict=True))


def test_an_export_of_nothing_has_the_columns_of_any_other(fired: Project) -> None:
    (record,) = fired.home.rglob("hookline.db")
    full, empty = str(record.parent), str(fired.path / "new")
    heads = [fired.run("log", "--format", "csv", HOOKLINE_STATE_DIR=one).out.splitlines()[0] for one in (full, empty)]
    assert heads[0] == heads[1]
    assert fired.run("log", "--format", "jsonl", HOOKLINE_STATE_DIR=empty).out == ""
    for name, one in (("some.parquet", full), ("none.parquet", empty)):
        done = fired.run("log", "--format", "parquet", "--output", name, HOOKLINE_STATE_DIR=one)
        assert done.code == 0
    some, none = (pq.read_table(fired.path / name) for name in ("some.parquet", "none.parquet"))
    assert (none.num_rows, none.schema) == (0, some.schema)


def test_text_that_nobody_reads_is_shown_with_its_hook(project: Project) -> None:
    project.write("hooks.toml", '[[hook]]\nname = "talks"\non = "PreToolUse"\nshell = "echo no way"\n')
    payload = {**PAYLOAD, "cwd": str(project.path), "tool_input": {"command": "ls"}}
    project.run("hook", "--agent", "claude-code", "--config", "hooks.toml", stdin=json.dumps(payload))
    (step,) = project.run("log", "--chain", "last", "--json").json["steps"]
    assert (step["verdict"], step["reason"]) == ("no opinion", "what it printed has no effect: no way")
