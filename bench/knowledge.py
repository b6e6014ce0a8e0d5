"""What an agent pays for the producer of the knowledge loop: the bare client, and the client with ``compound-loop``."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from measure import Row, us

import daemon
from hookline.core.errors import StateError
from hookline.daemon import lifecycle
from hookline.daemon.client.build import TWIN, compile_client
from hookline.daemon.protocol import DaemonPaths

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG = '[compound_loop]\nenabled = true\n\n[[source]]\ndialect = "lazy"\npath = "{}"\n'
LAZY = '[hooks.session_stop]\nscripts = ["compound-loop"]\n'
SESSION = "11111111-2222-3333-4444-555555555555"


def rows(folder: str, short: bool) -> Iterator[Row]:
    base = os.path.join(folder, "knowledge")
    runtime = tempfile.mkdtemp(prefix="hkl-bench-")
    place = DaemonPaths(directory=os.path.join(runtime, "hookline"))
    environ, project, payloads = _prepared(base, runtime)
    lifecycle.start(place, environ)
    try:
        yield from _measured(base, environ, project, payloads, short=short)
    finally:
        lifecycle.stop(place, wait=10)
        shutil.rmtree(runtime, ignore_errors=True)


def _measured(
    folder: str, environ: dict[str, str], project: str, payloads: dict[str, bytes], *, short: bool
) -> Iterator[Row]:
    line = [os.path.join(folder, "hookc"), *daemon.HOOK]
    try:
        compile_client(line[0])
    except StateError:
        line = [sys.executable, "-I", "-S", TWIN, *daemon.HOOK]
    taken: dict[str, list[float]] = {name: [] for name in payloads}
    for number in range(10 if short else 200):
        for name, payload in payloads.items():
            began = time.perf_counter()
            daemon._run(line, payload, environ, project)  # noqa: SLF001  one bench, several files
            if number > 2:
                taken[name].append(time.perf_counter() - began)
            # An agent's turns are further apart than this; what is done after the answer is part of no answer.
            time.sleep(0.04)
    bare, producer = (statistics.median(taken[name]) for name in ("bare", "producer"))
    shown = f"{us(producer)} / {us(bare)}"
    yield Row(what="compound-loop after a turn / the bare client", shown=shown, value=producer / bare, target=1.3)


def _prepared(folder: str, runtime: str) -> tuple[dict[str, str], str, dict[str, bytes]]:
    home, project = os.path.join(folder, "home"), os.path.join(folder, "project")
    config = os.path.join(home, ".config/hookline")
    for place in (config, os.path.join(project, ".git")):
        os.makedirs(place, exist_ok=True)
    lazy = os.path.join(config, "lazy.toml")
    transcript = os.path.join(folder, f"{SESSION}.jsonl")
    for path, text in (
        (lazy, LAZY),
        (os.path.join(config, "hookline.toml"), CONFIG.format(lazy)),
        (transcript, "{}\n"),
    ):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    known = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTHON", "HOOKLINE"))}
    environ = {**known, "HOME": home, "XDG_RUNTIME_DIR": runtime, "PATH": "/usr/bin:/bin"}
    given = {"session_id": SESSION, "transcript_path": transcript, "cwd": project, "permission_mode": "default"}
    named = {"bare": {"hook_event_name": "Notification", "message": "m"}, "producer": {"hook_event_name": "Stop"}}
    return environ, project, {name: json.dumps({**given, **more}).encode() for name, more in named.items()}
