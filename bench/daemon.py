"""What an agent pays for one event at every door: processes, the cold command, both clients of the daemon; and its load.

All variants run turn by turn in one run. The floor is a static program that reads its input and ends: nothing that an
agent must start can be cheaper.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any

from measure import Row, us

import processes
from hookline.daemon import life
from hookline.daemon.place import Place
from hookline.daemon.protocol import Caller, Request, packed
from hookline.errors import StateError
from hookline.shim.build import TWIN, compiled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAYLOAD: dict[str, Any] = {
    "session_id": "bench", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "",
    "tool_input": {"command": "ls -l", "description": "List the files of the project, with their sizes and dates"},
    "permission_mode": "default", "transcript_path": "/tmp/transcript.jsonl", "tool_use_id": "toolu_0123456789",
}  # fmt: skip
GUARD = (
    'def judge(event):\n    return {"effect": "deny"} if "rm -rf" in event.data["tool_input"]["command"] else None\n'
)
PYTHON_HOOK = (
    "import json, sys\nevent = json.load(sys.stdin)\nsys.exit(2 if 'rm -rf' in event['tool_input']['command'] else 0)\n"
)
NODE_HOOK = (
    "const e = JSON.parse(require('fs').readFileSync(0)); process.exit(e.tool_input.command.includes('rm -rf') ? 2 : 0)"
)
JQ_HOOK = 'c=$(cat | jq -r .tool_input.command); case "$c" in *"rm -rf"*) exit 2;; esac'
READS = "import posix\nwhile posix.read(0, 65536): pass\nposix.write(1, b'')\n"
HOOK = ("hook", "--agent", "claude-code")

#: Variants that take long are run in every fifth round only.
SLOW = frozenset(
    {
        "bash + jq hook",
        "plain Python hook",
        "node hook",
        "hookline hook, cold",
        "hookline hook, warm",
        "python3 -c pass",
    }
)


class Bench:
    """A user of one's own with one guard, and a daemon."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.runtime = tempfile.mkdtemp(prefix="hkl-bench-")
        self.project = os.path.join(folder, "project")
        os.makedirs(os.path.join(self.project, ".git"), exist_ok=True)
        self.place = Place(directory=os.path.join(self.runtime, "hookline"))
        self.home = self._home("function", 'python = "guard:judge"')
        self.payload = json.dumps({**PAYLOAD, "cwd": self.project}).encode()
        life.start(self.place, self.environ(self.home))

    def _home(self, name: str, action: str) -> str:
        home = os.path.join(self.folder, f"home-{name}")
        config = os.path.join(home, ".config", "hookline")
        os.makedirs(config, exist_ok=True)
        with open(os.path.join(config, "hookline.toml"), "w", encoding="utf-8") as file:
            file.write(f'[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "Bash"\n{action}\n')
        with open(os.path.join(config, "guard.py"), "w", encoding="utf-8") as file:
            file.write(GUARD)
        return home

    def environ(self, home: str) -> dict[str, str]:
        known = {
            name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTHON", "HOOKLINE"))
        }
        return {**known, "HOME": home, "XDG_RUNTIME_DIR": self.runtime}

    def status(self) -> dict[str, Any]:
        return life.status(self.place)

    def close(self) -> None:
        life.stop(self.place, wait=10)
        shutil.rmtree(self.runtime, ignore_errors=True)

    def plugin_home(self) -> str:
        import plugins

        program = plugins._program(self.folder)  # noqa: SLF001  one bench, several files
        return self._home("plugin", f'plugin = "{program}"')


def rows(folder: str, short: bool) -> Iterator[Row]:
    bench = Bench(folder)
    try:
        yield from doors(bench, short)
        yield from load(bench, short)
    finally:
        bench.close()


def doors(bench: Bench, short: bool) -> Iterator[Row]:
    variants = dict(_variants(bench))
    for name, (line, environ) in variants.items():
        code = _run(line, bench.payload, environ, bench.project)
        if code:
            print(f"  ({name} ends with {code})")
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(6 if short else 200):
        for name, (line, environ) in variants.items():
            if name in SLOW and number % 5:
                continue
            began = time.perf_counter()
            _run(line, bench.payload, environ, bench.project)
            taken[name].append(time.perf_counter() - began)
    yield from _judged({name: sorted(times) for name, times in taken.items()})


def _variants(bench: Bench) -> Iterator[tuple[str, tuple[list[str], dict[str, str]]]]:
    environ = bench.environ(bench.home)
    no_op = processes.program(bench.folder, "floor", processes.NO_OP, "cat >/dev/null")
    script = os.path.join(bench.folder, "plain.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PYTHON_HOOK)
    python = sys.executable
    yield "static no-op (floor)", ([no_op], environ)
    yield "sh -c true", (["/bin/sh", "-c", "true"], environ)
    if shutil.which("jq") and (bash := shutil.which("bash")):
        yield "bash + jq hook", ([bash, "-c", JQ_HOOK], environ)
    yield "plain Python hook", ([python, script], environ)
    if node := shutil.which("node"):
        yield "node hook", ([node, "-e", NODE_HOOK], environ)
    yield "python3 -c pass", ([python, "-c", "pass"], environ)
    yield "hookline hook, cold", ([python, "-m", "hookline", *HOOK, "--cold"], environ)
    yield "hookline hook, warm", ([python, "-m", "hookline", *HOOK], environ)
    yield "python -I -S, reads and writes", ([python, "-I", "-S", "-c", READS], environ)
    yield "Python twin, in-process hook", ([python, "-I", "-S", TWIN, *HOOK], environ)
    native = os.path.join(bench.folder, "hookc")
    try:
        compiled(native)
    except StateError:
        return
    yield "native client, in-process hook", ([native, *HOOK], environ)
    yield "native client, resident plugin", ([native, *HOOK], bench.environ(bench.plugin_home()))


#: variant -> measured against, at most
PROMISES = {
    "native client, in-process hook": ("static no-op (floor)", 1.5),
    "native client, resident plugin": ("static no-op (floor)", 2.0),
    "Python twin, in-process hook": ("python -I -S, reads and writes", 1.3),
    "hookline hook, cold": ("python3 -c pass", 6.0),
}


def _judged(taken: dict[str, list[float]]) -> Iterator[Row]:
    floor = statistics.median(taken["static no-op (floor)"])
    print(f"  {'one event':<34} {'median':>10} {'p95':>10} {'x floor':>8}")
    for name, times in taken.items():
        median, p95 = statistics.median(times), times[int(0.95 * len(times))]
        print(f"  {name:<34} {us(median):>10} {us(p95):>10} {median / floor:>8.1f}")
    for name, (against, target) in PROMISES.items():
        if name in taken:
            one, other = statistics.median(taken[name]), statistics.median(taken[against])
            yield Row(
                what=f"{name}, against {against}", shown=f"{us(one)} / {us(other)}", value=one / other, target=target
            )


def _run(line: Sequence[str], payload: bytes, environ: dict[str, str], cwd: str) -> int:
    """As an agent does it: start, write, close, read to the end, wait."""
    stdin, to_child = os.pipe()
    from_out, stdout = os.pipe()
    from_err, stderr = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1), (os.POSIX_SPAWN_DUP2, stderr, 2)]
    before = os.getcwd()
    os.chdir(cwd)
    pid = os.posix_spawn(line[0], line, environ, file_actions=actions)
    os.chdir(before)
    for end in (stdin, stdout, stderr):
        os.close(end)
    with contextlib.suppress(BrokenPipeError):  # it may not want to hear it
        os.write(to_child, payload)
    os.close(to_child)
    for end in (from_out, from_err):
        while os.read(end, 65536):
            pass
        os.close(end)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


# ── load ─────────────────────────────────────────────────────────────────────────────────────────────


def load(bench: Bench, short: bool) -> Iterator[Row]:
    """64 sessions at once. HOOKLINE_LOAD says how many events; a release is measured with 200000."""
    events = 640 if short else int(os.environ.get("HOOKLINE_LOAD", "20000")) // 64 * 64
    home = bench._home("load", 'python = "guard:judge"')  # noqa: SLF001  one file
    _drive(bench, home, 640)
    before, burnt = bench.status(), _burnt(bench.status()["pid"])
    began = time.perf_counter()
    times, errors = _drive(bench, home, events)
    seconds = time.perf_counter() - began
    after, used = bench.status(), _burnt(bench.status()["pid"]) - burnt
    times.sort()
    time.sleep(0.5)  # the journal is carried into the store
    kept = _recorded(home)
    what = f"load: 64 sessions, {events:,} events"
    rate = f"{events / seconds:.0f}/s, p50 {us(times[len(times) // 2])}"
    yield Row(what=f"{what}: errors", shown=rate, value=errors, unit="", target=0)
    yield Row(
        what=f"{what}: p99",
        shown=us(times[int(0.99 * len(times))]),
        value=times[int(0.99 * len(times))] * 1e3,
        unit="ms",
        target=250,
    )
    yield Row(
        what=f"{what}: records missing or twice",
        shown=f"{kept} kept",
        value=abs(events + 640 - kept),
        unit="",
        target=0,
    )
    grown = max(0, after["resident_kb"] - before["resident_kb"])
    yield Row(
        what=f"{what}: memory grown", shown=f"{after['resident_kb'] // 1024} MB", value=grown, unit="kB", target=4096
    )
    yield Row(
        what="daemon memory",
        shown=f"{after['resident_kb']} kB",
        value=after["resident_kb"] / 1024,
        unit="MB",
        target=60,
    )
    each = used / events
    yield Row(
        what="daemon: processor time per decision (5,000/s on one core)",
        shown=us(each),
        value=each * 1e6,
        unit="µs",
        target=200,
    )


def _drive(bench: Bench, home: str, events: int) -> tuple[list[float], int]:
    environ = bench.environ(home)
    lock, times, errors = threading.Lock(), [], [0]

    def session(number: int) -> None:
        mine, wrong = [], 0
        payload = {**PAYLOAD, "cwd": bench.project, "session_id": f"load-{number}"}
        request = packed(
            Request(
                caller=Caller(
                    version=life.hookline.__version__, kind="hook", cwd=bench.project, argv=HOOK[1:], environ=environ
                ),
                stdin=json.dumps(payload).encode(),
            )
        )
        for _ in range(events // 64):
            began = time.perf_counter()
            with socket.socket(socket.AF_UNIX) as sock:
                sock.connect(bench.place.socket)
                sock.sendall(request)
                answer = b"".join(iter(lambda: sock.recv(65536), b"")).lstrip(b"A")
            wrong += answer[:5] != b"R\0\0\0\0"
            mine.append(time.perf_counter() - began)
        with lock:
            times.extend(mine)
            errors[0] += wrong

    threads = [threading.Thread(target=session, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, errors[0]


def _recorded(home: str) -> int:
    import sqlite3

    file = os.path.join(home, ".local", "state", "hookline", "hookline.db")
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as store:
        return int(store.execute("SELECT count(*) FROM firings").fetchone()[0])


def _burnt(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    from bench import line

    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as where:
        for row in rows(where, "--short" in sys.argv):
            print(line(row), flush=True)
