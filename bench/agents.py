"""What a tool call costs in the real agents with hooks, registered plainly and through hookline: ``make bench-agents``.

Two sets: five guards before the tool and five observers after it, each a small program of ``sh``; and five guards in
Python, which hookline runs as the same scripts, or as functions in its daemon. The model asks for one tool call
after the other; each notes the time, and the time between two of them is what a call takes, with the agent's own work and
the model's answer in it. The ratio is of the medians. An agent that has only plugins cannot be given plain hooks: there the
ratio is to a run without any. ``python -m bench.agents [NAME]…`` measures these agents; all that are installed without names.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import strftime

from tests.e2e import agents, install
from tests.e2e.world import World, cannot_be_alone

from hookline.core.agents import AGENTS
from hookline.core.hook import Command, HookSpec, Origin
from hookline.dialects import dialect_named
from hookline.dialects.tool_matchers import translate_tools

CALLS = 30
#: The file and the text of a hook, and how many there are of it on each event.
SMALL = ("hook.sh", "#!/bin/sh\ncat > /dev/null\nexit 0\n", {"PreToolUse": 5, "PostToolUse": 5})
GUARD = f"""#!{sys.executable}
import json, re, sys

def no_push(event):
    if re.search("git push", str(event.data)):
        return {{"effect": "deny", "reason": "a person pushes"}}

if __name__ == "__main__" and re.search("git push", str(json.load(sys.stdin))):
    sys.stderr.write("a person pushes")
    sys.exit(2)
"""
PYTHON = ("hook.py", GUARD, {"PreToolUse": 5})
Hooks = tuple[str, str, dict[str, int]]
RESULTS = Path(__file__).resolve().parents[1] / "docs" / "reference" / "agents-cost.json"


class _TooFewCallsError(Exception):
    """An agent ended, or hung, before there was enough to measure."""


def place(agent: agents.Agent, base: str) -> World:
    home, project = Path(base, "home"), Path(base, "project")
    for folder in (home / "tmp", home / "bin", project / ".git"):
        folder.mkdir(parents=True)
    (home / "bin" / "hookline").symlink_to(Path(sys.executable).parent / "hookline")
    world = World(agent, home, project).prepare()
    for file, text, _sides in (SMALL, PYTHON):
        world.write(file, text)
    return world


def plain_hooks(world: World, hooks: Hooks) -> None:
    """The ten hooks in the agent's own file, as its own documents tell people to write them."""
    row = AGENTS[world.agent.name]
    dialect = dialect_named(row.dialect)
    specs = [
        HookSpec(
            id=f"{event}{number}", name=f"{event}-{number}", dialect="claude", event=event, native_event=event,
            origin=Origin(file="f"), flow="chain", after_deny="continue", on_failure="ignore", timeout=60.0,
            action=Command(form="shell", text=f"{world.project / hooks[0]} {number}"),
        )
        for event, count in hooks[2].items()
        for number in range(count)
    ]  # fmt: skip
    text = dialect.render([translate_tools(spec, row.dialect)[0] for spec in specs]).text
    file = world.registered
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".json" and before:
        text = json.dumps({**json.loads(before.removeprefix("// kept\n")), **json.loads(text)})
    file.write_text(text if file.suffix == ".json" else f"{before}\n{text}", encoding="utf-8")


def through_hookline(world: World, hooks: Hooks, action: str = "") -> None:
    tables = [
        f'[[hook]]\nname = "{event}-{number}"\non = "{event}"\n'
        + (action or f'run = ["{world.project / hooks[0]}", "{number}"]')
        for event, count in hooks[2].items()
        for number in range(count)
    ]
    world.write(".hookline/hookline.toml", "\n".join(tables))
    world.hookline("trust", "--yes")
    world.hookline("deploy", "--agent", world.agent.name, "--approve")


def measured(world: World) -> float:
    """Milliseconds from one tool call to the next, the median."""
    free = {"HERMES_ACCEPT_HOOKS": "1"} if world.agent.name == "hermes" else {}
    agent = replace(world.agent, runs=lambda program, asks: _trusting(world.agent, program, asks))
    replace(world, agent=agent).run(
        # Each is another command: some agents end a session that repeats itself.
        *(world.call(f"date +%s%N >> times.txt; echo {number}") for number in range(CALLS + 1)),
        environ=free,
    )
    times = [int(line) for line in world.lines("times.txt")]
    if len(times) < CALLS // 2:
        raise _TooFewCallsError(f"{world.agent.name}: only {len(times)} of {CALLS + 1} calls ran")
    return statistics.median(later - one for one, later in pairwise(times)) / 1e6


def _trusting(agent: agents.Agent, program: str, asks: bool) -> list[list[str]]:
    """Plain hooks of Codex run only when a person has approved them, or with this."""
    runs = agent.runs(program, asks)
    if agent.name == "codex":
        runs[-1] = [*runs[-1][:2], "--dangerously-bypass-hook-trust", *runs[-1][2:]]
    return runs


def compare(agent: agents.Agent) -> dict[str, object]:
    ways: dict[str, Callable[[World], None]] = {
        "none": lambda _world: None,
        "hookline": lambda world: through_hookline(world, SMALL),
        "python_hookline": lambda world: through_hookline(world, PYTHON),
        "python_functions": lambda world: through_hookline(world, PYTHON, 'python = "hook:no_push"'),
    }
    if AGENTS[agent.name].form != "plugin":
        ways["plain"] = lambda world: plain_hooks(world, SMALL)
        ways["python_plain"] = lambda world: plain_hooks(world, PYTHON)
    found: dict[str, float] = {}
    for name, register in ways.items():
        with tempfile.TemporaryDirectory(prefix="hl-", ignore_cleanup_errors=True) as base:
            world = place(agent, base)
            register(world)
            found[name] = round(measured(world), 1)
    against = "plain" if "plain" in found else "none"
    ratio = round(found["hookline"] / found[against], 2)
    version = install.PACKAGES[agent.package].version
    row = {"agent": agent.name, "version": version, "date": strftime("%Y-%m-%d"), **found}
    return {**row, "against": against, "ratio": ratio}


def rows(names: list[str]) -> Iterator[dict[str, object]]:
    for agent in agents.AGENTS:
        if (not names or agent.name in names) and all(install.program(name) for name in agent.needs):
            try:
                yield compare(agent)
            except _TooFewCallsError as error:
                sys.stderr.write(f"{error}\n")


def main(names: list[str]) -> int:
    if why := cannot_be_alone():
        sys.stderr.write(f"{why}\n")
        return 1
    known = {row["agent"]: row for row in json.loads(RESULTS.read_text())["agents"]} if RESULTS.exists() else {}
    for row in rows(names):
        known[str(row["agent"])] = row
        sys.stdout.write(f"{json.dumps(row)}\n")
        sys.stdout.flush()
        RESULTS.parent.mkdir(exist_ok=True)
        told = {
            "unit": "ms from one tool call to the next, the median of 30",
            "cores": os.cpu_count(),
            "agents": list(known.values()),
        }
        RESULTS.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
