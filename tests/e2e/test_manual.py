"""The page for people who test their hooks with a real agent, done word for word."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tests.e2e import install
from tests.e2e.agents import AGENTS
from tests.e2e.world import World

PAGE = Path(__file__).parents[2] / "docs/how-to/test-against-a-real-agent.md"
FENCE = re.compile(r"(?ms)^```(\w+)\n(.*?)^```$")


@pytest.mark.gate
@pytest.mark.parametrize("world", [a for a in AGENTS if a.name == "claude-code"], indirect=True, ids=lambda a: a.name)
def test_the_manual_works_as_it_is_written(world: World) -> None:
    blocks = FENCE.findall(PAGE.read_text(encoding="utf-8"))
    world.write(".hookline/hookline.toml", next(text for kind, text in blocks if kind == "toml"))
    world.write("answers.json", next(text for kind, text in blocks if kind == "json"))
    typed, shown = session("".join(text for kind, text in blocks if kind == "console"))
    program = install.program("claude")
    assert program is not None
    tools = f"{program.parent}:{Path(sys.executable).parent}"
    world.write("typed.sh", f"set -em\nPATH={tools}:$PATH\n{typed}")
    done = world.play([["bash", "typed.sh"]], [], {}, port=0)  # the page starts a server of its own
    assert done.code == 0, done
    assert [line for line in shown if line not in done.out.splitlines()] == [], done


def session(text: str) -> tuple[str, list[str]]:
    """What is typed, and what is shown for it."""
    lines = text.splitlines()
    typed = "\n".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
    return f"{typed}\n", [line for line in lines if not line.startswith("$ ")]
