"""A guard that was edited or removed stands where it stood, and fails there."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.core.hook import Gates, HookSpec, Matcher, Origin, Pattern, Scope
from hookline.core.samples import hook_spec
from hookline.engine.eligibility import stand_in_for_changed, stand_in_for_removed
from hookline.state.trust import Approval, TrustVerdict

APPROVED = Approval(
    name="guard", event="PreToolUse", file="/p/hookline.toml", pointer="$.hook[0]", definition="d",
    on_failure="deny",
)  # fmt: skip


def verdict(*changed: str, approval: Approval | None = APPROVED) -> TrustVerdict:
    return TrustVerdict(state="changed", changed=changed, approval=approval)


def edited(**fields: Any) -> HookSpec:
    return hook_spec("guard", origin=Origin(file="/p/hookline.toml", layer="project"), **fields)


@pytest.mark.parametrize(
    "edit",
    [
        {"enabled": False},
        {"matcher": Matcher(subject=Pattern(style="exact", text="Never"))},
        {"gates": Gates(min_turn=1000)},
        {"scope": Scope(kind="tool", name="nobody")},
        {"mode": "background"},
        {"on_failure": "ignore"},
    ],
)
def test_no_edit_of_the_definition_keeps_a_guard_from_failing(edit: dict[str, Any]) -> None:
    stands = stand_in_for_changed(edited(**edit), verdict("definition"))
    assert (stands.enabled, stands.matcher, stands.gates, stands.scope, stands.mode) == (
        True, Matcher(), Gates(), Scope(), "sync",
    )  # fmt: skip
    assert stands.on_failure == "deny"


@pytest.mark.parametrize(
    ("before", "now", "counts"),
    [("deny", "abort", "abort"), ("abort", "deny", "abort"), ("ignore", "ignore", "ignore"), ("", "deny", "deny")],
)
def test_the_stricter_meaning_of_a_failure_counts(before: Any, now: Any, counts: str) -> None:
    approval = Approval(name="guard", event="PreToolUse", file="f", pointer="$", definition="d", on_failure=before)
    assert stand_in_for_changed(edited(on_failure=now), verdict("definition", approval=approval)).on_failure == counts


def test_a_hook_whose_files_changed_keeps_its_definition() -> None:
    spec = edited(enabled=False, matcher=Matcher(subject=Pattern(style="exact", text="Bash")))
    assert stand_in_for_changed(spec, verdict("guard.sh")) is spec


def test_the_stand_in_keeps_name_event_and_place() -> None:
    spec = edited(enabled=False)
    stands = stand_in_for_changed(spec, verdict("definition"))
    assert (stands.id, stands.name, stands.event, stands.origin) == (spec.id, spec.name, spec.event, spec.origin)


def test_a_removed_guard_is_replaced_by_one_that_fails_on_everything() -> None:
    stands = stand_in_for_removed(APPROVED)
    assert stands is not None
    assert (stands.name, stands.event, stands.on_failure) == ("guard", "PreToolUse", "deny")
    assert (stands.matcher, stands.gates, stands.origin.layer) == (Matcher(), Gates(), "project")


@pytest.mark.parametrize("on_failure", ["", "ignore"])
def test_a_removed_hook_whose_failure_blocks_nothing_leaves_nothing_behind(on_failure: Any) -> None:
    approval = Approval(name="note", event="Stop", file="f", pointer="$", definition="d", on_failure=on_failure)
    assert stand_in_for_removed(approval) is None


def test_two_removed_guards_of_one_file_are_told_apart() -> None:
    other = Approval(
        name="other", event="PreToolUse", file="/p/hookline.toml", pointer="$.hook[0]", definition="d",
        on_failure="deny",
    )  # fmt: skip
    first, second = stand_in_for_removed(APPROVED), stand_in_for_removed(other)
    assert first is not None
    assert second is not None
    assert first.id != second.id
