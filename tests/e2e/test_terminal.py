"""What an agent does only at a terminal, tried at one: a person types, and reads the screen."""

from __future__ import annotations

import pytest
from tests.e2e import install
from tests.e2e.agents import AGENTS, PROMPT, node
from tests.e2e.results import proves
from tests.e2e.test_real_agents import CONTEXT, ONCE_MORE, STOPPER
from tests.e2e.world import World

LETTA = [agent for agent in AGENTS if agent.name == "letta-code"]


@proves("terminal")
@pytest.mark.parametrize("world", LETTA, indirect=True, ids=lambda agent: agent.name)
def test_letta_at_a_terminal_takes_context_and_is_sent_on_once(world: World) -> None:
    world.write("hooks/once.sh", STOPPER)
    world.hooks(CONTEXT + ONCE_MORE)
    connect, headless = world.agent.runs(str(install.program("letta")), False)
    typed = [node(), *(word for word in headless[1:] if word not in {"-p", PROMPT})]
    # The first answer is not taken for the last: the hook asks for one thing more.
    keys = [("· scripted", f"{PROMPT}\r"), ("All done.", ""), ("All done.", "/exit\r")]
    session = world.play([connect, typed], [world.call()], {}, keys)
    assert world.lines("proof.txt") == ["hello"], session
    for text in ("NOTE-OF-THE-MORNING", "NOTE-ON-THE-PROMPT", "NOTE-ON-THE-RESULT", "ONE-THING-MORE"):
        assert session.reached_the_model(text), f"{text}: {session}"
    assert {"SessionStart", "UserPromptSubmit", "Stop"} <= {one["event"] for one in world.log()}
