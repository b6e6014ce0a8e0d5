"""Letta Code's settings files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.hook import AgentRun, Command, FieldTest, Gates, HookSpec, Http, Matcher, Origin, Pattern, Prompt
from hookline.core.result import RunResult
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.letta import DIALECT
from hookline.dialects.letta.wire import payload


def layer(hooks: Any, name: str = "project", path: str = "/p/.letta/settings.json") -> Layer:
    return Layer(path=path, name=name, syntax="json", text="", tree={"hooks": hooks})


def parse(*layers: Layer) -> Any:
    return DIALECT.parse(layers, Lookup(cwd="/p", home="/h"))


def one(event: str = "PreToolUse", matcher: str | None = None, **hook: Any) -> dict[str, Any]:
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": "x", **hook}]}
    return {event: [group if matcher is None else {"matcher": matcher, **group}]}


def foreign(**fields: Any) -> HookSpec:
    fields = {"event": "PreToolUse", "action": Command(form="shell", text="x"), **fields}
    return HookSpec(id="1", name="guard", dialect="native", origin=Origin(file="f"), **fields)


def test_places_are_named_lowest_precedence_first() -> None:
    places = [(place.path, place.layer) for place in DIALECT.places("/p", "/h", {})]
    assert places == [
        ("/h/.letta/settings.json", "user"),
        ("/p/.letta/settings.json", "project"),
        ("/p/.letta/settings.local.json", "local"),
    ]


@pytest.mark.parametrize("cwd", ["/h", "/h/", "/h/x/.."])
def test_in_the_home_directory_there_is_no_project_file(cwd: str) -> None:
    assert [place.layer for place in DIALECT.places(cwd, "/h", {})] == ["user", "local"]


@pytest.mark.parametrize(
    ("told", "on"),
    [
        ({"user": True}, False),
        ({"user": False, "project": True, "local": True}, True),
        ({"project": True}, False),
        ({"local": True, "project": False}, False),
        ({"project": False}, True),
        ({"user": "true"}, True),
        ({}, True),
    ],
)
def test_the_switch_follows_its_levels(told: dict[str, Any], on: bool) -> None:
    layers = [
        layer({**one(), "disabled": told[name]} if name in told else one(), name)
        for name in ("user", "project", "local")
    ]
    assert [spec.enabled for spec in parse(*layers).specs] == [on] * 3


@pytest.mark.parametrize(
    ("timeout", "seconds", "problems"),
    [
        (None, 60.0, 0), (1500, 1.5, 0), ("1500", 1.5, 0), (0.5, 0.0005, 0), (2**40, 2**40 / 1000, 0),
        (0, 60.0, 1), (-1, 60.0, 1), (True, 60.0, 1), ("soon", 60.0, 1), ([], 60.0, 1), (float("nan"), 60.0, 1),
        (float("inf"), 60.0, 1), (10**400, 60.0, 1), (5e-324, 60.0, 1),
    ],
)  # fmt: skip
def test_timeouts_are_milliseconds_and_a_bad_one_is_the_default(timeout: Any, seconds: float, problems: int) -> None:
    parsed = parse(layer(one(timeout=timeout)))
    assert (parsed.specs[0].timeout, len(parsed.problems)) == (seconds, problems)


@pytest.mark.parametrize("tree", [None, [], 3, "x", {}, {"hooks": None}, {"hooks": []}, {"hooks": "x"}])
def test_a_file_of_any_shape_is_read_without_an_exception(tree: Any) -> None:
    assert DIALECT.parse([Layer(path="f", name="user", syntax="json", text="", tree=tree)], Lookup()).specs == ()


def test_an_unknown_event_is_carried_and_never_fired() -> None:
    parsed = parse(layer(one("SubagentStart")))
    assert [(spec.event, spec.native_event) for spec in parsed.specs] == [("letta:SubagentStart", "SubagentStart")]
    assert [problem.severity for problem in parsed.problems] == ["warning"]


def test_problems_name_the_line() -> None:
    lines = Layer(path="f", name="user", syntax="json", text="", tree={"hooks": one(type="x")}, line=lambda _: 7)
    problem = DIALECT.parse([lines], Lookup()).problems[0]
    assert (problem.line, problem.pointer) == (7, "$.hooks.PreToolUse[0].hooks[0].type")


def test_fields_of_another_system_are_pointed_out() -> None:
    parsed = parse(
        layer({"PreToolUse": [{"sequential": True, "hooks": [{"type": "command", "command": "x", "async": True}]}]})
    )
    assert [(p.pointer, p.severity) for p in parsed.problems] == [
        ("$.hooks.PreToolUse[0].sequential", "warning"),
        ("$.hooks.PreToolUse[0].hooks[0].async", "warning"),
    ]


def test_a_prompt_hook_is_named_by_its_beginning() -> None:
    names = [spec.name for length in (50, 51) for spec in parse(layer(one(type="prompt", prompt="p" * length))).specs]
    assert names == ["prompt:" + "p" * 50, "prompt:" + "p" * 50 + "..."]


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────


def rendered(*specs: HookSpec) -> tuple[Any, list[str]]:
    result = DIALECT.render(specs)
    return json.loads(result.text)["hooks"], [loss.finding for loss in result.losses]


def test_a_hook_of_another_dialect_is_written_where_it_can_be_said() -> None:
    argv = foreign(
        action=Command(form="argv", argv=("./a b", "c")),
        matcher=Matcher(subject=Pattern(style="exact", options=("Edit", "a.b"))),
    )
    hooks, losses = rendered(argv, foreign(action=Prompt(text="p", model="m"), timeout=5.0))
    assert hooks["PreToolUse"][0] == {"matcher": "Edit|a\\.b", "hooks": [{"type": "command", "command": "'./a b' c"}]}
    assert hooks["PreToolUse"][1]["hooks"] == [{"type": "prompt", "prompt": "p", "model": "m", "timeout": 5000}]
    assert [finding for finding in losses if "input format of native" not in finding] == []


@pytest.mark.parametrize(
    ("spec", "lost"),
    [
        (foreign(action=Http(url="u")), "kind Http"),
        (foreign(action=AgentRun()), "kind AgentRun"),
        (foreign(action=Command(form="script", text="#!x")), "kind Command"),
        (foreign(event="process.pre_spawn"), "event process.pre_spawn"),
        (foreign(event="SessionEnd", action=Prompt(text="p")), "kind Prompt on SessionEnd"),
        (foreign(gates=Gates(min_turn=2)), "when conditions"),
        (foreign(on_failure="deny"), "on_failure = deny"),
        (foreign(mode="background"), "mode background"),
        (foreign(environ={"A": "b"}), "environment"),
        (foreign(timeout=None), "no time limit"),
        (foreign(matcher=Matcher(fields=(FieldTest(path="x", equals=1),))), "test of the event's fields"),
        (foreign(event="Stop", matcher=Matcher(subject=Pattern(style="full", text="x"))), "matcher on Stop"),
        (foreign(after_deny="continue"), "after a deny"),
    ],
)
def test_what_cannot_be_said_is_a_loss(spec: HookSpec, lost: str) -> None:
    _hooks, losses = rendered(spec)
    assert [finding for finding in losses if lost in finding], losses


def test_hooks_that_are_all_off_are_written_with_the_switch() -> None:
    specs = parse(layer({**one(), "disabled": True})).specs
    assert rendered(*specs)[0]["disabled"] is True


# ── the wire ─────────────────────────────────────────────────────────────────────────────────────────


def spec_of(event: str, **hook: Any) -> HookSpec:
    found: HookSpec = parse(layer(one(event, **hook))).specs[0]
    return found


def test_the_login_shell_comes_first_and_every_usual_one_after_it() -> None:
    event = Event(kind=event_kind("PreToolUse"), data={}, cwd="/w", environ={"SHELL": " /bin/fish "})
    call = DIALECT.event_out(spec_of("PreToolUse", command="  ls  "), event)
    assert ("/bin/fish", "-c", "ls") in (call.argv, *call.fallbacks)
    assert call.fallbacks[-1] == ("/usr/bin/env", "ash", "-c", "ls")


def test_half_a_character_pair_is_escaped_and_never_an_error() -> None:
    event = Event(kind=event_kind("UserPromptSubmit"), data={"prompt": "\ud800"}, cwd="/w")
    assert json.loads(DIALECT.event_out(spec_of("UserPromptSubmit"), event).stdin)["prompt"] == "\ud800"


def test_a_prompt_hook_gets_the_payload_and_no_command() -> None:
    event = Event(kind=event_kind("Stop"), data={}, cwd="/w")
    call = DIALECT.event_out(spec_of("Stop", type="prompt", prompt="p"), event)
    assert (call.argv, json.loads(call.stdin)["event_type"]) == ((), "Stop")


@pytest.mark.parametrize(("source", "new"), [("startup", True), ("resume", False), ("clear", True), (None, True)])
def test_a_session_is_new_unless_it_continues_an_old_one(source: str | None, new: bool) -> None:
    event = Event(kind=event_kind("SessionStart"), data={"source": source} if source else {})
    assert payload("SessionStart", event)["is_new_session"] is new


def test_parts_of_an_output_are_joined_by_lines() -> None:
    parts = [{"mimetype": "text/plain", "content": "a"}, {"type": "text", "text": "b"}, "c"]
    event = Event(kind=event_kind("PostToolUse"), data={"tool_name": "Bash", "tool_output": parts})
    assert payload("PostToolUse", event)["tool_result"] == {"status": "success", "output": "a\nb\nc"}


def verdict(answer: str, event: str = "PreToolUse", **raw: Any) -> Any:
    spec = spec_of(event, type="prompt", prompt="p")
    return DIALECT.reply_in(spec, Event(kind=event_kind(event), data={}), RunResult(stdout=answer, exit_code=0, **raw))


def test_an_allowing_model_says_nothing_to_the_agent() -> None:
    reply = verdict('{"ok":true}', "UserPromptSubmit")
    assert (reply.effect, reply.context) == (None, ())


@pytest.mark.parametrize(
    ("event", "reason"),
    [("PreToolUse", "Blocked by hook"), ("PermissionRequest", "Denied by hook"), ("Stop", "Stop hook blocked")],
)
def test_a_model_that_forbids_without_a_reason_still_forbids(event: str, reason: str) -> None:
    reply = verdict('{"ok":false}', event)
    assert (reply.effect, reply.reason) == ("deny", reason)


def test_a_reason_may_hold_braces_and_dollars() -> None:
    assert verdict('{"ok":false,"reason":"use ${HOME} {not} ```x```"}').reason == "use ${HOME} {not} ```x```"


def test_a_model_that_forbids_what_has_happened_gives_feedback() -> None:
    assert verdict('{"ok":false,"reason":"r"}', "PostToolUse").context[0].text == "r"


def test_a_model_may_add_context_after_a_tool() -> None:
    assert verdict('{"ok":true,"additionalContext":"c"}', "PostToolUse").context[0].text == "c"


@pytest.mark.parametrize("answer", ["", "yes", '{"ok":null}', '{"ok":1}', "{}", "[true]"])
def test_an_answer_without_a_boolean_is_a_failure(answer: str) -> None:
    assert "ok" in verdict(answer).error


def test_a_failed_request_is_a_failure_with_its_words() -> None:
    assert verdict("", error="API error (500): x").error == "API error (500): x"
