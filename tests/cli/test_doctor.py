"""hookline doctor, as a person types it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from hookline.core.paths import account_home

AGENTS = ("claude-code", "codex", "gemini-cli", "letta-code", "qwen-code", "copilot-cli", "opencode")
GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\nshell = "touch RAN; exit 2"\non_failure = "deny"\n'
NOWHERE = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}


def of(done, agent):
    (row,) = (row for row in done.json["agents"] if row["agent"] == agent)
    return row["findings"]


def about(findings, what, level=None):
    return [one["text"] for one in findings if one["about"] == what and level in {None, one["level"]}]


@pytest.mark.parametrize("agent", AGENTS)
def test_every_registered_event_gets_through_and_no_hook_runs(project, agent):
    project.write(".hookline/hookline.toml", GUARD)
    project.run("trust", "--yes")
    project.run("deploy", "--agent", agent, "--events", "PreToolUse", "SessionStart", "Stop", **NOWHERE)
    done = project.run("doctor", "--agent", agent, "--json", **NOWHERE)
    findings = of(done, agent)
    (probed,) = about(findings, "probe")
    assert probed.startswith("3 of 3 events are answered")
    assert probed.endswith("hooks that would run: guard")
    assert not (project.path / "RAN").exists()
    assert project.run("log").out.startswith("Nothing recorded yet")


def test_a_registration_whose_program_is_gone_is_found_with_what_to_type(project):
    project.run("deploy", "--agent", "claude", "--events", "PreToolUse", **NOWHERE)
    file = project.home / ".claude/settings.json"
    file.write_text(file.read_text().replace("/hookline hook", "/gone/hookline hook"))
    done = project.run("doctor", "--agent", "claude", **NOWHERE)
    assert done.code == 1
    assert "✗ probe" in done.out
    assert "hookline was not reached (exit code 127" in done.out
    assert "next: hookline deploy --agent claude-code --scope user" in done.out


def test_an_agent_that_is_not_registered_is_told(project):
    project.write("bin/claude", "#!/bin/sh\necho '9.8.7 (Claude Code)'\n", mode=0o755)
    done = project.run("doctor", "--json", PATH=f"{project.path / 'bin'}:/usr/bin:/bin")
    findings = of(done, "claude-code")
    assert about(findings, "version", "fine") == [f"9.8.7 ({project.path / 'bin' / 'claude'})"]
    assert about(findings, "deployed", "wrong") == ["hookline is not registered"]
    assert done.code == 1


def test_a_version_that_is_newer_than_the_proven_one_is_told(project):
    claude = project.write("bin/claude", "#!/bin/sh\necho '99.0.1 (Claude Code)'\n", mode=0o755)
    path = f"{claude.parent}:/usr/bin:/bin"
    (told,) = about(of(project.run("doctor", "--json", PATH=path), "claude-code"), "proof", "note")
    assert told.startswith("99.0.1 is newer than ")
    claude.write_text("#!/bin/sh\necho '1.0.0 (Claude Code)'\n")
    assert about(of(project.run("doctor", "--json", PATH=path), "claude-code"), "proof", "note") == []


def test_a_version_that_changed_since_it_was_registered_is_told(project):
    claude = project.write("bin/claude", "#!/bin/sh\necho '1.0.0 (Claude Code)'\n", mode=0o755)
    path = f"{claude.parent}:/usr/bin:/bin"
    project.run("deploy", "--agent", "claude", "--events", "PreToolUse", PATH=path)
    assert project.run("deploy", "--status", "--agent", "claude", PATH=path).code == 0
    claude.write_text("#!/bin/sh\necho '1.1.0 (Claude Code)'\n")
    told = project.run("deploy", "--status", "--agent", "claude", PATH=path)
    assert "was 1.0.0 when hookline was registered and is 1.1.0 now" in told.out
    looked = project.run("doctor", "--agent", "claude", PATH=path)
    assert (looked.code, "when hookline was registered" in looked.out) == (0, False), "doctor has tried it itself"
    project.run("deploy", "--agent", "claude", "--events", "PreToolUse", PATH=path)
    assert project.run("deploy", "--status", "--agent", "claude", PATH=path).code == 0


def test_our_own_side_is_looked_at(project):
    project.write(".hookline/hookline.toml", '[[hook]]\nname = "a"\non = "Stop"\nrun = "./a.sh"\n')
    project.write("a.sh", "#!/bin/sh\n")
    project.run("fire", "Stop")
    state = project.home / ".local/state/hookline"
    state.chmod(0o755)
    done = project.run("doctor", "--json", **NOWHERE)
    told = done.json["hookline"]
    assert about(told, "state", "wrong") == [f"other users can access {state}"]
    assert any("is not executable" in text for text in about(told, "hooks", "wrong"))
    assert any("not trusted yet" in text for text in about(told, "trust", "wrong"))
    assert done.code == 1
    checked = project.run("check")
    assert checked.code == 0
    assert "fix: run: chmod +x" in checked.out


def test_what_keeps_hookline_slow_or_without_a_memory_is_named(project):
    nowhere = project.write("a file", "")
    client = project.home / ".local/share/hookline/bin/hookc"
    client.parent.mkdir(parents=True)
    client.write_text("")
    done = project.run("doctor", "--json", **NOWHERE, HOOKLINE_DAEMON="off", HOOKLINE_STATE_DIR=str(nowhere))
    told = done.json["hookline"]
    assert about(told, "daemon") == ["HOOKLINE_DAEMON=off: every call starts Python"]
    assert about(told, "client", "wrong") == [f"{client} is not executable"]
    assert about(told, "state", "note") == [
        "HOOKLINE_STATE_DIR is set; commands you type use it, agents' calls ignore it"
    ]
    (unusable,) = about(told, "state", "wrong")
    assert str(nowhere) in unusable
    assert about(told, "hooks", "note") == [f"no hooks in {project.path}"]
    assert done.code == 1


def test_hooks_that_changed_went_or_are_switched_off_are_named(project):
    hook = '[[hook]]\nname = "{0}"\non = "Stop"\nshell = "{1}"\n'
    project.write(".hookline/hookline.toml", hook.format("kept", "true") + hook.format("gone", "true"))
    project.run("trust", "--yes")
    project.run("hooks", "off", "kept")
    project.write(".hookline/hookline.toml", hook.format("kept", "false") + "broken = 1\n")
    told = project.run("doctor", "--json", **NOWHERE).json["hookline"]
    assert about(told, "hooks", "wrong") == ["1 error in the configuration"]
    assert about(told, "hooks", "note") == ["switched off by hand: kept"]
    changed, missing = about(told, "trust", "wrong")
    assert changed == "1 changed since you trusted them, so they count as failed"
    assert "the trusted hook 'gone' is missing, perhaps because of an error in this file" in missing


def test_everything_fine_is_exit_code_0(project):
    project.write(".hookline/hookline.toml", '[[hook]]\nname = "a"\non = "Stop"\nshell = "true"\n')
    project.run("trust", "--yes")
    project.run("deploy", "--agent", "letta", "--events", "Stop", **NOWHERE)
    done = project.run("doctor", "--agent", "letta", **NOWHERE)
    assert (done.code, "✗" in done.out) == (0, False), done.out


def test_an_unknown_agent_is_wrong_usage(project):
    assert project.run("doctor", "--agent", "nobody").code == 64


def test_a_repository_cannot_switch_a_guard_off_with_the_doctors_variable(project):
    project.write(".hookline/hookline.toml", GUARD)
    project.run("trust", "--yes")
    payload = {"session_id": "hookline-doctor-1", "cwd": str(project.path), "tool_name": "Bash", "tool_input": {}}
    planted = project.path / "state" / "hookline" / "probes"
    planted.mkdir(parents=True)
    (planted / ("a" * 32)).write_text("{}")
    done = project.run(
        "hook", "--agent", "claude-code", "--event", "PreToolUse", stdin=json.dumps(payload),
        HOOKLINE_PROBE="a" * 32, XDG_STATE_HOME=str(project.path / "state"),
    )  # fmt: skip
    assert "denied by guard" in done.out
    assert (project.path / "RAN").exists()


def test_the_daemon_answers_a_question_as_a_cold_run_does_and_learns_nothing_from_it(project, tmp_path):
    project.write(".hookline/hookline.toml", GUARD)
    project.run("trust", "--yes")
    project.run("deploy", "--agent", "claude", "--events", "PreToolUse", **NOWHERE)
    runtime = {"XDG_RUNTIME_DIR": str(tmp_path / "r")}
    os.mkdir(runtime["XDG_RUNTIME_DIR"], 0o700)
    try:
        assert project.run("daemon", "start", **runtime).code == 0
        done = project.run("doctor", "--agent", "claude", "--json", **NOWHERE, **runtime)
        assert about(of(done, "claude-code"), "probe")[0].startswith("1 of 1")
        told = project.run("daemon", "status", "--json", **runtime).json
        assert told["requests"] >= 1
        assert not (project.path / "RAN").exists()
    finally:
        project.run("daemon", "stop", **runtime)


def test_the_plugin_of_opencode_is_really_loaded_where_there_is_node(project):
    from shutil import which

    node = which("node")
    if node is None:
        pytest.skip("node is not here")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").partition(".")[0]) < 18:
        pytest.skip("node is too old")
    project.run("deploy", "--agent", "opencode", "--events", "PreToolUse", **NOWHERE)
    path = f"{os.path.dirname(node)}:/usr/bin:/bin"
    good = project.run("doctor", "--agent", "opencode", "--json", PATH=path)
    assert about(of(good, "opencode"), "probe", "wrong") == []
    file = project.home / ".config/opencode/plugins/hookline.js"
    file.write_text(file.read_text().replace("throw new Error(orders.deny)", "return", 2))
    bad = project.run("doctor", "--agent", "opencode", "--json", PATH=path)
    assert about(of(bad, "opencode"), "probe", "wrong") == ["the plugin itself: its denial does not stop the tool"]


def test_an_agent_that_nobody_knows_is_told_before_anything_is_looked_at(project):
    done = project.run("doctor", "--agent", "cluade", **NOWHERE)
    assert (done.code, done.out, "claude-code" in done.err) == (64, "", True)


EVIL = "touch '{0}/EVIL'; /bin/hookline hook --agent claude-code --event PreToolUse --registration project/claude-code"


@pytest.mark.parametrize(
    "command",
    [
        EVIL,
        "/bin/hookline hook --agent claude-code --event PreToolUse; touch '{0}/EVIL'",
        "'{0}/evil/hookline' hook --agent claude-code --event PreToolUse",
    ],
)
@pytest.mark.parametrize("words", [(), ("--run",)])
def test_the_doctor_runs_only_what_hookline_writes(project, command, words):
    project.write("evil/hookline", f"#!/bin/sh\ntouch '{project.path}/EVIL'\n", mode=0o755)
    project.write("evil/claude", "#!/bin/sh\necho 9.9.9\n", mode=0o755)
    hook = {"type": "command", "command": command.format(project.path)}
    project.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
    around = {**NOWHERE, "PATH": f"{project.path}/evil:/usr/bin:/bin"} if words else NOWHERE
    done = project.run("doctor", "--agent", "claude", "--json", *words, **around)
    assert not (project.path / "EVIL").exists()
    (found,) = about(of(done, "claude-code"), "probe", "wrong")
    assert found.startswith("PreToolUse: not run, because it is not what hookline deploy writes")


@pytest.mark.skipif(not shutil.which("node"), reason="only node loads it")
def test_the_doctor_loads_no_plugin_that_hookline_has_not_written(project):
    project.run("deploy", "--agent", "opencode", "--scope", "project", "--events", "PreToolUse", **NOWHERE)
    plugin = project.path / ".opencode/plugins/hookline.js"
    line = f'import fs from "node:fs"; fs.writeFileSync("{project.path}/EVIL", "")\n'
    plugin.write_text(plugin.read_text() + line)
    done = project.run("doctor", "--agent", "opencode", "--json", **{**NOWHERE, "PATH": os.environ["PATH"]})
    assert not (project.path / "EVIL").exists()
    assert about(of(done, "opencode"), "probe", "wrong")


def test_what_an_older_deployment_wrote_is_still_probed(project):
    """The hooks have changed since, so hookline would write something else now."""
    project.run("deploy", "--agent", "claude", "--events", "PreToolUse", "Notification", **NOWHERE)
    own = project.home / ".config/hookline/hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text(GUARD.replace("exit 2", "exit 0"))
    done = project.run("doctor", "--agent", "claude", "--json", **NOWHERE)
    (probed,) = about(of(done, "claude-code"), "probe")
    assert probed.startswith("2 of 2 events are answered")


@pytest.mark.parametrize("where", ["home", "home/..", "home/work"])
def test_the_state_that_is_checked_is_that_of_home_wherever_it_is_typed(project, where):
    folder = project.home.parent / where
    folder.mkdir(exist_ok=True)
    done = project.run("doctor", "--json", cwd=folder, **NOWHERE)
    assert about(done.json["hookline"], "state") == [f"{project.home}/.local/state/hookline is private"]


def test_a_home_that_is_no_absolute_path_is_named(project):
    (found,) = [one for one in project.run("doctor", "--json", HOME="odd").json["hookline"] if "HOME" in one["text"]]
    assert (found["level"], found["next"]) == ("note", f"export HOME={account_home()}")
