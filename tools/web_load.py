"""The view under load: 500 events a second with the live page open, and what the daemon's decisions take meanwhile.

Measured in one run, interleaved: rounds with the page open, and rounds with the server and the browser stopped (SIGSTOP),
so that both see the same machine. Events go through the real daemon: its decisions are what is timed. The browser is a
person's: no driver listens to it meanwhile, which would be told of every message, and it may not raise its own priority.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from playwright.sync_api import BrowserType, Page, sync_playwright
from tests.web.client import Client
from tests.web.conftest import CHROMIUM, Web, fill, start
from tests.web.test_inbox import Fired, engine, until

import hookline
from hookline.daemon.protocol import Caller, DaemonPaths, DaemonRequest, pack_request

#: Seconds that anything may take: this run measures, and a busy machine may be slow.
_PATIENCE = 120.0
#: Once per frame, after it was painted: a callback of the next frame for each event would make the page draw for nothing.
_WATCH = """() => { window.lags = []; document.addEventListener('shown', (e) => setTimeout(() => {
  const now = Date.now(); for (const one of e.detail) window.lags.push([one.t, now - one.t * 1000]); })); }"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="of events with the page open, and as many without")
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--round", type=float, default=5, help="seconds of one round")
    parser.add_argument(
        "--rest", type=float, default=0.3, help="seconds after a round, in which the last ones are shown"
    )
    parser.add_argument("--records", type=int, default=100_000, help="records that are there before")
    parser.add_argument(
        "--control", action="store_true", help="also rounds with a program that only uses as much processor"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = _measure(Path(folder), args)
    print(json.dumps(report, indent=1))
    return 0 if report["passed"] else 3  # 1 is Python's own, for a traceback


def _measure(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    home, project = folder / "home", folder / "project"
    for one in (home / "state", home / ".config" / "hookline", project / ".git"):
        one.mkdir(parents=True)
    (home / "hooks.py").write_text("def look(event):\n    return None\n", encoding="utf-8")
    config = '[[hook]]\nname = "look"\non = "PreToolUse"\npython = "hooks:look"\nenv = {}\n'
    (home / ".config" / "hookline" / "hookline.toml").write_text(config, encoding="utf-8")
    (home / ".config" / "hookline" / "hooks.py").write_text("def look(event):\n    return None\n", encoding="utf-8")
    _seed(home / "state", str(project), args.records)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    place = DaemonPaths(directory=str(folder / "d"))
    daemon = subprocess.Popen(
        [sys.executable, "-m", "hookline", "daemon", "run", "--directory", place.directory], env=environ,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    web = start(home, project, "--no-browser")
    try:
        until(lambda: os.path.exists(place.socket) or daemon.poll() is not None, _PATIENCE)
        assert daemon.poll() is None, f"the daemon ended with {daemon.returncode}"
        with sync_playwright() as playwright, _Browser(playwright.chromium, folder / "profile") as browser:
            with browser.attached() as page:
                time.sleep(2)  # a browser that has just started is busy with itself
                began = time.monotonic()
                page.goto(web.address)
                page.locator(".row:not(.blank)").first.wait_for()
                first = time.monotonic() - began
                paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
                page.evaluate(_WATCH)
                scroll = page.evaluate(_SCROLL)
                page.evaluate("document.querySelector('.list').scrollTop = 0")
                page.wait_for_timeout(300)
            pids = [web.process.pid, *_chromium(os.getpid())]
            sender = _Sender(place, environ, project, home / "state")
            sender.burst(200, 500)
            open_times, without, control = list[float](), list[float](), list[float]()
            rounds = max(2, round(args.seconds / args.round))
            spans = list[tuple[float, float]]()
            busy = dict[str, float]()
            groups = {
                "daemon": [daemon.pid],
                "sender": [os.getpid()],
                "server": pids[:1],
                "browser": pids[1:],
                **_kinds(pids[1:]),
            }
            for number in range(rounds):
                began_at = time.time()
                before = {name: sum(map(_cpu_seconds, some)) for name, some in groups.items()}
                open_times += sender.burst(int(args.rate * args.round), args.rate)
                for name, some in groups.items():
                    busy[name] = busy.get(name, 0.0) + sum(map(_cpu_seconds, some)) - before[name]
                spans.append((began_at, time.time()))
                time.sleep(args.rest)
                _signal(pids, signal.SIGSTOP)
                without += sender.burst(int(args.rate * args.round), args.rate)
                if args.control:
                    used = (busy["server"] + busy["browser"]) / args.round / (number + 1)
                    control += _beside_a_burner(used, lambda: sender.burst(int(args.rate * args.round), args.rate))
                _signal(pids, signal.SIGCONT)
                time.sleep(1.5)  # what was recorded meanwhile is caught up with
            memory = {"renderer": _renderer_mb(pids), "all": sum(map(_pss_mb, pids[1:]))}
            with browser.attached() as page:
                # Only what happened while the page was there: what it shows afterwards was late before it could look.
                seen = page.evaluate("window.lags")
                lags = sorted(lag for at, lag in seen if any(start <= at <= end for start, end in spans))
                answers = _answers(web, page)
                heap = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize / 1048576 : 0")
    finally:
        _signal([web.process.pid], signal.SIGCONT)  # what is stopped cannot end
        web.end()
        daemon.terminate()
        daemon.wait(_PATIENCE)
    shown = {"first_rows_ms": round(first * 1000), "first_paint_ms": paint, "scroll": scroll, "heap_mb": round(heap, 1)}
    events = rounds * args.rate * args.round
    shown["cpu_us_per_event"] = {name: round(taken / events * 1e6, 1) for name, taken in busy.items()}
    shown["answer_ms"] = {"n": len(answers), "p50": _at(answers, 0.5), "p95": _at(answers, 0.95)}
    if control:
        shown["beside_a_burner_ms"] = _spread(control)
    report = _report(lags, memory, open_times, without)
    fast = paint is not None and paint < 200 and _at(answers, 0.95) < 100
    return {**shown, **report, "passed": report["passed"] and fast}


class _Browser:
    """Chromium as a person has it open; ``attached`` while something is asked of it."""

    def __init__(self, driver: BrowserType, profile: Path) -> None:
        self._driver, self._profile = driver, profile

    def __enter__(self) -> Self:
        assert CHROMIUM is not None
        words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1440,900"]
        self._process = subprocess.Popen(
            [*_like_a_person(), CHROMIUM, *words, "--remote-debugging-port=0", f"--user-data-dir={self._profile}"],
            start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # its profile is thrown away, and it may be stopped
        self._process.wait()

    @contextmanager
    def attached(self) -> Iterator[Page]:
        port = until(self._port, _PATIENCE)
        browser = self._driver.connect_over_cdp(f"http://127.0.0.1:{port}", timeout=_PATIENCE * 1000)
        context = browser.contexts[0]
        context.set_default_timeout(_PATIENCE * 1000)
        yield context.pages[0] if context.pages else context.wait_for_event("page")
        browser.close()

    def _port(self) -> str:
        """Empty until the browser has written it: the file is there before its content."""
        try:
            words = (self._profile / "DevToolsActivePort").read_text(encoding="utf-8").split()
        except FileNotFoundError:
            return ""
        return words[0] if words else ""


def _like_a_person() -> list[str]:
    """Chromium under root raises the priority of the threads that draw; nobody else's may."""
    drop = "-sys_nice"
    return ["setpriv", "--bounding-set", drop, "--inh-caps", drop, "--"] if os.geteuid() == 0 else []


_BURN = """import sys, time
while True:
    began = time.perf_counter()
    while time.perf_counter() - began < float(sys.argv[1]) * 0.08: pass
    time.sleep((1 - float(sys.argv[1])) * 0.08)"""


def _beside_a_burner(share: float, work: Callable[[], list[float]]) -> list[float]:
    """What any program costs that uses this share of one core, in a session of its own as a browser is."""
    burner = subprocess.Popen([sys.executable, "-c", _BURN, str(share)], start_new_session=True)
    try:
        return work()
    finally:
        burner.kill()
        burner.wait()


def _answers(web: Web, page: Page) -> list[float]:
    """Milliseconds from a person's answer in the view to the decision of the agent that waits."""
    client = Client(web, "; ".join(f"{one.get('name')}={one.get('value')}" for one in page.context.cookies())).unlock()
    taken: list[float] = []
    with engine(web.state) as one:
        for number in range(20):
            fired = Fired(one, f"answer-{number}")
            (question,) = until(lambda: client.get("/api/inbox").json["questions"], _PATIENCE)
            sent = time.monotonic()
            client.post("/api/inbox/answer", {"id": question["id"], "answer": "allow", "reason": ""})
            fired.join()
            taken.append((fired.done - sent) * 1000)
    return sorted(taken)


_SCROLL = """async () => { const list = document.querySelector('.list'); let worst = 0; let last = performance.now();
  for (let step = 0; step <= 60; step++) { list.scrollTop = list.scrollHeight * step / 60;
    await new Promise(requestAnimationFrame); const now = performance.now(); worst = Math.max(worst, now - last); last = now; }
  return { worst_frame_ms: worst, rows: list.scrollHeight / 27, elements: document.querySelectorAll('.row').length }; }"""


def _seed(state: Path, cwd: str, many: int) -> None:
    """A few real records, and many copies of them."""
    import sqlite3

    fill(state, cwd, 200)
    with sqlite3.connect(state / "hookline.db") as database:
        names = [row[1] for row in database.execute("PRAGMA table_info(firings)")][1:]
        rest = ", ".join(name for name in names if name != "id")
        while (have := database.execute("SELECT max(number) FROM firings").fetchone()[0]) < many:
            most = min(have, many - have)
            database.execute(
                f"INSERT INTO firings (id, {rest}) SELECT id || '-' || ?, {rest} FROM firings WHERE number <= ?",  # noqa: S608 (our own columns)
                (have, most),
            )
            columns = "position, hook_id, hook, dialect, status, effect, exit_code, ms, error, stdout, stderr, spilled, usage, detail"
            database.execute(f"INSERT INTO runs SELECT firing + ?, {columns} FROM runs WHERE firing <= ?", (have, most))  # noqa: S608 (our own columns)
    database.close()


class _Sender:
    def __init__(self, place: DaemonPaths, environ: dict[str, str], project: Path, state: Path) -> None:
        self._socket = place.socket
        argv = ("--agent", "claude-code", "--home", environ["HOME"], "--state-dir", str(state))
        self._caller = Caller(version=hookline.__version__, kind="hook", cwd=str(project), environ=environ, argv=argv)
        self._project = str(project)
        self._number = 0

    def burst(self, many: int, rate: int) -> list[float]:
        """Milliseconds from connecting to the answer, of each."""
        times: list[float] = []
        begin = time.perf_counter()
        for at in range(many):
            due = begin + at / rate
            if (left := due - time.perf_counter()) > 0:
                time.sleep(left)
            times.append(self._one())
        return times

    def _one(self) -> float:
        self._number += 1
        payload = {
            "session_id": f"load-{self._number % 6}", "cwd": self._project, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": f"echo {self._number}"}, "tool_use_id": f"u{self._number}",
            "transcript_path": "/t",
        }  # fmt: skip
        request = pack_request(DaemonRequest(caller=self._caller, stdin=json.dumps(payload).encode()))
        began = time.perf_counter()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.connect(self._socket)
            sock.sendall(request)
            while sock.recv(65536):
                pass
        return (time.perf_counter() - began) * 1000


def _report(
    lags: Sequence[float], memory: dict[str, float], open_times: list[float], without: list[float]
) -> dict[str, Any]:
    with_page, alone = _spread(open_times), _spread(without)
    lag = {"shown": len(lags), "p50": _at(lags, 0.5), "p95": _at(lags, 0.95), "p99": _at(lags, 0.99)}
    ratio = {"median": with_page["p50"] / alone["p50"], "p99": with_page["p99"] / alone["p99"]}
    passed = ratio["median"] <= 1.1 and ratio["p99"] <= 1.5 and memory["renderer"] < 300 and lag["p95"] < 100
    times = {"page_open": with_page, "page_stopped": alone, "ratio": ratio}
    return {"show_ms": lag, "memory_mb": memory, "decision_ms": times, "passed": passed}


def _spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "n": len(ordered),
        "p50": _at(ordered, 0.5),
        "p99": _at(ordered, 0.99),
        "mean": round(statistics.mean(ordered), 3),
    }


def _at(ordered: Sequence[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else 0.0


def _chromium(parent: int) -> list[int]:
    """The processes of the browser below us."""
    found: list[int] = []
    below = {parent}
    for _ in range(6):
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    text = file.read()
            except OSError:
                continue
            words = text[text.rindex(")") + 1 :].split()
            if int(words[1]) in below and int(name) not in below:
                below.add(int(name))
                if "chrom" in text[: text.rindex(")")]:
                    found.append(int(name))
    return found


def _signal(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _cpu_seconds(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _pss_mb(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    except (OSError, StopIteration):
        return 0.0


def _kinds(pids: Sequence[int]) -> dict[str, list[int]]:
    """The browser's processes by what they do."""
    found: dict[str, list[int]] = {}
    for pid in pids:
        with suppress(OSError):
            words = re.split(rb"[ \0]", Path(f"/proc/{pid}/cmdline").read_bytes())
            kind = next((word[7:].decode() for word in words if word.startswith(b"--type=")), "main")
            found.setdefault(f"browser: {kind}", []).append(pid)
    return found


def _renderer_mb(pids: Sequence[int]) -> float:
    def is_renderer(pid: int) -> bool:
        try:
            return b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False

    return max((_pss_mb(pid) for pid in pids if is_renderer(pid)), default=0.0)


if __name__ == "__main__":
    sys.exit(main())
