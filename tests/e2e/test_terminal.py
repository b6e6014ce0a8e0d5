"""What an agent does only at a terminal, tried at one: a person types, and reads the screen."""

from __future__ import annotations

from tests.e2e import install
from tests.e2e.agents import PROMPT, node
from tests.e2e.results import proves
from tests.e2e.test_real_agents import CONTEXT, ONCE_MORE, STOPPER
from tests.e2e.world import World

#: What is on the screen when it takes keys.
READY = {"letta-code": "· scripted", "droid": "? for help"}


@proves("terminal")
def test_at_a_terminal_an_agent_takes_context_and_is_sent_on_once(world: World) -> None:
    if world.agent.name not in READY:
        world.untested("terminal", "these were tried without a terminal: see above")
        return
    world.write("hooks/once.sh", STOPPER)
    world.hooks(CONTEXT + ONCE_MORE)
    *before, headless = world.agent.runs(str(install.program(world.agent.package)), False)
    letta = [node(), *(word for word in headless[1:] if word not in {"-p", PROMPT})]
    typed = letta if world.agent.name == "letta-code" else headless[:1]
    # The first answer is not taken for the last: the hook asks for one thing more.
    keys = [(READY[world.agent.name], f"{PROMPT}\r"), ("All done.", ""), ("All done.", "/exit\r")]
    session = world.play([*before, typed], [world.call()], {}, keys)
    assert world.lines("proof.txt") == ["hello"], session
    for text in ("NOTE-OF-THE-MORNING", "NOTE-ON-THE-PROMPT", "NOTE-ON-THE-RESULT", "ONE-THING-MORE"):
        assert session.reached_the_model(text), f"{text}: {session}"
    assert {"SessionStart", "UserPromptSubmit", "Stop"} <= {one["event"] for one in world.log()}
