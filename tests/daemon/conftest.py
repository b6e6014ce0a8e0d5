"""A machine of one's own: a home, a runtime directory, a project, a daemon, and both clients."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.patience import eventually

from hookline.core.errors import StateError
from hookline.daemon import lifecycle
from hookline.daemon.client.build import TWIN, compile_client
from hookline.daemon.lifecycle import lock_holder
from hookline.daemon.protocol import DaemonPaths

PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"}
GUARD = """\
def judge(event):
    command = event.data["tool_input"]["command"]
    return {"effect": "deny", "reason": f"no: {command}"} if "rm" in command else None
"""


class Answer(NamedTuple):
    code: int
    out: bytes
    err: bytes


class Machine:
    """``client`` is the command line of the client under test."""

    def __init__(self, root: Path, client: list[str]) -> None:
        self.root, self.client = root, client
        self.home, self.runtime, self.project = root / "home", root / "run", root / "project"
        for folder in (self.home, self.runtime, self.project):
            folder.mkdir(mode=0o700)
        (self.project / ".git").mkdir()
        self.place = DaemonPaths(directory=str(self.runtime / "hookline"))
        self.daemon: subprocess.Popen[bytes] | None = None

    def environ(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime), **more,
        }  # fmt: skip

    # ── what the user and the project have ───────────────────────────────────────────────────────────

    def user(self, text: str, **files: str) -> None:
        folder = self.home / ".config" / "hookline"
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / f"{name}.py").write_text(content)
        _replace(folder / "hookline.toml", text)

    def guarded(self) -> None:
        self.user('[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "Bash"\npython = "guard:judge"\n', guard=GUARD)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────

    def ask(self, payload: Any = None, *words: str, timeout: float = 100, **environ: str) -> Answer:
        """Through the client under test, as an agent does."""
        sent = payload if isinstance(payload, bytes) else json.dumps({**PAYLOAD, **(payload or {})}).encode()
        return self.run([*self.client, "hook", "--agent", "claude-code", *words], sent, timeout=timeout, **environ)

    def cold(self, payload: Any = None, *words: str) -> Answer:
        sent = payload if isinstance(payload, bytes) else json.dumps({**PAYLOAD, **(payload or {})}).encode()
        line = [sys.executable, "-m", "hookline", "hook", "--agent", "claude-code", "--cold", *words]
        return self.run(line, sent)

    def run(self, line: list[str], stdin: bytes = b"", *, timeout: float = 100, **environ: str) -> Answer:
        done = subprocess.run(
            line, input=stdin, cwd=self.project, env=self.environ(**environ), capture_output=True, timeout=timeout,
            check=False,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    def recorded(self) -> list[dict[str, Any]]:
        told = self.run([sys.executable, "-m", "hookline", "log", "--json", "--last", "100000"]).out
        lines = told.decode().strip().splitlines()
        tree = [json.loads(line) for line in lines]
        return tree[0] if len(tree) == 1 and isinstance(tree[0], list) else tree

    # ── the daemon ───────────────────────────────────────────────────────────────────────────────────

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        log = open(self.root / "log", "ab")  # noqa: SIM115  the child's
        self.daemon = subprocess.Popen(
            [sys.executable, "-m", "hookline", "daemon", "run", *words],
            env=self.environ(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        log.close()
        self.wait_for(lambda: lifecycle.ask(self.place, "status") is not None)
        return self.daemon

    def kill(self) -> None:
        assert self.daemon is not None
        self.daemon.kill()
        self.daemon.wait()
        self.daemon = None

    def status(self) -> dict[str, Any]:
        return lifecycle.status(self.place)

    def listening(self, serve: Callable[[socket.socket], None]) -> socket.socket:
        """Something that listens where the daemon should, and is not one."""
        os.makedirs(self.place.directory, mode=0o700, exist_ok=True)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.bind(self.place.socket)
        sock.listen(8)
        serve(sock)
        return sock

    @staticmethod
    def wait_for(happened: Callable[[], Any], seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < until, "it did not happen"
            time.sleep(0.01)

    def close(self) -> None:
        if self.daemon is not None:
            self.daemon.send_signal(signal.SIGKILL)
            self.daemon.wait()
        for place in (self.place, DaemonPaths(directory=str(self.home / ".local/state/hookline/run"))):
            eventually(functools.partial(_is_up_or_down, place), 20)
            if lifecycle.is_held(place) and (pid := lock_holder(place)):
                os.kill(pid, signal.SIGKILL)  # one that a client started, in whatever state it is
        shutil.rmtree(self.root, ignore_errors=True)


def _is_up_or_down(place: DaemonPaths) -> bool:
    return not os.path.exists(place.starting) or lifecycle.is_held(place)


def _replace(path: Path, text: str) -> None:
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("client") / "hookc")
    try:
        compile_client(path)
    except StateError as error:
        pytest.skip(str(error))
    return path


@pytest.fixture(params=["native", "twin"])
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """Once for each client."""
    # Measured by tools/cover.py, it needs the site-packages through which the tracer comes.
    alone = [] if "hookline_cover_start" in sys.modules else ["-S"]
    twin = [sys.executable, "-I", *alone, TWIN]
    client = twin if request.param == "twin" else [request.getfixturevalue("native")]
    # Short, because the name of a socket must be.
    one = Machine(Path(tempfile.mkdtemp(prefix="hkl-", dir="/tmp")), client)
    yield one
    one.close()


@pytest.fixture
def one_machine(native: str) -> Iterator[Machine]:
    """Where it does not matter which client asks."""
    one = Machine(Path(tempfile.mkdtemp(prefix="hkl-", dir="/tmp")), [native])
    yield one
    one.close()
