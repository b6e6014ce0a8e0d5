"""Both clients: the same words in, the same answer out, whatever the daemon does."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookline.daemon import lifecycle
from hookline.daemon.client import twin
from hookline.daemon.client.build import TWIN, compile_client, compiler
from hookline.daemon.lifecycle import stop
from hookline.daemon.protocol import ACCEPTED, DaemonPaths, pack_refusal, pack_result

if TYPE_CHECKING:
    from .conftest import Machine


def test_the_version_of_the_twin_is_ours():
    import hookline

    assert hookline.__version__ == twin.VERSION


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"tool_input": {"command": "rm -rf /"}},
        {"tool_input": {"command": "rm ünïcode 🪝"}},
        {"hook_event_name": "Stop"},
        {"tool_input": {"command": "rm " + "x" * 3_000_000}},
        b"this is not JSON",
        b"",
    ],
    ids=["allow", "deny", "unicode", "no hook", "large", "garbage", "nothing"],
)
def test_a_warm_answer_is_the_cold_answer(machine: Machine, payload: Any):
    machine.guarded()
    machine.start()

    assert machine.ask(payload) == machine.cold(payload)


@pytest.mark.parametrize("words", [["--agent"], ["--nonsense"], ["--event", "Stop"], ["--config", "none.toml"]])
def test_words_mean_the_same_to_both(machine: Machine, words: list[str]):
    machine.guarded()
    machine.start()

    assert machine.ask(None, *words) == machine.cold(None, *words)


def test_other_commands_go_through(machine: Machine):
    told = machine.run([*machine.client, "--version"])

    assert (told.code, told.out.startswith(b"hookline ")) == (0, True)


def test_environment_directory_and_input_reach_the_hook(machine: Machine):
    script = machine.root / "hook.sh"
    script.write_text('#!/bin/sh\necho "$SPECIAL in $PWD: $(cat)" >&2\nexit 2\n')
    script.chmod(0o700)
    machine.user(f'[[hook]]\nname = "h"\non = "PreToolUse"\nrun = "{script}"\n')
    machine.start()

    told = machine.ask({"tool_input": {"command": "echo"}}, SPECIAL="word")

    assert told.code == 0
    reason = json.loads(told.out)["hookSpecificOutput"]["permissionDecisionReason"]
    assert reason.startswith(f"word in {machine.project}: ")
    assert '"echo"' in reason


def test_without_a_daemon_the_answer_is_cold_and_one_is_started(machine: Machine):
    machine.guarded()

    assert machine.ask({"tool_input": {"command": "rm x"}}) == machine.cold({"tool_input": {"command": "rm x"}})
    machine.wait_for(lambda: machine.status()["running"])
    assert not os.path.exists(machine.place.starting)


def test_a_daemon_that_is_not_wanted_is_neither_asked_nor_started(machine: Machine):
    machine.guarded()

    assert machine.ask(HOOKLINE_DAEMON="off") == machine.cold()
    assert not os.path.exists(machine.place.directory)


def test_a_start_that_fails_is_not_tried_again_at_once(machine: Machine):
    machine.guarded()
    os.makedirs(machine.place.directory, mode=0o700)
    open(machine.place.starting, "w").close()

    machine.ask()

    time.sleep(0.5)  # long enough for a daemon to come up; there is no event for nothing happening
    assert not machine.status()["running"]
    os.unlink(machine.place.starting)


def _answering(*pieces: bytes, close: bool = True):
    """A server that says this to everybody who asks."""

    def serve(sock: socket.socket) -> None:
        def work() -> None:
            keep: list[socket.socket] = []
            while True:
                try:
                    client, _ = sock.accept()
                except OSError:
                    for client in keep:
                        client.close()
                    return
                client.recv(1 << 20)
                for piece in pieces:
                    client.sendall(piece)
                if close:
                    client.close()
                else:
                    keep.append(client)

        threading.Thread(target=work, daemon=True).start()

    return serve


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"R",
        pack_result(0, b"x" * 10, b"")[:-5],
        b"\0garbage",
        pack_refusal("no"),
        b"AAA",
        b"A" + pack_refusal("no"),
        b"R" + b"\xff" * 12,
    ],
    ids=["nothing", "half a head", "half an answer", "garbage", "refusal", "dies later", "changes its mind", "boasts"],
)
def test_whatever_a_daemon_says_that_is_no_answer_the_answer_is_right(machine: Machine, said: bytes):
    machine.guarded()
    payload = {"tool_input": {"command": "rm x"}}
    with machine.listening(_answering(said)):
        assert machine.ask(payload) == machine.cold(payload)


def test_a_daemon_that_hangs_is_not_waited_for(machine: Machine):
    machine.guarded()
    with machine.listening(_answering(close=False)):
        began = time.monotonic()
        told = machine.ask({"tool_input": {"command": "rm x"}}, "--deadline", "90")
        assert time.monotonic() - began < 45
    assert told.out == machine.cold({"tool_input": {"command": "rm x"}}).out


def test_a_daemon_that_was_heard_is_waited_for_until_the_deadline(machine: Machine):
    machine.guarded()
    with machine.listening(_answering(ACCEPTED, close=False)):
        told = machine.ask(None, "--deadline", "0.5")
        denied = machine.ask(None, "--deadline=0.5", "--on-failure", "deny")

    assert (told.code, told.out, told.err) == (75, b"", b"hookline failed: no answer in time\n")
    assert (denied.code, denied.err) == (2, b"hookline failed: no answer in time\n")


def test_a_caller_that_never_ends_its_input_is_not_waited_for(machine: Machine):
    line = [*machine.client, "hook", "--agent", "claude-code", "--deadline", "0.3", "--on-failure=deny"]
    client = subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=machine.environ())

    assert client.wait(60) == 2
    assert client.stdin is not None
    assert client.stderr is not None
    client.stdin.close()
    with client.stderr:
        assert client.stderr.read() == b"hookline failed: no answer in time\n"


def test_the_deadline_holds_for_a_cold_run_too(machine: Machine):
    machine.user('[[hook]]\nname = "slow"\non = "PreToolUse"\nrun = "sleep 300"\non_failure = "deny"\n')
    began = time.monotonic()

    told = machine.ask(None, "--deadline", "6", "--on-failure", "deny", HOOKLINE_DAEMON="off")

    assert (told.code, b'"deny", "permissionDecisionReason": "hook failed: timeout (' in told.out) == (0, True)
    assert time.monotonic() - began < 45


def test_what_is_left_of_the_deadline_is_told_to_the_cold_run(machine: Machine):
    """A daemon that hangs has taken two seconds of it."""
    machine.user('[[hook]]\nname = "slow"\non = "PreToolUse"\nrun = "sleep 300"\non_failure = "ignore"\n')
    began = time.monotonic()
    with machine.listening(_answering(close=False)):
        told = machine.ask(None, "--deadline", "8")

    assert (told.code, told.out) == (0, b"")
    assert time.monotonic() - began < 45
    (one,) = machine.recorded()
    assert [outcome["status"] for outcome in one["outcomes"]] == ["timed-out"]


def test_a_client_that_cannot_do_without_the_daemon_says_so(one_machine: Machine, tmp_path: Path):
    lonely = str(tmp_path / "hookc")
    compile_client(lonely, python="/nonexistent/python")
    one_machine.client = [lonely]

    assert (one_machine.ask().code, one_machine.ask(None, "--on-failure", "deny").code) == (75, 2)
    os.unlink(one_machine.place.starting)  # nobody is on the way


def test_a_failure_of_ours_is_a_block_where_that_is_asked_for(machine: Machine):
    assert machine.ask(b"garbage").code == 65
    assert machine.ask(b"garbage", "--on-failure", "deny").code == 2


@pytest.mark.parametrize("streams", ["<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_a_caller_without_streams_is_told_what_a_caller_without_words_is(machine: Machine, streams: str):
    for words in ([], ["--on-failure", "deny"]):
        line = ["sh", "-c", f'exec "$@" {streams}', "sh", *machine.client, "hook", "--agent", "claude-code", *words]
        assert machine.run(line).code == machine.ask(b"", *words).code == (2 if words else 65)


def test_an_ordinary_hook_command_asks_a_daemon_that_runs_and_starts_none(one_machine: Machine):
    one_machine.guarded()
    line = [sys.executable, "-m", "hookline", "hook", "--agent", "claude-code"]
    payload = json.dumps(
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm"}}
    ).encode()

    cold = one_machine.run(line, payload)
    assert not one_machine.status()["running"]
    one_machine.start()
    warm = one_machine.run(line, payload)

    assert warm == cold
    assert one_machine.status()["engines"] == 1


def test_the_twin_imports_next_to_nothing(one_machine: Machine):
    one_machine.guarded()
    one_machine.start()
    line = [sys.executable, "-I", "-S", "-X", "importtime", TWIN, "hook", "--agent", "claude-code"]
    told = one_machine.run(line, b'{"hook_event_name": "Stop"}')
    bare = one_machine.run([sys.executable, "-I", "-S", "-X", "importtime", "-c", "pass"])

    def modules(text: bytes) -> set[str]:
        return {
            line.rpartition("|")[2].strip() for line in text.decode().splitlines() if line.startswith("import time")
        }

    assert told.code == 0
    assert modules(told.err) - modules(bare.err) <= {"_socket", "_signal", "posix", "time", "twin"}


def test_a_socket_whose_name_would_be_too_long_means_cold(machine: Machine):
    machine.guarded()
    deep = machine.root / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True, mode=0o700)

    assert machine.ask(XDG_RUNTIME_DIR=str(deep)) == machine.cold()


def test_the_native_client_is_built_the_same_way_twice(native: str, tmp_path: Path):
    again = tmp_path / "hookc"
    compile_client(str(again))

    assert again.read_bytes() == Path(native).read_bytes()


def test_a_linker_that_knows_none_of_our_words_builds_a_client_too(
    one_machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real, mine = compiler(), tmp_path / "bin" / "cc"
    mine.parent.mkdir()
    mine.write_text(
        f'#!/bin/sh\ncase " $* " in *" -Wl,"*|*" -static "*) echo no >&2; exit 1;; esac\nexec {real} "$@"\n'
    )
    mine.chmod(0o700)
    monkeypatch.setenv("PATH", f"{mine.parent}:{os.environ['PATH']}")
    compile_client(str(tmp_path / "hookc"))
    one_machine.client = [str(tmp_path / "hookc")]

    assert one_machine.ask().code == 0


def test_the_socket_is_ours_alone(one_machine: Machine):
    one_machine.start()

    assert os.stat(one_machine.place.directory).st_mode & 0o777 == 0o700
    assert os.stat(one_machine.place.socket).st_mode & 0o777 == 0o600
    assert stop(one_machine.place).how == "asked"
    assert not os.path.exists(one_machine.place.socket)


@pytest.mark.parametrize("runtime", [False, True])
def test_an_entry_names_the_daemon_whatever_the_variables_say(machine: Machine, runtime: bool):
    machine.guarded()
    home, state = machine.home, machine.root / "state"
    named = ["--home", str(home), "--config-dir", str(home / ".config/hookline"), "--state-dir", str(state)]
    named += ["--runtime-dir", str(machine.runtime)] if runtime else []
    place = machine.place if runtime else DaemonPaths(directory=str(state / "run"))
    around: dict[str, Any] = {"XDG_RUNTIME_DIR": "/nonexistent", "XDG_STATE_HOME": "/nonexistent", "HOME": "/var/empty"}
    cold = machine.ask({"tool_input": {"command": "rm x"}}, *named, **around)  # and a daemon is started for the next
    machine.wait_for(lambda: lifecycle.ask(place, "status") is not None)
    try:
        assert machine.ask({"tool_input": {"command": "rm x"}}, *named, **around) == cold
        assert b"no: rm x" in cold.out
        assert lifecycle.status(place)["engines"] == 1, "it was asked"
    finally:
        lifecycle.stop(place)
