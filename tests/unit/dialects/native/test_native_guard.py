"""``[guard]`` in a hookline.toml: what is read, what is wrong with it, and that no file loosens another's."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from hookline.core.builtin_hooks import GUARD
from hookline.core.hook import Function
from hookline.dialects.base import Layer, Lookup, Parsed
from hookline.dialects.native import DIALECT

RULE = '[[guard.rule]]\neffect = "delete"\nwhere = "outside project"\nthen = "deny"\n'
EXCEPTION = '[[guard.exception]]\ncommand = "make clean"\nuntil = 2027-01-31\nreason = "it is ours"\n'


def layer(text: str, name: str = "user") -> Layer:
    return Layer(path=f"/{name}/hookline.toml", name=name, syntax="toml", text=text, tree=tomllib.loads(text))


def parse(*layers: Layer) -> Parsed:
    return DIALECT.parse(layers, Lookup())


def given(parsed: Parsed, file: str = "/user/hookline.toml") -> Any:
    (text,) = {
        spec.action.given
        for spec in parsed.specs
        if isinstance(spec.action, Function) and spec.origin.file == file
    }  # fmt: skip
    return json.loads(text)


def findings(parsed: Parsed) -> list[tuple[str, str]]:
    return [(problem.pointer, problem.severity) for problem in parsed.problems]


def test_the_table_is_one_hook_on_every_event_that_it_can_refuse() -> None:
    parsed = parse(layer('[guard]\npolicy = "standard"\n'))
    assert [(spec.name, spec.event, spec.on_failure, spec.mode) for spec in parsed.specs] == [
        ("guard", event, "deny", "sync")
        for event in ("PreToolUse", "PermissionRequest", "pipeline.pre_execute", "process.pre_spawn")
    ]
    assert parsed.specs[0].action == Function(target=GUARD, given='{"policy": "standard"}')
    assert parsed.problems == ()


def test_it_judges_what_the_other_hooks_have_made_of_a_call() -> None:
    text = '[guard]\n[[hook]]\nname = "late"\non = "PreToolUse"\nrun = "x"\norder = 2147483647\n'
    orders = {spec.name: spec.order for spec in parse(layer(text)).specs}
    assert orders["guard"] > orders["late"]


def test_without_a_policy_it_is_the_standard_one() -> None:
    assert given(parse(layer("[guard]\n"))) == {"policy": "standard"}


def test_rules_and_exceptions_are_read() -> None:
    parsed = parse(layer(f'[guard]\nallow = "read-only"\n{RULE}{EXCEPTION}'))
    assert parsed.problems == ()
    assert given(parsed) == {
        "policy": "standard",
        "allow": "read-only",
        "rule": [{"effect": "delete", "where": "outside project", "then": "deny"}],
        "exception": [{"command": "make clean", "until": "2027-01-31", "reason": "it is ours"}],
    }


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("guard = 3", "$.guard"),
        ('[guard]\npolicy = "lax"', "$.guard.policy"),
        ('[guard]\npolcy = "strict"', "$.guard.polcy"),
        ('[guard]\nrule = "x"', "$.guard.rule"),
        ('[[guard.rule]]\neffect = "delet"\nthen = "deny"', "$.guard.rule[0].effect"),
        ('[[guard.rule]]\neffect = "delete"', "$.guard.rule[0]"),
        ('[[guard.rule]]\neffect = "delete"\nthen = "block"', "$.guard.rule[0].then"),
        ('[[guard.exception]]\ncommand = "x"\nreason = "y"', "$.guard.exception[0]"),
        ('[[guard.exception]]\ncommand = "x"\nuntil = "2027-01-31"', "$.guard.exception[0]"),
        ('[[guard.exception]]\nreason = "x"\nuntil = "2027-01-31"', "$.guard.exception[0]"),
        ('[[guard.exception]]\ncommand = "x"\nreason = "y"\nuntil = "2027-02-30"', "$.guard.exception[0].until"),
    ],
)
def test_a_mistake_has_its_address(text: str, pointer: str) -> None:
    assert findings(parse(layer(text))) == [(pointer, "error")]


def test_a_mistake_costs_only_itself() -> None:
    parsed = parse(layer(f'[guard]\npolicy = "lax"\n{RULE}[[guard.rule]]\neffect = "x"\nthen = "allow"\n'))
    assert given(parsed)["policy"] == "standard"
    assert len(given(parsed)["rule"]) == 1


def test_every_file_has_a_guard_of_its_own() -> None:
    """So none can loosen another's: one deny is enough."""
    parsed = parse(layer('[guard]\npolicy = "strict"\n'), layer(f'[guard]\npolicy = "watch"\n{EXCEPTION}', "project"))
    assert given(parsed) == {"policy": "strict"}
    assert given(parsed, "/project/hookline.toml")["policy"] == "watch"
    assert all(spec.enabled for spec in parsed.specs)
    assert len({spec.id for spec in parsed.specs}) == len(parsed.specs) == 8


@pytest.mark.parametrize("name", ["project", "local"])
def test_a_project_cannot_grant_anything(name: str) -> None:
    parsed = parse(layer('[guard]\nallow = "read-only"\n', name))
    assert "allow" not in given(parsed, f"/{name}/hookline.toml")
    assert findings(parsed) == [("$.guard.allow", "warning")]


def test_a_guard_is_written_as_it_was_read() -> None:
    specs = parse(layer(f'[guard]\nallow = "read-only"\n{RULE}{EXCEPTION}')).specs
    again = parse(layer(DIALECT.render(specs).text)).specs
    assert [spec.action for spec in again] == [spec.action for spec in specs]
