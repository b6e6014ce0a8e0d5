"""``hookline fire``: the contract of its JSON and of its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys

GUARD = """
[[hook]]
name = "no-rm"
on = "PreToolUse"
match = "Bash"
run = "./no-rm.sh"
timeout = "60s"
on_failure = "deny"
"""
NO_RM = """#!/bin/sh
if grep -q 'rm -rf'; then echo "Blocked: rm -rf must be run by hand." >&2; exit 2; fi
"""
RM = {"tool_name": "Bash", "tool_input": {"command": "rm -rf x"}}
LS = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def test_a_deny_is_told_in_every_documented_field_and_exits_1(project):
    project.write("guard.toml", GUARD)
    project.write("no-rm.sh", NO_RM, mode=0o755)
    result = project.fire("PreToolUse", RM, "--config", "guard.toml")
    decision = result.json
    assert isinstance(decision["outcomes"][0].pop("ms"), float)
    assert (result.code, decision) == (
        1,
        {
            "event": "PreToolUse",
            "effect": "deny",
            "granted": False,
            "reason": "Blocked: rm -rf must be run by hand.",
            "aborted": None,
            "data": RM,
            "modified": False,
            "context": [],
            "messages": [],
            "attributes": {},
            "conflicts": [],
            "ignored": [],
            "outcomes": [{"hook": "no-rm", "status": "replied", "effect": "deny", "exit_code": 2, "error": None}],
        },
    )


def test_no_opinion_allows_but_grants_nothing(project):
    project.write("guard.toml", GUARD)
    project.write("no-rm.sh", NO_RM, mode=0o755)
    result = project.fire("PreToolUse", LS, "--config", "guard.toml")
    assert (result.code, result.json["effect"], result.json["granted"]) == (0, "allow", False)


def test_a_missing_guard_denies_and_says_that_it_failed(project):
    project.write("guard.toml", GUARD)
    result = project.fire("PreToolUse", LS, "--config", "guard.toml")
    assert result.code == 1
    assert result.json["reason"].startswith("hook failed: ")
    assert result.json["outcomes"][0]["status"] == "failed"


def test_bad_json_exits_65_with_the_position(project):
    result = project.run("fire", "PreToolUse", "--data", '{"tool_name":\n "Bash"')
    assert result.code == 65
    assert "line 2, column 8" in result.err


def test_words_that_only_python_takes_for_numbers_are_bad_json(project):
    result = project.run("fire", "PreToolUse", "--data", '{"NaN": "NaN",\n "b": NaN}')
    assert (result.code, "line 2, column 7" in result.err) == (65, True)


def test_a_number_of_too_many_digits_exits_65(project):
    assert project.run("fire", "PreToolUse", "--data", '{"n": ' + "9" * 5000 + "}").code == 65
    assert project.run("hook", "--agent", "native", stdin='{"event": "Stop", "n": ' + "9" * 5000 + "}").code == 65


def test_data_without_an_end_exits_65(project):
    assert project.run("fire", "PreToolUse", "--data", "@/dev/zero").code == 65


def test_a_closed_standard_input_exits_65(project):
    for words in ("fire Stop --data -", "hook --agent native --event Stop"):
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "$0" -m hookline {words} <&-', sys.executable],
            cwd=project.path, env={"HOME": str(project.home)}, capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
        assert done.returncode == 65, done.stderr


def test_a_refusal_is_not_lost_for_a_number_that_is_no_json_and_the_number_is_null(project):
    answer = '{"effect": "deny", "reason": "no", "data": {"tool_input": {"a": NaN}}}'
    hook = '[[hook]]\nname = "n"\non = "PreToolUse"\nshell = "cat answer.json"\n'
    project.write("n.toml", hook)
    project.write("answer.json", answer)
    assert project.fire("PreToolUse", LS, "--config", "n.toml").json["effect"] == "deny"
    project.write("answer.json", answer.replace("deny", "allow"))
    assert project.fire("PreToolUse", LS, "--config", "n.toml").json["data"]["tool_input"] == {"a": None}


def test_what_a_function_prints_does_not_stand_in_the_way_of_the_answer(project):
    project.write("said.py", "import os\nprint('loading')\ndef f(event):\n    print('text')\n    os.write(1, b'raw')\n")
    project.write("p.toml", '[[hook]]\nname = "p"\non = "Stop"\npython = "said:f"\n')
    fired = project.fire("Stop", {}, "--config", "p.toml")
    answered = project.run("hook", "--agent", "native", "--config", "p.toml", stdin='{"event": "Stop"}')
    assert (fired.json["outcomes"][0]["status"], answered.out) == ("replied", "")
    assert all(word in fired.err and word in answered.err for word in ("loading", "text", "raw"))


def test_data_that_is_not_an_object_exits_65(project):
    assert project.run("fire", "PreToolUse", "--data", "[1]").code == 65


def test_data_come_from_a_file_or_from_stdin(project):
    project.write("event.json", json.dumps(LS))
    from_file = project.run("fire", "PreToolUse", "--data", "@event.json", "--json")
    from_stdin = project.run("fire", "PreToolUse", "--data", "-", "--json", stdin=json.dumps(LS))
    assert from_file.json["data"] == from_stdin.json["data"] == LS


def test_a_missing_data_file_exits_65_and_names_it(project):
    result = project.run("fire", "PreToolUse", "--data", "@nowhere.json")
    assert (result.code, "nowhere.json" in result.err) == (65, True)


def test_wrong_usage_exits_64_and_never_2(project):
    for words in (
        ("fire",),
        ("fire", "PreToolUse", "--nope"),
        ("nonsense",),
        ("fire", "PreTolUse"),
        ("log", "--last", "x"),
    ):
        result = project.run(*words)
        assert (result.code, result.err.startswith("hookline: ")) == (64, True), words


def test_a_typo_in_an_event_is_met_with_the_right_name(project):
    assert "did you mean 'PreToolUse'" in project.run("fire", "PreTolUse").err


def test_an_unreadable_configuration_exits_78_with_its_line(project):
    project.write("broken.toml", "[[hook]]\nname = ")
    result = project.fire("PreToolUse", LS, "--config", "broken.toml")
    assert result.code == 78
    assert "broken.toml:2" in result.err


def test_a_missing_configuration_exits_78(project):
    assert project.fire("PreToolUse", LS, "--config", "gone.toml").code == 78


def test_a_bad_hook_never_disables_a_good_one(project):
    bad = '[[hook]]\nname = "bad"\non = "PreToolUse"\ntimeout = "soon"\nrun = "true"\n'
    project.write("guard.toml", bad + GUARD)
    project.write("no-rm.sh", NO_RM, mode=0o755)
    result = project.fire("PreToolUse", RM, "--config", "guard.toml")
    assert result.json["effect"] == "deny"
    assert "timeout" in result.err


def test_an_unknown_native_event_is_carried(project):
    project.write("any.toml", '[[hook]]\nname = "h"\non = "myagent:Thing"\nshell = "echo seen"\ninject = "context"\n')
    result = project.fire("myagent:Thing", {"x": 1}, "--config", "any.toml")
    assert result.json["context"][0]["text"].strip() == "seen"


def test_a_background_failure_can_still_end_the_run(project):
    project.write(
        "bg.toml", '[[hook]]\nname = "bg"\non = "Stop"\nmode = "background"\nshell = "exit 4"\non_failure = "abort"\n'
    )
    result = project.fire("Stop", {}, "--config", "bg.toml")
    assert (result.code, result.json["aborted"]) == (1, {"hook": "bg", "message": "exit code 4"})


def test_turns_are_counted_across_processes_that_share_a_session(project):
    project.write(
        "t.toml", '[[hook]]\nname = "second"\non = "UserPromptSubmit"\nshell = "true"\nwhen = { every_n_turns = 2 }\n'
    )
    seen = [
        project.fire("UserPromptSubmit", {"prompt": "x"}, "--config", "t.toml", "--session", "s").json["outcomes"][0][
            "status"
        ]
        for _ in range(4)
    ]
    assert seen == ["skipped", "replied", "skipped", "replied"]


def test_a_function_that_blocks_in_c_is_ended_at_its_deadline(project):
    project.write("slow.py", "import time\ndef wait(event):\n    time.sleep(60)\n")
    project.write("p.toml", '[[hook]]\nname = "p"\non = "PreToolUse"\npython = "slow:wait"\ntimeout = "300ms"\n')
    assert project.fire("PreToolUse", LS, "--config", "p.toml").json["outcomes"][0]["status"] == "timed-out"


def test_text_of_a_hook_cannot_move_the_cursor(project):
    project.write("e.toml", """[[hook]]\nname = "e"\non = "Stop"\nshell = "printf '\\\\033[2Jgone' >&2; exit 2"\n""")
    assert "\x1b" not in project.run("fire", "Stop", "--config", "e.toml").out


def test_a_person_is_told_once_what_went_wrong(project):
    hook = '[[hook]]\nname = "{0}"\non = "PreToolUse"\nshell = "echo oops >&2; exit 7"\non_failure = "{1}"\n'
    project.write("deny.toml", hook.format("guard", "deny"))
    denied = project.run("fire", "PreToolUse", "--config", "deny.toml")
    assert (denied.out + denied.err).count("oops") == 1
    assert "guard: failed, and on_failure is deny" in denied.out
    project.write("ignore.toml", hook.format("guard", "ignore"))
    ignored = project.run("fire", "PreToolUse", "--config", "ignore.toml")
    assert (ignored.out + ignored.err).count("oops") == 1
    project.write("abort.toml", hook.format("guard", "abort"))
    assert project.run("fire", "PreToolUse", "--config", "abort.toml").out.startswith("PreToolUse  aborted by guard")


def test_a_person_is_told_once_that_a_hook_is_not_trusted(project):
    project.write(".hookline/hookline.toml", '[[hook]]\nname = "n"\non = "Stop"\nrun = "true"\n')
    told = project.run("fire", "Stop")
    assert (told.out + told.err).count("hookline trust") == 1


def test_changed_data_are_shown_as_json(project):
    project.write(
        "change.toml",
        """[[hook]]\nname = "c"\non = "UserPromptSubmit"\nshell = '''echo '{"data": {"prompt": "é"}}' '''\n""",
    )
    data = json.dumps({"prompt": "it's", "active": True, "nothing": None})
    told = project.run("fire", "UserPromptSubmit", "--config", "change.toml", "--data", data).out
    (line,) = (line for line in told.splitlines() if "~ data" in line)
    assert json.loads(line.partition("~ data: ")[2]) == {"prompt": "é", "active": True, "nothing": None}


def test_a_mistyped_agent_is_refused_with_the_one_that_is_meant(project):
    done = project.run("fire", "PreToolUse", "--agent", "gemni")
    assert (done.code, "did you mean 'gemini-cli'?" in done.err) == (64, True)
    assert project.run("fire", "PreToolUse", "--agent", "gemini").code == 0
    assert project.run("fire", "PreToolUse", "--agent", "a-program-of-my-own").code == 0
