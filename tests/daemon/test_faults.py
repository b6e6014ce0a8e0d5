"""Everything that can go wrong around the daemon, each with a defined end.

HOOKLINE_KILLS=1000 makes the loop of kills as long as it should be before a release.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.daemon import lifecycle
from hookline.daemon.client.build import compile_client
from hookline.daemon.protocol import (
    HEAD,
    MAGIC,
    BadFrame,
    Caller,
    Callers,
    DaemonPaths,
    DaemonRequest,
    pack_request,
    sizes,
)

from .conftest import PAYLOAD, Machine
from .test_daemon import DENY, reason

if TYPE_CHECKING:
    from collections.abc import Iterator

KILLS = int(os.environ.get("HOOKLINE_KILLS", "30"))


def said_to(machine: Machine, *pieces: bytes, end: bool = True) -> bytes:
    """Raw bytes in, raw bytes out; the daemon may hang up at any moment."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(20)
        sock.connect(machine.place.socket)
        try:
            for piece in pieces:
                sock.sendall(piece)
            if end:
                sock.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: sock.recv(65536), b""))
        except (BrokenPipeError, ConnectionResetError):
            return b""


@pytest.mark.parametrize(
    "pieces",
    [
        (b"GET / HTTP/1.1\r\n\r\n",),
        (),
        (MAGIC,),
        (HEAD.pack(MAGIC, 100, 0), b"half"),
        (HEAD.pack(MAGIC, 4, 0), b"\xff\0\0\0"),
        (HEAD.pack(MAGIC, 8, 0), b"1\0h\0/\09\0"),
        (HEAD.pack(MAGIC, 0, 0),),
        (HEAD.pack(MAGIC, 10, 100 << 20), b"x" * 1000),
        (b"\0" * (1 << 20),),
    ],
    ids=[
        "another protocol",
        "nothing",
        "a beginning",
        "half a frame",
        "no words",
        "bad count",
        "empty",
        "100 MB",
        "zeros",
    ],
)
def test_a_strange_client_gets_no_answer_and_does_no_harm(one_machine: Machine, pieces: tuple[bytes, ...]):
    one_machine.guarded()
    one_machine.start()

    told = said_to(one_machine, *pieces)

    assert told[:1] in {b"", b"N"}
    assert reason(one_machine.ask(DENY)) == "no: rm x"
    assert one_machine.status()["crashes"] == []


def test_much_more_input_than_the_daemon_takes_is_answered_without_it(machine: Machine):
    machine.guarded()
    machine.start()
    payload = json.dumps({**PAYLOAD, "tool_input": {"command": "rm x", "more": "y" * (16 << 20)}}).encode()

    told = machine.ask(payload)

    assert reason(told) == "no: rm x"


def test_clients_that_say_nothing_do_not_keep_others_waiting(one_machine: Machine):
    one_machine.guarded()
    one_machine.start()
    silent = []
    for _ in range(100):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(one_machine.place.socket)
        silent.append(sock)

    assert reason(one_machine.ask(DENY)) == "no: rm x"
    for sock in silent:
        sock.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=300), text=st.integers(0, 400))
def test_no_bytes_make_the_parser_raise_anything_else(body: bytes, text: int):
    with contextlib.suppress(BadFrame):
        sizes(body.ljust(HEAD.size, b"\0"))
    with contextlib.suppress(BadFrame):
        Callers().request(HEAD.pack(MAGIC, min(text, len(body)), 0) + body)


@settings(max_examples=60, deadline=None)
@given(
    argv=st.lists(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])), max_size=4),
    stdin=st.binary(max_size=200),
)
def test_a_request_arrives_as_it_was_sent(argv: list[str], stdin: bytes):
    caller = Caller(version="1", kind="hook", cwd="/x", argv=tuple(argv), environ={"A": "b=c", "D": ""})
    request = DaemonRequest(caller=caller, stdin=stdin)
    frame, callers = pack_request(request), Callers()

    assert callers.request(frame[:-1]) is None
    assert [callers.request(frame), callers.request(frame + b"more")] == [request] * 2


# ── kills ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.timeout(120 + 5 * KILLS)
def test_a_kill_at_any_moment_costs_no_record_and_no_answer(machine: Machine):
    """Whoever is answered is answered rightly, and for every answer there is a record."""
    if machine.client[0] == sys.executable and KILLS < 1000:
        pytest.skip("the native client has the same loop")
    machine.guarded()
    machine.start()
    seeded = random.Random(KILLS)
    wrong: list[Any] = []
    count = 0
    for number in range(KILLS):
        command = f"rm {number}"
        line = [*machine.client, "hook", "--agent", "claude-code", "--on-failure", "deny"]
        client = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=machine.project,
            env=machine.environ(),
        )  # fmt: skip
        killer = threading.Timer(seeded.uniform(0, 0.004), machine.kill)
        killer.start()
        out, err = client.communicate(json.dumps({**PAYLOAD, "tool_input": {"command": command}}).encode(), timeout=60)
        killer.join()
        told = (client.returncode, out)
        if told[0] == 0 and f"no: {command}".encode() in out:
            count += 1
        elif told[0] != 2:
            wrong.append((number, told, err))
        machine.daemon = None
        machine.wait_for(lambda: _started(machine))
    assert wrong == []
    assert count == KILLS  # the cold run answers where the daemon could not
    assert len(machine.recorded()) >= count


def _started(machine: Machine) -> bool:
    """A daemon to kill: the client's own, or ours where the client had no reason to start one."""
    found = machine.status()
    if not found["running"]:
        if os.path.exists(machine.place.starting):
            return False
        machine.start()
        return True
    if machine.daemon is None:
        machine.daemon = _Adopted(found["pid"])  # type: ignore[assignment]
    return True


class _Adopted:
    """A daemon that a client started; it is nobody's child here."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(9)

    def wait(self) -> None:
        until = time.monotonic() + 60
        while os.path.exists(f"/proc/{self.pid}") and _state(self.pid) != "Z" and time.monotonic() < until:
            time.sleep(0.002)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


# ── disks, homes and users ───────────────────────────────────────────────────────────────────────────


@pytest.fixture
def small_disk() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hkl-disk-", dir="/tmp"))
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True, check=False
    )
    if done.returncode:
        folder.rmdir()
        pytest.skip("no right to mount a disk")
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def test_on_a_full_disk_hooks_still_decide(one_machine: Machine, small_disk: Path):
    one_machine.guarded()
    state = one_machine.home / ".local"
    state.mkdir()
    os.symlink(small_disk, state / "state")
    one_machine.start()
    assert reason(one_machine.ask(DENY)) == "no: rm x"
    (small_disk / "fill").write_bytes(b"x" * (small_disk_free(small_disk)))

    told = [reason(one_machine.ask(DENY)) for _ in range(5)]

    assert told == ["no: rm x"] * 5


def small_disk_free(folder: Path) -> int:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_bsize


def as_nobody(machine: Machine, *line: str, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
    switch = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return subprocess.run(
        [*switch, *line], input=stdin, env=machine.environ(**environ), cwd="/", capture_output=True, check=False,
        timeout=60,
    )  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs a second user")
def test_another_user_is_not_answered(one_machine: Machine):
    """Even where the permissions of the directory were spoilt."""
    one_machine.guarded()
    one_machine.start()
    for folder in (one_machine.root, one_machine.runtime, Path(one_machine.place.directory)):
        folder.chmod(0o755)
    os.chmod(one_machine.place.socket, 0o666)
    frame = pack_request(DaemonRequest(caller=Caller(version="0.1.0", kind="status", cwd="/", environ={})))
    code = (
        "import socket, sys\n"
        "sock = socket.socket(socket.AF_UNIX)\n"
        f"sock.connect({one_machine.place.socket!r})\n"
        "try:\n"
        f"    sock.sendall({frame!r})\n"
        "    sys.stdout.buffer.write(sock.recv(100))\n"
        "except OSError:\n"
        "    pass\n"
    )
    done = as_nobody(one_machine, "/usr/bin/python3", "-c", code)

    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_client_does_not_talk_to_another_users_daemon(machine: Machine):
    """The runtime directory of somebody else is no place of ours, so the state directory is."""
    machine.guarded()
    fake = machine.listening(lambda _sock: None)
    os.chown(machine.runtime, 65534, 65534)

    told = machine.ask(DENY)

    assert reason(told) == "no: rm x"
    fake.close()


def test_without_a_runtime_directory_the_daemon_lives_beside_the_state(one_machine: Machine):
    one_machine.guarded()
    short = Path(tempfile.mkdtemp(prefix="hk-", dir="/tmp"))
    environ: dict[str, Any] = {"XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": str(short)}
    command = [sys.executable, "-m", "hookline", "daemon"]
    try:
        assert one_machine.run([*command, "start"], **environ).code == 0
        assert (short / "hookline" / "run" / "daemon.sock").exists()
        assert reason(one_machine.ask(DENY, **environ)) == "no: rm x"
        status = json.loads(one_machine.run([*command, "status", "--json"], **environ).out)
        assert status["requests"] >= 2
        assert one_machine.run([*command, "stop"], **environ).code == 0
    finally:
        shutil.rmtree(short)


def test_a_read_only_home_costs_the_record_and_not_the_answer(machine: Machine, small_disk: Path):
    """Nothing can be written anywhere: no daemon, no record, but an answer."""
    machine.home.rmdir()
    machine.home = small_disk
    machine.guarded()
    done = subprocess.run(["mount", "-o", "remount,ro", small_disk], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no right to make a disk read-only")

    told = machine.ask(DENY, XDG_RUNTIME_DIR="")

    assert (told.code, reason(told)) == (0, "no: rm x")


# ── the native client under sanitizers ───────────────────────────────────────────────────────────────


SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="module", params=[SANITIZED, ()], ids=["sanitized", "as it is deployed"])
def hardened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("hardened") / "hookc")
    try:
        compile_client(path, extra=request.param, python="/bin/true")
    except Exception as error:
        pytest.skip(str(error)[:100])
    return path


def test_no_answer_of_a_daemon_breaks_the_native_client(one_machine: Machine, hardened: str):
    """Random bytes, and answers with one thing wrong; the cold run is /bin/true here, so the code is 0."""
    seeded = random.Random(7)
    one_machine.client = [hardened]
    answers = [bytes(seeded.randrange(256) for _ in range(seeded.randrange(40))) for _ in range(40)]
    whole = b"A" + b"R" + bytes([0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3]) + b"hello" + b"err"
    answers += [whole[:cut] for cut in range(0, len(whole), 2)]
    answers += [whole + b"more", b"A" * 70000 + whole[1:]]
    answers += [b"R" + bytes(seeded.randrange(256) for _ in range(12)) + b"x" * seeded.randrange(60) for _ in range(20)]
    queue = list(answers)

    def serve(sock: socket.socket) -> None:
        def work() -> None:
            for answer in queue:
                client, _ = sock.accept()
                with client:
                    client.recv(1 << 20)
                    client.sendall(answer)

        threading.Thread(target=work, daemon=True).start()

    with one_machine.listening(serve):
        for answer in answers:
            told = one_machine.ask(None, ASAN_OPTIONS="detect_leaks=0")
            assert told.code >= 0, answer
            assert b"Sanitizer" not in told.err, (answer, told.err)
            assert b"runtime error" not in told.err, (answer, told.err)
            if whole[1:] in answer:
                assert told.out == b"hello"


def test_a_look_at_the_lock_keeps_no_daemon_from_starting(tmp_path: Path):
    """Whoever asks for the status takes the lock for a moment. Another daemon has it for longer."""
    place = DaemonPaths(directory=str(tmp_path / "hookline"))
    looked = lifecycle.acquire_lock(place)
    assert looked is not None
    assert lifecycle._acquire_soon(place) is None
    threading.Timer(0.02, os.close, (looked,)).start()
    taken = lifecycle._acquire_soon(place)
    assert taken is not None
    os.close(taken)
