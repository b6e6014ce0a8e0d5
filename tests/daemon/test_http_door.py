"""The HTTP door: who is let in, what is answered, and what becomes of everything else."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from typing import TYPE_CHECKING, Any, Self

import pytest

from hookline.daemon import http_door
from hookline.daemon.http_place import HOST, Door, chosen, file_of, known
from hookline.daemon.protocol import MOST_INPUT

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Machine

NOTE = '[[hook]]\nname = "note"\non = "PostToolUse"\npython = "note:say"\n'
SAY = 'def say(event):\n    return {"context": "seen " + event.data["tool_input"]["command"]}\n'


class Knock:
    """A connection to the door of a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        found = known(machine.environ())
        assert found is not None
        self.door = found
        self.sock = socket.create_connection((HOST, self.door.port), timeout=60)

    def head(self, *, method: str = "POST", path: str = "", host: str = "", **more: str) -> bytes:
        where = (
            path
            or self.door.url("claude-code", "PostToolUse", "user/claude-code", 60).partition(str(self.door.port))[2]
        )
        lines = [f"{method} {where} HTTP/1.1", f"Host: {host or f'{HOST}:{self.door.port}'}"]
        return "\r\n".join([*lines, *(f"{name.replace('_', '-')}: {value}" for name, value in more.items())]).encode()

    def payload(self, command: str = "ls") -> bytes:
        return json.dumps(
            {
                "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": command},
                "session_id": "s", "cwd": str(self.machine.project), "tool_response": "x",
            }
        ).encode()  # fmt: skip

    def post(self, body: bytes | None = None, **head: str) -> tuple[int, Any]:
        sent = self.payload() if body is None else body
        words: dict[str, Any] = {"Content_Length": str(len(sent)), **head}
        return self.say(self.head(**words) + b"\r\n\r\n" + sent)

    def say(self, said: bytes) -> tuple[int, Any]:
        """The status and the body; 0 when the other end hung up."""
        self.sock.sendall(said)
        got = b""
        while b"\r\n\r\n" not in got:
            piece = self.sock.recv(1 << 16)
            if not piece:
                return 0, None
            got += piece
        head, _, body = got.partition(b"\r\n\r\n")
        length = next(
            (int(x.split(b":")[1]) for x in head.split(b"\r\n") if x.lower().startswith(b"content-length")), 0
        )
        while len(body) < length:
            body += self.sock.recv(1 << 16)
        # What comes after it is the answer to another question, which may arrive together with this one.
        return int(head.split(b" ")[1]), json.loads(body[:length]) if length else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()


@pytest.fixture
def doored(one_machine: Machine) -> Machine:
    chosen(one_machine.environ())
    one_machine.user(NOTE, note=SAY)
    one_machine.start()
    return one_machine


def test_an_event_that_is_posted_is_answered_like_any_other(doored: Machine) -> None:
    with Knock(doored) as one:
        status, told = one.post()

    assert status == 200
    assert "seen ls" in told["hookSpecificOutput"]["additionalContext"]
    assert [(row["event"], row["agent"]) for row in doored.recorded()] == [("PostToolUse", "claude-code")]


def test_one_connection_serves_many_events_in_turn(doored: Machine) -> None:
    with Knock(doored) as one:
        told = [one.post(one.payload(f"number {number}")) for number in range(5)]
        # Two at once: the second is heard after the first.
        body = one.payload("twice")
        both = (one.head(Content_Length=str(len(body))) + b"\r\n\r\n" + body) * 2
        told.append(one.say(both))

    assert [status for status, _ in told] == [200] * 6
    assert len({json.dumps(answer) for _, answer in told}) == 6


def test_where_hooks_have_nothing_to_say_nothing_is_said(doored: Machine) -> None:
    with Knock(doored) as one:
        path = one.head().split(b" ")[1].decode().replace("PostToolUse", "SessionEnd")
        body = one.payload().replace(b"PostToolUse", b"SessionEnd")
        assert one.post(body, path=path) == (204, None)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "evil.example:80"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"method": "GET"}, 405),
        ({"method": "OPTIONS"}, 405),
        ({"path": "/"}, 404),
        ({"path": "/hookline/wrong/claude-code/PostToolUse/user:claude-code/60"}, 403),
        ({"path": "/hookline//claude-code/PostToolUse/user:claude-code/60"}, 403),
        ({"Content_Length": "100000000"}, 413),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Length": "1e3"}, 411),
        ({"Transfer_Encoding": "chunked"}, 411),
        ({"Cookie": "x" * 20_000}, 413),
    ],
)
def test_who_does_not_belong_here_is_refused_and_hung_up_on(doored: Machine, head: dict[str, Any], status: int) -> None:
    with Knock(doored) as one:
        assert one.post(**head)[0] == status
        one.sock.settimeout(60)
        assert one.sock.recv(1) == b""
    assert doored.recorded() == []


def test_a_header_that_is_said_twice_is_refused(doored: Machine) -> None:
    with Knock(doored) as one:
        head = one.head(Content_Length="2") + f"\r\nHost: {HOST}:{one.door.port}".encode()
        assert one.say(head + b"\r\n\r\n{}")[0] == 400


def test_words_of_the_path_are_no_options(doored: Machine) -> None:
    with Knock(doored) as one:
        path = f"/hookline/{one.door.token}/claude-code/--config=x/user:claude-code/60"
        assert one.post(path=path)[0] == 404


def test_garbage_gets_an_error_and_not_an_answer(doored: Machine) -> None:
    with Knock(doored) as one:
        assert one.post(b"this is not JSON")[0] == 503
    with Knock(doored) as one:
        assert one.say(b"\x16\x03\x01\x02\x00\r\n\r\n")[0] == 400


def test_half_a_request_keeps_nobody_else_waiting(doored: Machine) -> None:
    with Knock(doored) as slow, Knock(doored) as one:
        slow.sock.sendall(slow.head(Content_Length="50") + b"\r\n\r\n{")
        assert one.post()[0] == 200


def test_too_many_at_once_are_turned_away_and_there_is_room_again(doored: Machine) -> None:
    many = [Knock(doored) for _ in range(http_door.MOST_CLIENTS)]
    time.sleep(0.2)
    with Knock(doored) as one, contextlib.suppress(OSError):  # hung up on in the middle of a word
        assert one.post()[0] == 0
    for each in many:
        each.sock.close()

    def served() -> bool:
        with Knock(doored) as again:
            try:
                return again.post()[0] == 200
            except OSError:
                return False

    doored.wait_for(served)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_is_not_heard_even_with_the_token(doored: Machine) -> None:
    import subprocess
    import sys

    with Knock(doored) as one:
        body = one.payload()
        said = one.head(Content_Length=str(len(body))) + b"\r\n\r\n" + body
        code = (
            "import os,socket,sys; os.setgid(65534); os.setuid(65534); s=socket.socket()\n"
            f"try: s.connect((b'{HOST}'.decode(),{one.door.port})); s.sendall(sys.stdin.buffer.read()); print(s.recv(100))\n"
            "except OSError: print(b'')"
        )
        told = subprocess.run([sys.executable, "-c", code], input=said, capture_output=True, check=True)
    assert told.stdout.strip() == b"b''"


def test_the_door_is_where_it_was_after_a_restart(doored: Machine) -> None:
    before = known(doored.environ())
    doored.kill()
    doored.start()

    assert known(doored.environ()) == before
    with Knock(doored) as one:
        assert one.post()[0] == 200


def test_a_port_that_somebody_has_costs_only_the_door(one_machine: Machine) -> None:
    door = chosen(one_machine.environ())
    with socket.create_server((HOST, door.port)):
        one_machine.guarded()
        one_machine.start()
        assert one_machine.ask({"tool_input": {"command": "rm"}}) == one_machine.cold({"tool_input": {"command": "rm"}})
    assert "cannot open port" in (one_machine.root / "log").read_text()


def test_what_the_daemon_does_not_answer_a_process_does(doored: Machine) -> None:
    door = known(doored.environ())
    assert door is not None
    doored.kill()  # its socket is left behind, and nobody listens
    one = http_door.HttpDoor(door, doored.place, doored.environ())
    assert one.open()
    try:
        with Knock(doored) as knock:
            status, told = knock.post()
        assert (status, "seen ls" in json.dumps(told)) == (200, True)
    finally:
        one.close()


def test_what_is_too_much_for_the_daemon_a_process_answers(doored: Machine) -> None:
    with Knock(doored) as knock:
        body = json.loads(knock.payload())
        status, told = knock.post(json.dumps({**body, "more": "x" * (MOST_INPUT + 1)}).encode())
    assert (status, "seen ls" in json.dumps(told)) == (200, True)
    assert doored.status()["crashes"] == []


def test_the_token_is_for_one_user_and_chosen_once(tmp_path: Path) -> None:
    around = {"HOME": str(tmp_path)}
    first = chosen(around)

    assert chosen(around) == first
    assert os.stat(file_of(around)).st_mode & 0o777 == 0o600
    assert len(first.token) >= 40


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"port": 0, "token": "x"}', '{"port": 80, "token": "short"}', "{"])
def test_a_broken_file_is_no_door(tmp_path: Path, text: str) -> None:
    around = {"HOME": str(tmp_path)}
    chosen(around)
    with open(file_of(around), "w", encoding="utf-8") as file:
        file.write(text)
    assert known(around) is None


def test_a_file_that_others_can_read_is_no_door(tmp_path: Path) -> None:
    around = {"HOME": str(tmp_path)}
    chosen(around)
    os.chmod(file_of(around), 0o644)
    assert known(around) is None


def test_a_url_names_loopback_and_nothing_else() -> None:
    assert (
        Door(port=1234, token="t" * 40)
        .url("claude-code", "Stop", "user/claude-code", 60)
        .startswith("http://127.0.0.1:1234/hookline/")
    )
