"""The knowledge loop in the real agents: a person works with one at a terminal, and another is told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.e2e import install
from tests.e2e.agents import AGENTS, PROMPT, URL, node
from tests.e2e.world import World
from tests.unit.memory.loop_world import LOOP

from hookline.gateway.bypass import PREFACE

#: Whom a program can watch at a terminal: they draw what they say as one piece. What is typed when, and how it ends.
AT_A_TERMINAL = {"gemini-cli": ("Type your message", "/quit"), "qwen-code": ("Type your message", "/quit"),
                 "letta-code": ("· scripted", "/exit")}  # fmt: skip
#: Who is told afterwards, without a terminal.
NEXT = {"gemini-cli": "codex", "qwen-code": "copilot-cli", "letta-code": "claude-code"}
FIRST = "Please make the checker pass for the harbour timetable; it exits with 3 although the file is there, and nobody knows why."
SECOND = "Now decide where the timetable is kept from now on, and tell me what remains to be done tomorrow morning, in one line."
SAID = {
    "decisions": [{"summary": "THE-TIMETABLE-IS-KEPT-IN-SQLITE"}],
    "failures": [{"summary": "THE-CHECKER-EXITS-WITH-3", "prevention": "WRITE-THE-FILE-FIRST"}],
    "handoff": ["TEACH-THE-CHECKER"],
}
CONFIG = f"""{LOOP}
[compound_loop]
enabled = true
backend = "openai-compatible"
model = "distiller"
backend_options = {{ base_url = "{URL}" }}
"""


def deployed(world: World) -> World:
    file = world.home / ".config/hookline/hookline.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(CONFIG)
    door = () if world.agent.registered_in.endswith(".js") else ("--door", "command")
    world.hookline("deploy", "--agent", world.agent.name, "--approve", *door)
    return world


def steps(world: World) -> list[dict[str, Any]]:
    """What the model says to whom; requests for a title and the like are answered with something else."""
    return [
        {"match": PREFACE, "text": f"Here it is:\n```json\n{json.dumps(SAID)}\n```", "repeat": True},
        {"match": "what remains to be done tomorrow", "text": "SECOND-ANSWER", "repeat": True},
        {"match": "CHECKER-SAYS-NO\\n", "text": "FIRST-ANSWER", "repeat": True},
        world.call("sh -c 'echo CHECKER-SAYS-NO; exit 3'"),
    ]


def typed_at(world: World) -> list[list[str]]:
    runs = world.agent.runs(str(install.program(world.agent.package)), False)
    words = runs[-1]
    typed = [node(), *(word for word in words[1:] if word not in {"-p", PROMPT})]
    # A shell that stays for a while, as a person's does: the worker goes on when the agent has ended.
    return [*runs[:-1], ["/bin/sh", "-c", '"$@"; sleep 6', "sh", *typed]]


@pytest.mark.parametrize(
    "world", [agent for agent in AGENTS if agent.name in AT_A_TERMINAL], indirect=True, ids=lambda agent: agent.name
)
def test_what_one_agent_did_at_a_terminal_is_told_to_another(world: World) -> None:
    ready, leave = AT_A_TERMINAL[world.agent.name]
    second = next(agent for agent in AGENTS if agent.name == NEXT[world.agent.name])
    if install.program(second.package) is None:
        pytest.skip(f"{second.name} is not installed")
    deployed(world)
    # A line and its end are typed apart: a program that is slow to draw takes them for a paste.
    keys = [(ready, FIRST), ("nobody knows why.", "\r"), ("FIRST-ANSWER", SECOND), ("in one line.", "\r")]
    session = world.play(typed_at(world), steps(world), {}, [*keys, ("SECOND-ANSWER", leave), (leave, "\r")])
    knowledge = world.home / ".local/share/hookline/knowledge"
    (note,) = (knowledge / "sessions").glob("*/*.md")
    head, _, said = note.read_text().partition("\n## User\n")
    for name in ("session_id", "cwd", "project", "profile", "session_type", "branch", "claude_version", "messages"):
        assert f"\n{name}: " in head, session
    speaker = world.agent.name.partition("-")[0].capitalize()
    assert said == (
        f"\n{FIRST}\n\n## {speaker}\n\nFIRST-ANSWER\n\n## User\n\n{SECOND}\n\n## {speaker}\n\nSECOND-ANSWER\n"
    )

    other = deployed(World(second, world.home, world.project).prepare())
    runs = second.runs(str(install.program(second.package)), False)
    told = other.play(runs, [], {})
    for text in (
        "THE-TIMETABLE-IS-KEPT-IN-SQLITE",
        "THE-CHECKER-EXITS-WITH-3 → WRITE-THE-FILE-FIRST",
        "TEACH-THE-CHECKER",
    ):
        assert told.reached_the_model(text), told


@pytest.mark.parametrize(
    "world",
    [agent for agent in AGENTS if agent.name in {"claude-code", "codex", "gemini-cli", "qwen-code"}],
    indirect=True,
    ids=lambda agent: agent.name,
)
def test_a_session_without_a_person_is_passed_over_but_told(world: World) -> None:
    """``gemini -p`` and its like, with memory deployed."""
    deployed(world)
    world.hookline("memory", "add", "THE-TIMETABLE-IS-KEPT-IN-SQLITE")
    world.hookline("deploy", "--memory", "--agent", world.agent.name)
    runs = world.agent.runs(str(install.program(world.agent.package)), False)
    asked = [{**step, "text": "NEVER-ASKED"} if step.get("match") == PREFACE else step for step in steps(world)]
    session = world.play(runs, asked, {})
    assert session.reached_the_model("THE-TIMETABLE-IS-KEPT-IN-SQLITE"), session
    log = (world.home / ".local/state/hookline/hooks.log").read_text()
    assert not list((world.home / ".local/share/hookline/knowledge/sessions").glob("*/*.md")), log
    assert not list((world.home / ".local/share/hookline/knowledge/memory").glob("*/handoff.md")), log
    assert not session.reached_the_model(PREFACE), log
    if world.agent.name in {"gemini-cli", "qwen-code"}:  # the transcripts of the others show it to the worker
        assert "compound-loop: skipped: not interactive" in log, log
