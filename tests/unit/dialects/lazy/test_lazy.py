"""lazy-harness's configuration and its hooks."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from hookline.core.event import EVENTS, Event, event_kind
from hookline.core.hook import Command, Function, Gates, HookSpec, Matcher, Origin, Pattern, Prompt
from hookline.core.result import Context, HookError, Reply, RunResult
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.lazy import DIALECT

FOUND = {"mine": "/h/.config/lazy-harness/hooks/mine.py", "any": "/h/.config/lazy-harness/hooks/any"}
LOOKUP = Lookup(
    home="/h", find=FOUND.get, builtins={"guard": "pkg.mod:guard", "session-end": ""},
    search=lambda root, tail: (f"{root}/{tail}",) if (root, tail) == ("/c/hooks", "beside.py") else (),
)  # fmt: skip


def parse(text: str, path: str = "/c/config.toml") -> Any:
    return DIALECT.parse([Layer(path=path, name="user", syntax="toml", text=text, tree=tomllib.loads(text))], LOOKUP)


def test_every_name_is_a_row() -> None:
    assert set(DIALECT.events.values()) <= set(EVENTS)


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({}, "/h/.config/lazy-harness/config.toml"),
        ({"XDG_CONFIG_HOME": "/x"}, "/x/lazy-harness/config.toml"),
        ({"XDG_CONFIG_HOME": "relative"}, "/h/.config/lazy-harness/config.toml"),
        ({"XDG_CONFIG_HOME": "/x", "LH_CONFIG_DIR": "/l"}, "/l/config.toml"),
    ],
)
def test_the_file_is_where_the_environment_says(environ: dict[str, str], path: str) -> None:
    assert [(place.path, place.layer) for place in DIALECT.places("/p", "/h", environ)] == [(path, "user")]


def test_a_name_is_a_built_in_first_and_then_a_file() -> None:
    specs = parse('[hooks.session_start]\nscripts = ["guard", "mine", "any", "beside"]').specs
    assert [(spec.name, spec.action) for spec in specs] == [
        ("guard", Function(target="pkg.mod:guard")),
        ("mine", Command(form="argv", argv=("python3", FOUND["mine"]))),
        ("any", Command(form="argv", argv=(FOUND["any"],))),
        ("beside", Command(form="argv", argv=("python3", "/c/hooks/beside.py"))),
    ]


def test_a_built_in_that_is_not_here_yet_is_a_warning_and_no_error() -> None:
    parsed = parse('[hooks.session_end]\nscripts = ["session-end"]')
    assert parsed.specs == ()
    assert [problem.severity for problem in parsed.problems] == ["warning"]


def test_an_unknown_name_says_where_it_was_looked_for() -> None:
    problem = parse('[hooks.session_end]\nscripts = ["nobody"]').problems[0]
    assert problem.severity == "error"
    assert "guard, session-end" in problem.finding
    assert "/h/.config/lazy-harness/hooks" in problem.finding


def test_no_hook_cancels_the_next_and_a_failure_is_ignored() -> None:
    spec = parse('[hooks.pre_tool_use]\nexternal = ["x"]\nallow_patterns = ["y"]').specs[0]
    assert (spec.flow, spec.after_deny, spec.on_failure, spec.timeout) == ("chain", "continue", "ignore", 60.0)
    assert spec.matcher.subject == Pattern(style="exact", options=("Bash",))
    assert spec.extra == {"allow_patterns": ["y"]}


def test_a_tool_s_end_is_heard_whether_it_worked_or_not() -> None:
    specs = parse('[hooks.post_tool_use]\nexternal = ["a", "b"]').specs
    assert [(spec.event, spec.name) for spec in specs] == [
        ("PostToolUse", "a"), ("PostToolUse", "b"), ("PostToolUseFailure", "a"), ("PostToolUseFailure", "b"),
    ]  # fmt: skip
    assert len({spec.id for spec in specs}) == 4


def reply(name: str, answer: Any = "", **raw: Any) -> Reply | HookError:
    spec = parse('[hooks.session_start]\nexternal = ["x"]').specs[0]
    stdout = answer if isinstance(answer, str) else json.dumps(answer)
    return DIALECT.reply_in(
        spec, Event(kind=event_kind(name), data={}), RunResult(**{"exit_code": 0, "stdout": stdout, **raw})
    )


def test_a_deliberate_block_also_refuses_a_permission() -> None:
    assert reply("PermissionRequest", exit_code=2, stderr="no\n") == Reply(effect="deny", reason="no")


def test_what_a_failing_hook_prints_does_not_count() -> None:
    assert reply("SessionStart", {"hookSpecificOutput": {"additionalContext": "x"}}, exit_code=1) == HookError(
        error="exit code 1"
    )


def test_a_function_may_answer_with_an_object_or_a_reply() -> None:
    told = {"hookSpecificOutput": {"additionalContext": "x"}}
    assert reply("SessionStart", value=told, exit_code=None) == Reply(context=(Context(text="x"),))
    assert reply("SessionStart", value=Reply(reason="r"), exit_code=None) == Reply(reason="r")


def test_the_agent_s_payload_comes_in_under_either_name() -> None:
    came = DIALECT.event_in("session_stop", {"session_id": "s", "last_assistant_message": "m"}, {})
    assert (came.event, came.session, came.data["assistant_message"]) == ("Stop", "s", "m")


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────


def foreign(**fields: Any) -> HookSpec:
    fields = {
        "event": "PreToolUse",
        "action": Command(form="shell", text='say "x"'),
        "after_deny": "continue",
        **fields,
    }
    return HookSpec(id="1", name="guard", dialect="native", origin=Origin(file="f"), **fields)


def test_a_hook_of_another_dialect_becomes_an_external_command() -> None:
    bash = Matcher(subject=Pattern(style="exact", options=("Bash",)))
    result = DIALECT.render(
        [foreign(matcher=bash), foreign(), foreign(event="Stop", action=Command(form="argv", argv=("a", "b c")))]
    )
    assert [loss for loss in result.losses if "input format of native" not in loss.finding] == []
    assert tomllib.loads(result.text) == {
        "hooks": {
            "pre_tool_use": {"external": ['say "x"', {"command": 'say "x"', "matcher": ""}]},
            "session_stop": {"external": ["a 'b c'"]},
        }
    }


@pytest.mark.parametrize(
    ("spec", "lost"),
    [
        (foreign(action=Prompt(text="p")), "kind Prompt"),
        (foreign(event="SubagentStop"), "event SubagentStop"),
        (foreign(timeout=5.0), "timeout"),
        (foreign(gates=Gates(min_turn=1)), "when conditions"),
        (foreign(after_deny="stop"), "after a deny"),
        (foreign(enabled=False), "turned off"),
    ],
)
def test_what_cannot_be_said_is_a_loss(spec: HookSpec, lost: str) -> None:
    losses = [loss.finding for loss in DIALECT.render([spec]).losses]
    assert [finding for finding in losses if lost in finding], losses
