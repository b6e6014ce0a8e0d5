"""Law 1: one deny is enough; reasons keep declared order; no deny without a denier."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookline.core.event import EVENTS
from hookline.core.hook import HookSpec
from hookline.core.result import Decision, Failed, Outcome, Replied, Reply, Skipped, Started, TimedOut
from hookline.engine import fold
from hookline.testing import hook_spec

DENIABLE = EVENTS["PreToolUse"]
EFFECTS = st.sampled_from([None, "allow", "ask", "deny"])


def replied(spec: HookSpec, **said) -> Outcome:
    return Replied(id=spec.id, hook=spec.name, reply=Reply(**said))


def folded(pairs: list[tuple[HookSpec, Outcome]], kind=DENIABLE, data=None, **bounds) -> Decision:
    state = fold.begin(kind, data or {})
    for spec, outcome in pairs:
        state = fold.step(state, spec, outcome)
    return fold.finish(state, [outcome for _, outcome in pairs], **bounds)


@st.composite
def companies(draw: st.DrawFn, *, deny: bool = True) -> list[tuple[HookSpec, Outcome]]:
    """Hooks that reply, fail (harmlessly), are skipped or run on their own, in any mixture."""
    effects = EFFECTS if deny else st.sampled_from([None, "allow", "ask"])
    pairs: list[tuple[HookSpec, Outcome]] = []
    for number in range(draw(st.integers(0, 6))):
        spec = hook_spec(f"hook-{number}", after_deny="continue", on_failure="ignore")
        who: Any = {"id": spec.id, "hook": spec.name}
        outcome: Any = draw(
            st.one_of(
                st.builds(
                    lambda effect, spec=spec, number=number: replied(spec, effect=effect, reason=f"reason {number}"),
                    effects,
                ),
                st.sampled_from(
                    [
                        Failed(**who, error="broke"),
                        TimedOut(**who, error="late"),
                        Skipped(**who, error="gate"),
                        Started(**who),
                    ]
                ),
            )
        )
        pairs.append((spec, outcome))
    return pairs


def effects_of(pairs: list[tuple[HookSpec, Outcome]]) -> list[str | None]:
    return [outcome.reply.effect if outcome.reply else None for _, outcome in pairs]


@given(companies(), companies())
def test_one_deny_is_enough_and_survives_any_company(before, after):
    denier = hook_spec("denier", after_deny="continue")
    decision = folded([*before, (denier, replied(denier, effect="deny", reason="never")), *after])
    assert decision.effect == "deny"
    assert not decision.granted
    assert "never" in decision.reason.splitlines()


@given(companies())
def test_reasons_of_the_strongest_word_keep_declared_order(pairs):
    decision = folded(pairs)
    said = [outcome.reply for _, outcome in pairs if outcome.reply and outcome.reply.effect == decision.effect]
    assert decision.reason == "\n".join(reply.reason for reply in said)


@given(companies(deny=False))
def test_there_is_no_deny_without_a_denier(pairs):
    decision = folded(pairs)
    assert decision.effect != "deny"
    assert decision.effect == ("ask" if "ask" in effects_of(pairs) else "allow")


@given(companies())
def test_granted_only_if_somebody_said_allow_and_nobody_said_more(pairs):
    said = effects_of(pairs)
    assert folded(pairs).granted == ("allow" in said and "ask" not in said and "deny" not in said)


@given(companies())
def test_the_strongest_word_wins_and_ask_is_weaker_than_deny(pairs):
    rank = {None: 0, "allow": 0, "ask": 1, "deny": 2}
    strongest = max((rank[effect] for effect in effects_of(pairs)), default=0)
    assert rank[folded(pairs).effect] == strongest


@given(companies(), st.sampled_from([kind for kind in EVENTS.values() if not kind.deniable]))
def test_a_deny_of_what_has_already_happened_is_ignored_and_noted(before, kind):
    denier = hook_spec("denier")
    decision = folded([*before, (denier, replied(denier, effect="deny", reason="too late"))], kind)
    assert decision.effect == "allow"
    assert "denier" in [note.hook for note in decision.ignored]


def test_after_a_deny_a_hook_that_says_stop_ends_the_chain_and_one_that_says_continue_does_not():
    for after, stopped in (("stop", True), ("continue", False)):
        spec = hook_spec("denier", after_deny=after)
        state = fold.step(fold.begin(DENIABLE, {}), spec, replied(spec, effect="deny"))
        assert state.stopped is stopped


@given(companies())
def test_outcomes_are_reported_in_declared_order(pairs):
    assert list(folded(pairs).outcomes) == [outcome for _, outcome in pairs]


@given(st.integers(0, 20), st.integers(1, 12))
def test_a_stop_is_sent_back_only_as_often_as_the_loop_guard_allows(continuations, limit):
    spec = hook_spec("again", event="Stop")
    decision = folded(
        [(spec, replied(spec, effect="deny", reason="go on"))], EVENTS["Stop"], continuations=continuations, limit=limit
    )
    assert decision.effect == ("deny" if continuations < limit else "allow")
    assert bool(decision.ignored) == (continuations >= limit)
