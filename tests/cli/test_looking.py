"""explain, list, log, status, check, convert, schema, completion and help: what people and programs look at."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hookline.cli import COMMANDS
from hookline.llm.spending import note_usage

HOOKS = """
[[hook]]
name = "first"
on = "PreToolUse"
match = "Edit"
shell = "true"

[[hook]]
name = "second"
on = "PreToolUse"
shell = "echo no >&2; exit 2"
"""
LS = {"tool_name": "Bash", "tool_input": {"command": "ls --token ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}


@pytest.fixture
def hooked(project):
    (project.home / ".config/hookline").mkdir(parents=True)
    (project.home / ".config/hookline/hookline.toml").write_text(HOOKS)
    return project


def test_explain_agrees_with_fire(hooked):
    explained = hooked.run("explain", "PreToolUse", "--data", json.dumps(LS), "--json").json["hooks"]
    fired = hooked.fire("PreToolUse", LS).json["outcomes"]
    assert [one["hook"] for one in explained if one["would_run"]] == [one["hook"] for one in fired] == ["second"]
    assert "does not match" in explained[0]["why_not"]
    without = hooked.run("explain", "PreToolUse", "--json").json["hooks"][0]["why_not"]
    assert without == "no tool_name was given that would match 'Edit'"


def test_explain_shows_hooks_that_their_file_turns_off(project):
    project.write("off.toml", '[[hook]]\nname = "o"\non = "Stop"\nrun = "true"\nenabled = false\n')
    (one,) = project.run("explain", "Stop", "--config", "off.toml", "--json").json["hooks"]
    assert (one["hook"], one["would_run"], "enabled = false" in one["why_not"]) == ("o", False, True)


def test_explain_runs_and_records_nothing(hooked):
    hooked.run("explain", "PreToolUse")
    assert hooked.run("log", "--json").out == ""


def test_the_log_shows_what_to_type_to_replay_an_event(hooked):
    hooked.fire("PreToolUse", LS)
    (first, *_) = hooked.run("log").out.splitlines()
    (named,) = (word for word in first.split() if word == hooked.run("log", "--json").json["id"])
    assert hooked.run("replay", named).code == 0
    assert f"hookline replay {named} --dry-run" in hooked.run("explain", named).err


def test_the_log_of_a_hook_that_nobody_knows_is_wrong_usage(hooked):
    hooked.fire("PreToolUse", LS)
    told = hooked.run("log", "--hook", "secnd")
    assert (told.code, told.out, "did you mean 'second'?" in told.err) == (64, "", True)
    assert hooked.run("log", "--hook", "nosuch", "--json").code == 64


def test_the_log_says_that_nothing_fits(hooked):
    hooked.fire("PreToolUse", LS)
    for words in (
        ("--hook", "first"),
        ("--session", "other"),
        ("--event", "Stop"),
        ("--hook", "second", "--since", "0s"),
    ):
        told = hooked.run("log", *words)
        assert (told.code, told.out.startswith("No recorded event matches.")) == (0, True), words
        assert hooked.run("log", *words, "--json").out == ""


def test_the_log_knows_yesterday(hooked):
    hooked.fire("PreToolUse", LS)
    found = {words: bool(hooked.run("log", *words, "--json").out) for words in (
        ("--since", "yesterday"), ("--since", "today"), ("--since", "yesterday", "--until", "today"),
    )}  # fmt: skip
    assert list(found.values()) == [True, True, False]


@pytest.mark.parametrize(
    "words",
    [("log",), ("log", "--format", "csv"), ("log", "--chain", "last"), ("log", "--chain", "a"), ("replay", "a")],
)
def test_a_record_that_cannot_be_read_is_never_an_empty_one(hooked, words):
    hooked.fire("PreToolUse", LS)
    (file,) = hooked.home.rglob("hookline.db")
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 99")
    told = hooked.run(*words)
    assert (told.code, told.out, "written by a newer hookline" in told.err) == (74, "", True)


def test_list_names_the_file_and_the_line(hooked):
    hooks = hooked.run("list", "--json").json["hooks"]
    places = [(one["hook"], one["line"], one["layer"], one["trust"]) for one in hooks]
    assert places == [("first", 2, "user", "own"), ("second", 8, "user", "own")]


def test_list_of_an_event_without_hooks_does_not_say_that_there_are_none(hooked):
    assert hooked.run("list", "--event", "Stop").out.startswith("No hook listens to Stop here.")


def test_list_knows_how_a_hook_has_been_doing(hooked):
    hooked.fire("PreToolUse", LS)
    second = hooked.run("list", "--json").json["hooks"][1]
    assert (second["fired"], second["failures"], second["last_effect"]) == (1, 0, "deny")
    assert second["p50_ms"] > 0


def test_log_filters_and_keeps_no_secret(hooked):
    hooked.fire("PreToolUse", LS)
    hooked.fire("Stop")
    rows = [json.loads(line) for line in hooked.run("log", "--effect", "deny", "--json").out.splitlines()]
    assert [row["event"] for row in rows] == ["PreToolUse"]
    assert "ghp_" not in json.dumps(rows)
    assert hooked.run("log", "--hook", "second", "--event", "Stop", "--json").out == ""
    assert "refus" not in hooked.run("log", "--since", "1h").err


def test_log_follow_prints_what_happens_meanwhile(hooked):
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(hooked.home)}
    words = [sys.executable, "-m", "hookline", "log", "--follow", "--json"]
    with subprocess.Popen(words, cwd=hooked.path, env=environ, stdout=subprocess.PIPE, text=True) as follower:
        try:
            hooked.fire("PreToolUse", LS)
            assert follower.stdout is not None
            assert json.loads(follower.stdout.readline())["effect"] == "deny"
        finally:
            follower.kill()


def test_status_sums_what_models_cost_today(hooked):
    note_usage(
        str(hooked.home / ".local/state/hookline"), "judge", {"input_tokens": 40, "output_tokens": 7, "cost_usd": 0.5}
    )
    assert "models         today 1 model requests, 47 tokens, $0.5000: judge: 1 model" in hooked.run("status").out
    assert hooked.run("status", "--json").json["models_today"]["by"]["judge"]["output_tokens"] == 7


def test_status_names_the_next_command(hooked):
    hooked.fire("PreToolUse", LS)
    report = hooked.run("status", "--json").json
    assert (report["hooks"]["total"], report["record"]["firings"], report["record"]["denies_today"]) == (2, 1, 1)


def test_check_reports_every_problem_at_once_with_its_place(project):
    project.write(
        "a.toml",
        '[[hook]]\nname = "x"\non = "PreTool"\nrun = "true"\n\n[[hook]]\non = "Stop"\ntimeout = -1\nrun = "true"\n',
    )
    result = project.run("check", "--config", "a.toml", "--json")
    problems = result.json["problems"]
    assert result.code == 78
    assert [(one["line"], one["pointer"]) for one in problems] == [(3, "$.hook[0].on"), (8, "$.hook[1].timeout")]
    assert all(one["finding"] and one["fix"] for one in problems)


def test_check_of_good_files_exits_0(hooked):
    assert hooked.run("check").code == 0


def test_convert_writes_the_same_hooks_and_reports_what_is_lost(project):
    letta = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]}]}}
    project.write("settings.json", json.dumps(letta))
    native = project.run("convert", "--from", "letta", "--to", "native", "settings.json", "-o", "out.toml")
    assert native.code in {0, 1}
    assert project.fire("PreToolUse", {"tool_name": "Bash"}, "--config", "out.toml").json["effect"] == "deny"
    again = project.run("convert", "--from", "letta", "--to", "native", "settings.json", "-o", "out.toml")
    assert (again.code, "out.toml" in again.err) == (64, True)


def test_the_schema_is_json(project):
    assert project.run("schema").json["$schema"].startswith("https://json-schema.org/")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_starts_the_installed_program(project, shell):
    assert "/hookline" in project.run("completion", shell).out


def test_help_is_there_for_every_command(project):
    for command in COMMANDS:
        assert project.run(command, "--help").out.startswith(f"usage: hookline {command}")


def test_help_pays_for_nothing_heavy(project):
    code = "import sys; from hookline.cli import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    heavy = ("asyncio", "yaml", "regex", "pydantic", "http.client", "sqlite3", "argparse")
    assert [name for name in heavy if f"'{name}'" in loaded] == []


def test_the_demo_shows_every_dialect_and_needs_nothing(project):
    result = project.run("demo")
    assert result.code == 0, result.err
    for word in (
        "no-secrets",
        "nothing-outside",
        "block-rm-rf.sh",
        "branch",
        "no-curl-to-shell",
        "scout",
        "### What may help",
        "make clean removed .env → list what is removed before removing it",
    ):
        assert word in result.out
    assert "failed " not in result.out


def test_the_record_says_that_a_hook_in_the_background_ended_the_run(project):
    hook = '[[hook]]\nname = "b"\non = "Stop"\nshell = "sleep 0.2; exit 7"\nmode = "background"\non_failure = "abort"\n'
    project.write("b.toml", hook)
    fired = project.fire("Stop", {}, "--config", "b.toml").json
    kept = project.run("log", "--json").json
    assert {key: kept[key] for key in ("effect", "reason", "aborted")} == {
        "effect": "deny",
        "reason": fired["reason"],
        "aborted": fired["aborted"],
    }


def test_a_firing_that_could_not_be_recorded_says_so_and_so_does_the_log(project):
    project.write("h.toml", '[[hook]]\nname = "h"\non = "Stop"\nshell = "true"\n')
    project.write("file", "")
    fired = project.fire("Stop", {}, "--config", "h.toml", HOOKLINE_STATE_DIR=str(project.path / "file"))
    log = project.run("log", HOOKLINE_STATE_DIR=str(project.path / "file"))
    assert (fired.code, fired.json["effect"], "not recorded" in fired.err) == (0, "allow", True)
    assert (log.code, "cannot be read" in log.err) == (74, True)


def test_a_secret_that_stands_in_a_hooks_own_env_is_not_recorded(project):
    hook = '[[hook]]\nname = "h"\non = "Stop"\nshell = "echo $MY_TOKEN"\nenv = { MY_TOKEN = "opensesame99" }\n'
    project.write("h.toml", hook)
    project.fire("Stop", {}, "--config", "h.toml")
    log = project.run("log", "--json")
    assert ("opensesame99" in log.out, "[redacted:MY_TOKEN]" in log.out) == (False, True)


def test_a_process_that_left_its_group_is_recorded_not_hunted(project):
    left = """
import os, time
told, tell = os.pipe()
if os.fork():
    os.read(told, 1)
    os._exit(0)
os.setsid()
open("left.pid", "w").write(str(os.getpid()))
os.write(tell, b".")
time.sleep(20)
"""
    project.write("leave.py", left)
    project.write("l.toml", f'[[hook]]\nname = "l"\non = "Stop"\nrun = ["{sys.executable}", "leave.py"]\n')
    assert project.fire("Stop", {}, "--config", "l.toml").json["outcomes"][0]["status"] == "replied"
    os.kill(int((project.path / "left.pid").read_text()), signal.SIGKILL)
    assert "left the hook's group" in project.run("log", "--json").json["outcomes"][0]["stderr"]


def test_a_plugin_that_does_not_describe_itself_is_described_from_its_handshake(project):
    echo = Path(__file__).parents[1] / "processes" / "plugins" / "echo_plugin.py"
    project.write("plugins.conf", f"[plugins]\necho = {echo}\n")
    told = project.fire("plugin.describe", {}, "--dialect", "lash", "--config", "plugins.conf").json["data"]
    assert (told["name"], "input.submit" in told["hooks"]) == ("echo", True)


def test_a_mistyped_command_is_answered_in_whole_sentences(project):
    told = project.run("fier", "PreToolUse")
    assert (told.code, told.err) == (
        64,
        "hookline: there is no command 'fier'; did you mean 'fire'? All commands: hookline --help\n",
    )
    assert "--sinse (did you mean --since?); see: hookline log --help" in project.run("log", "--sinse").err
    assert project.run("xyzzy").err == "hookline: there is no command 'xyzzy'. All commands: hookline --help\n"
    assert "there is no option '--verison'; did you mean '--version'?" in project.run("--verison").err


def test_a_word_that_is_none_of_a_few_is_answered_with_those(project):
    assert project.run("log", "--effect", "refused").err == (
        "hookline: --effect cannot be 'refused'; write one of allow, ask, deny; see: hookline log --help\n"
    )
    assert "there is no hookline memory 'serch' (did you mean 'search'?); see:" in project.run("memory", "serch").err
    assert (
        "there is no hookline completion 'tcsh'; write one of bash, zsh, fish; see:"
        in project.run("completion", "tcsh").err
    )


def test_one_of_a_thing_is_said_in_the_singular(hooked):
    hooked.fire("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "rm"}})
    (line,) = (one for one in hooked.run("status").out.splitlines() if one.startswith("record"))
    assert "1 event, today" in line
    hooked.write("bad.toml", "x = 1\n[[hook]]\n")
    assert hooked.run("check", "bad.toml").out.splitlines()[-1] == "1 file, 0 hooks, 1 error, 1 warning"


def test_an_agent_whose_name_is_mistyped_is_suggested(project):
    told = project.run("hook", "--agent", "claud-code", "--cold", stdin='{"hook_event_name": "Stop"}')
    assert (told.code, "did you mean 'claude-code'?" in told.err) == (64, True)


def test_what_is_taken_out_without_a_word_is_all_of_it_and_the_help_says_so(project):
    told = project.run("undeploy", "--help", COLUMNS="200").out
    assert "default: user" not in told
    assert "whose file (default: all of them)" in told


@pytest.mark.parametrize("idle", ["-5", "nan", "inf", "soon"])
def test_a_daemon_that_would_end_at_once_is_not_started(project, idle):
    told = project.run("daemon", "run", f"--idle={idle}")
    assert (told.code, told.out, "--idle" in told.err) == (64, "", True)


def test_help_names_every_command_on_one_screen_and_exit_codes_have_a_page_of_their_own(project):
    lines = project.run("--help").out.splitlines()
    assert 24 <= len(lines) <= 45
    assert max(map(len, lines)) <= 80
    named = {name for line in lines if line.startswith("  ") for name in line[2:21].replace(",", "").split()}
    assert named == set(COMMANDS)
    codes = project.run("help", "exit-codes").out.splitlines()
    assert "  78          invalid configuration, or an optional package that is missing" in codes
