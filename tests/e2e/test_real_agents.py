"""The real programs, as people install them: what our hooks decide is what happens in them."""

from __future__ import annotations

import pytest
from tests.e2e import install
from tests.e2e.agents import PROMPT
from tests.e2e.results import proves
from tests.e2e.world import Session, World

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

STOPPER = "#!/bin/sh\n[ -e stopped ] && exit 0\ntouch stopped\necho 'ONE-THING-MORE' >&2\nexit 2\n"

NO_PROMPT = """\
[[hook]]
name = "no-prompt"
on = "UserPromptSubmit"
shell = "echo 'NOT-THIS-QUESTION' >&2; exit 2"
"""

ANSWER = """\
[[hook]]
name = "answer"
on = "PermissionRequest"
shell = '''echo '{"effect": "%s", "reason": "ANSWERED-FOR-YOU"}' '''
"""

MESSAGE = """\
[[hook]]
name = "teller"
on = ["PreToolUse", "Stop"]
shell = '''echo '{"message": "WORD-TO-THE-PERSON"}' '''
"""

WATCH = """\
[[hook]]
name = "watch"
on = ["PreToolUse", "PostToolUse"]
shell = "true"
"""


def proof(world: World) -> list[str]:
    return world.lines("proof.txt")


@pytest.mark.gate
@proves("tool events", "session events")
def test_a_hook_without_an_opinion_lets_the_tool_run_and_every_event_is_recorded(world: World) -> None:
    world.hooks(WATCH.replace('"PostToolUse"', '"PostToolUse", "SessionStart", "UserPromptSubmit", "Stop"'))
    session = world.run()
    assert (session.code, proof(world)) == (0, ["hello"]), session
    fired = {one["event"] for one in world.log()}
    assert "PreToolUse" in fired
    assert "PostToolUse" in fired or not world.expects("tool events"), fired
    assert ({"SessionStart", "UserPromptSubmit", "Stop"} <= fired) == world.expects("session events"), fired


@pytest.mark.gate
@proves("deny")
def test_a_deny_blocks_the_tool_and_its_reason_reaches_the_model(world: World) -> None:
    world.write("hooks/deny.sh", "#!/bin/sh\necho 'NOT-TODAY: ask a person' >&2\nexit 2\n")
    world.hooks(DENY)
    session = world.run()
    assert proof(world) == []
    assert session.reached_the_model("NOT-TODAY: ask a person"), session


@pytest.mark.gate
@proves("rewrite")
def test_a_rewrite_changes_what_runs_or_nothing_runs(world: World) -> None:
    world.write("hooks/rewrite.py", REWRITER)
    world.hooks(REWRITE)
    session = world.run()
    if world.agent.no_rewrite:
        assert proof(world) == []
        assert session.reached_the_model("a hook changed tool_input")
        world.lacks("rewrite", world.agent.no_rewrite)
    else:
        assert proof(world) == ["REWRITTEN"], session


@pytest.mark.gate
@proves("session context", "prompt context", "result context")
def test_context_is_in_the_requests(world: World) -> None:
    world.hooks(CONTEXT)
    session = world.run()
    texts = {
        "session context": "NOTE-OF-THE-MORNING", "prompt context": "NOTE-ON-THE-PROMPT",
        "result context": "NOTE-ON-THE-RESULT",
    }  # fmt: skip
    found = {capability: session.reached_the_model(text) for capability, text in texts.items()}
    assert found == {capability: world.expects(capability) for capability in texts}, session


@pytest.mark.gate
@proves("stop")
def test_a_refused_stop_sends_the_agent_on_once(world: World) -> None:
    world.write("hooks/once.sh", STOPPER)
    world.hooks(ONCE_MORE)
    session = world.run({"text": "Finished."})
    if world.agent.no_continuation:
        assert not session.reached_the_model("ONE-THING-MORE")
        world.lacks("stop", world.agent.no_continuation)
        return
    assert session.reached_the_model("ONE-THING-MORE"), session
    again = len([request for request in session.requests if "ONE-THING-MORE" in request])
    assert again == world.agent.requests_after_stop, session
    stops = [one for one in world.log() if one["event"] == "Stop"]
    assert len(stops) >= (1 if world.agent.name == "kimi-code" else 2), "Kimi Code asks once in a turn"


@proves("prompt refused")
def test_a_refused_prompt_never_reaches_the_model(world: World) -> None:
    world.hooks(NO_PROMPT)
    session = world.run()
    if not world.expects("prompt refused"):
        assert session.reached_the_model(PROMPT)
        return
    assert not session.reached_the_model(PROMPT), session
    assert proof(world) == []
    shown = session.printed("NOT-THIS-QUESTION")
    world.holds("prompt refused", "the user sees the reason" if shown else "the agent exits silently")


def answered(world: World, effect: str) -> Session:
    """The session of an agent that asks, and that a hook answers."""
    asking = world.that_asks()
    asking.hooks(ANSWER % effect)
    if asking.agent.asked is None:
        return asking.run()
    line, keys = asking.agent.asked(str(install.program(asking.agent.package)))
    return asking.play([line], [asking.call()], {}, keys)


@proves("permission granted")
def test_a_hook_answers_yes_for_the_person(world: World) -> None:
    if world.agent.no_permission:
        world.lacks("permission granted", world.agent.no_permission)
        pytest.skip(world.agent.no_permission)
    session = answered(world, "allow")
    assert proof(world) == ["hello"], session
    assert "PermissionRequest" in {one["event"] for one in world.log()}
    world.holds("permission granted", "at a terminal" if world.agent.asked else "")


@proves("permission refused")
def test_a_hook_answers_no_for_the_person(world: World) -> None:
    if world.agent.no_permission:
        world.lacks("permission refused", world.agent.no_permission)
        pytest.skip(world.agent.no_permission)
    session = answered(world, "deny")
    assert proof(world) == []
    assert session.reached_the_model("ANSWERED-FOR-YOU"), session
    assert "PermissionRequest" in {one["event"] for one in world.log()}
    world.holds("permission refused", "at a terminal" if world.agent.asked else "")


def test_a_hook_that_only_watches_a_permission_grants_nothing(world: World) -> None:
    if world.agent.no_permission or world.agent.asked is not None:
        pytest.skip(world.agent.no_permission or "nobody would answer at the terminal")
    asking = world.that_asks()
    asking.hooks(WATCH.replace('"PostToolUse"', '"PermissionRequest"'))
    session = asking.run()
    if world.agent.name != "codex":  # the approver of its own that --approve-for-me brings may say yes
        assert proof(world) == [], session
    assert "PermissionRequest" in {one["event"] for one in world.log()}


@proves("message")
def test_a_message_for_the_person_is_printed(world: World) -> None:
    world.hooks(MESSAGE)
    session = world.run()
    assert proof(world) == ["hello"], session
    assert session.printed("WORD-TO-THE-PERSON") == (not world.agent.no_message), session
    if world.agent.no_message:
        world.lacks("message", world.agent.no_message)
