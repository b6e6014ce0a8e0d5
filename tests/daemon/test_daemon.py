"""The daemon: one per user, always up to date, never in the way."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import hookline
from hookline.daemon import lifecycle
from hookline.daemon.protocol import Caller, DaemonRequest, pack_request

from .conftest import GUARD, PAYLOAD

if TYPE_CHECKING:
    from .conftest import Machine

DENY = {"tool_input": {"command": "rm x"}}


def reason(told: Any) -> str:
    answer = json.loads(told.out).get("hookSpecificOutput", {}) if told.out else {}
    return str(answer.get("permissionDecisionReason", ""))


def sent(machine: Machine, version: str = hookline.__version__, kind: str = "hook", **changes: Any) -> bytes:
    """What the daemon answers to a request made by hand."""
    argv = ("--agent", "claude-code")
    caller = Caller(version=version, kind=kind, cwd=str(machine.project), argv=argv, environ=machine.environ())
    request = DaemonRequest(caller=caller, stdin=json.dumps({**PAYLOAD, **changes}).encode())
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(100)
        sock.connect(machine.place.socket)
        sock.sendall(pack_request(request))
        return b"".join(iter(lambda: sock.recv(65536), b""))


def test_there_is_one_daemon_per_user(one_machine: Machine):
    first = one_machine.start()
    second = one_machine.run([sys.executable, "-m", "hookline", "daemon", "run"])

    assert (second.code, b"another daemon is running" in second.err) == (74, True)
    assert one_machine.status()["pid"] == first.pid


def test_start_and_stop_can_be_said_twice(one_machine: Machine):
    command = [sys.executable, "-m", "hookline", "daemon"]
    codes = [one_machine.run([*command, word]).code for word in ("start", "start", "status", "stop", "stop", "status")]

    assert codes == [0, 0, 0, 0, 0, 1]


def test_a_lock_file_without_its_process_stops_nobody(one_machine: Machine):
    """The number of a process says nothing: it may have been given to another."""
    os.makedirs(one_machine.place.directory, mode=0o700)
    with open(one_machine.place.lock, "w") as file:
        file.write(str(os.getpid()))
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(one_machine.place.socket)

    one_machine.start()

    assert one_machine.status()["running"]


def test_a_daemon_that_nobody_asks_ends(one_machine: Machine):
    process = one_machine.start("--idle", "0.5")

    assert process.wait(60) == 0
    assert not os.path.exists(one_machine.place.socket)
    one_machine.daemon = None


def test_stopping_finishes_what_was_begun(one_machine: Machine):
    one_machine.user('[[hook]]\nname = "slow"\non = "PreToolUse"\nshell = "sleep 1; echo late >&2; exit 2"\n')
    process = one_machine.start()
    client = subprocess.Popen(
        [*one_machine.client, "hook", "--agent", "claude-code"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        cwd=one_machine.project, env=one_machine.environ(HOOKLINE_DAEMON="auto"),
    )  # fmt: skip
    assert client.stdin is not None
    client.stdin.write(json.dumps(PAYLOAD).encode())
    client.stdin.close()
    one_machine.wait_for(lambda: one_machine.status()["engines"] == 1)

    lifecycle.ask(one_machine.place, "stop")

    assert client.stdout is not None
    with client.stdout:
        assert b"late" in client.stdout.read()
    assert client.wait(60) == 0
    assert process.wait(60) == 0
    one_machine.daemon = None
    assert len(one_machine.recorded()) == 1


def test_a_newer_client_makes_it_go_and_an_older_one_does_not(one_machine: Machine):
    process = one_machine.start()

    assert sent(one_machine, version="0.0.1")[:1] == b"N"
    assert one_machine.status()["running"]
    assert sent(one_machine, version="99.0")[:1] == b"N"
    assert process.wait(60) == 0
    one_machine.daemon = None


def test_what_a_person_changes_holds_for_the_next_event(one_machine: Machine):
    one_machine.guarded()
    one_machine.start()
    assert reason(one_machine.ask(DENY)) == "no: rm x"

    one_machine.user(
        '[[hook]]\nname = "guard"\non = "PreToolUse"\npython = "guard:judge"\n', guard=GUARD.replace("no:", "never:")
    )
    assert reason(one_machine.ask(DENY)) == "never: rm x"

    one_machine.user("")
    assert reason(one_machine.ask(DENY)) == ""


def test_a_configuration_that_appears_holds_for_the_next_event(one_machine: Machine):
    one_machine.start()
    assert reason(one_machine.ask(DENY)) == ""

    one_machine.guarded()

    assert reason(one_machine.ask(DENY)) == "no: rm x"


def test_an_approved_project_that_leaves_and_comes_back_with_a_branch_counts_at_once(one_machine: Machine):
    folder, aside = one_machine.project / ".hookline", one_machine.project / "aside"
    folder.mkdir()
    (folder / "hookline.toml").write_text(
        '[[hook]]\nname = "p"\non = "PreToolUse"\nshell = "echo project >&2; exit 2"\n'
    )
    assert one_machine.run([sys.executable, "-m", "hookline", "trust", "--yes"]).code == 0
    one_machine.start()
    assert reason(one_machine.ask()) == "project"

    folder.rename(aside)
    assert "was removed or moved" in reason(one_machine.ask())
    aside.rename(folder)

    assert reason(one_machine.ask()) == "project"


def test_many_changes_in_a_row_are_all_seen(one_machine: Machine):
    one_machine.start()
    for number in range(20):
        one_machine.user(f'[[hook]]\nname = "h"\non = "PreToolUse"\nshell = "echo {number} >&2; exit 2"\n')
        assert reason(one_machine.ask()) == str(number)


def test_a_broken_configuration_leaves_the_last_good_one_in_force_and_is_told(one_machine: Machine):
    one_machine.guarded()
    one_machine.start()
    assert reason(one_machine.ask(DENY)) == "no: rm x"

    one_machine.user("[[hook]]\nname = ")
    told = one_machine.ask(DENY)

    assert reason(told) == "no: rm x"
    assert b"the last good configuration stays in force" in told.err
    one_machine.user("")
    assert one_machine.ask(DENY) == (0, b"", b"")


def test_a_project_is_trusted_and_distrusted_while_the_daemon_runs(one_machine: Machine):
    folder = one_machine.project / ".hookline"
    folder.mkdir()
    (folder / "hookline.toml").write_text(
        '[[hook]]\nname = "p"\non = "PreToolUse"\nshell = "echo project >&2; exit 2"\n'
    )
    one_machine.start()
    trust = [sys.executable, "-m", "hookline", "trust"]

    before = one_machine.ask()
    assert one_machine.run([*trust, "--yes"]).code == 0
    trusted = one_machine.ask()
    assert one_machine.run([*trust, "--revoke", "p"]).code == 0
    after = one_machine.ask({"session_id": "another"})

    assert [reason(told) for told in (before, trusted, after)] == ["", "project", ""]
    assert b"hookline trust" in before.err
    assert b"hookline trust" in after.err


def test_a_trusted_project_hook_that_is_edited_does_not_run(one_machine: Machine):
    folder = one_machine.project / ".hookline"
    folder.mkdir()
    script = one_machine.project / "guard.sh"
    script.write_text("#!/bin/sh\necho guarded >&2\nexit 2\n")
    script.chmod(0o755)
    (folder / "hookline.toml").write_text(
        '[[hook]]\nname = "p"\non = "PreToolUse"\nrun = "./guard.sh"\non_failure = "deny"\n'
    )
    one_machine.start()
    one_machine.run([sys.executable, "-m", "hookline", "trust", "--yes"])
    assert reason(one_machine.ask()) == "guarded"

    script.write_text("#!/bin/sh\nexit 0\n")

    assert "changed since it was trusted" in reason(one_machine.ask())


def test_variables_that_matter_are_not_mixed_up(one_machine: Machine):
    one_machine.user('[[hook]]\nname = "h"\non = "PreToolUse"\nshell = "echo $WHO >&2; exit 2"\n')
    one_machine.start()

    told = [reason(one_machine.ask(WHO=who)) for who in ("one", "two", "one")]
    elsewhere = one_machine.ask(DENY, XDG_CONFIG_HOME=str(one_machine.root / "elsewhere"))

    assert told == ["one", "two", "one"]
    assert reason(elsewhere) == ""


@pytest.mark.parametrize("variable", ["HOOKLINE_CONFIG_DIR", "HOOKLINE_STATE_DIR", "HOOKLINE_TRUST"])
def test_variables_that_a_repository_could_set_change_nothing(one_machine: Machine, variable: str):
    one_machine.guarded()
    one_machine.start()

    assert reason(one_machine.ask(DENY, **dict[str, Any]({variable: "all"}))) == "no: rm x"


# ── Python hooks ─────────────────────────────────────────────────────────────────────────────────────


def python_project(machine: Machine, source: str, timeout: str = "5s") -> None:
    folder = machine.project / ".hookline"
    folder.mkdir()
    (machine.project / "mine.py").write_text(source)
    (folder / "hookline.toml").write_text(
        f'[[hook]]\nname = "p"\non = "PreToolUse"\npython = "mine:judge"\ntimeout = "{timeout}"\non_failure = "deny"\n'
    )
    assert machine.run([sys.executable, "-m", "hookline", "trust", "--yes"]).code == 0


def test_a_projects_function_runs_in_a_process_of_its_own(one_machine: Machine):
    python_project(
        one_machine, 'import os\ndef judge(event):\n    return {"effect": "deny", "reason": f"{os.getpid()}"}\n'
    )
    one_machine.start()

    first, second = reason(one_machine.ask()), reason(one_machine.ask())

    assert first == second
    assert int(first) != one_machine.status()["pid"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("os._exit(7)", "worker ended with exit code 7"),
        ("os.kill(os.getpid(), 9)", "worker ended with a signal (9)"),
        ("time.sleep(60)", "timeout"),
        ("raise ValueError('bad')", "raised ValueError: bad"),
    ],
    ids=["exits", "is killed", "hangs", "raises"],
)
def test_what_goes_wrong_in_a_projects_function_stays_there(one_machine: Machine, body: str, why: str):
    python_project(
        one_machine,
        "import os, time\ndef judge(event):\n"
        f"    if 'bad' in event.data['tool_input']['command']:\n        {body}\n"
        "    return {'effect': 'deny', 'reason': 'fine'}\n",
    )
    one_machine.start()

    told = [reason(one_machine.ask({"tool_input": {"command": word}})) for word in ("good", "bad", "good")]

    assert (told[0], told[2]) == ("fine", "fine")
    assert why in told[1]
    assert one_machine.status()["crashes"] == []


def test_a_function_that_cannot_be_ended_costs_its_own_caller_only(one_machine: Machine):
    one_machine.user(
        '[[hook]]\nname = "h"\non = "PreToolUse"\npython = "h:judge"\ntimeout = "1500ms"\non_failure = "deny"\n',
        h="import time\ndef judge(event):\n    time.sleep(90 if event.data['tool_input']['command'] == 'hang' else 0)\n",
    )
    one_machine.start()

    began = time.monotonic()
    first = one_machine.ask({"tool_input": {"command": "hang"}})
    second = one_machine.ask({"tool_input": {"command": "hang"}})
    assert time.monotonic() - began < 45
    assert reason(first).startswith("hook failed: timeout (")
    assert reason(second).startswith("hook failed: timeout (")
    assert one_machine.ask() == (0, b"", b"")


def test_what_was_quick_and_hangs_now_holds_nobody_else_up(one_machine: Machine):
    """The thread that leads is stuck in a function: another one leads."""
    one_machine.user(
        '[[hook]]\nname = "h"\non = "PreToolUse"\npython = "h:judge"\n',
        h="import os, time\ndef judge(event):\n    if event.data['tool_input']['command'] == 'hang':\n"
        f"        while not os.path.exists({str(one_machine.root / 'told')!r}):\n            time.sleep(0.05)\n",
    )
    one_machine.start()
    for _ in range(3):
        assert one_machine.ask() == (0, b"", b"")
    held = threading.Thread(target=sent, args=(one_machine,), kwargs={"tool_input": {"command": "hang"}})
    held.start()

    told = [sent(one_machine) for _ in range(5)]

    assert [one.lstrip(b"A")[:5] for one in told] == [b"R\0\0\0\0"] * 5
    assert held.is_alive()
    (one_machine.root / "told").touch()
    held.join(60)
    assert not held.is_alive()


def test_hooks_in_the_background_hold_nobody_up_and_are_written_down(one_machine: Machine):
    told = one_machine.root / "told"
    waits = f"while [ -d {one_machine.root} -a ! -e {told} ]; do sleep 0.05; done; exit 3"
    one_machine.user(f'[[hook]]\nname = "bg"\non = "PostToolUse"\nmode = "background"\nshell = "{waits}"\n')
    one_machine.start()
    one_machine.ask({"hook_event_name": "Stop"})

    assert one_machine.ask({"hook_event_name": "PostToolUse", "tool_response": "x"}).code == 0
    assert "failed" not in json.dumps(one_machine.recorded())
    told.touch()
    one_machine.wait_for(lambda: "failed" in json.dumps(one_machine.recorded()))


def test_every_event_of_many_sessions_at_once_is_answered_and_recorded_once(one_machine: Machine):
    from concurrent.futures import ThreadPoolExecutor

    one_machine.guarded()
    one_machine.start()

    with ThreadPoolExecutor(16) as pool:
        told = list(
            pool.map(lambda n: sent(one_machine, session_id=f"s{n % 8}", tool_input={"command": f"rm {n}"}), range(200))
        )

    assert all(f"no: rm {number}".encode() in one for number, one in enumerate(told))
    commands = [json.dumps(one) for one in one_machine.recorded()]
    assert len(commands) == 200


def test_a_pure_hook_is_asked_once_and_the_record_says_so(one_machine: Machine):
    log = one_machine.home / "asked"  # of course a pure hook would write nothing
    one_machine.user('[[hook]]\nname = "x"\non = "PreToolUse"\nshell = "echo x >> $HOME/asked"\ncache = "1h"\n')
    one_machine.start()

    for number in range(3):
        assert one_machine.ask({"tool_use_id": f"call {number}"}).code == 0
    one_machine.ask({"tool_input": {"command": "another"}})

    assert log.read_text() == "x\nx\n"
    told = [row["outcomes"][0]["error"] or "" for row in one_machine.recorded()]
    assert ["cached answer" in error for error in told] == [False, True, True, False]
