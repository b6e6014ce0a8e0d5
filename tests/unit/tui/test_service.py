"""Switching and trying hooks, and looking back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.tui.conftest import Place, hook_of

from hookline.core.errors import DataError, UsageError
from hookline.core.result import Skipped
from hookline.dialects.event_lookup import canonical_event
from hookline.engine.try_hook import find_undeclared, payload_event, spec_on, try_hook
from hookline.tui import details as show
from hookline.tui.catalog import catalog

if TYPE_CHECKING:
    from hookline.tui.service import HookService

REFUSED = {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}


def test_a_switched_off_hook_is_skipped_and_the_reason_is_told(service: HookService, place: Place) -> None:
    service.switch_off(hook_of(service, "guard"), 3600)
    with place.assemble().engine as engine:
        decision = engine.fire_sync("PreToolUse", REFUSED)
    (outcome,) = decision.outcomes
    assert decision.effect == "allow"
    assert isinstance(outcome, Skipped)
    assert outcome.error.startswith("switched off until")
    assert outcome.error.endswith("hookline hooks")


def test_a_running_engine_hears_of_a_switch_at_once(service: HookService, place: Place) -> None:
    with place.assemble().engine as engine:
        assert engine.fire_sync("PreToolUse", REFUSED).effect == "deny"
        service.switch_off(hook_of(service, "guard"))
        assert engine.fire_sync("PreToolUse", REFUSED).effect == "allow"
        service.switch_on(hook_of(service, "guard"))
        assert engine.fire_sync("PreToolUse", REFUSED).effect == "deny"


def test_a_hook_is_switched_on_all_its_events(service: HookService) -> None:
    service.switch_off(hook_of(service, "reviewer"))
    assert sorted(one.event for one in service.runtime.switches.list()) == ["Stop", "SubagentStop"]
    assert service.switch_on(hook_of(service, "reviewer"))
    assert not service.switch_on(hook_of(service, "reviewer"))


def test_a_changed_guard_fails_even_under_a_switch(service: HookService, place: Place) -> None:
    """Otherwise an agent could rename a guard to the name of a hook that is switched off."""
    file = place.project / ".hookline" / "hookline.toml"
    file.parent.mkdir()
    text = '[[hook]]\nname = "{}"\non = "PreToolUse"\nshell = "{}"\non_failure = "deny"\n'
    file.write_text(text.format("lint", "exit 0"))
    service.reload()
    assert service.runtime.trust is not None
    service.runtime.trust.approve([hook_of(service, "lint").specs[0]])
    service.switch_off(hook_of(service, "lint"))
    file.write_text(text.format("lint", "exit 2"))
    with place.assemble().engine as engine:
        decision = engine.fire_sync("PreToolUse", {"tool_name": "Read"})
    assert decision.effect == "deny"
    assert "changed since it was trusted" in decision.reason


def test_a_hook_is_tried_on_a_sample_and_the_decision_is_seen(service: HookService) -> None:
    tried = service.try_sample(hook_of(service, "guard"))
    assert (tried.decision.effect, tried.would_not) == ("allow", "")
    assert "PreToolUse: allow" in show.trial_text(tried)


def test_a_hook_is_tried_on_a_recorded_event(service: HookService, place: Place) -> None:
    place.fire("PreToolUse", **REFUSED)
    (row,) = service.recorded("PreToolUse")
    tried = service.try_recorded(hook_of(service, "guard"), row)
    assert (tried.decision.effect, tried.decision.reason) == ("deny", "by hand")
    assert service.find_recorded(row.id) == row
    with pytest.raises(DataError):
        service.find_recorded("nonsense")


def test_trying_records_and_counts_nothing(service: HookService, place: Place) -> None:
    service.try_sample(hook_of(service, "guard"))
    assert service.recorded("PreToolUse") == ()


def test_a_switched_off_hook_can_be_tried(service: HookService) -> None:
    service.switch_off(hook_of(service, "guard"))
    tried = service.try_sample(hook_of(service, "guard"))
    assert tried.raw is not None
    assert tried.would_not.startswith("switched off")


def test_a_strangers_hook_is_not_run_by_trying_it(service: HookService, place: Place) -> None:
    file = place.project / ".hookline" / "hookline.toml"
    file.parent.mkdir()
    file.write_text(f'[[hook]]\nname = "evil"\non = "Stop"\nshell = "touch {place.project}/ran"\n')
    service.reload()
    with pytest.raises(UsageError, match="not trusted"):
        service.try_sample(hook_of(service, "evil"))
    assert not (place.project / "ran").exists()


@pytest.mark.parametrize("name", ["SessionStart", "session_start", "sessionstart", "session-start"])
def test_an_event_may_be_named_as_people_name_it(name: str) -> None:
    assert canonical_event(name, "native") == "SessionStart"


def test_a_dialects_own_name_goes_first() -> None:
    assert canonical_event("session_start", "memex") == "UserPromptSubmit"
    with pytest.raises(UsageError, match="unknown event"):
        canonical_event("no_such_thing", "native")


def test_a_hook_on_several_events_must_be_told_which(service: HookService) -> None:
    reviewer = hook_of(service, "reviewer")
    with pytest.raises(UsageError, match="--event"):
        spec_on(reviewer.specs, "")
    with pytest.raises(UsageError, match="not to PreToolUse"):
        spec_on(reviewer.specs, "PreToolUse")
    assert spec_on(reviewer.specs, "subagent_stop").event == "SubagentStop"


@pytest.mark.parametrize(
    "payload",
    [
        REFUSED,
        {"event": "PreToolUse", "data": REFUSED},
        {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/tmp", **REFUSED},
    ],
)
def test_a_payload_may_be_data_or_our_wire_or_an_agents(service: HookService, payload: dict[str, object]) -> None:
    spec = hook_of(service, "guard").specs[0]
    event = payload_event(spec, payload, service.runtime)
    assert try_hook(spec, event, service.runtime).decision.effect == "deny"


def test_what_fired_is_told_with_its_answer(service: HookService, place: Place) -> None:
    place.fire("PreToolUse", **REFUSED)
    service.reload()
    guard = hook_of(service, "guard")
    assert show.cells(guard)[2:4] == ("deny", "1")
    text = show.details(guard, service.fired(guard), service.now)
    assert "fired 1 times, failed 0" in text
    assert "by hand" in text


def test_a_script_is_shown_as_a_whole(service: HookService, place: Place) -> None:
    script = "#!/bin/sh\\n# one\\nexit 0\\n"
    place.user_file.write_text(f'[[hook]]\nname = "x"\non = "Stop"\nscript = "{script}"\n')
    service.reload()
    assert "── does ──\n#!/bin/sh\n# one\nexit 0" in show.details(service.hooks[0], (), 0.0)


def test_nothing_a_hook_prints_can_move_the_cursor(service: HookService, place: Place) -> None:
    place.user_file.write_text(
        '[[hook]]\nname = "a\\u001b[2J"\non = "Stop"\nshell = "printf \'\\\\033[31mred\\\\033]0;x\\\\007\'"\n'
    )
    service.reload()
    (hook,) = service.hooks
    for text in (*show.cells(hook), show.details(hook, (), 0.0), show.trial_text(service.try_sample(hook))):
        assert text.replace("\n", "").isprintable()


def test_hooks_that_are_nowhere_declared_are_found_by_name(service: HookService, place: Place) -> None:
    file = place.home / ".config" / "lazy-harness" / "hooks" / "my_hook.py"
    file.parent.mkdir(parents=True)
    file.write_text("print('hello')\n")
    spec = find_undeclared("my_hook", "session_start", service.runtime)
    assert spec is not None
    assert catalog([spec], stats={})[0].events == ("SessionStart",)
    assert find_undeclared("another", "session_start", service.runtime) is None
