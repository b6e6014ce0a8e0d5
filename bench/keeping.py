"""What recording costs: to write, and to look at afterwards; and what the command line imports."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from measure import Row, us

from hookline import Engine, hook
from hookline.core.paths import find_paths
from hookline.core.settings import RecordSettings
from hookline.state.record.journal import open_journal
from hookline.state.record.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Nothing that prints a help text may import one of these.
HEAVY = (
    "asyncio",
    "pydantic",
    "httpx",
    "http.client",
    "yaml",
    "regex",
    "sqlite3",
    "configparser",
    "openai",
    "anthropic",
)
DATA: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls -l", "description": "List the files"}}


@hook("PreToolUse")
def judge(_event: object) -> dict[str, str]:
    return {"effect": "allow", "reason": "harmless"}


def record(folder: str, short: bool) -> Iterator[Row]:
    firings = 2_000 if short else 100_000
    environ = {**os.environ, "HOOKLINE_STATE_DIR": os.path.join(folder, "state")}
    os.makedirs(environ["HOOKLINE_STATE_DIR"], mode=0o700, exist_ok=True)
    store = open_journal(find_paths(environ, folder).state, RecordSettings())
    # As Engine.load makes it: with the environment as it was then.
    kept, bare = Engine(specs=(judge.spec,), recorder=store, environ=environ), Engine(specs=(judge.spec,))
    with_record, without = _seconds(kept, firings), _seconds(bare, firings)
    kept.close()
    each = (with_record - without) / firings
    yield Row(what=f"record write, amortised over {firings:,}", shown=us(each), value=each * 1e6, unit="µs", target=100)
    yield _log(environ, firings)


def redaction(short: bool) -> Iterator[Row]:
    """Of texts as agents send them: code, prose, a lock file, payloads, and secrets here and there."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    names = ("src/hookline/engine/engine.py", "ARCHITECTURE.md", "requirements/dev.txt", "docs/reference/agents.json")
    texts = [Path(root, name).read_text("utf-8")[:20_000] for name in names]
    texts.append("\n".join(f"{DATA} curl -H 'X-Api-Key: {number:020d}' https://example.org" for number in range(100)))
    redactor = Redactor({"DEPLOY_TOKEN": "correct horse battery"})
    kilobytes = sum(map(len, texts)) / 1000
    times: list[float] = []
    for _ in range(3 if short else 15):
        began = time.perf_counter()
        for text in texts:
            redactor.text(text)
        times.append((time.perf_counter() - began) / kilobytes)
    each = median(times[1:])
    yield Row(what="redaction of 1 kB", shown=us(each), value=each * 1e6, unit="µs", target=60, aim=30)


def _seconds(engine: Engine, firings: int) -> float:
    began = time.perf_counter()
    for number in range(firings):
        engine.fire_sync("PreToolUse", session_id=f"session-{number % 50}", **DATA)
    return time.perf_counter() - began


def _log(environ: dict[str, str], firings: int) -> Row:
    line = [sys.executable, "-m", "hookline", "log", "--last", "20"]
    times: list[float] = []
    shown = ""
    for _ in range(7):
        began = time.perf_counter()
        done = subprocess.run(line, env=environ, capture_output=True, text=True, check=False)
        times.append(time.perf_counter() - began)
        shown = "" if done.returncode == 0 else f", but exit {done.returncode}: {done.stderr.strip()[:60]}"
    taken = median(times)
    value = taken * 1e3 if not shown else float("inf")
    what = f"hookline log --last 20 of {firings:,} records"
    return Row(what=what, shown=us(taken) + shown, value=value, unit="ms", target=150)


#: Each looks for what is long ago, rare or not there at all.
FILTERS = (
    ("--session", "session-0"), ("--since", "1s"), ("--until", "24d"), ("--project", "/old"), ("--project", "/nowhere"),
    ("--agent", "gemini"), ("--agent", "codex"), ("--hook", "seldom"), ("--event", "Stop"), ("--event", "SessionEnd"),
    ("--effect", "deny"), ("--effect", "ask"), ("--status", "failed"), ("--status", "started"),
    ("--agent", "codex", "--project", "/old"), ("--hook", "guard", "--session", "session-0"),
    ("--effect", "deny", "--until", "24d"), ("--hook", "seldom", "--status", "failed", "--agent", "claude-code"),
)  # fmt: skip


def filters(folder: str, short: bool) -> Iterator[Row]:
    """Of the processor time of the whole command: it waits for nothing."""
    states = {firings: os.path.join(folder, f"log-{firings}") for firings in (1_000, 20_000 if short else 1_000_000)}
    for firings, state in states.items():
        _fill(state, firings)
    (few, small), (many, big) = states.items()
    worst = (0.0, "", 0.0, 0.0)
    for wanted in FILTERS:
        taken: dict[str, list[float]] = {small: [], big: []}
        for _ in range(2 if short else 9):
            for state, times in taken.items():
                times.append(_burnt_by_log(state, wanted))
        one, other = median(taken[big]), median(taken[small])
        worst = max(worst, (one / other, " ".join(wanted), one, other))
    ratio, wanted, one, other = worst
    what = f"hookline log, {many:,} records / {few:,}: the worst of {len(FILTERS)} filters"
    yield Row(what=what, shown=f"{wanted}: {us(one)} / {us(other)}", value=ratio, target=1.5)


def _fill(state: str, firings: int) -> None:
    os.makedirs(state, mode=0o700)
    store, now = open_journal(state, RecordSettings(keep_days=0, keep_mb=0)), time.time()

    def rows(number: int) -> Any:
        old, seldom = number < 200, number % (firings // 7 + 1) == 5
        effect, event = "deny" if number % 97 == 0 else "allow", "Stop" if number % 500 == 3 else "PreToolUse"
        agent, cwd = "codex" if seldom else "claude-code", "/old" if old else f"/project-{number // 1600 % 20}"
        firing = (
            f"{number:020x}", now - 600 - 25 * 86_400 * (firings - number) / firings,
            f"session-{number // 1600 * 4 + number % 4}", 1, agent, event, event, cwd, effect, int(effect == "allow"), "",
            None, 0, 1.0, 1, f'{{"tool_name": "Bash", "tool_input": {{"command": "ls -l {number}"}}}}', *(None,) * 7,
        )  # fmt: skip
        status = "failed" if number % 331 == 0 else "replied"
        names = ("guard", "seldom") if seldom else ("guard",)
        return firing, [(at, f"id-{name}", name, "native", status, None, 0, 1.0, "", "", "", None, None, None) for at, name in enumerate(names)]  # fmt: skip

    for start in range(0, firings, 1000):
        store.keep([rows(number) for number in range(start, start + 1000)])
    store.close()


def _burnt_by_log(state: str, wanted: tuple[str, ...]) -> float:
    line = [sys.executable, "-m", "hookline", "log", *wanted]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, env={**os.environ, "HOOKLINE_STATE_DIR": state}, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports() -> Iterator[Row]:
    found = heavy_imports()
    shown = ", ".join(found) or "none"
    yield Row(what="heavy imports of hookline --help", shown=shown, value=len(found), unit="", target=0)


def heavy_imports() -> list[str]:
    """Which heavy modules ``hookline --help`` pulls in."""
    code = "import sys; from hookline.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [name for name in HEAVY if name in done.stderr.split()]
