"""No pattern can hang the engine, and one that cannot be decided counts as a failure of its hook."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline import Engine
from hookline.core.hook import FieldTest, Matcher, Pattern
from hookline.core.result import Failed
from hookline.engine import patterns
from hookline.engine.patterns import Undecided
from hookline.testing import hook_spec

CATASTROPHES = [
    (r"(a+)+$", "a" * 60 + "!"),
    (r"(a|aa)+$", "a" * 60 + "!"),
    (r"(.*a){20}$", "a" * 60 + "!"),
    (r"([a-zA-Z]+)*$", "a" * 60 + "!"),
    (r"(x+x+)+y", "x" * 60),
    (r"^(\w+\s?)*$", "word " * 30 + "!"),
    (r".*.*.*.*=.*", "a" * 20_000),
    (r"(?=(a+))(a|b|ab)*c", "ab" * 40),
    (r"a.*a.*b", "a" * 20_000),
    (r"a.*b", "a" * 200_000),
    (r"(.*?,){25}P", "1," * 40),
]
BAD = ["(", "[", "*", "(?P<n>", "a{3,1}", "\\"]


@pytest.mark.parametrize(("pattern", "text"), CATASTROPHES)
@pytest.mark.parametrize("style", ["full", "search"])
def test_a_catastrophic_pattern_answers_or_gives_up_at_once(pattern, text, style):
    began = monotonic()
    with suppress(Undecided):
        patterns.compile_pattern(Pattern(style=style, text=pattern))(text)
    assert monotonic() - began < 20


@pytest.mark.parametrize("on_failure", ["ignore", "deny", "abort"])
@pytest.mark.parametrize("pattern", ["(a|aa)+$", "("])
@pytest.mark.parametrize("where", ["subject", "field"])
def test_a_pattern_that_cannot_be_decided_is_a_failure_judged_by_on_failure(on_failure, pattern, where):
    text = Pattern(style="search", text=pattern)
    matcher = (
        Matcher(subject=text) if where == "subject" else Matcher(fields=(FieldTest(path="tool_name", pattern=text),))
    )
    ran: list[object] = []
    engine = Engine(specs=(hook_spec("guard", ran.append, matcher=matcher, on_failure=on_failure),))
    for _ in range(2):
        decision = engine.fire_sync("PreToolUse", tool_name="a" * 60 + "!")
        assert [type(outcome) for outcome in decision.outcomes] == [Failed]
        assert decision.effect == ("allow" if on_failure == "ignore" else "deny")
        assert (decision.aborted is not None) == (on_failure == "abort")
    assert ran == []


@pytest.mark.parametrize("pattern", BAD)
def test_a_bad_pattern_is_refused_not_taken_for_a_text(pattern):
    with pytest.raises(Undecided):
        patterns.compile_pattern(Pattern(style="full", text=pattern))(pattern)


@given(st.text(alphabet="a.*+?|()[]^$\\b{1,}", max_size=12), st.text(alphabet="ab!.", max_size=40))
@settings(deadline=20_000, max_examples=100)
def test_no_pattern_raises_anything_but_undecided(pattern, text):
    with suppress(Undecided):
        patterns.compile_pattern(Pattern(style="search", text=pattern))(text)


def test_one_hostile_text_does_not_switch_a_pattern_off():
    matcher = Matcher(fields=(FieldTest(path="tool_input.command", pattern=Pattern(style="search", text="(a|aa)+$")),))
    spec = hook_spec("guard", lambda _event: {"effect": "deny", "reason": "no"}, matcher=matcher)
    engine = Engine(specs=(spec,))
    engine.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "a" * 60 + "!"})
    assert engine.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "aaa"}).effect == "deny"
