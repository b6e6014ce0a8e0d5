"""hookline hooks, as a person and a program use it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time
from datetime import datetime
from pathlib import Path

import pytest
from tests.cli.conftest import Project
from tests.cli.terminal import Terminal

GUARD = """\
[[hook]]
name = "guard"
on = "PreToolUse"
match = "Bash"
run = "./guard.sh"

[[hook]]
name = "asker"
on = ["Stop", "SessionStart"]
prompt = "Done?"
"""
SCRIPT = "#!/bin/sh\ncat\nprintf 'no\\377pe' >&2\nexit 2\n"
SEEDS = Path(__file__).parents[1] / "seeds" / "lazy"


@pytest.fixture
def mine(project: Project) -> Project:
    """A project of the person's own making, trusted."""
    project.write(".hookline/hookline.toml", GUARD)
    project.write("guard.sh", SCRIPT, mode=0o755)
    assert project.run("trust", "--yes").code == 0
    return project


def test_a_program_reads_every_hook_with_its_state(mine: Project) -> None:
    hooks = mine.run("hooks", "list", "--json").json["hooks"]
    assert [(one["hook"], one["events"], one["state"], one["trust"], one["prompt"]) for one in hooks] == [
        ("guard", ["PreToolUse"], "on", "trusted", False),
        ("asker", ["Stop", "SessionStart"], "on", "trusted", True),
    ]


def test_a_person_reads_a_table(mine: Project) -> None:
    out = mine.run("hooks", "list").out
    assert "✦ asker" in out
    assert "Stop, SessionStart" in out


def test_off_and_on(mine: Project) -> None:
    before = (mine.path / ".hookline" / "hookline.toml").read_bytes()
    assert mine.fire("PreToolUse", {"tool_name": "Bash"}).json["effect"] == "deny"
    assert mine.run("hooks", "off", "guard", "--for", "1h").out.startswith("guard is off until ")
    fired = mine.fire("PreToolUse", {"tool_name": "Bash"}).json
    assert (fired["effect"], fired["outcomes"][0]["status"]) == ("allow", "skipped")
    assert "switched off until" in fired["outcomes"][0]["error"]
    (listed, _) = mine.run("hooks", "list", "--json").json["hooks"]
    assert listed["state"] == "switched off"
    assert 3000 < datetime.fromisoformat(listed["until"]).timestamp() - time.time() <= 3600
    assert mine.run("hooks", "on", "guard").out == "guard is switched on.\n"
    assert mine.fire("PreToolUse", {"tool_name": "Bash"}).json["effect"] == "deny"
    assert (mine.path / ".hookline" / "hookline.toml").read_bytes() == before


def test_what_is_switched_off_is_seen_wherever_one_looks(mine: Project) -> None:
    mine.run("hooks", "off", "guard")
    assert [one["switched_off"] for one in mine.run("list", "--json").json["hooks"]] == [True, False, False]
    assert "Some hooks are switched off" in mine.run("list").out
    assert "switched off by hand: 'guard'" in mine.run("status").out
    hooks = mine.run("status", "--json").json["hooks"]
    assert hooks["on"] == hooks["total"] - 1
    assert "switched off; to change it" in mine.run("explain", "PreToolUse", "--data", '{"tool_name": "Bash"}').out
    assert mine.run("log", "--json").out == "", "switching is no firing"


def test_a_project_and_the_environment_cannot_switch_off_at_the_agents_door(mine: Project) -> None:
    """The file of switches is the user's own: neither a directory in a variable nor one in the project counts."""
    planted = mine.path / "hookline"
    mine.run("hooks", "off", "guard", HOOKLINE_STATE_DIR=str(planted))
    assert (planted / "switches.json").exists()
    payload = json.dumps({"event": "PreToolUse", "data": {"tool_name": "Bash"}})
    words = ("hook", "--agent", "native", "--event", "PreToolUse")
    by_our_variable = mine.run(*words, stdin=payload, HOOKLINE_STATE_DIR=str(planted))
    by_xdg = mine.run(*words, stdin=payload, XDG_STATE_HOME=str(mine.path))
    for answer in (by_our_variable, by_xdg):
        assert "deny" in answer.out or answer.code == 2, answer


def test_run_prints_exactly_what_the_hook_prints(mine: Project) -> None:
    ran = mine.run("hooks", "run", "guard")
    assert json.loads(ran.out)["data"]["tool_name"] == "Bash"
    assert ran.err == "no\ufffdpe"
    assert ran.code == 1, "2 is never passed on: agents read it as a block"


@pytest.mark.parametrize(("code", "seen"), [(0, 0), (1, 1), (2, 1), (3, 3), (77, 77)])
def test_the_exit_code_is_the_hooks_own_but_never_two(mine: Project, code: int, seen: int) -> None:
    mine.write("guard.sh", f"#!/bin/sh\nexit {code}\n", mode=0o755)
    mine.run("trust", "--yes")
    assert mine.run("hooks", "run", "guard").code == seen


def test_run_takes_a_payload_from_a_file_or_from_stdin(mine: Project) -> None:
    data = {"tool_name": "Bash", "tool_input": {"command": "whoami"}}
    file = mine.write("payload.json", json.dumps(data))
    from_file = mine.run("hooks", "run", "guard", "--event", "pre_tool_use", "--payload", str(file))
    from_stdin = mine.run("hooks", "run", "guard", "--payload", "-", stdin=json.dumps(data))
    assert json.loads(from_file.out)["data"] == json.loads(from_stdin.out)["data"] == data
    assert mine.run("hooks", "run", "guard", "--payload", "-", stdin="[").code == 65


def test_run_tells_a_program_the_decision(mine: Project) -> None:
    told = mine.run("hooks", "run", "guard", "--json").json
    assert (told["exit_code"], told["decision"]["effect"], told["would_run"]) == (2, "deny", True)
    assert told["why_not"] is None


def test_run_on_a_recorded_event(mine: Project) -> None:
    mine.fire("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "recorded"}})
    (row,) = mine.run("log", "--json").out.splitlines()
    ran = mine.run("hooks", "run", "guard", "--recorded", json.loads(row)["id"])
    assert json.loads(ran.out)["data"]["tool_input"] == {"command": "recorded"}


def test_a_hook_that_cannot_be_started_is_said_and_is_one(mine: Project) -> None:
    (mine.path / "guard.sh").unlink()
    mine.run("trust", "--yes")
    ran = mine.run("hooks", "run", "guard")
    assert ran.code == 1
    assert "guard.sh" in ran.err


def test_an_untrusted_hook_is_not_run(project: Project) -> None:
    project.write(".hookline/hookline.toml", '[[hook]]\nname = "x"\non = "Stop"\nshell = "touch ran"\n')
    ran = project.run("hooks", "run", "x")
    assert (ran.code, ran.out) == (64, "")
    assert "hookline trust" in ran.err
    assert not (project.path / "ran").exists()


def test_a_hook_of_lazy_harness_is_dry_run_as_its_document_says(project: Project) -> None:
    file = project.home / ".config" / "lazy-harness" / "hooks" / "my_hook.py"
    file.parent.mkdir(parents=True)
    file.write_text((SEEDS / "my_hook.txt").read_text())
    ran = project.run("hooks", "run", "my_hook", "--event", "session_start")
    assert ran.json["hookSpecificOutput"]["additionalContext"] == "Hello from my_hook"
    assert (ran.code, ran.err) == (0, "")


def test_the_event_tells_apart_which_of_several_of_one_name_is_run(project: Project) -> None:
    folder = project.home / ".config" / "hookline"
    (folder / "hooks").mkdir(parents=True)
    (folder / "hooks" / "mine.py").write_text("import json, sys\nprint(json.load(sys.stdin)['hook_event_name'])\n")
    tables = "".join(f'[hooks.{event}]\nscripts = ["mine"]\n' for event in ("session_start", "pre_compact"))
    (folder / "hookline.toml").write_text(tables)
    for event, name in (("session_start", "SessionStart"), ("PreCompact", "PreCompact")):
        assert project.run("hooks", "run", "mine", "--event", event).out.strip() == name
    assert "2 hooks are called 'mine'" in project.run("hooks", "run", "mine").err


def test_a_name_that_resolves_nowhere_is_missed_where_it_would_be_looked_for(project: Project) -> None:
    folder = project.home / ".config" / "hookline"
    folder.mkdir(parents=True)
    (folder / "hookline.toml").write_text('[hooks.session_start]\nscripts = ["nowhere", "../up"]\n')
    told = project.run("hooks", "list").err
    assert f"into {folder}/hooks" in told
    assert "put ../up" not in told


def test_add_and_remove_leave_every_other_byte(mine: Project) -> None:
    file = mine.path / ".hookline" / "hookline.toml"
    added = mine.run(
        "hooks", "add", "fmt", "--on", "PostToolUse", "--match", "Edit", "--run", "fmt x", "--to", "project"
    )
    assert added.code == 0
    assert "hookline trust" in added.out
    assert file.read_text() == GUARD + '\n[[hook]]\nname = "fmt"\non = "PostToolUse"\nmatch = "Edit"\nrun = "fmt x"\n'
    removed = mine.run("hooks", "remove", "fmt")
    assert removed.code == 0
    assert file.read_text() == GUARD


def test_a_guard_that_its_person_deleted_is_not_missed(mine: Project) -> None:
    assert mine.run("hooks", "remove", "guard").code == 0
    fired = mine.fire("PreToolUse", {"tool_name": "Bash"})
    assert (fired.code, fired.json["outcomes"], fired.err) == (0, [], "")


def test_the_users_own_file_is_made_when_there_is_none(project: Project) -> None:
    assert project.run("hooks", "add", "mine", "--on", "Stop", "--shell", "exit 0").code == 0
    assert (project.home / ".config" / "hookline" / "hookline.toml").exists()
    assert project.fire("Stop").json["outcomes"][0]["hook"] == "mine"


@pytest.mark.parametrize(
    "words",
    [
        ("off", "nobody"),
        ("off", "guard", "--for", "ever"),
        ("run", "asker"),
        ("run", "guard", "--event", "Stop"),
        ("add", "x", "--on", "Stop"),
        ("add", "x", "--on", "Nonsense", "--run", "x"),
        ("add", "guard", "--on", "Stop", "--run", "x", "--to", "project"),
        ("frobnicate",),
        (),
    ],
)
def test_wrong_words_are_told_and_never_two(mine: Project, words: tuple[str, ...]) -> None:
    ran = mine.run("hooks", *words)
    assert ran.code == 64
    assert ran.err.startswith("hookline: ")


def test_the_manager_works_in_a_real_terminal(mine: Project) -> None:
    pytest.importorskip("textual", reason="the manager on the screen needs the extra ui")
    environ = {"PATH": os.environ["PATH"], "HOME": str(mine.home), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover  another process
        try:
            os.chdir(mine.path)
            os.execve(sys.executable, [sys.executable, "-m", "hookline", "hooks"], environ)
        finally:
            os._exit(99)
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        wait_for(terminal, b"guard")
        os.write(terminal, b" ")
        wait_for(terminal, b"switched off")
        os.write(terminal, b"q")
        wait_for(terminal, None)
        _, status = os.waitpid(child, 0)
        child = 0
    finally:
        os.close(terminal)
        if child:
            os.kill(child, 9)
            os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert mine.run("hooks", "list", "--json").json["hooks"][0]["state"] == "switched off"


def wait_for(terminal: int, text: bytes | None, seconds: float = 60) -> None:
    """Read what is drawn until the text is there; None reads until the program has left."""
    seen, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.5)
        try:
            piece: bytes | None = os.read(terminal, 65536) if ready else b""
        except OSError:  # Linux says so when the other end is closed
            piece = None
        if piece is None:
            assert text is None, seen
            return
        seen += piece
        if text is not None and text in seen:
            return
    raise AssertionError(f"{text!r} did not come: {seen[-2000:]!r}")


@pytest.mark.parametrize(
    ("shell", "told"),
    [
        ("true", "guard on PreToolUse: no opinion (exit code 0)"),
        ("exit 2", "guard on PreToolUse: deny (exit code 2)"),
        ("exit 3", "guard on PreToolUse: deny (failed: exit code 3)"),
    ],
)
def test_at_a_terminal_a_hook_that_prints_nothing_is_still_seen_to_have_run(project, shell, told):
    project.write("own.toml", f'[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "Bash"\nshell = "{shell}"\n')
    words = ["hooks", "run", "guard", "--config", "own.toml", "--data", '{"tool_name": "Bash"}']
    assert "hookline:" not in project.run(*words).err
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.home)}
    with Terminal([sys.executable, "-m", "hookline", *words], cwd=project.path, environ=environ) as terminal:
        terminal.wait_for(f"hookline: {told}")


def test_a_file_that_loses_its_last_hook_goes_too_and_asks_for_no_approval(project: Project) -> None:
    project.run("hooks", "add", "only", "--on", "PreToolUse", "--run", "./x.sh", "--to", "project")
    assert project.run("hooks", "list").out.splitlines()[1].split()[3:6] == ["on", "not", "approved"]
    project.run("hooks", "remove", "only")
    assert not (project.path / ".hookline" / "hookline.toml").exists()
    assert (project.run("status").out.count("!"), project.run("list").err) == (0, "")
