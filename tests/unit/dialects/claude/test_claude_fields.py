"""Every field of Claude Code's file has an effect here, or ``check`` says that it has none."""

from __future__ import annotations

from typing import Any

import pytest

from hookline import Engine
from hookline.core.event import Event, event_kind
from hookline.core.hook import HookSpec, Http
from hookline.core.settings import Settings
from hookline.dialects.base import Call, Layer, Lookup, Parsed
from hookline.dialects.claude import DIALECT
from hookline.runners.base import Job, Stop
from hookline.runners.http import _Request  # pyright: ignore[reportPrivateUsage]

PATH = "/p/.claude/settings.json"


def layer(*groups: tuple[str | None, dict[str, Any]], event: str = "PreToolUse") -> Layer:
    listed = [{"hooks": [hook]} | ({} if matcher is None else {"matcher": matcher}) for matcher, hook in groups]
    return Layer(path=PATH, name="project", syntax="json", text="", tree={"hooks": {event: listed}})


def parse(*groups: tuple[str | None, dict[str, Any]], event: str = "PreToolUse") -> Parsed:
    return DIALECT.parse([layer(*groups, event=event)], Lookup())


def command(text: str = "true", **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **more}


def ran(specs: tuple[HookSpec, ...], tool: str, **given: Any) -> list[str]:
    decision = Engine(specs=specs, cwd="/").fire_sync("PreToolUse", {"tool_name": tool, "tool_input": given})
    return [one.hook for one in decision.outcomes]


# ── identical commands ───────────────────────────────────────────────────────────────────────────────


def test_a_command_of_several_matchers_runs_once() -> None:
    specs = parse(("Bash", command()), ("*", command()), ("Bash|Edit", command(timeout=5))).specs
    assert len(specs) == 3
    assert ran(specs, "Bash") == ["true"]
    assert ran(specs, "Edit") == ["true"]


def test_explain_says_that_the_second_does_not_run() -> None:
    specs = parse(("Bash", command()), ("*", command())).specs
    engine = Engine(specs=specs, cwd="/")
    explained = engine.explain(engine.event("PreToolUse", {"tool_name": "Bash", "tool_input": {}}))
    assert [one.why for one in explained] == ["", "the same hook runs for another matcher"]


def test_commands_with_another_condition_or_another_text_stay_apart() -> None:
    specs = parse(("Bash", command()), ("*", command("true ")), ("*", command(**{"if": "Bash"}))).specs
    assert ran(specs, "Bash") == ["true", "true ", "true"]


# ── http ─────────────────────────────────────────────────────────────────────────────────────────────


def headers(environ: dict[str, str], **more: Any) -> dict[str, str]:
    hook = {"type": "http", "url": "http://localhost/", "headers": {"X": "a $ONE b ${TWO}"}, **more}
    spec = parse((None, hook)).specs[0]
    event = Event(kind=event_kind("PreToolUse"), data={}, environ=environ)
    request = _Request(Job(spec=spec, event=event, call=Call(), settings=Settings(), stop=Stop()))
    return {name: bytes(value).decode() for name, value in request._headers.items() if isinstance(value, bytes)}


def test_only_allowed_variables_are_put_into_headers_and_an_unset_one_is_empty() -> None:
    both = {"ONE": "1", "TWO": "2"}
    assert headers(both, allowedEnvVars=["ONE"]) == {"X": "a 1 b "}
    assert headers({"TWO": "2"}, allowedEnvVars=["ONE", "TWO"]) == {"X": "a  b 2"}
    assert headers(both) == {"X": "a  b "}


def test_a_list_of_variables_that_is_none_is_a_problem() -> None:
    hook = {"type": "http", "url": "http://localhost/", "allowedEnvVars": "TOKEN"}
    (problem,) = parse((None, hook)).problems
    assert (problem.severity, problem.pointer) == ("error", "$.hooks.PreToolUse[0].hooks[0].allowedEnvVars")


def test_a_header_with_a_variable_that_is_not_allowed_is_reported() -> None:
    hook = {"type": "http", "url": "http://localhost/", "headers": {"X": "Bearer $TOKEN"}}
    (problem,) = parse((None, hook)).problems
    assert (problem.severity, problem.pointer) == ("warning", "$.hooks.PreToolUse[0].hooks[0].headers.X")
    assert "TOKEN" in problem.finding


def test_the_list_is_written_again() -> None:
    hook = {"type": "http", "url": "http://localhost/", "headers": {"X": "$ONE"}, "allowedEnvVars": ["ONE"]}
    spec = parse((None, hook)).specs[0]
    assert spec.action == Http(url="http://localhost/", headers=(("X", "$ONE"),), variables=("ONE",))
    assert '"allowedEnvVars"' in DIALECT.render([spec]).text


# ── a whole server ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("matcher", ["mcp__memory", "Bash|mcp__memory", "mcp__memory__.*"])
def test_the_name_of_a_server_matches_all_its_tools(matcher: str) -> None:
    specs = parse((matcher, command())).specs
    assert ran(specs, "mcp__memory__create") == ["true"]
    assert ran(specs, "mcp__memories__create") == []


def test_a_rule_may_name_a_whole_server() -> None:
    specs = parse((None, command(**{"if": "mcp__memory"}))).specs
    assert ran(specs, "mcp__memory__create") == ["true"]
    assert ran(specs, "mcp__memories__create") == []


def test_one_tool_of_a_server_stays_one_tool() -> None:
    assert ran(parse(("mcp__memory__create", command())).specs, "mcp__memory__create_all") == []


# ── what only Claude Code does ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("field", "hook"),
    [
        ("asyncRewake", command(asyncRewake=True)),
        ("rewakeMessage", command(asyncRewake=True, rewakeMessage="m")),
        ("rewakeSummary", command(asyncRewake=True, rewakeSummary="s")),
        ("statusMessage", command(statusMessage="Checking…")),
        ("once", command(once=True)),
        ("continueOnBlock", {"type": "prompt", "prompt": "p", "continueOnBlock": True}),
        ("command", command('echo A=1 >> "$CLAUDE_ENV_FILE"')),
        ("type", {"type": "agent", "prompt": "p"}),
        ("type", {"type": "mcp_tool", "server": "s", "tool": "t"}),
    ],
)
def test_what_has_no_effect_here_is_reported_at_its_place(field: str, hook: dict[str, Any]) -> None:
    problems = parse((None, hook), event="SessionStart" if field == "command" else "PreToolUse").problems
    assert f"$.hooks.{'SessionStart' if field == 'command' else 'PreToolUse'}[0].hooks[0].{field}" in {
        one.pointer for one in problems
    }


def test_an_async_hook_is_not_waited_for() -> None:
    assert parse((None, {**command(), "async": True})).specs[0].mode == "async"
