"""Policies: ready sets, own rules, exceptions, and what is wrong in their table."""

from __future__ import annotations

from datetime import date

import pytest

from hookline.guard import Policy, Surroundings, judge
from hookline.guard.effects import HARMS, KINDS, Effect
from hookline.guard.policy import POLICIES, READY

AROUND = Surroundings(cwd="/work/app", home="/home/me")
TODAY = date(2030, 6, 1)


def _policy(**table: object) -> Policy:
    policy, problems = Policy.from_table(table)
    assert not problems
    return policy


def _verdict(command: str, policy: Policy) -> str:
    return judge(command, policy=policy, around=AROUND, today=TODAY).verdict


def test_a_watching_policy_enforces_nothing_and_says_what_it_would() -> None:
    verdict = judge("rm -rf /", policy="watch", around=AROUND)
    assert (verdict.verdict, verdict.would) == ("none", "deny")


def test_a_verdict_names_effect_cause_and_a_safer_way() -> None:
    verdict = judge("cd x; git push --force", around=AROUND)
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.cause, verdict.safer) == (
        "git-remote", "git push --force", "git push --force-with-lease",
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("harm", HARMS)
def test_a_stricter_policy_never_answers_less(kind: str, harm: str) -> None:
    effect = Effect(kind=kind, harm=next(one for one in HARMS if one == harm))
    order = ("allow", "ask", "deny")
    answers = [order.index(READY[name].answer(effect, today=TODAY)) for name in ("standard", "strict")]
    assert answers == sorted(answers)


def test_an_own_rule_decides_before_the_set() -> None:
    rule = {"effect": "delete", "where": "outside project", "then": "deny"}
    policy = _policy(policy="standard", rule=[rule])
    assert [_verdict(one, policy) for one in ("rm /data/x", "rm x", "rm /tmp/x")] == ["deny", "none", "none"]


def test_a_rule_may_name_a_path_and_the_last_one_counts() -> None:
    policy = _policy(
        rule=[
            {"effect": "delete", "where": "~/Documents", "then": "deny"},
            {"effect": "delete", "where": "~/Documents/old", "then": "allow"},
        ]
    )
    assert [_verdict(f"rm -r ~/Documents/{one}", policy) for one in ("new", "old/x")] == ["deny", "none"]


def test_a_rule_cannot_open_hookline_itself() -> None:
    policy = _policy(rule=[{"effect": "any", "then": "allow"}])
    assert [_verdict(one, policy) for one in ("rm -rf /", "hookline undeploy")] == ["none", "deny"]


def test_an_exception_ends_on_its_day() -> None:
    row = {"command": "git reset --hard", "reason": "release week", "until": "2030-06-01"}
    assert _verdict("git reset --hard", _policy(exception=[row])) == "none"
    assert _verdict("git reset --hard HEAD~1", _policy(exception=[row])) == "ask"
    assert _verdict("git reset --hard", _policy(exception=[{**row, "until": "2030-05-31"}])) == "ask"


def test_an_exception_may_name_a_path_or_an_effect() -> None:
    path = _policy(exception=[{"path": "/data", "reason": "scratch"}])
    assert [_verdict(f"rm -rf {one}", path) for one in ("/data/x", "/other/x")] == ["none", "ask"]
    assert _verdict("git reset --hard", _policy(exception=[{"effect": "git-work", "reason": "mine"}])) == "none"


def test_unknown_means_what_the_policy_says() -> None:
    assert [_verdict("$X y", _policy(policy=name)) for name in ("standard", "strict")] == ["none", "ask"]
    assert _verdict("$X y", _policy(unknown="deny")) == "deny"


@pytest.mark.parametrize(
    ("table", "pointer"),
    [
        ({"policy": "loose"}, "$.guard.policy"),
        ({"polcy": "strict"}, "$.guard.polcy"),
        ({"rule": {"effect": "delete"}}, "$.guard.rule"),
        ({"rule": [{"effect": "deletion", "then": "deny"}]}, "$.guard.rule[0].effect"),
        ({"rule": [{"effect": "delete", "then": "block"}]}, "$.guard.rule[0].then"),
        ({"rule": [{"effect": "delete", "then": "deny", "where": "nowhere"}]}, "$.guard.rule[0].where"),
        ({"rule": [{"effect": "delete"}]}, "$.guard.rule[0]"),
        ({"exception": [{"command": "x"}]}, "$.guard.exception[0]"),
        ({"exception": [{"command": "x", "reason": "y", "until": "soon"}]}, "$.guard.exception[0].until"),
    ],
)
def test_a_mistake_is_reported_with_its_address(table: dict[str, object], pointer: str) -> None:
    policy, problems = Policy.from_table(table, "hookline.toml")
    assert [(one.file, one.pointer) for one in problems] == [("hookline.toml", pointer)]
    assert policy.name in POLICIES
