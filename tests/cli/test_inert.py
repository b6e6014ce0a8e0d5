"""What is not approved is inert: it costs nobody's time, record or registration, and one's own guards are asked first."""

from __future__ import annotations

import json
from typing import Any

import pytest

OWN = '[[hook]]\nname = "mine"\non = "PreToolUse"\nmatch = "Bash"\nshell = "echo not you >&2; exit 2"\n'
HOOK = '[[hook]]\nname = "theirs"\non = "PreToolUse"\nshell = "echo ran >> ran; echo theirs >&2; exit 2"\n'
GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\nshell = "exit 0"\non_failure = "deny"\n'
#: Needs far longer than any test to be decided on a long text.
SLOW = '[[hook]]\nname = "slow{0}"\non = "PreToolUse"\nmatch = {{ "tool_input.command" = "(a|aa)+{0}$" }}\nrun = "true"\non_failure = "deny"\n'
LONG = {"tool_name": "Bash", "tool_input": {"command": "a" * 4000 + "!"}}
PROJECT = ".hookline/hookline.toml"


def own(project, text: str) -> None:
    folder = project.home / ".config/hookline"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hookline.toml").write_text(text, encoding="utf-8")


def call(project, data: Any = None, *words: str, agent: str = "claude-code", session: str = "s", **environ: str):
    """As an agent calls, without a daemon."""
    sent = {
        "hook_event_name": "PreToolUse", "session_id": session, "cwd": str(project.path),
        **(data or {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
    }  # fmt: skip
    line = ("hook", "--agent", agent, "--event", "PreToolUse", "--cold", *words)
    return project.run(*line, stdin=json.dumps(sent), **environ)


def denied(answer) -> str:
    """The reason; "" where the call passes."""
    told = json.loads(answer.out) if answer.out else {}
    specific = told.get("hookSpecificOutput", {})
    return specific.get("permissionDecisionReason", "") if specific.get("permissionDecision") == "deny" else ""


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "theirs",
    [
        "".join(SLOW.format("b" * n) for n in range(400)),
        "".join(f'[[hook]]\nname="{n}"\non="Stop"\nrun="x"\n' for n in range(120_000)),
    ],
    ids=["regexes", "hooks"],
)
def test_ones_own_guard_is_asked_whatever_a_repository_brings(project, theirs):
    own(project, OWN)
    project.write(PROJECT, theirs)
    assert "not you" in denied(call(project, LONG, "--deadline", "8"))


def test_a_matcher_that_is_not_approved_refuses_nothing(project):
    project.write(PROJECT, SLOW.format("b"))
    answer = call(project, LONG)
    assert (answer.code, denied(answer)) == (0, "")


@pytest.mark.parametrize("edit", ["# " + "x" * 3_000_000, GUARD.replace("guard", "more{0}")], ids=["size", "count"])
def test_an_approved_project_that_outgrows_its_budget_fails_alone(project, edit):
    own(project, OWN.replace('"Bash"', '"Read"'))
    project.write(PROJECT, GUARD)
    project.run("trust", "--yes")
    project.write(PROJECT, GUARD + "".join(edit.format(n) + "\n" for n in range(1 if "#" in edit else 1500)))
    assert "has errors, so this hook cannot be read; see: hookline check" in denied(call(project))
    assert "not you" in denied(call(project, {"tool_name": "Read", "tool_input": {}}))
    assert "the trusted hook 'guard' is missing" in project.run("list").err
    assert "correct the errors of this file" in project.run("check").out


def test_the_matchers_of_an_approved_project_have_a_time_of_their_own(project):
    own(project, OWN)
    project.write(PROJECT, "".join(SLOW.format("b" * n) for n in range(400)))
    assert project.run("trust", "--yes").code == 0
    assert "not you" in denied(call(project, LONG, "--deadline", "15"))


# ── what else a file may name ────────────────────────────────────────────────────────────────────────


def test_a_pattern_that_is_not_approved_empties_no_record(project):
    own(project, OWN)
    project.write(PROJECT, '[record]\nredact = ["(?s).+"]\n')
    call(project)
    (outcome,) = project.run("log", "--json").json["outcomes"]
    assert (outcome["hook"], "not you" in json.dumps(outcome)) == ("mine", True)


def test_a_hook_that_is_not_approved_leaves_no_record(project):
    own(project, OWN)
    project.write(PROJECT, HOOK)
    call(project)
    assert [one["hook"] for one in project.run("log", "--json").json["outcomes"]] == ["mine"]
    assert not (project.path / "ran").exists()


def test_a_source_that_is_not_approved_starts_no_hook_of_ones_own(project):
    letta = project.home / ".letta/settings.json"
    letta.parent.mkdir()
    command = {"type": "command", "command": f"touch '{project.home}/started'"}
    letta.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [command]}]}}))
    project.write(PROJECT, '[[source]]\ndialect = "letta"\n')
    call(project, agent="codex")
    assert not (project.home / "started").exists()
    assert project.run("list", "--json").json["hooks"] == []
    project.run("trust", "--yes")
    call(project, agent="codex")
    assert (project.home / "started").exists()


def registrations(project: Any, folder: Any) -> Any:
    file = project.home / ".claude/settings.json"
    file.unlink(missing_ok=True)
    (project.home / ".local/state/hookline/deployed.json").unlink(missing_ok=True)
    done = project.run("deploy", "--agent", "claude-code", cwd=folder, SHELL="/bin/sh")
    assert done.code == 0, done.err
    return file.read_text() if file.exists() else ""


def test_deploying_in_a_repository_that_is_not_approved_changes_no_registration(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    own(project, OWN)
    project.write(PROJECT, GUARD + '[[hook]]\nname = "late"\non = "Notification"\nrun = "x"\ntimeout = "3000s"\n')
    before = registrations(project, elsewhere)
    assert registrations(project, project.path) == before
    project.run("trust", "--yes")
    assert registrations(project, project.path) != before


def test_a_repository_that_is_not_approved_switches_no_memory_off(project):
    project.write(PROJECT, "[knowledge]\nenabled = false\n")
    assert project.run("knowledge", "status", "--json").json["enabled"]
    project.run("trust", "--yes")
    assert not project.run("knowledge", "status", "--json").json["enabled"]


# ── the notice ───────────────────────────────────────────────────────────────────────────────────────


def test_a_session_is_told_once_in_the_agent_and_the_call_passes(project):
    project.write(PROJECT, HOOK)
    first, second, other = call(project), call(project), call(project, session="t")
    for answer in (first, other):
        message = json.loads(answer.out)["systemMessage"]
        assert (answer.code, denied(answer)) == (0, "")
        assert PROJECT in message
        assert "hookline trust" in message
        assert "hookline trust" in answer.err
    assert (second.code, second.out, second.err) == (0, "", "")


def test_an_agent_without_messages_is_told_on_stderr(project):
    project.write(PROJECT, HOOK)
    first, second = call(project, agent="letta-code"), call(project, agent="letta-code")
    assert ("hookline trust" in first.err, second.err) == (True, "")


def test_the_notice_comes_with_ones_own_refusal(project):
    own(project, OWN)
    project.write(PROJECT, HOOK)
    answer = call(project)
    assert ("not you" in denied(answer), "hookline trust" in answer.err) == (True, True)


def test_every_door_says_what_is_not_approved(project):
    project.write(PROJECT, HOOK)
    fired = project.fire("PreToolUse", {"tool_name": "Bash"})
    assert (fired.json["effect"], fired.json["outcomes"], "hookline trust" in fired.err) == ("allow", [], True)


def test_a_file_whose_hooks_the_agent_runs_itself_is_not_reported_to_it(project):
    own(project, '[[source]]\ndialect = "claude"\n')
    project.write(".claude/settings.json", "{}")
    assert call(project).err == ""
    assert ".claude/settings.json: not approved" in call(project, agent="codex").err
    project.run("trust", "--yes")
    project.write(".claude/settings.json", '{"permissions": {}}')
    assert call(project, agent="codex", session="later").err == ""


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────


def test_who_looks_sees_that_it_is_not_approved_and_nothing_is_decided(project):
    project.write(PROJECT, SLOW.format("b"))
    (one,) = project.run("explain", "PreToolUse", "--data", json.dumps(LONG), "--json").json["hooks"]
    assert (one["would_run"], one["why_not"].startswith("not approved"), "decided" in one["why_not"]) == (
        False,
        True,
        False,
    )
    for command in ("list", "check", "explain PreToolUse", "trust"):
        assert "not approved" in project.run(*command.split()).out, command


def test_who_looks_is_shown_no_file_of_their_own_that_a_repository_names(project):
    (project.home / "secret.txt").write_text("hunter2")
    project.write("inside.txt", "Be brief.")
    for name in ("~/secret.txt", "inside.txt"):
        project.write("memex.ini", f"[HOOKS]\npre_turn = h\n[HOOK.h]\nmodel = m\nprompt = {name}\n")
        project.write(PROJECT, '[[source]]\ndialect = "memex"\npath = "memex.ini"\n')
        for command in ("trust --json", "list --json", "check --json", "explain UserPromptSubmit --json"):
            told = project.run(*command.split())
            assert "hunter2" not in told.out + told.err
    assert "Be brief." in project.run("trust").out


# ── approved once ────────────────────────────────────────────────────────────────────────────────────


def test_a_hook_that_is_added_does_not_end_the_approval_of_the_others(project):
    project.write(PROJECT, GUARD)
    project.run("trust", "--yes")
    project.write(PROJECT, f"# more\n{GUARD}{HOOK}")
    answer = call(project)
    assert (denied(answer), "theirs" in answer.err, "hookline trust" in answer.err) == ("", True, True)
    assert [one["hook"] for one in project.run("log", "--json").json["outcomes"]] == ["guard"]
    assert call(project).err == ""
    project.run("trust", "--yes")
    assert "theirs" in denied(call(project))


def test_settings_that_were_added_since_do_not_count_before_they_are_approved(project):
    own(project, OWN)
    project.write(PROJECT, GUARD)
    project.run("trust", "--yes")
    project.write(PROJECT, GUARD + '[record]\nredact = ["(?s).+"]\n')
    assert "settings" in call(project).err
    assert "not you" in project.run("log", "--json").out
    assert "redact" in project.run("trust").out
    project.run("trust", "--yes")
    call(project)
    assert "not you" not in project.run("log", "--json", "--last", "1").out


def test_a_second_file_is_inert_until_it_is_approved_too(project):
    project.write(PROJECT, GUARD)
    project.run("trust", "--yes")
    project.write(".hookline/local.toml", SLOW.format("b") + '[[hook]]\nname = "guard"\nenabled = false\n')
    answer = call(project, LONG)
    assert (denied(answer), ".hookline/local.toml" in answer.err) == ("", True)
    assert [one["hook"] for one in project.run("log", "--json").json["outcomes"]] == ["guard"]


def test_an_approval_of_the_version_before_stands(project):
    project.write(PROJECT, GUARD + '[[source]]\ndialect = "letta"\npath = ".letta/settings.json"\n')
    block = {"matcher": "*", "hooks": [{"type": "command", "command": "echo letta >&2; exit 2"}]}
    project.write(".letta/settings.json", json.dumps({"hooks": {"PreToolUse": [block]}}))
    project.run("trust", "--yes")
    store = project.home / ".local/state/hookline/trust.json"
    tree = json.loads(store.read_text())
    tree["approvals"] = [one for one in tree["approvals"] if one["event"] == "PreToolUse"]
    store.write_text(json.dumps(tree))
    answer = call(project, agent="codex")
    assert ("letta" in answer.out + answer.err, "hookline trust" in answer.err) == (True, False)


def test_a_hook_that_ones_own_file_changes_is_not_gone_and_stays_approved(project):
    project.write(PROJECT, HOOK)
    project.run("trust", "--yes")
    mine = project.write(".hookline/local.toml", '[[hook]]\nname = "theirs"\nenabled = false\n')
    assert "missing" not in project.run("check").out
    assert "gone" not in project.run("list").err
    assert "gone" not in project.run("trust", "--yes").out
    assert (denied(call(project)), "gone" in call(project, session="b").err) == ("", False)
    mine.unlink()
    assert "theirs" in denied(call(project, session="c"))


def test_what_was_added_to_ones_own_approved_file_switches_no_guard_off(project):
    project.write(PROJECT, GUARD.replace("exit 0", "echo guarded >&2; exit 2"))
    mine = project.write(".hookline/local.toml", HOOK.replace("PreToolUse", "Stop"))
    project.run("trust", "--yes")
    mine.write_text(mine.read_text() + '[[hook]]\nname = "guard"\nenabled = false\n')
    assert denied(call(project))


CLAUDE_GUARD = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}}


@pytest.mark.parametrize("closed", ["", 'on_failure = "deny"\n'])
@pytest.mark.parametrize(
    "text", ['{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}', "{}", "{", None]
)
def test_a_guard_of_a_source_outside_the_project_is_missed_when_somebody_edits_it(
    project, closed: str, text: str | None
) -> None:
    source = project.home / "shared.json"
    source.write_text(json.dumps(CLAUDE_GUARD))
    project.write(".hookline/hookline.toml", f'[[source]]\ndialect = "claude"\npath = "{source}"\n{closed}')
    assert project.run("trust", "--yes").code == 0
    sent = json.dumps(
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "cwd": str(project.path)}
    )
    asked = ["hook", "--agent", "codex", "--cold"]
    assert project.run(*asked, stdin=sent).json["hookSpecificOutput"]["permissionDecisionReason"] == "no"
    source.unlink() if text is None else source.write_text(text)
    review = "see: hookline check" if text == "{" else "review it with: hookline trust"
    assert review in project.run(*asked, stdin=sent).json["hookSpecificOutput"]["permissionDecisionReason"]


def test_an_approved_hook_that_may_fail_and_was_edited_is_reported_in_the_agent_once(project) -> None:
    project.write("hooks/g.sh", "exit 2\n")
    text = "[[hook]]\nname = 'g'\non = 'PreToolUse'\nrun = 'sh hooks/g.sh'\non_failure = 'ignore'\n"
    project.write(".hookline/hookline.toml", text)
    assert project.run("trust", "--yes").code == 0
    project.write("hooks/g.sh", "exit 0\n")
    sent = json.dumps(
        {
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {},
            "cwd": str(project.path),
            "session_id": "s",
        }
    )
    first, second = (project.run("hook", "--agent", "codex", "--cold", stdin=sent) for _ in range(2))
    line = "hookline: g: changed since it was trusted (hooks/g.sh); review it with: hookline trust"
    assert (first.json, first.err.strip()) == ({"systemMessage": line}, line)
    assert (second.out, second.err.strip()) == ("", line)
