"""Patterns on data search, and what they do not cover they do not permit."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from hookline import Engine
from hookline.core._dataclass import replace
from hookline.core.hook import Function, HookSpec
from hookline.core.result import Decision, Failed
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.native import DIALECT
from hookline.state.trust.digest import definition_digest


def guard(pattern: Any, answer: dict[str, Any], **fields: Any) -> HookSpec:
    """A hook as it is written in a file, with another action."""
    tree = {"hook": [{"name": "guard", "on": "PreToolUse", "match": {"tool_input.command": pattern}, "run": "x"}]}
    layer = Layer(path="/f.toml", name="user", syntax="toml", text="", tree=tree)
    (spec,) = DIALECT.parse([layer], Lookup()).specs
    return replace(spec, action=Function(target="", call=lambda _event: answer), **fields)


def fired(spec: HookSpec, command: str) -> Decision:
    return Engine(specs=(spec,)).fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command})


DENY = {"effect": "deny", "reason": "no"}


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        (".*git push.*--force.*", "git push \\\n  --force"),
        (".*git push.*--force.*", "true\ngit push --force"),
        ("rm -rf .*", "cd x && rm -rf y"),
        ("rm -rf", "cd x && rm -rf y"),
        ("^rm -rf", "cd x\nrm -rf y"),
        (["curl", "wget"], "true; wget x"),
        ("(?!git ).*", "rm\nx"),
    ],
)
def test_a_pattern_finds_what_it_names_wherever_it_stands(pattern: Any, command: str) -> None:
    assert fired(guard(pattern, DENY), command).effect == "deny"


@pytest.mark.parametrize(
    ("pattern", "command"),
    [(r"\Arm\Z", "rm x"), ("(?!git ).*", "git status"), ({"not": "git .*"}, "git status"), ("rm -rf", "ls")],
)
def test_a_pattern_finds_nothing_else(pattern: Any, command: str) -> None:
    assert fired(guard(pattern, DENY), command).effect == "allow"


def test_a_negative_condition_keeps_its_full_match() -> None:
    assert fired(guard({"not": "git status"}, DENY), "git status; rm x").effect == "deny"


@pytest.mark.parametrize(
    ("command", "granted"),
    [("git status", True), ("git status -s", True), ("git status\nrm -rf /", False), ("rm -rf /; git status", False)],
)
def test_an_allow_counts_only_for_what_the_pattern_covers(command: str, granted: bool) -> None:
    decision = fired(guard("git status.*", {"effect": "allow"}), command)
    assert (decision.effect, decision.granted) == ("allow", granted)
    notes = [one.text for one in decision.ignored]
    assert notes == (
        [] if granted else ["allow counts as no opinion: its pattern covers only a part of tool_input.command"]
    )


def test_a_pattern_that_runs_out_of_time_is_a_failure_of_its_guard() -> None:
    decision = fired(guard("(a+)+b", {}), "a" * 5000)
    assert (decision.effect, type(decision.outcomes[0])) == ("deny", Failed)
    assert "took longer than" in decision.reason


def test_what_was_approved_before_stays_approved() -> None:
    text = """
[[hook]]
name = "guard"
on = "PreToolUse"
match = { tool_name = "Bash", "tool_input.command" = "rm .*" }
run = "./guard.sh"
"""
    before = "db6961c200a36444a5a356702b791204dd5fddf45666c33ec9d9acf57a5a6280"

    def digest(more: str) -> str:
        tree = tomllib.loads(text + more)
        layer = Layer(path="/p/.hookline/hookline.toml", name="project", syntax="toml", text="", tree=tree)
        return definition_digest(DIALECT.parse([layer], Lookup(project="/p")).specs[0])

    assert digest("") == before
    assert digest('on_failure = "ignore"\n') != before  # that would weaken a guard
