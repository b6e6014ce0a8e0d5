"""Events of commands, files, jobs, variables and errors, from a real ``hookline shell -c``."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from tests.patience import alive, eventually
from tests.shell.house import BIN, House, deny, modify


def names(house: House) -> list[str]:
    return [name for name, _data in house.heard()]


def test_a_pipeline_into_a_file_fires_its_events_in_the_order_of_the_document(house: House) -> None:
    result = house.listen().shell("echo one | cat > f")
    assert (result.code, (house.work / "f").read_text()) == (0, "one\n")
    told = [name for name in names(house) if not name.startswith(("env.", "config.", "variable."))]
    assert told[:8] == [
        "session.connect", "input.submit", "pipeline.pre_execute", "file.redirect",
        "process.pre_spawn", "process.post_spawn", "process.pre_spawn", "process.post_spawn",
    ]  # fmt: skip
    assert told[8:] == ["process.pre_exit", "process.pre_exit", "pipeline.post_execute", "session.disconnect"]


def test_a_command_is_told_with_its_words_its_directory_and_its_exit(house: House) -> None:
    house.listen("process.pre_spawn", "process.post_spawn", "process.pre_exit", "pipeline.post_execute")
    house.shell("$XX = 'inherited'\n$HERE='a b' sh -c 'exit 3' 'x y' || true")
    (before, *_), (after, *_), (ended, *_) = map(
        house.told, ("process.pre_spawn", "process.post_spawn", "process.pre_exit")
    )
    assert before["command"] == "sh"
    assert before["args"] == ["-c", "exit 3", "x y"]
    assert before["env"] == {"HERE": "a b", "LASH_DISPLAY": "stream"}
    assert (before["cwd"], before["index"]) == (str(house.work), 0)
    assert after["pid"] == ended["pid"] > 1
    assert (ended["exit_code"], ended["signal"]) == (3, None)
    assert house.told("pipeline.post_execute")[0]["statuses"] == [3]


def test_a_refused_pipeline_does_not_run_and_the_exit_code_is_126(house: House) -> None:
    house.answers = [deny("pipeline.pre_execute", "hands off", text="touch x")]
    result = house.listen("pipeline.pre_execute").shell("touch x")
    assert result.code == 126
    assert "Problem: hands off" in result.err
    assert "Suggestion: hook listener refused it" in result.err
    assert not (house.work / "x").exists()


def test_a_refused_process_does_not_start_and_its_neighbours_are_ended(house: House) -> None:
    house.answers = [deny("process.pre_spawn", "not this one", command="tee")]
    result = house.listen("process.pre_spawn", "pipeline.post_execute").shell("sleep 300 | tee x")
    assert result.code == 126
    assert "Problem: not this one" in result.err
    assert not (house.work / "x").exists()
    assert house.told("pipeline.post_execute")[0]["exit_code"] == 126
    assert house.told("pipeline.post_execute")[0]["duration_ms"] < 60_000


def test_a_shell_whose_directory_was_removed_still_runs_what_hooks_allow(house: House) -> None:
    house.listen("pipeline.pre_execute", "process.pre_spawn")
    result = house.shell("mkdir gone\ncd gone\nrmdir ../gone\necho here\ncd /\necho back")
    assert (result.code, result.out) == (0, "here\nback\n")
    assert [one["text"] for one in house.told("pipeline.pre_execute")][-3:] == ["echo here", "cd /", "echo back"]


def test_a_script_goes_on_after_a_refusal_that_it_caught(house: House) -> None:
    house.answers = [deny("pipeline.pre_execute", "no", text="touch x")]
    text = "try:\n    ![touch x]\nexcept Exception:\n    pass\necho still here"
    result = house.listen("pipeline.pre_execute").shell(text)
    assert "still here" in result.out
    assert result.code == 0


def test_a_hook_changes_command_arguments_environment_and_directory(house: House) -> None:
    (house.work / "sub").mkdir()
    changed = {"command": "sh", "args": ["-c", "echo $GIVEN in $(basename $(pwd))"], "env": {"GIVEN": "changed"}}
    house.answers = [modify("process.pre_spawn", {**changed, "cwd": str(house.work / "sub")}, command="ls")]
    assert house.listen("process.pre_spawn").shell("ls").out == "changed in sub\n"


def test_a_hook_changes_a_whole_pipeline(house: House) -> None:
    commands = [
        {"command": "echo", "args": ["b\na"], "redirects": []},
        {"command": "sort", "args": [], "redirects": []},
    ]
    house.answers = [modify("pipeline.pre_execute", {"commands": commands}, text="ls")]
    assert house.listen("pipeline.pre_execute").shell("ls").out == "a\nb\n"


def test_a_hook_changes_the_exit_code_that_the_shell_delivers(house: House) -> None:
    house.answers = [modify("process.pre_exit", {"exit_code": 0}, command="false")]
    assert house.listen("process.pre_exit").shell("false && echo fine").out == "fine\n"


def test_a_refused_redirection_leaves_the_file_alone(house: House) -> None:
    (house.work / "kept").write_text("as it was")
    house.answers = [deny("file.redirect", "keep it", path=str(house.work / "kept"))]
    result = house.listen("file.redirect", "pipeline.post_execute").shell("echo new > kept")
    assert (result.code, (house.work / "kept").read_text()) == (1, "as it was")
    assert "Problem: keep it" in result.err
    assert [one["exit_code"] for one in house.told("pipeline.post_execute")] == [1]


def test_a_redirection_is_led_elsewhere_or_made_to_append(house: House) -> None:
    (house.work / "log").write_text("first\n")
    house.answers = [
        modify("file.redirect", {"path": str(house.work / "elsewhere")}, path=str(house.work / "a")),
        modify("file.redirect", {"append": True}, path=str(house.work / "log")),
    ]
    house.listen("file.redirect").shell("echo one > a\necho second > log\necho err e> err.txt")
    assert (house.work / "elsewhere").read_text() == "one\n"
    assert (house.work / "log").read_text() == "first\nsecond\n"
    assert [(one["append"], one["fd"]) for one in house.told("file.redirect")] == [(False, 1), (False, 1), (False, 2)]


def test_functions_of_the_shell_are_told_as_builtins_and_can_be_refused(house: House) -> None:
    house.answers = [deny("process.pre_spawn", "stay", command="cd")]
    result = house.listen("process.pre_spawn").shell("cd / && pwd")
    assert "/\n" not in result.out
    assert house.told("process.pre_spawn")[0] | {"cwd": ""} == {
        "command": "cd", "args": ["/"], "env": {}, "cwd": "", "pipeline_id": "p1", "index": 0, "builtin": True,
    }  # fmt: skip


def test_a_background_job_is_told_and_so_is_its_end(house: House) -> None:
    house.listen("job.background", "process.pre_exit", "pipeline.post_execute")
    house.shell("sh -c 'exit 5' &\nsleep 2")
    (job,) = house.told("job.background")
    assert (job["cause"], job["text"]) == ("&", "sh -c 'exit 5' &")
    assert len(job["pids"]) == 1
    ends = [(one["exit_code"], one["background"]) for one in house.told("pipeline.post_execute")]
    assert sorted(ends) == [(0, False), (5, True)]
    assert 5 in [one["exit_code"] for one in house.told("process.pre_exit")]


def test_a_refused_background_job_runs_in_the_foreground(house: House) -> None:
    house.answers = [deny("job.background", "wait for it")]
    result = house.listen("job.background").shell("sh -c 'sleep 0.3; echo slow' &\necho after")
    assert result.out.splitlines() == ["slow", "after"]


def test_variables_are_told_refused_changed_and_kept(house: House) -> None:
    house.answers = [
        deny("variable.set", "fixed", name="pi"),
        modify("variable.set", {"value": 42}, name="answer"),
        deny("variable.drop", "needed", name="answer"),
    ]
    text = (
        "answer = 1\n"
        "for each in (lambda: exec('pi = 3', __xonsh__.ctx), lambda: exec('del answer', __xonsh__.ctx)):\n"
        "    try:\n        each()\n    except Exception as error:\n        print(str(error).splitlines()[0])\n"
        "print(answer, 'pi' in globals())\nx = object()\nprint(type(x).__name__)\n"
    )
    result = house.listen("variable.set", "variable.drop").shell(text)
    assert result.out.splitlines() == ["Problem: fixed", "name 'answer' is not defined", "42 False", "object"]
    told = {one["name"]: one["value"] for one in house.told("variable.set")}
    assert told["answer"] == 1
    assert told["x"].startswith("<object object")


def test_a_variable_that_a_hook_keeps_is_kept_and_the_reason_shown(house: House) -> None:
    house.answers = [deny("variable.drop", "needed", name="answer")]
    result = house.listen("variable.drop").shell("answer = 42\ndel answer")
    assert (result.code, "Problem: needed" in result.err) == (1, True)
    assert house.told("variable.drop") == [{"name": "answer", "value": 42}]


def test_a_refused_assignment_stops_the_line(house: House) -> None:
    house.answers = [deny("variable.set", "fixed", name="pi")]
    result = house.listen("variable.set").shell("pi = 3\necho not reached")
    assert (result.code, result.out) == (1, "")
    assert "Problem: fixed" in result.err


def test_the_environment_is_told_before_it_changes(house: House) -> None:
    house.answers = [
        modify("env.change", {"value": "B"}, name="LETTER"),
        deny("env.change", "stays", name="GONE", op="unset"),
        deny("env.change", "no such place", name="PATH"),
    ]
    text = (
        "$LETTER = 'a'\n$GONE = 'there'\n"
        "import contextlib\n"
        "with contextlib.suppress(Exception):\n    del $GONE\n"
        "with contextlib.suppress(Exception):\n    $PATH.append('/evil')\n"
        "echo $LETTER $GONE\nprint('/evil' in $PATH)\n"
    )
    result = house.listen("env.change").shell(text)
    assert result.out.splitlines() == ["B there", "False"]
    told = [(one["name"], one["op"]) for one in house.told("env.change") if one["name"] in {"LETTER", "GONE"}]
    assert told == [("LETTER", "set"), ("GONE", "set"), ("GONE", "unset")]


def test_a_value_of_the_environment_is_told_as_programs_get_it(house: House) -> None:
    house.listen("env.change").shell("$NUMBER = 5\n$PATH = ['/one', '/two']")
    assert [one["value"] for one in house.told("env.change")] == ["5", "/one:/two"]


def test_what_is_set_for_a_block_is_told_and_so_is_its_end(house: House) -> None:
    house.answers = [deny("env.change", "not this", name="BAD"), modify("env.change", {"value": "b"}, name="CHANGED")]
    text = (
        "with ${...}.swap(CHANGED='a'):\n    sh -c 'echo $CHANGED'\nsh -c 'echo .$CHANGED'\n"
        "with ${...}.swap(FINE='1', BAD='2'):\n    echo never\n"
    )
    result = house.listen("env.change").shell(text)
    assert (result.code, result.out) == (1, "b\n.\n")
    assert "Problem: not this" in result.err
    told = [(one["name"], one["op"], one["value"], one["old"]) for one in house.told("env.change")]
    assert told == [
        ("CHANGED", "set", "a", None), ("CHANGED", "unset", None, "b"), ("FINE", "set", "1", None), ("BAD", "set", "2", None),
    ]  # fmt: skip


def test_a_setting_that_a_file_changes_says_so(house: House) -> None:
    (house.work / "own.xsh").write_text("$DOTGLOB = True\n")
    house.listen("config.change").shell("source own.xsh\n$DOTGLOB = False")
    assert [one["source"] for one in house.told("config.change") if one["key"] == "DOTGLOB"] == ["file", "set"]


def test_settings_of_the_shell_are_told_as_configuration(house: House) -> None:
    house.answers = [deny("config.change", "leave it", key="XONSH_SHOW_TRACEBACK")]
    result = house.listen("config.change").shell("$AUTO_CD = True\n$XONSH_SHOW_TRACEBACK = True")
    assert "Problem: leave it" in result.err
    told = {one["key"]: one["value"] for one in house.told("config.change")}
    assert told["AUTO_CD"] is True


def test_a_hook_that_refuses_every_change_does_not_keep_the_shell_from_starting(house: House) -> None:
    house.answers = [deny(event) for event in ("env.change", "config.change", "variable.set")]
    house.listen("env.change", "config.change", "variable.set")
    assert house.shell("echo started").out == "started\n"
    assert "Problem: no" in house.shell("$MINE = 'x'").err


@pytest.mark.parametrize("text", ["nosuchprogram x", "nosuchprogram x | cat"])
def test_a_command_that_is_not_there_is_one_error_with_its_name_and_127(house: House, text: str) -> None:
    house.listen("error.dispatch").shell(text)
    (told,) = house.told("error.dispatch")
    assert (told["type"], told["step"], told["code"]) == ("command_not_found", "nosuchprogram", 127)
    assert told["problem"] == "command not found: nosuchprogram"


def test_an_error_is_told_with_the_line_that_it_comes_from(house: House) -> None:
    house.listen("error.dispatch").shell("x = 1\n1 / 0\nprint('never')")
    house.shell("true\nsh -c 'exit 2'\ntrue")
    house.shell("x = 1\ny = (")
    assert [one["expr"] for one in house.told("error.dispatch")] == ["1 / 0", "sh -c 'exit 2'", "y = ("]


def test_a_shell_may_end_with_its_last_words(house: House) -> None:
    result = house.shell("raise SystemExit('that is all')")
    assert (result.code, result.err) == (1, "that is all\n")


def test_an_error_is_reworded_or_not_shown_at_all(house: House) -> None:
    house.answers = [
        modify("error.dispatch", {"suggestion": "did you mean git?"}, step="gti"),
        deny("error.dispatch", type="ZeroDivisionError"),
    ]
    first = house.listen("error.dispatch").shell("gti status")
    assert "Problem: command not found: gti\nSuggestion: did you mean git?" in first.err
    second = house.shell("1/0")
    assert "ZeroDivision" not in second.err
    assert second.code == 1


def test_a_python_error_and_a_syntax_error_are_told(house: House) -> None:
    house.listen("error.dispatch")
    house.shell("raise ValueError('odd')")
    house.shell("def (")
    assert [one["type"] for one in house.told("error.dispatch")] == ["ValueError", "SyntaxError"]


def test_a_submitted_line_is_refused_or_rewritten(house: House) -> None:
    house.answers = [
        deny("input.submit", "not that", text="touch x"),
        modify("input.submit", {"text": "echo b"}, text="a"),
    ]
    refused = house.listen("input.submit").shell("touch x")
    assert (refused.code, (house.work / "x").exists()) == (126, False)
    assert "Problem: not that" in refused.err
    assert house.shell("a").out == "b\n"


def test_a_refused_session_does_not_open(house: House) -> None:
    house.answers = [deny("session.connect", "closed today")]
    result = house.listen("session.connect", "session.disconnect").shell("touch x")
    assert (result.code, (house.work / "x").exists()) == (126, False)
    assert "Problem: closed today" in result.err
    assert house.told("session.disconnect") == [{"reason": "exit", "exit_code": 126}]


def test_the_session_is_told_from_its_beginning_to_its_end(house: House) -> None:
    house.listen("session.connect", "session.disconnect").shell("exit 4")
    (opened,) = house.told("session.connect")
    assert (opened["frontend"], opened["interactive"], opened["cwd"]) == ("xonsh", False, str(house.work))
    assert house.told("session.disconnect") == [{"reason": "exit", "exit_code": 4}]


PYTHON_WAYS = [
    "import subprocess; subprocess.run(['touch', 'x'])",
    "import subprocess; subprocess.run('touch x', shell=True)",
    "import os; os.system('touch x')",
    "exec touch x",
    "import os; os.execvp('touch', ['touch', 'x'])",
    "import os; os.spawnvp(os.P_WAIT, 'touch', ['touch', 'x'])",
    "import os; os.posix_spawnp('touch', ['touch', 'x'], os.environ)",
    "import os, threading; t = threading.Thread(target=os.system, args=('touch x',)); t.start(); t.join()",
    "def f(args):\n    import os\n    os.system('touch x')\naliases['ff'] = f\nff",
]


@pytest.mark.parametrize(
    ("text", "event"),
    [
        *((text, "process.pre_spawn") for text in PYTHON_WAYS),
        *((text, "pipeline.pre_execute") for text in PYTHON_WAYS[:2]),
    ],
)
def test_python_code_cannot_start_what_a_hook_refuses(house: House, text: str, event: str) -> None:
    house.answers = [deny(event, "not round me either", via="python")]
    result = house.listen(event).shell(text)
    assert not (house.work / "x").exists(), result.err
    # The second is said by a process that was forked, and so cannot ask.
    assert "not round me either" in result.err or "a forked process cannot run hooks" in result.err


@pytest.mark.parametrize(
    "text",
    [
        "open('x', 'w')",
        "from pathlib import Path; Path('x').write_text('t')",
        "import os; os.open('x', os.O_CREAT | os.O_WRONLY)",
    ],
)
def test_python_code_cannot_write_a_file_that_a_hook_protects(house: House, text: str) -> None:
    house.answers = [deny("file.redirect", "read only", path=str(house.work / "x"))]
    result = house.listen("file.redirect").shell(text)
    assert not (house.work / "x").exists()
    assert "read only" in result.err
    assert {**house.told("file.redirect")[-1]} == {
        "path": str(house.work / "x"), "append": False, "fd": None, "pipeline_id": "", "via": "python",
    }  # fmt: skip


def test_without_a_guard_python_code_is_left_alone(house: House) -> None:
    assert house.shell("import subprocess; _ = subprocess.run(['echo', 'free'])").out == "free\n"
    assert [one["event"] for one in house.log()] == ["session.connect", "input.submit", "session.disconnect"]


def test_everything_is_in_the_log_and_no_value_of_the_environment_in_the_clear(house: House) -> None:
    house.answers = [modify("env.change", {"value": "other-s3cr3t-value"}, name="ODD")]
    house.listen("env.change", "process.pre_spawn").shell("$ODD = 's3cr3t-value'\n$MORE='s3cr3t-too' true")
    log = house.log()
    assert {"session.connect", "env.change", "process.pre_spawn", "pipeline.post_execute"} <= {
        one["event"] for one in log
    }
    text = json.dumps(log)
    kept = "".join(str(path.read_bytes()) for path in house.home.rglob("*.db*"))
    assert "s3cr3t" not in text.replace("$ODD = 's3cr3t-value'", "").replace("s3cr3t-too' true", "")
    assert "other-s3cr3t" not in kept
    assert any(one["name"] == "ODD" and one["value"] == "s3cr3t-value" for one in house.told("env.change"))


def test_a_native_hook_and_a_lash_hook_listen_side_by_side(house: House) -> None:
    config = house.home / ".config" / "hookline"
    config.mkdir(parents=True)
    (config / "hookline.toml").write_text(
        '[[hook]]\nname = "no-rm"\non = "process.pre_spawn"\nmatch = "rm"\n'
        "shell = 'echo native says no >&2; exit 2'\n"
    )
    (house.work / "x").touch()
    script = house.root / "observe"
    script.write_text(f"#!/bin/sh\ncat >> {house.root}/seen\n")
    script.chmod(0o755)
    (house.lash / "config").write_text(f"[hooks]\nprocess.pre_spawn = blocking:{script}\n")
    result = house.listen("input.submit").shell("rm x")
    assert (result.code, (house.work / "x").exists()) == (126, True)
    assert "native says no" in result.err
    assert house.told("input.submit")


def test_a_hook_that_fails_is_not_passed_over_in_silence(house: House) -> None:
    (house.lash / "config").write_text("[hooks]\nprocess.pre_spawn = blocking:/bin/false\n")
    result = house.shell("echo ran")
    assert result.out == "ran\n"
    assert "hookline: the hook /bin/false failed on process.pre_spawn: exit 1" in result.err


def test_what_a_hook_starts_fires_no_hooks(house: House) -> None:
    script = house.root / "hook"
    script.write_text("#!/bin/sh\ncat >/dev/null; ls / >/dev/null\n")
    script.chmod(0o755)
    (house.lash / "config").write_text(f"[hooks]\nprocess.pre_spawn = blocking(on_error=deny):{script}\n")
    result = house.shell("echo once")
    assert result.out == "once\n"
    assert sum(one["event"] == "process.pre_spawn" for one in house.log()) == 1


def test_hooks_run_where_the_shell_is_and_not_where_it_was(house: House) -> None:
    """Whether the shell's own cd, or Python code, took it there; and in a hurry."""
    (house.work / "there").mkdir()
    (house.lash / "where").write_text("#!/bin/sh\npwd >> ~/where\n")
    (house.lash / "where").chmod(0o755)
    (house.lash / "config").write_text("[hooks]\nprocess.pre_spawn = blocking:~/.lash/where\n")
    house.shell("true; cd there; true; import os; os.chdir('..'); true; os.chdir('there'); os.system('true')")
    places = (house.home / "where").read_text().split()
    assert [place.removeprefix(f"{house.work}") for place in places] == ["", "", "/there", "", "/there"]


def _in_the_background(house: House, text: str) -> None:
    own = house.home / ".config" / "hookline" / "hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text(
        f'[[hook]]\nname = "late"\non = "pipeline.post_execute"\nmode = "background"\nshell = """{text}"""\n'
    )


def test_the_end_of_a_shell_waits_a_moment_for_what_runs_in_the_background(house: House) -> None:
    _in_the_background(house, f"sleep 0.3; touch '{house.root}/done'")
    assert house.shell("echo hi").code == 0
    assert (house.root / "done").exists()


def test_a_background_hook_that_hangs_does_not_outlive_its_shell(house: House) -> None:
    _in_the_background(house, f"echo $$ > '{house.root}/pid'; exec sleep 300")
    assert house.shell("echo hi").code == 0
    pid = int((house.root / "pid").read_text())
    assert eventually(lambda: not alive(pid))


def test_a_pattern_reaches_a_guard_as_it_was_typed(house: House) -> None:
    for name in ("a.txt", "b.txt"):
        (house.work / name).touch()
    house.listen("pipeline.pre_execute").shell("echo *.txt 'x y' ~/*")
    (told,) = house.told("pipeline.pre_execute")
    assert told["text"] == "echo *.txt 'x y' ~/*"
    assert told["commands"][0]["args"][:2] == ["a.txt", "b.txt"]


def test_a_pattern_is_told_however_it_was_written(house: House) -> None:
    for name in ("a.txt", "b.txt"):
        (house.work / name).touch()
    folder = house.work / "my files"
    folder.mkdir()
    (folder / "c").touch()
    house.listen("pipeline.pre_execute").shell(
        "echo $PWD/*.txt\necho g`*.txt`\necho @($PWD + '/my files')/*\nfor one in g`a.*`:\n    echo @(one)"
    )
    assert [one["text"] for one in house.told("pipeline.pre_execute")] == [
        f"echo {house.work}/*.txt", "echo *.txt", f"echo {house.work}/my' 'files/*", "echo a.txt",
    ]  # fmt: skip


def test_an_alias_does_not_hide_a_program_and_its_pattern_from_a_guard(house: House) -> None:
    for name in ("a.txt", "b.txt"):
        (house.work / name).touch()
    house.listen("process.pre_spawn").shell("aliases['wipe'] = 'echo -n'\nwipe *.txt\necho a.txt")
    told = [(one["command"], one.get("text")) for one in house.told("process.pre_spawn")]
    assert told == [("echo", "echo -n *.txt"), ("echo", None)]


def test_a_pipeline_into_nothing_closes_every_pair(house: House) -> None:
    house.listen("process.post_spawn", "process.pre_exit", "pipeline.pre_execute", "pipeline.post_execute")
    house.shell("echo hi | nosuch")
    assert [event for event, _ in house.heard()] == [
        "pipeline.pre_execute", "process.post_spawn", "process.pre_exit", "pipeline.post_execute",
    ]  # fmt: skip
    assert house.told("process.pre_exit")[0]["command"] == "echo"
    (ended,) = house.told("pipeline.post_execute")
    assert (ended["exit_code"], ended["statuses"]) == (1, [0, 1])


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        ("echo hi | nosuch &", [0, 1]),
        ("aliases['own'] = lambda args: 4\nown &", [4]),
        ("unread = !(sh -c 'exit 2' | sh -c 'exit 3')", [2, 3]),
    ],
)
def test_what_nobody_waits_for_is_closed_all_the_same(house: House, text: str, statuses: list[int]) -> None:
    house.listen("process.post_spawn", "process.pre_exit", "pipeline.post_execute")
    house.shell(f"{text}\nimport time\ntime.sleep(1)")
    assert [one["statuses"] for one in house.told("pipeline.post_execute")] == [statuses]
    assert len(house.told("process.pre_exit")) == len(house.told("process.post_spawn"))


@pytest.mark.parametrize("text", ["sh -c 'exit 5' &", "unread = !(sh -c 'exit 5')"])
def test_a_changed_exit_code_is_the_one_that_is_told(house: House, text: str) -> None:
    house.answers = [modify("process.pre_exit", {"exit_code": 0}, exit_code=5)]
    house.listen("process.pre_exit", "pipeline.post_execute").shell(f"{text}\nimport time\ntime.sleep(0.5)")
    assert [one["statuses"] for one in house.told("pipeline.post_execute")] == [[0]]


def test_a_program_that_takes_the_place_of_the_shell_is_told_once(house: House) -> None:
    assert house.listen("process.pre_spawn").shell("exec echo replaced").out == "replaced\n"
    assert [one["command"] for one in house.told("process.pre_spawn")] == ["exec", "echo"]


def test_the_end_of_an_early_member_is_told_when_it_ends(house: House) -> None:
    house.listen("process.pre_exit").shell("sh -c 'sleep 0.1' | sh -c 'sleep 1'")
    assert [one["duration_ms"] < 900 for one in house.told("process.pre_exit")] == [True, False]


def test_children_learn_how_they_are_shown(house: House) -> None:
    assert house.shell("env | grep LASH_DISPLAY").out == "LASH_DISPLAY=stream\n"


def test_a_configuration_that_is_not_there_is_an_error(house: House) -> None:
    done = house.shell("", argv=[str(BIN / "hookline"), "shell", "--config", "missing.toml", "-c", "true"])
    assert (done.code, done.err) == (78, "hookline: missing.toml: there is no such file; create it, or name another\n")


def test_plugins_are_listed_as_they_describe_themselves(house: House) -> None:
    house.listen("input.submit").write()
    with (house.lash / "plugins.conf").open("a") as file:
        file.write(f"broken = {house.root}/nothing\n")
    done = subprocess.run(
        [str(BIN / "hookline"), "shell", "--list-plugins"], cwd=house.work, env=house.environ(), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (
        1, "listener\n  hooks: input.submit\nbroken: it is not loaded; see: hookline check --dialect lash\n",
    )  # fmt: skip


def test_each_plugin_is_described_by_itself_and_by_its_handshake(house: House) -> None:
    """The answer of the last one stood for all of them, and without the hooks that it did not repeat."""
    for name in ("one", "two"):
        folder = house.root / name
        folder.mkdir()
        shutil.copy(house.plugin, folder / "plugin")
        described = modify("plugin.describe", {"description": f"I am {name}"})
        rules = {"hook_config": [{"event": "plugin.describe"}, {"event": "input.submit"}], "answers": [described]}
        (folder / "rules.json").write_text(json.dumps(rules))
    lines = "".join(f"{name} = {house.root}/{name}/plugin\n" for name in ("one", "two"))
    (house.lash / "plugins.conf").write_text(f"[plugins]\n{lines}")
    done = subprocess.run(
        [str(BIN / "hookline"), "shell", "--list-plugins"], cwd=house.work, env=house.environ(), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    about = "{0}\n  I am {0}\n  hooks: plugin.describe, input.submit\n"
    assert (done.returncode, done.stdout) == (0, about.format("one") + about.format("two"))


def test_a_plugin_that_fails_closed_and_never_loaded_refuses_all_but_exit(house: House) -> None:
    house.write()
    (house.lash / "plugins.conf").write_text(f"[plugins]\nguard = plugin(on_error=deny):{house.root}/nothing\n")
    for text, code in (("touch made", 126), ("exit", 0)):
        done = subprocess.run(
            [str(BIN / "hookline"), "shell", "-c", text],
            cwd=house.work,
            env=house.environ(),
            capture_output=True,
            check=False,
        )
        assert done.returncode == code
    assert list(house.work.iterdir()) == []
