"""A hundred packs with three hooks each, against the same three hundred hooks in one file; and ``hookline packs``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from measure import Row

PACKS, EVENTS = 100, ("PreToolUse", "PostToolUse", "Stop")
#: ``hookline packs`` is to take 200 ms on a machine on which a bare Python takes 20.
LIST = 200 / 20
#: Milliseconds from the configuration on disk to a choice of hooks, as the daemon does it: imports are done before.
LOAD = """
import sys, time
from hookline.core.event import Event, event_kind
from hookline.core.session_facts import Facts
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.testing import event
def start():
    began = time.perf_counter()
    runtime = load_runtime(Sources(agents_door=True, agent="claude-code"), READ_ONLY)
    runtime.engine._index.select(call, Facts())
    taken = time.perf_counter() - began
    assert len(runtime.engine.specs) == int(sys.argv[1]), len(runtime.engine.specs)
    runtime.engine.close()
    return taken * 1000
call = event("PreToolUse", tool_name="Read", tool_input={"file_path": "x"})
start()
print(min(start() for _ in range(5)))
"""


def rows(folder: str, short: bool) -> Iterator[Row]:
    homes = {name: os.path.join(folder, "packs", name) for name in ("none", "packs", "file")}
    for name, home in homes.items():
        os.makedirs(os.path.join(home, ".config", "hookline"))
        if name != "none":
            _install(home, as_packs=name == "packs")
    payload = {"session_id": "s", "cwd": homes["none"], "hook_event_name": "PreToolUse", "tool_name": "Read"}
    event = json.dumps({**payload, "tool_input": {"file_path": "x"}}).encode()
    hook = (sys.executable, "-m", "hookline", "hook", "--agent", "claude-code", "--event", "PreToolUse")
    listing = (sys.executable, "-m", "hookline", "packs")
    loads = (sys.executable, "-c", LOAD, str(PACKS * len(EVENTS)))
    times = _interleaved(
        {
            "python": lambda: _seconds((sys.executable, "-c", "pass"), homes["none"]),
            **{f"cold {name}": lambda name=name: _seconds(hook, homes[name], event) for name in ("packs", "file")},
            **{f"load {name}": lambda name=name: _printed(loads, homes[name]) for name in ("packs", "file")},
            **{f"list {name}": lambda name=name: _seconds(listing, homes[name]) for name in ("none", "packs")},
        },
        rounds=2 if short else 15,
    )
    for what, name in (("start and match, a process of its own", "cold"), ("load and match, the daemon", "load")):
        yield _row(f"{PACKS} packs / one file: {what}", times[f"{name} packs"], times[f"{name} file"], 1.1)
    yield _row("hookline packs, none added / python -c pass", times["list none"], times["python"], LIST)
    yield _row(f"hookline packs, {PACKS} added / python -c pass", times["list packs"], times["python"], 2 * LIST)


def _row(what: str, one: float, other: float, target: float) -> Row:
    return Row(what=what, shown=f"{one:.1f} / {other:.1f} ms", value=one / other, target=target)


def _interleaved(variants: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    taken = {name: list[float]() for name in variants}
    for number in range(rounds + 1):
        for name, act in variants.items():
            each = act()
            if number:  # the first writes bytecode and caches
                taken[name].append(each)
    return {name: median(times) for name, times in taken.items()}


def _environ(home: str) -> dict[str, str]:
    return {"HOME": home, "PATH": os.environ["PATH"], "HOOKLINE_DAEMON": "off"}


def _seconds(argv: tuple[str, ...], home: str, given: bytes = b"") -> float:
    began = time.perf_counter()
    subprocess.run(argv, cwd=home, env=_environ(home), input=given, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - began) * 1000


def _printed(argv: tuple[str, ...], home: str) -> float:
    return float(subprocess.check_output(argv, cwd=home, env=_environ(home)))


def _install(home: str, *, as_packs: bool) -> None:
    """By the functions of ``hookline add``, without asking a hundred times; or as one file with the same hooks."""
    from hookline.cli.pack_install import table_text
    from hookline.core.paths import find_paths
    from hookline.dialects.plugins import HooksFile
    from hookline.packs.store import Approved, PackStore
    from hookline.packs.tree import File

    config, store = os.path.join(home, ".config", "hookline"), PackStore(find_paths({}, home))
    text, together = "", dict[str, list[Any]]()
    for number in range(PACKS):
        hooks = _hooks(number)
        for event, groups in hooks.items():
            together.setdefault(event, []).extend(groups)
        if as_packs:
            manifest = json.dumps({"name": f"pack-{number}"}).encode()
            tree = {
                ".claude-plugin/plugin.json": File(data=manifest),
                "hooks/guard.sh": File(data=b"#!/bin/sh\nexit 0\n", executable=True),
                "hooks/hooks.json": File(data=json.dumps({"hooks": hooks}).encode()),
            }
            row = Approved(
                file=os.path.join(config, "hookline.toml"), source=f"./pack-{number}", revision="", digest=store.put(tree),
                name=f"pack-{number}", guards=("PreToolUse",),
            )  # fmt: skip
            store.approve(row, [HooksFile(path="hooks/hooks.json", dialect="claude")])
            text += table_text(row) + "\n"
    if not as_packs:
        text = f'[[source]]\ndialect = "claude"\npath = "{config}/hooks.json"\n'
        with open(os.path.join(config, "hooks.json"), "w", encoding="utf-8") as file:
            json.dump({"hooks": together}, file)
    with open(os.path.join(config, "hookline.toml"), "w", encoding="utf-8") as file:
        file.write(text)


def _hooks(number: int) -> dict[str, list[Any]]:
    return {
        event: [{
            **({"matcher": "Bash"} if event != "Stop" else {}),
            "hooks": [{"type": "command", "command": f'"${{CLAUDE_PLUGIN_ROOT}}/hooks/guard.sh" {number} {event}'}],
        }]
        for event in EVENTS
    }  # fmt: skip
