"""What each dialect calls an event, and what somebody meant who wrote another name."""

from __future__ import annotations

import pytest

from hookline.core.errors import UsageError
from hookline.core.event import EVENTS
from hookline.dialects.event_lookup import event_meanings, event_names, guesses, unknown_event


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("pretooluse", "PreToolUse"),
        ("PreTool", "PreToolUse"),
        ("PreTolUse", "PreToolUse"),
        ("tool-use-pre", "PreToolUse"),
        ("before_tool", "PreToolUse"),
        ("STOP", "Stop"),
        ("prompt_submit", "UserPromptSubmit"),
        ("UserPrompt", "UserPromptSubmit"),
        ("sesion_start", "SessionStart"),
    ],
)
def test_the_likeliest_event_is_named_first_whoever_s_manner_it_was_written_in(written: str, first: str) -> None:
    assert guesses(written, EVENTS)[0] == first


def test_what_looks_like_nothing_is_given_no_guess() -> None:
    assert guesses("frobnicate", EVENTS) == guesses("", EVENTS) == guesses("…", EVENTS) == ()


def test_a_name_of_another_dialect_is_told_as_such() -> None:
    told = str(unknown_event("BeforeTool"))
    assert "PreToolUse in gemini" in told
    assert "--dialect gemini" in told
    assert "--dialect" not in str(unknown_event("BeforeTool", "lectic"))


def test_a_name_that_two_dialects_use_differently_is_told_for_both() -> None:
    assert "SessionStart in lazy and UserPromptSubmit in memex" in str(unknown_event("session_start"))


@pytest.mark.parametrize("name", ["PreTolUse", "BeforeTool", "nothing like it"])
def test_every_error_names_the_command_that_lists_them(name: str) -> None:
    assert str(unknown_event(name)).endswith("All events: hookline list --events")


def test_names_are_those_that_the_dialects_read() -> None:
    assert event_names("PreToolUse")["gemini"] == ("BeforeTool",)
    assert event_names("UserPromptSubmit")["memex"] == ("session_start", "pre_turn")
    assert "letta" not in event_names("RunStart")


def test_a_name_means_what_anybody_means_by_it() -> None:
    assert event_meanings("session_start") == {"SessionStart", "UserPromptSubmit"}
    assert event_meanings("other:Thing") == {"other:Thing"}
    with pytest.raises(UsageError, match="unknown event"):
        event_meanings("sesion_start")
