"""Claude Code's settings files, and what they become."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.core.event import EVENTS as ROWS
from hookline.core.event import Event, event_kind
from hookline.core.hook import Command, Gates, HookSpec, Http, Matcher, Origin, Pattern, Plugin, Prompt
from hookline.core.result import HookError, Reply, RunResult
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.claude import DIALECT, EVENTS, config


def parse(hooks: Any, **beside: Any) -> Any:
    tree = {"hooks": hooks, **beside}
    return DIALECT.parse(
        [Layer(path="/p/.claude/settings.json", name="project", syntax="json", text="", tree=tree)], Lookup()
    )


def one(event: str = "PreToolUse", matcher: str | None = None, **hook: Any) -> dict[str, Any]:
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": "x", **hook}]}
    return {event: [group if matcher is None else {"matcher": matcher, **group}]}


def spec_of(event: str = "PreToolUse", matcher: str | None = None, **hook: Any) -> HookSpec:
    parsed = parse(one(event, matcher, **hook))
    assert parsed.problems == ()
    found: HookSpec = parsed.specs[0]
    return found


def test_every_event_has_a_row() -> None:
    assert set(EVENTS.values()) <= set(ROWS)
    assert len(EVENTS) == 33


def test_places_follow_the_configuration_directory() -> None:
    places = [(place.path, place.layer) for place in DIALECT.places("/p", "/h", {"CLAUDE_CONFIG_DIR": "/c"})]
    assert places == [
        ("/c/settings.json", "user"), ("/p/.claude/settings.json", "project"), ("/p/.claude/settings.local.json", "local"),
    ]  # fmt: skip


def test_in_the_home_directory_one_file_is_read_once() -> None:
    assert [place.layer for place in DIALECT.places("/h", "/h", {})] == ["user", "local"]


@pytest.mark.parametrize(
    ("event", "hook", "seconds"),
    [
        ("PreToolUse", {}, 600.0), ("PreToolUse", {"type": "prompt", "prompt": "p"}, 30.0), ("UserPromptSubmit", {}, 30.0),
        ("PreToolUse", {"timeout": 5}, 5.0), ("MessageDisplay", {}, 10.0), ("Stop", {"timeout": 0.5}, 0.5),
        ("Stop", {"type": "http", "url": "http://localhost/"}, 600.0),
    ],
)  # fmt: skip
def test_timeouts_are_seconds_with_a_default_per_kind(event: str, hook: dict[str, Any], seconds: float) -> None:
    hook = {"command": None, **hook} if "type" in hook else hook
    parsed = parse(one(event, **hook))
    assert parsed.specs[0].timeout == seconds


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (None, Pattern()), ("", Pattern()), ("*", Pattern()),
        ("Bash", Pattern(style="exact", options=("Bash",))),
        ("Edit | Write,Read", Pattern(style="exact", options=("Edit", "Write", "Read"))),
        ("mcp__x__.*", Pattern(style="search", text="mcp__x__.*")),
        ("^Note", Pattern(style="search", text="^Note")),
    ],
)  # fmt: skip
def test_a_matcher_is_a_list_of_names_or_an_expression(text: str | None, pattern: Pattern) -> None:
    assert spec_of(matcher=text).matcher.subject == pattern


def test_a_matcher_without_a_subject_is_ignored() -> None:
    assert spec_of("Stop", "Bash").matcher == Matcher()


def test_a_matcher_may_be_tried_on_a_field() -> None:
    tests = spec_of("InstructionsLoaded", "session_start").matcher.fields
    assert [(test.path, test.pattern) for test in tests] == [
        ("load_reason", Pattern(style="exact", options=("session_start",)))
    ]


def test_hooks_that_decide_keep_their_order_and_the_others_run_together() -> None:
    flows = {event: spec_of(event).flow for event in ("PreToolUse", "Stop", "PostToolUse", "SessionStart")}
    assert flows == {"PreToolUse": "chain", "Stop": "chain", "PostToolUse": "parallel", "SessionStart": "parallel"}
    assert spec_of().after_deny == "continue"


@pytest.mark.parametrize("rule", ["", "Bash(", "(x)", "Foo(bar)", "WebFetch(x)", "a b"])
def test_what_is_no_rule_is_told(rule: str) -> None:
    assert config.rule_tests(rule) is None
    parsed = parse(one(**{"if": rule}))
    assert [problem.pointer for problem in parsed.problems] == ["$.hooks.PreToolUse[0].hooks[0].if"]
    assert len(parsed.specs) == 1


@pytest.mark.parametrize("tree", [None, [], 3, {"hooks": []}, {"hooks": {"Stop": [[]]}}, {"disableAllHooks": 3}])
def test_a_file_of_any_shape_is_read_without_an_exception(tree: Any) -> None:
    layer = Layer(path="f", name="user", syntax="json", text="", tree=tree)
    assert DIALECT.parse([layer], Lookup()).specs == ()


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────


def foreign(**fields: Any) -> HookSpec:
    fields = {"event": "PreToolUse", "action": Command(form="shell", text="x"), "after_deny": "continue", **fields}
    return HookSpec(id="1", name="guard", dialect="native", origin=Origin(file="f"), **fields)


def test_a_hook_of_another_dialect_is_written_where_it_can_be_said() -> None:
    result = DIALECT.render(
        [
            foreign(
                action=Command(form="argv", argv=("a", "b c")),
                matcher=Matcher(subject=Pattern(style="full", text="Ed.*")),
            ),
            foreign(action=Http(url="http://localhost/", headers=(("A", "$B"),)), mode="background", timeout=600.0),
            foreign(event="Stop", action=Prompt(text="p"), timeout=30.0),
        ]
    )
    assert [loss for loss in result.losses if "input format of native" not in loss.finding] == []
    assert json.loads(result.text)["hooks"] == {
        "PreToolUse": [
            {"matcher": "^(?:Ed.*)$", "hooks": [{"type": "command", "command": "a", "args": ["b c"], "timeout": 60}]},
            {
                "hooks": [
                    {
                        "type": "http",
                        "url": "http://localhost/",
                        "headers": {"A": "$B"},
                        "allowedEnvVars": ["B"],
                        "async": True,
                    }
                ]
            },
        ],
        "Stop": [{"hooks": [{"type": "prompt", "prompt": "p"}]}],
    }


@pytest.mark.parametrize(
    ("spec", "lost"),
    [
        (foreign(action=Plugin(name="p", path="x")), "kind Plugin"),
        (foreign(event="process.pre_spawn"), "event process.pre_spawn"),
        (foreign(gates=Gates(min_turn=1)), "when conditions"),
        (foreign(mode="detached"), "mode detached"),
        (foreign(on_failure="abort"), "on_failure"),
        (foreign(after_deny="stop"), "after a deny"),
        (foreign(event="Stop", matcher=Matcher(subject=Pattern(style="full", text="x"))), "matcher on Stop"),
    ],
)
def test_what_cannot_be_said_is_a_loss(spec: HookSpec, lost: str) -> None:
    losses = [loss.finding for loss in DIALECT.render([spec]).losses]
    assert [finding for finding in losses if lost in finding], losses


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUseFailure", "PreToolUse"])
def test_hooks_of_the_family_are_written_without_an_error(event: str) -> None:
    from hookline.dialects.lazy import DIALECT as LAZY
    from hookline.dialects.letta import DIALECT as LETTA

    layer = Layer(path="s", name="user", syntax="json", text="", tree={"hooks": one(event)})
    specs = LETTA.parse([layer], Lookup()).specs
    losses = DIALECT.render(specs).losses
    assert [loss.severity for loss in losses] == ["warning"] * len(losses)
    if event != "PostToolUseFailure":
        assert {loss.severity for loss in LAZY.render(specs).losses} == {"warning"}
    assert {loss.severity for loss in LETTA.render(DIALECT.parse([layer], Lookup()).specs).losses} == {"warning"}


# ── the wire ─────────────────────────────────────────────────────────────────────────────────────────


def reply(name: str, answer: Any = "", *, data: dict[str, Any] | None = None, **raw: Any) -> Reply | HookError:
    stdout = answer if isinstance(answer, str) else json.dumps(answer)
    event = Event(kind=event_kind(name), data=data or {})
    return DIALECT.reply_in(spec_of(name), event, RunResult(**{"exit_code": 0, "stdout": stdout, **raw}))


def test_powershell_is_asked_for_by_name() -> None:
    event = Event(kind=event_kind("Stop"), data={}, cwd="/w")
    call = DIALECT.event_out(spec_of("Stop", shell="powershell"), event)
    assert (call.argv, call.fallbacks) == (
        ("pwsh", "-NoProfile", "-Command", "x"),
        (("powershell", "-NoProfile", "-Command", "x"),),
    )


def test_the_project_directory_stays_while_claude_code_moves() -> None:
    environ = {"CLAUDE_PROJECT_DIR": "/root"}
    call = DIALECT.event_out(
        spec_of("Stop"), Event(kind=event_kind("Stop"), data={}, cwd="/w", agent="claude-code", environ=environ)
    )
    assert call.environ == {"CLAUDE_PROJECT_DIR": "/root"}
    call = DIALECT.event_out(
        spec_of("Stop"), Event(kind=event_kind("Stop"), data={}, cwd="/w", agent="codex", environ=environ)
    )
    assert call.environ == {"CLAUDE_PROJECT_DIR": "/w"}


def test_a_large_context_is_kept_whole() -> None:
    found = reply("PostToolUse", {"hookSpecificOutput": {"additionalContext": "x" * 20_000}})
    assert isinstance(found, Reply)
    assert len(found.context[0].text) == 20_000


def test_words_that_only_claude_code_knows_are_kept_as_attributes() -> None:
    found = reply("SessionStart", {"hookSpecificOutput": {"hookEventName": "SessionStart", "sessionTitle": "t"}})
    assert isinstance(found, Reply)
    assert found.attributes == {"sessionTitle": "t"}


@pytest.mark.parametrize(
    "answer",
    [
        {"hookSpecificOutput": 3}, {"hookSpecificOutput": {"updatedInput": [1], "additionalContext": 3}},
        {"systemMessage": {}}, {"continue": "false"},
    ],
)  # fmt: skip
def test_words_of_the_wrong_type_say_nothing(answer: Any) -> None:
    assert reply("PreToolUse", answer) == Reply()


@pytest.mark.parametrize(
    "answer", [{"hookSpecificOutput": {"permissionDecision": ["deny"]}}, {"decision": 1, "reason": []}]
)
def test_a_decision_of_the_wrong_type_is_a_failure_and_not_a_silence(answer: Any) -> None:
    assert isinstance(reply("PreToolUse", answer), HookError)


def test_an_answer_over_http_has_no_exit_code() -> None:
    found = reply("PreToolUse", {"decision": "block", "reason": "no"}, exit_code=None)
    assert found == Reply(effect="deny", reason="no")


def test_a_signal_is_a_failure() -> None:
    assert reply("PreToolUse", exit_code=None, signal=9) == HookError(error="ended by signal 9")


def test_a_late_exit_2_of_a_hook_that_was_ended_decides_nothing() -> None:
    assert reply("PreToolUse", exit_code=2, timed_out=True) == HookError(error="timed out")


def test_an_event_beside_the_hooks_is_told() -> None:
    parsed = parse({}, **one())
    assert [(found.pointer, found.severity) for found in parsed.problems] == [("$.PreToolUse", "warning")]
    assert "its hooks never fire" in parsed.problems[0].finding
