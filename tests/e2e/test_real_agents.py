"""The real programs, as people install them: what our hooks decide is what happens in them."""

from __future__ import annotations

import pytest
from tests.e2e.conftest import World

DENY = """\
[[hook]]
name = "guard"
on = "PreToolUse"
match = "Bash"
run = "./hooks/deny.sh"
"""

REWRITE = """\
[[hook]]
name = "rewrite"
on = "PreToolUse"
match = "Bash"
run = "./hooks/rewrite.py"
"""

REWRITER = """\
#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)["data"]
print(json.dumps({"data": {"tool_input": {**data["tool_input"], "command": "echo REWRITTEN > proof.txt"}}}))
"""

CONTEXT = """\
[[hook]]
name = "morning"
on = "SessionStart"
shell = "echo NOTE-OF-THE-MORNING"
inject = "context"

[[hook]]
name = "note"
on = "UserPromptSubmit"
shell = "echo NOTE-ON-THE-PROMPT"
inject = "context"

[[hook]]
name = "result"
on = "PostToolUse"
shell = "echo NOTE-ON-THE-RESULT"
inject = "context"
"""

ONCE_MORE = """\
[[hook]]
name = "once-more"
on = "Stop"
run = "./hooks/once.sh"
"""

CLOSED = """\
[[hook]]
name = "guard"
on = "PreToolUse"
run = "./hooks/guard"
timeout = "2s"
on_failure = "deny"
"""

WATCH = """\
[[hook]]
name = "watch"
on = ["PreToolUse", "PostToolUse"]
shell = "true"
"""


def test_a_hook_without_an_opinion_lets_the_tool_run_and_every_event_is_recorded(world: World) -> None:
    world.hooks(WATCH)
    session = world.run()
    assert (session.code, session.proof) == (0, "hello\n"), session.err
    fired = {one["event"] for one in world.log()}
    assert {"PreToolUse", "PostToolUse"} <= fired
    if world.agent.sessions:
        assert {"SessionStart", "UserPromptSubmit", "Stop"} <= fired


def test_a_deny_blocks_the_tool_and_its_reason_reaches_the_model(world: World) -> None:
    world.write("hooks/deny.sh", "#!/bin/sh\necho 'NOT-TODAY: ask a person' >&2\nexit 2\n")
    world.hooks(DENY)
    session = world.run()
    assert session.proof is None
    assert session.reached_the_model("NOT-TODAY: ask a person"), session.err


def test_a_rewrite_changes_what_runs_or_nothing_runs(world: World) -> None:
    world.write("hooks/rewrite.py", REWRITER)
    world.hooks(REWRITE)
    session = world.run()
    if world.agent.rewrites:
        assert session.proof == "REWRITTEN\n", session.err
    else:
        assert session.proof is None
        assert session.reached_the_model("a hook changed tool_input")


def test_context_is_in_the_requests(world: World) -> None:
    world.hooks(CONTEXT)
    session = world.run()
    assert session.reached_the_model("NOTE-ON-THE-RESULT"), session.err
    if world.agent.sessions:
        assert session.reached_the_model("NOTE-OF-THE-MORNING")
        assert session.reached_the_model("NOTE-ON-THE-PROMPT")


def test_a_refused_stop_sends_the_agent_on_once(world: World) -> None:
    if not world.agent.goes_on:
        pytest.skip(f"{world.agent.name} without a terminal cannot be sent on")
    world.write(
        "hooks/once.sh", "#!/bin/sh\n[ -e stopped ] && exit 0\ntouch stopped\necho 'ONE-THING-MORE' >&2\nexit 2\n"
    )
    world.hooks(ONCE_MORE)
    session = world.run({"text": "Finished."})
    assert session.reached_the_model("ONE-THING-MORE"), session.err
    assert len([request for request in session.requests if "ONE-THING-MORE" in request]) == 1
    assert [one["event"] for one in world.log()].count("Stop") == 2


@pytest.mark.parametrize(
    "guard",
    [None, "#!/bin/sh\nexit 7\n", "#!/bin/sh\necho '{\"effect\": '\n", "#!/bin/sh\nsleep 60\n"],
    ids=["missing", "crashes", "talks nonsense", "hangs"],
)
def test_a_guard_that_fails_blocks_and_says_that_it_failed(world: World, guard: str | None) -> None:
    if guard is not None:
        world.write("hooks/guard", guard)
    world.hooks(CLOSED)
    session = world.run()
    assert session.proof is None
    assert session.reached_the_model("hook failed") or session.reached_the_model("timed out"), session


def test_a_hookline_that_is_gone_still_blocks(world: World) -> None:
    world.hooks(CLOSED)
    world.program.unlink()
    session = world.run()
    assert session.proof is None
    assert session.reached_the_model("hookline failed"), session


def test_a_hookline_that_is_gone_keeps_nobody_from_working_where_no_hook_asks_for_it(world: World) -> None:
    world.hooks(WATCH)
    world.program.unlink()
    session = world.run()
    assert session.proof == "hello\n", session.err
    assert len(session.requests) <= 3, "nobody keeps the agent going"


def test_a_failure_that_is_to_be_ignored_lets_the_tool_run_and_is_recorded(world: World) -> None:
    world.hooks(CLOSED.replace('"deny"', '"ignore"'))
    assert world.run().proof == "hello\n"
    statuses = {outcome["status"] for one in world.log() for outcome in one.get("outcomes", ())}
    assert "failed" in statuses


def test_undeploy_leaves_nothing(world: World) -> None:
    before = files(world)
    world.write("hooks/deny.sh", "#!/bin/sh\necho no >&2\nexit 2\n")
    world.hooks(DENY)
    assert files(world) != before
    world.hookline("undeploy", "--agent", world.agent.name)
    assert files(world) == before
    assert world.run().proof == "hello\n"


def files(world: World) -> dict[str, bytes]:
    """The agent's own files; not what it has in databases and caches, or what hookline remembers."""
    kinds = {".json", ".toml", ".js"}
    found = (file for file in world.home.rglob("*") if file.suffix in kinds and "hookline" not in file.parts)
    return {str(file): file.read_bytes() for file in found if "node_modules" not in file.parts and file.is_file()}
