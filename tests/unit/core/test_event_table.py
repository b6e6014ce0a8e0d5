from __future__ import annotations

import pytest

from hookline.core.event import COMMON_FIELDS, EVENTS, ROWS, event_kind
from hookline.testing import event, sample, samples


def test_every_row_is_there_once():
    assert len(EVENTS) == len(ROWS)


@pytest.mark.parametrize("kind", EVENTS.values(), ids=list(EVENTS))
def test_a_row_speaks_only_of_fields_that_the_event_has(kind):
    known = {*kind.fields, *COMMON_FIELDS, *sample(kind.name)}
    assert {*kind.modifies, kind.subject, kind.message} - {None} <= known
    assert len(set(kind.fields)) == len(kind.fields)
    assert kind.about.endswith(".")


@pytest.mark.parametrize("kind", EVENTS.values(), ids=list(EVENTS))
def test_what_sends_the_agent_back_to_work_can_be_denied(kind):
    assert kind.deniable or not kind.continues


def test_every_row_has_a_sample_with_every_documented_field():
    assert set(samples()) == set(EVENTS)
    for name, data in samples().items():
        assert set(EVENTS[name].fields) <= set(data)


def test_a_sample_can_be_changed_without_changing_the_next_one():
    sample("PreToolUse")["tool_input"]["command"] = "changed"
    assert sample("PreToolUse")["tool_input"]["command"] != "changed"


def test_an_event_is_its_sample_with_the_given_data_laid_over_it():
    built = event("PreToolUse", tool_name="Edit", session_id="s")
    assert (built.data["tool_name"], built.session, built.kind) == ("Edit", "s", EVENTS["PreToolUse"])
    assert built.data["tool_use_id"] == sample("PreToolUse")["tool_use_id"]


def test_an_event_without_a_row_is_carried_with_its_name():
    odd = event_kind("gemini:Odd")
    assert (odd.name, odd.family, odd.deniable, sample("gemini:Odd")) == ("gemini:Odd", "unknown", False, {})
