"""hookline replay, as a person types it."""

from __future__ import annotations

import json

import pytest

DENY = '[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "Bash"\nshell = "echo no >&2; exit 2"\n'
ALLOW = '[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "Bash"\nshell = "true"\n'


def happen(project, agent="claude-code", event="PreToolUse", **fields):
    payload = {
        "session_id": "S", "cwd": str(project.path), "tool_name": "Bash", "tool_input": {"command": "ls"},
        "tool_use_id": "t1", **fields,
    }  # fmt: skip
    return project.run("hook", "--agent", agent, "--event", event, stdin=json.dumps(payload))


def hooks(project, toml):
    project.write(".hookline/hookline.toml", toml)
    project.run("trust", "--yes")


def log(project):
    return [json.loads(line) for line in project.run("log", "--json", "--last", "0").out.splitlines()]


def test_the_same_hooks_decide_the_same(project):
    hooks(project, DENY)
    happen(project)
    done = project.run("replay", "--last", "1")
    assert done.code == 0
    assert "the same" in done.out


def test_other_hooks_decide_otherwise_and_it_is_shown_where(project):
    hooks(project, DENY)
    happen(project)
    hooks(project, ALLOW)
    (first,) = log(project)
    done = project.run("replay", first["id"][:8], "--json")
    assert done.code == 1
    told = done.json
    assert (told["then"]["effect"], told["now"]["effect"], told["differs"]) == ("deny", "allow", True)
    assert told["hooks"] == [{"hook": "guard", "then": "replied, deny", "now": "replied"}]
    assert told["differences"][0] == "it was deny and is allow"


def hook(line):
    return f'[[hook]]\nname = "h"\non = "PreToolUse"\n{line}\n'


def answering(**answer):
    text = json.dumps(answer)
    return hook("shell = " + json.dumps(f"echo '{text}'"))


def rewriting(command):
    return answering(data={"tool_input": {"command": command}})


NOTHING, GRANT, SAYS = answering(), answering(effect="allow"), answering(context="mind the gap")
ABORT, REFUSE = hook('run = "false"\non_failure = "abort"'), hook('run = "false"\non_failure = "deny"')


@pytest.mark.parametrize(
    ("then", "now", "differences"),
    [
        (NOTHING, GRANT, ["it is granted now", "h: replied → replied, allow"]),
        (GRANT, NOTHING, ["it was granted and is not", "h: replied, allow → replied"]),
        (ABORT, REFUSE, ["the reason differs", "it aborted the run, and does not now"]),
        (REFUSE, ABORT, ["the reason differs", "it aborts the run now"]),
        (NOTHING, rewriting("ls -l"), ["the data is changed now"]),
        (rewriting("ls -l"), NOTHING, ["the data was changed, and is not now"]),
        (rewriting("ls -l"), rewriting("ls -a"), ["the data is changed differently"]),
        (SAYS, NOTHING, ["the added context differs"]),
    ],
)
def test_every_difference_of_the_decision_is_named(project, then, now, differences):
    hooks(project, then)
    happen(project)
    hooks(project, now)
    told = project.run("replay", "--last", "1", "--json").json
    assert told["differences"] == differences


def test_a_replay_is_recorded_as_one_and_never_replayed_itself(project):
    hooks(project, DENY)
    happen(project)
    for _ in range(3):
        project.run("replay", "--last", "1")
    first, *replays = log(project)
    assert {one["session"] for one in replays} == {f"replay:{first['id']}"}
    assert all({"hook": "hookline", "text": f"a replay of {first['id']}"} in one["ignored"] for one in replays)
    assert len(project.run("replay", "--last", "5", "--json").out.splitlines()) == 1
    assert project.run("status", "--json").json["record"]["denies_today"] == 1


def test_another_agent_is_told_in_its_own_words(project):
    hooks(project, DENY)
    happen(project)
    done = project.run("replay", "--last", "1", "--agent", "copilot", "--json")
    assert done.json["agent"] == "copilot-cli"
    assert json.loads(done.json["told"]["stdout"])["permissionDecision"] == "deny"
    assert done.code == 0


def test_an_event_that_the_other_agent_does_not_have_is_told(project):
    hooks(project, DENY)
    happen(project, event="PostToolUseFailure", error="x")
    done = project.run("replay", "--last", "1", "--agent", "codex", "--json")
    assert done.json["gaps"] == ["codex has no PostToolUseFailure"]
    assert done.code == 1


def test_what_was_redacted_is_said(project):
    hooks(project, ALLOW)
    happen(project, tool_input={"command": "curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789'"})
    done = project.run("replay", "--last", "1")
    assert "! $.tool_input.command was redacted" in done.out


def test_a_dry_run_runs_nothing(project):
    hooks(project, ALLOW.replace("true", "touch RAN"))
    happen(project)
    (project.path / "RAN").unlink()
    project.run("trust", "--yes")
    done = project.run("replay", "--last", "1", "--dry-run")
    assert "guard: replied → would run" in done.out
    assert not (project.path / "RAN").exists()
    assert len(log(project)) == 1


def test_rates_of_the_real_session_are_not_touched(project):
    hooks(project, DENY + "when = { once_per_session = true }\n")
    happen(project)
    assert project.run("replay", "--last", "1").code == 0
    assert "denied" not in happen(project).out


def test_a_session_is_replayed_in_its_order(project):
    hooks(project, ALLOW)
    for number in range(3):
        happen(project, tool_use_id=f"t{number}")
    happen(project, session_id="other")
    lines = project.run("replay", "--session", "S", "--json").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [one["id"] for one in log(project)[:3]]


def test_what_cannot_be_meant_is_said(project):
    assert project.run("replay").code == 64
    assert project.run("replay", "x", "--last", "1").code == 64
    assert project.run("replay", "--last", "1").code == 65
    hooks(project, ALLOW)
    happen(project)
    assert project.run("replay", "zzz").code == 65
    assert project.run("replay", "--session", "nobody").code == 65
    assert project.run("replay", "--last", "1", "--agent", "nobody").code == 64


def test_a_directory_that_is_gone_is_said(project):
    hooks(project, ALLOW)
    gone = project.path / "gone"
    gone.mkdir()
    happen(project, cwd=str(gone))
    gone.rmdir()
    done = project.run("replay", "--last", "1")
    assert "no longer exists; using the hooks found here" in done.out


@pytest.mark.parametrize("sender", ["shell", "my-own-agent"])
def test_an_event_of_a_shell_or_of_a_program_with_a_name_of_its_own_is_replayed(project, sender):
    hooks(project, DENY)
    assert project.fire("PreToolUse", {"tool_name": "Bash"}, "--agent", sender).code == 1
    done = project.run("replay", "--last", "1")
    assert (done.code, done.err) == (0, "")
    assert "the same" in done.out


def test_a_replay_asks_nobody_in_the_inbox(project):
    hooks(project, ALLOW)
    happen(project)
    hooks(project, DENY.replace("echo no >&2; exit 2", 'echo \'{\\"effect\\": \\"ask\\"}\'') + 'ask = "inbox"\n')
    told = project.run("replay", "--last", "1", "--json").json  # it would wait for a person, and then be refused
    assert (told["now"]["effect"], told["hooks"][0]["now"]) == ("ask", "replied, ask")
