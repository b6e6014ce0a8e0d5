"""Events that an agent does not have are made up from what it does tell, so that hooks of other systems run in it."""

from __future__ import annotations

from tests.e2e.results import proves
from tests.e2e.world import World

HOOKS = """\
[[hook]]
name = "failed"
on = "PostToolUseFailure"
shell = "echo failed >> failed.txt"

[[source]]
dialect = "lectic"
path = "lectic.yaml"
"""

LECTIC = """\
hooks:
  - on: assistant_final
    do: |
      #!/bin/sh
      echo "$ASSISTANT_MESSAGE" >> final.txt
  - on: run_end
    do: |
      #!/bin/sh
      echo "$RUN_STATUS" >> ended.txt
"""


@proves("tool failure", "assistant_final", "run_end")
def test_hooks_for_failures_and_ends_run_in_every_agent(world: World) -> None:
    world.write("lectic.yaml", LECTIC)
    world.hooks(HOOKS)
    session = world.run(world.call("sh -c 'exit 3'"), world.call("true"))
    events = [(one["event"], one["native_event"]) for one in world.log()]
    written = {name: world.lines(f"{name}.txt") for name in ("failed", "final", "ended")}
    told = f"{written}\n{events}\n{session}"
    found = {
        "tool failure": world.lines("failed.txt") == ["failed"],
        "assistant_final": [line.strip() for line in world.lines("final.txt")] == ["All done."],
        "run_end": len(world.lines("ended.txt")) == 1,
    }
    for capability, seen in found.items():
        if seen:
            world.holds(capability)
        elif capability in world.agent.underived:
            world.lacks(capability, world.agent.underived[capability])
    assert {name for name, seen in found.items() if not seen} == set(world.agent.underived), told
