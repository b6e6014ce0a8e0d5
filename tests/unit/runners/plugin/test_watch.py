"""How long a plugin is borne with: without any plugin."""

from __future__ import annotations

from hookline.runners.plugin.watch import FLOOD, HUNG, PATIENCE, Patience


def test_nonsense_is_borne_until_it_comes_too_often_in_a_row() -> None:
    patience = Patience()
    for _ in range(3):
        assert [patience.after_nonsense("x") for _ in range(PATIENCE - 1)] == [""] * (PATIENCE - 1)
        patience.renew()
    assert [bool(patience.after_nonsense("x")) for _ in range(PATIENCE)] == [False] * (PATIENCE - 1) + [True]


def test_silence_ends_it_only_after_a_while() -> None:
    patience = Patience()
    assert [patience.after_silence(100.0) for _ in range(50)] == [""] * 50
    assert patience.after_silence(100.0 + HUNG) == "it did not answer 51 times in a row"
    patience.renew()
    assert patience.after_silence(1000.0) == ""


def test_a_burst_of_messages_is_borne_and_a_flood_is_not() -> None:
    patience = Patience()
    assert {patience.after_message(1.0) for _ in range(10 * FLOOD)} == {""}
    said = [patience.after_message(float(second)) for second in range(5, 5 + PATIENCE + 1) for _ in range(FLOOD + 1)]
    assert said[0] == ""
    assert said[-1] == f"it sent more than {FLOOD} messages in each of {PATIENCE} seconds"


def test_messages_do_not_answer_for_a_plugin_that_is_silent() -> None:
    patience = Patience()
    for _ in range(PATIENCE - 1):
        patience.after_silence(100.0)
        patience.after_message(100.0)
    assert patience.after_silence(100.0 + HUNG)
