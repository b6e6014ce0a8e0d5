"""What an agent pays for one event at every door: processes, the cold command, both clients of the daemon; and its load.

All variants run turn by turn in one run. The floor is a static program that reads its input and ends: nothing that an
agent must start can be cheaper.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import in_process
from measure import Row, us, wait_until_quiet

import processes
from hookline.core.agents import AGENTS
from hookline.core.errors import StateError
from hookline.core.paths import Directories, find_paths
from hookline.daemon import lifecycle, protocol
from hookline.daemon.client.build import TWIN, compile_client
from hookline.daemon.protocol import DaemonPaths, DaemonRequest, pack_request
from hookline.deploy.registration import CommandLine, EntryCaller

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

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

#: The file with the table of all doors, as the manual shows it.
TABLE = "table.md"

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
        self.place = DaemonPaths(directory=os.path.join(self.runtime, "hookline"))
        self.home = self._home("function", 'python = "guard:judge"')
        self._calls = itertools.count()
        lifecycle.start(self.place, self.environ(self.home))

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

    def started(self, *line: str, home: str = "") -> Callable[[], int]:
        """One event through this program, as an agent does it; gives the exit code."""
        environ = self.environ(home or self.home)
        return lambda: _run(line, self.payload(), environ, self.project)

    def payload(self) -> bytes:
        """Every tool call has a number of its own: the same one twice would be one event."""
        call = {"tool_use_id": f"toolu_{next(self._calls):010}", "cwd": self.project}
        return json.dumps({**PAYLOAD, **call}).encode()

    def status(self) -> dict[str, Any]:
        return lifecycle.status(self.place)

    def close(self) -> None:
        lifecycle.stop(self.place, wait=10)
        shutil.rmtree(self.runtime, ignore_errors=True)

    def deployed(self, program: str, event: str) -> str:
        """What an agent gives to its shell."""
        own = Directories(home=self.home, paths=find_paths({}, self.home))
        caller = EntryCaller(program=program, directories=own, runtime_dir=self.runtime)
        return CommandLine(agent=AGENTS["claude-code"], event=event, caller=caller, native=event).text()

    def plugin_home(self) -> str:
        import plugins

        program = plugins._program(self.folder)  # noqa: SLF001  one bench, several files
        return self._home("plugin", f'plugin = "{program}"')


def rows(folder: str, short: bool) -> Iterator[Row]:
    bench = Bench(folder)
    try:
        yield from doors(bench, short, os.path.join(folder, TABLE))
        yield from load(bench, short)
    finally:
        bench.close()


def lines(folder: str, short: bool) -> Iterator[Row]:
    """The native client and the line that ``deploy`` writes, and nothing else."""
    bench = Bench(folder)
    wanted = {"native client, in-process hook", "deployed line, PreToolUse", "deployed line, PostToolUse"}
    try:
        yield from doors(bench, short, os.path.join(folder, TABLE), wanted | {PROMISES[name][0] for name in wanted})
    finally:
        bench.close()


def doors(bench: Bench, short: bool, table: str, only: Container[str] = ()) -> Iterator[Row]:
    """Every way to one decision, turn by turn, after the machine has come to rest."""
    if not short:
        print(f"  {wait_until_quiet()}")
    variants: dict[str, Callable[[], object]] = {
        name: act for name, act in _variants(bench) if not only or name in only
    }
    for name, act in variants.items():
        if code := act():  # what is called in this process gives a decision, or nothing
            print(f"  ({name} ends with {code})")
    taken: dict[str, list[float]] = {name: [] for name in variants}
    turns = random.Random(0)  # what ran just before leaves its mark on the caches, so the order changes
    for number in range(6 if short else 200):
        for name, act in turns.sample(sorted(variants.items()), len(variants)):
            if name in SLOW and number % 5:
                continue
            began = time.perf_counter()
            act()
            taken[name].append(time.perf_counter() - began)
    yield from _judged({name: sorted(times) for name, times in taken.items()}, table)


def _variants(bench: Bench) -> Iterator[tuple[str, Callable[[], object]]]:
    yield from _without_us(bench)
    yield from _with_us(bench)
    yield from in_process.calls()


def _without_us(bench: Bench) -> Iterator[tuple[str, Callable[[], object]]]:
    no_op = processes.program(bench.folder, "floor", processes.NO_OP, "cat >/dev/null")
    script = os.path.join(bench.folder, "plain.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PYTHON_HOOK)
    yield "static no-op (floor)", bench.started(no_op)
    yield "sh -c true", bench.started("/bin/sh", "-c", "true")
    yield "sh -c static no-op", bench.started("/bin/sh", "-c", no_op)
    if shutil.which("jq") and (bash := shutil.which("bash")):
        yield "bash + jq hook", bench.started(bash, "-c", JQ_HOOK)
    yield "plain Python hook", bench.started(sys.executable, script)
    if node := shutil.which("node"):
        yield "node hook", bench.started(node, "-e", NODE_HOOK)
    yield "python3 -c pass", bench.started(sys.executable, "-c", "pass")
    yield "python -I -S, reads and writes", bench.started(sys.executable, "-I", "-S", "-c", READS)


def _with_us(bench: Bench) -> Iterator[tuple[str, Callable[[], object]]]:
    # At home where no daemon is: beside one that has just recorded, it waits for the daemon's transaction.
    alone = bench._home("cold", 'python = "guard:judge"')  # noqa: SLF001  one file
    yield "hookline hook, cold", bench.started(sys.executable, "-m", "hookline", *HOOK, "--cold", home=alone)
    yield "hookline hook, warm", bench.started(sys.executable, "-m", "hookline", *HOOK)
    yield "Python twin, in-process hook", bench.started(sys.executable, "-I", "-S", TWIN, *HOOK)
    native = os.path.join(bench.folder, "hookc")
    try:
        compile_client(native)
    except StateError:
        return
    yield "native client, in-process hook", bench.started(native, *HOOK)
    for event in ("PreToolUse", "PostToolUse"):
        yield f"deployed line, {event}", bench.started("/bin/sh", "-c", bench.deployed(native, event))
    yield "native client, resident plugin", bench.started(native, *HOOK, home=bench.plugin_home())


#: variant -> measured against, at most
PROMISES = {
    "native client, in-process hook": ("static no-op (floor)", 1.2),
    "deployed line, PreToolUse": ("sh -c static no-op", 1.3),
    "deployed line, PostToolUse": ("sh -c static no-op", 1.3),
    "native client, resident plugin": ("static no-op (floor)", 2.0),
    "Python twin, in-process hook": ("python -I -S, reads and writes", 1.3),
    "hookline hook, cold": ("python3 -c pass", 4.0),
}


def _judged(taken: dict[str, list[float]], table: str) -> Iterator[Row]:
    floor = statistics.median(taken["static no-op (floor)"])
    print(f"  {'one event':<34} {'median':>10} {'p95':>10} {'x floor':>8}")
    with open(table, "w", encoding="utf-8") as file:
        file.write("| one event | median | p95 | times the floor |\n|---|---|---|---|\n")
        for name, times in taken.items():
            median, p95 = statistics.median(times), times[int(0.95 * len(times))]
            print(f"  {name:<34} {us(median):>10} {us(p95):>10} {median / floor:>8.2f}")
            file.write(f"| {name} | {us(median)} | {us(p95)} | {median / floor:.2f} |\n")
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
    if not shutil.which("cc"):
        print("  (no load: its driver needs a C compiler)")
        return
    events = 640 if short else int(os.environ.get("HOOKLINE_LOAD", "20000")) // 64 * 64
    home = bench._home("load", 'python = "guard:judge"\n[record]\nkeep_mb = 10000')  # noqa: SLF001  one file
    _drive(bench, home, 640)
    before = bench.status()
    began = time.perf_counter()
    times, errors = _drive(bench, home, events)
    seconds = time.perf_counter() - began
    after = bench.status()
    times.sort()
    time.sleep(0.5)  # the journal is carried into the store
    kept, different = _recorded(home)
    what = f"load: 64 sessions, {events:,} events"
    rate = f"{events / seconds:.0f}/s, p50 {us(times[len(times) // 2])}"
    yield Row(what=f"{what}: errors", shown=rate, value=errors, unit="", target=0)
    yield Row(
        what=f"{what}: p99",
        shown=us(times[int(0.99 * len(times))]),
        value=times[int(0.99 * len(times))] * 1e3,
        unit="ms",
        target=10,
    )
    yield Row(
        what=f"{what}: records missing or twice",
        shown=f"{kept} kept",
        value=abs(events + 640 - kept) + kept - different,
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
    yield _throughput(bench, home, events)
    yield _matching(bench, home, events)


def _throughput(bench: Bench, home: str, events: int) -> Row:
    each = _burnt_per_event(bench, {"one": home}, events)["one"]
    return Row(
        what="daemon: processor time per decision (8,000/s on one core)",
        shown=f"{us(each)}, {1 / each:,.0f}/s",
        value=each * 1e6,
        unit="µs",
        target=125,
    )


def _matching(bench: Bench, home: str, events: int) -> Row:
    another = '\n[[hook]]\nname = "guard-{}"\non = "PreToolUse"\nmatch = "Bash"\npython = "guard:judge"'
    many = 'python = "guard:judge"' + "".join(map(another.format, range(9))) + "\n[record]\nkeep_mb = 10000"
    homes = {"one": home, "ten": bench._home("ten", many)}  # noqa: SLF001  one file
    _drive(bench, homes["ten"], 640)
    each = _burnt_per_event(bench, homes, events // 2)
    shown = f"{us(each['ten'])} / {us(each['one'])}"
    return Row(what="daemon: ten matching hooks / one", shown=shown, value=each["ten"] / each["one"], target=1.3)


def _burnt_per_event(bench: Bench, homes: dict[str, str], events: int) -> dict[str, float]:
    """On one core, as it is promised: the clients are on the same one, because a second one may share its parts.

    The median of five rounds: neighbours on the same machine come and go."""
    pid = bench.status()["pid"]
    allowed = os.sched_getaffinity(0)
    one = {max(allowed)}
    rounds: dict[str, list[float]] = {name: [] for name in homes}
    try:
        os.sched_setaffinity(0, one)  # the driver is our child
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(thread), one)
        for _ in range(5):
            for name, home in homes.items():
                burnt = _burnt(pid)
                _drive(bench, home, events)
                rounds[name].append((_burnt(pid) - burnt) / events)
    finally:
        os.sched_setaffinity(0, allowed)
    return {name: statistics.median(times) for name, times in rounds.items()}


def _drive(bench: Bench, home: str, events: int) -> tuple[list[float], int]:
    """The seconds of every request, and the number of answers that were not right."""
    frames = os.path.join(bench.folder, "frames")
    with open(frames, "wb") as file:
        for number in range(64):
            payload = {**PAYLOAD, "cwd": bench.project, "session_id": f"load-{number}"}
            caller = protocol.Caller(
                version=lifecycle.hookline.__version__,
                kind="hook",
                cwd=bench.project,
                argv=HOOK[1:],
                environ=bench.environ(home),
            )
            frame = pack_request(DaemonRequest(caller=caller, stdin=json.dumps(payload).encode()))
            file.write(len(frame).to_bytes(4, sys.byteorder) + frame)
    line = [_driver(bench.folder), bench.place.socket, frames, str(events)]
    wrong, *times = subprocess.run(line, capture_output=True, text=True, check=True).stdout.split()
    return [float(one) / 1e6 for one in times], int(wrong)


def _driver(folder: str) -> str:
    path = os.path.join(folder, "load")
    if not os.path.exists(path):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.c")
        subprocess.run(["cc", "-O2", source, "-o", path], check=True)
    return path


def _recorded(home: str) -> tuple[int, int]:
    """How many firings were kept, and how many of them are different ones."""
    import sqlite3

    file = os.path.join(home, ".local", "state", "hookline", "hookline.db")
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as store:
        kept, different = store.execute("SELECT count(*), count(DISTINCT id) FROM firings").fetchone()
    return int(kept), int(different)


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
