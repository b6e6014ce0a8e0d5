"""The plugins ask the daemon over its socket, and nothing is lost when there is none that answers."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import install

from hookline.core.agents import all_agents
from hookline.daemon import lifecycle
from hookline.daemon.protocol import ACCEPTED, pack_refusal, pack_result
from hookline.deploy.plugin import plugin_driver, plugin_source
from hookline.deploy.registration import EntryCaller

from .conftest import Machine

DENY = pack_result(0, b'{"deny": "said the socket"}', b"")


class Plugin(Machine):
    """A machine with the plugin; ``program`` notes that it was started, and is hookline."""

    javascript: str
    more: dict[str, str]
    kept: list[socket.socket]

    def drive(self, *, closed: bool = False, seconds: int = 60, text: str = "ls", **environ: str) -> tuple[str, bool]:
        """What becomes of a call, and whether a process was started for it."""
        started = self.root / "started"
        started.unlink(missing_ok=True)
        program = self.root / "hookline"
        program.write_text(f'#!/bin/sh\ntouch {started}\nexec {sys.executable} -m hookline "$@"\n')
        program.chmod(0o700)
        source = plugin_source(all_agents()["opencode"], EntryCaller(program=str(program)), ("PreToolUse",))
        source = re.sub(r"const LONGEST = \d+", f"const LONGEST = {seconds}", source)
        (self.root / "plugin.mjs").write_text(source if closed else source.replace('": true}', '": false}'))
        (self.root / "input.json").write_text(json.dumps({"command": text}))
        (self.root / "drive.mjs").write_text(
            'import { readFileSync } from "node:fs"\n'
            'import { Hookline } from "./plugin.mjs"\n'
            f"const hooks = await Hookline({{ directory: {json.dumps(str(self.project))} }})\n"
            f'const output = {{ args: JSON.parse(readFileSync("{self.root}/input.json")) }}\n'
            'try { await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output)\n'
            '  console.log("ran") } catch (error) { console.log(`threw: ${error.message}`) }\n'
        )
        line = [self.javascript, str(self.root / "drive.mjs")]
        around: dict[str, Any] = {"HOOKLINE_DAEMON": "if running", **self.more, **environ}
        told = self.run(line, **around)
        assert told.code == 0, told
        return told.out.decode().strip(), started.exists()

    def answering(self, *pieces: bytes, silent: bool = False) -> None:
        """Somebody who says this to every request, and then hangs up or falls silent."""

        def serve(sock: socket.socket) -> None:
            def each() -> None:
                while True:
                    try:
                        client, _ = sock.accept()
                    except OSError:
                        return
                    self.kept.append(client)
                    client.recv(1 << 16)
                    try:
                        for piece in pieces:
                            client.sendall(piece)
                            time.sleep(0.05)
                    except OSError:
                        pass  # it has heard enough
                    if not silent:
                        client.close()

            threading.Thread(target=each, daemon=True).start()

        sock = self.listening(serve)
        self.kept.append(sock)


def _runtimes() -> Iterator[Any]:
    node, opencode = shutil.which("node"), install.program("opencode")
    lacks = pytest.mark.skipif(node is None, reason="node is not installed")
    yield pytest.param((str(node), {}), id="node", marks=lacks)
    # The runtime that is inside of OpenCode, asked to be itself.
    lacks = pytest.mark.skipif(opencode is None, reason="OpenCode is not installed")
    yield pytest.param((str(opencode), {"BUN_BE_BUN": "1"}), id="bun", marks=lacks)


@pytest.fixture(params=_runtimes())
def plugin(request: pytest.FixtureRequest) -> Iterator[Plugin]:
    one = Plugin(Path(tempfile.mkdtemp(prefix="hkp-", dir="/tmp")), [])
    one.javascript, one.more = request.param
    one.kept = []
    yield one
    for sock in one.kept:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)  # whoever waits for it wakes up
        sock.close()
    one.close()


def test_a_daemon_that_answers_makes_every_process_needless(plugin: Plugin) -> None:
    plugin.guarded()
    plugin.start()

    assert plugin.drive() == ("ran", False)
    assert plugin.drive(text="rm -rf /") == ("threw: no: rm -rf /", False)
    assert sorted(one["effect"] for one in plugin.recorded()) == ["allow", "deny"]


def test_much_goes_through_the_socket_whole(plugin: Plugin) -> None:
    plugin.guarded()
    plugin.start()

    told, started = plugin.drive(text="rm ünï🪝 " + "x" * 3_000_000)

    assert (told[:19], len(told) > 3_000_000, started) == ("threw: no: rm ünï🪝 ", True, False)


def test_directory_and_environment_reach_the_hook(plugin: Plugin) -> None:
    script = plugin.root / "hook.sh"
    script.write_text('#!/bin/sh\necho "$SPECIAL in $PWD" >&2\nexit 2\n')
    script.chmod(0o700)
    plugin.user(f'[[hook]]\nname = "h"\non = "PreToolUse"\nrun = "{script}"\n')
    plugin.start()

    assert plugin.drive(SPECIAL="word") == (f"threw: word in {plugin.project}", False)


def test_the_agent_itself_is_known_as_the_one_who_asks(plugin: Plugin) -> None:
    """Without a client between them; sessions are told apart by it."""
    from hookline.core.processes import find_owner

    mine = find_owner(-os.getpid())
    assert mine is not None
    assert mine.pid == os.getpid()
    assert find_owner(-(1 << 22)) is None
    plugin.guarded()
    plugin.start()
    assert plugin.drive()[0] == "ran"


def test_without_a_daemon_a_process_answers_and_one_is_started_for_the_next(plugin: Plugin) -> None:
    plugin.guarded()

    assert plugin.drive(text="rm", HOOKLINE_DAEMON="auto") == ("threw: no: rm", True)

    plugin.wait_for(lambda: lifecycle.ask(plugin.place, "status") is not None)
    assert plugin.drive(text="rm") == ("threw: no: rm", False)


def test_a_daemon_that_is_switched_off_is_not_asked(plugin: Plugin) -> None:
    plugin.guarded()
    plugin.start()

    assert plugin.drive(text="rm", HOOKLINE_DAEMON="off") == ("threw: no: rm", True)


@pytest.mark.parametrize(
    "said",
    [
        (pack_refusal("no"),),
        (b"HTTP/1.1 200 OK",),
        (DENY[:9],),
        (DENY[:-1],),
        (ACCEPTED, b""),
        (ACCEPTED, ACCEPTED, b"N"),
    ],
    ids=["refused", "garbage", "half a head", "half an answer", "died after it had heard", "refused later"],
)
def test_what_is_no_answer_is_asked_of_a_process(plugin: Plugin, said: tuple[bytes, ...]) -> None:
    plugin.guarded()
    plugin.answering(*said)

    assert plugin.drive(text="rm", closed=True) == ("threw: no: rm", True)


def test_a_daemon_that_hangs_is_given_up_for_a_process(plugin: Plugin) -> None:
    plugin.guarded()
    plugin.answering(silent=True)

    assert plugin.drive(text="rm") == ("threw: no: rm", True)


@pytest.mark.parametrize(("closed", "end"), [(True, "threw: hookline failed on tool.exec"), (False, "ran")])
def test_a_daemon_that_falls_silent_after_it_has_heard_ends_as_the_guard_asks(
    plugin: Plugin, closed: bool, end: str
) -> None:
    plugin.answering(ACCEPTED, silent=True)

    told, started = plugin.drive(closed=closed, seconds=1)

    assert (told.startswith(end), started) == (True, False)


def test_an_answer_in_pieces_is_an_answer(plugin: Plugin) -> None:
    plugin.answering(ACCEPTED, DENY[:3], DENY[3:14], DENY[14:])

    assert plugin.drive() == ("threw: said the socket", False)


@pytest.mark.parametrize("closed", [True, False])
def test_an_error_of_the_daemons_answer_ends_as_the_guard_asks(plugin: Plugin, closed: bool) -> None:
    plugin.answering(pack_result(2, b"", b"broken"))

    assert plugin.drive(closed=closed)[0].startswith(
        "threw: hookline failed on tool.execute.before (broken), so this is refused" if closed else "ran"
    )


def test_a_socket_where_others_could_put_theirs_is_not_believed(plugin: Plugin) -> None:
    plugin.guarded()
    plugin.answering(pack_result(0, b"", b""))
    os.chmod(plugin.place.directory, 0o777)

    assert plugin.drive(text="rm", closed=True) == ("threw: no: rm", True)


#: Agent -> what it gives to its plugin before a tool.
CALLS: dict[str, Any] = {
    "opencode": {"input": {"tool": "bash", "sessionID": "s", "callID": "c"}, "output": {"args": {"command": "ls"}}},
    "pi": {"type": "tool_call", "toolName": "bash", "input": {"command": "ls"}},
    "cline": {"snapshot": {}, "toolCall": {}, "tool": {"name": "run_commands"}, "input": {"commands": ["ls"]}},
    "amp": {"tool": "Bash", "input": {"cmd": "ls"}},
}


@pytest.mark.parametrize("late", ["the daemon has heard", "the daemon hangs", "the process hangs"])
@pytest.mark.parametrize("agent", CALLS)
def test_an_answer_that_does_not_come_is_a_refusal_in_every_agent(plugin: Plugin, agent: str, late: str) -> None:
    assert set(CALLS) == {one.dialect for one in all_agents().values() if one.form == "plugin"}
    if late != "the process hangs":
        plugin.answering(*([ACCEPTED] if late == "the daemon has heard" else []), silent=True)
    program = plugin.root / "hookline"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o700)
    source = plugin_source(all_agents()[agent], EntryCaller(program=str(program)), ("PreToolUse",))
    source = re.sub(r"LONGEST = [0-9.]+, GRACE = [0-9.]+", "LONGEST = 2.4, GRACE = 0.2", source)
    (plugin.root / "plugin.mjs").write_text(source)
    (plugin.root / "drive.mjs").write_text(plugin_driver(agent))
    line = [
        plugin.javascript,
        str(plugin.root / "drive.mjs"),
        str(plugin.root / "plugin.mjs"),
        json.dumps(CALLS[agent]),
    ]

    around: dict[str, Any] = {"HOOKLINE_DAEMON": "if running", **plugin.more}
    told = plugin.run(line, **around)

    assert (told.code, b"no answer in time" in told.out) == (2, True), told


def test_clines_plugin_gives_up_before_cline_does() -> None:
    source = plugin_source(all_agents()["cline"], EntryCaller(program="hookline"), ("PreToolUse",))
    found = re.search(r"LONGEST = ([0-9.]+), GRACE = ([0-9.]+)", source)
    assert found is not None
    assert float(found[1]) + float(found[2]) < 3
