"""The quick way to the rows of a firing gives what the ordinary one gives, or leaves it to that one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.core._dataclass import EMPTY
from hookline.core.event import Event, event_kind
from hookline.core.result import NO_OPINION, NOTHING, Decision, Message, Replied, Reply, RunResult
from hookline.state.record import Record
from hookline.state.record.fast_path import MOST, PlainRows, quickest
from hookline.state.record.redact import Redactor
from hookline.state.record.rows import HEAD, make_rows
from hookline.testing import hook_spec

ENVIRON = {"GITHUB_TOKEN": "hunter2hunter2", "HOME": "/home/somebody"}
#: Words of which some are harmless, some announce a secret, some are one, and some are no text that SQLite takes.
WORDS = st.sampled_from(
    (
        "", "Bash", "ls -l", "pass", "auth", "tokens", "token", "hunter2hunter2", "x hunter2hunter2 y", "ä", "\ud800",
        "sk-ant-api03-abcdefghijkl", "https://someone:word12@example.org/", "Authorization: Bearer abcdefgh1", "API_KEY=1",
        '{"pass": "secret1"}', "line\nbreak", "\x00",
    )
)  # fmt: skip
LEAVES = WORDS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
VALUES = LEAVES | st.dictionaries(WORDS, LEAVES, max_size=3) | st.lists(WORDS, max_size=3)
DATA = st.dictionaries(WORDS, VALUES, max_size=4)


def _record(
    data: Any, *, stdout: str = "", error: str = "", session: str = "s", native: Any = EMPTY, **decision: Any
) -> Record:
    event = Event(
        kind=event_kind("PreToolUse"), data=data, session=session, environ=ENVIRON, cwd="/p", native_name="n",
        native=native,
    )  # fmt: skip
    outcome = Replied(id="i", hook="guard", ms=1.0, error=error, raw=RunResult(stdout=stdout), reply=Reply())
    told = Decision(**{"event": "PreToolUse", "data": data, "outcomes": (outcome,), **decision})
    return Record(event=event, decision=told, specs={}, ms=2.0)


def _both(plain: PlainRows, record: Record) -> tuple[Any, Any]:
    known: dict[str, Any] = {"name": "id", "time": 3.0, "pid": 7, "written": quickest()}
    quick, usual = plain.of(record, **known), make_rows(record, plain.redactor, **known)
    return quick, usual


def _meaning(rows: Any) -> Any:
    """The rows with their data as it is read again: the two ways may differ in the blanks between."""
    firing, runs = rows
    return [*firing[:15], json.loads(firing[15]), *firing[16:]], [list(run) for run in runs]


@given(many=st.lists(st.tuples(DATA, WORDS, WORDS), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_whatever_it_takes_on_is_as_the_ordinary_way_has_it(many: list[tuple[Any, str, str]]) -> None:
    plain = PlainRows(Redactor(ENVIRON))
    for data, stdout, error in [*many, *many]:  # the second time from memory
        quick, usual = _both(plain, _record(data, stdout=stdout, error=error))
        assert quick is None or _meaning(quick) == _meaning(usual)


def test_ordinary_events_are_taken_on() -> None:
    data = {"tool_name": "Bash", "tool_input": {"command": "ls", "timeout": 5}, "turn": 1, "note": None, "grüße": "ä"}
    quick, usual = _both(PlainRows(Redactor(ENVIRON)), _record(data))
    assert quick is not None
    assert _meaning(quick) == _meaning(usual)


def test_fields_that_the_agent_did_not_send_are_taken_on() -> None:
    """A turn's end has them every time."""
    sent = {"tool_name": "Bash"}
    quick, usual = _both(PlainRows(Redactor(ENVIRON)), _record({**sent, "continuations": 0, "ä": 1}, native=sent))
    assert quick is not None
    assert json.loads(quick[0][22]) == {"added": ["continuations", "ä"]}
    assert _meaning(quick) == _meaning(usual)


@pytest.mark.parametrize(
    "record",
    [
        _record({"list": ["a"]}),
        _record({"deep": {"deep": {}}}),
        _record({1: "a key that is no text"}),
        _record({"a": "b"}, stdout="x" * (HEAD + 1)),
        _record({"a": "b"}, ignored=(Message(hook="h", text="t"),)),
        _record({"a": "half \ud800"}),
        _record({"password": "p"}),
        _record({"command": "echo hunter2hunter2"}),
        _record({"command": "ls"}, session="hunter2hunter2"),
        _record({"hunter2hunter2": 1}, native={"sent": 1}),
    ],
    ids=[
        "a list",
        "depth",
        "no text",
        "length",
        "remarks",
        "half a character",
        "a key",
        "a variable",
        "outside data",
        "a field",
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_the_ordinary_way(record: Record) -> None:
    assert _both(PlainRows(Redactor(ENVIRON)), record)[0] is None


def test_a_pattern_of_the_users_own_is_always_asked(firing: Callable[..., Record]) -> None:
    plain = PlainRows(Redactor({}, ["Bash"]))
    assert _both(plain, firing())[0] is None
    assert _both(plain, firing())[0] is None


@pytest.mark.slow
def test_memory_has_an_end() -> None:
    plain = PlainRows(Redactor({}))
    for number in range(2 * MOST):
        assert _both(plain, _record({"n": f"word {number}"}))[0] is not None
    assert len(plain._clean) <= MOST + 20


def test_silent_hooks_are_kept_as_the_ordinary_way_keeps_them_whatever_they_are_called_now() -> None:
    def silent(dialect: str, *names: str) -> Record:
        spec = {name: hook_spec(name, id=name, dialect=dialect) for name in names}
        outcomes = tuple(Replied(id=name, hook=name, ms=1.5, raw=NOTHING, reply=NO_OPINION) for name in names)
        record = _record({"a": "b"}, outcomes=outcomes)
        return Record(event=record.event, decision=record.decision, specs=spec, ms=2.0)

    plain = PlainRows(Redactor(ENVIRON))
    for record in (silent("native", "a", "b"), silent("lectic", "a", "b"), silent("native", "b"), silent("native")):
        for _ in range(2):
            quick, usual = _both(plain, record)
            assert quick is not None
            assert _meaning(quick) == _meaning(usual)


def test_a_silent_hook_with_a_secret_in_its_name_is_left_to_the_ordinary_way() -> None:
    outcome = Replied(id="i", hook="hunter2hunter2", ms=1.0, raw=NOTHING, reply=NO_OPINION)
    assert _both(PlainRows(Redactor(ENVIRON)), _record({"a": "b"}, outcomes=(outcome,)))[0] is None
