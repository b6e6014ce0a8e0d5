"""Whatever a person wrote or a program said: a value and findings come out, never an exception."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hookline.core.event import EVENTS, Event, event_kind
from hookline.core.result import HookError, Reply, RunResult
from hookline.dialects.base import Layer, Lookup, Parsed
from hookline.dialects.lash import DIALECT, describe_plugin, expand
from hookline.dialects.lash.entry import (
    LashOptions,
    duration_text,
    options_text,
    parse_entries,
    parse_options,
    parse_seconds,
)

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
events = st.sampled_from(sorted(EVENTS))
paths = st.text(
    st.characters(codec="utf-8", exclude_characters=",#\n\r\0", exclude_categories=["Zs", "Cc", "Zl", "Zp"]),
    min_size=1,
    max_size=12,
)
types = st.sampled_from(["observe", "blocking", "fire_and_forget", "async_apply"])
options = st.builds(
    LashOptions,
    on_failure=st.sampled_from([None, "deny"]),
    timeout=st.none() | st.integers(1, 10**7).map(lambda ms: ms / 1000),
)


def read(rows: list[list[Any]]) -> Parsed:
    layer = Layer(
        path="/home/ada/.lash/config", name="user", syntax="lash", text="", tree={"hooks": rows, "plugins": rows}
    )
    return DIALECT.parse([layer], Lookup(home="/home/ada"))


@given(st.text(max_size=40))
@example("blocking(:/a")
@example("blocking(a(b)):/a,")
@example(",,")
@settings(max_examples=100)
def test_any_line_is_read_to_its_end(text: str) -> None:
    for entry in parse_entries(text):
        assert entry.text == entry.text.strip()
    read([["key.up", text, 1], [text, text, 2]])


@given(st.lists(st.tuples(events, types, options, paths), min_size=1, max_size=5))
@settings(max_examples=100)
def test_what_is_rendered_is_read_back_event_by_event(written: list[tuple[str, str, LashOptions, str]]) -> None:
    rows: dict[str, list[str]] = {}
    for event, word, option, path in written:
        kept = option if word == "blocking" else LashOptions(timeout=option.timeout)
        rows.setdefault(event, []).append(f"{word}{options_text(kept)}:{path}")
    first = read([[event, ", ".join(entries), number] for number, (event, entries) in enumerate(rows.items(), 1)])
    hooks = [spec for spec in first.specs if not spec.extra.get("unexpanded")]
    rendered = DIALECT.render(hooks)
    assert (len(hooks), rendered.losses) == (len(written), ())
    lines = [line.partition(" = ") for line in rendered.text.splitlines()[1:]]
    again = read([[event, value, number] for number, (event, _, value) in enumerate(lines, 1)])
    assert [spec for spec in again.specs if not spec.extra.get("unexpanded")] == hooks


@given(st.integers(1, 10**9).map(lambda micros: micros / 1_000_000))
@settings(max_examples=100)
def test_a_duration_is_read_back_as_it_was(seconds: float) -> None:
    found = parse_seconds(duration_text(seconds))
    assert found is not None
    assert abs(found - seconds) < 1e-9


@given(st.text(max_size=30))
@settings(max_examples=100)
def test_bad_options_are_named_and_never_raise(text: str) -> None:
    _, findings = parse_options(text)
    assert all(finding.startswith("bad option ") for finding in findings)


@given(st.dictionaries(st.sampled_from(["hooks", "hook_config", "methods", "version"]), values | st.lists(
    events | st.dictionaries(st.sampled_from(["event", "mode", "keys", "on_error", "timeout"]), values | events | types), max_size=3)))  # fmt: skip
@settings(max_examples=100)
def test_any_handshake_gives_hooks_and_findings(handshake: dict[str, Any]) -> None:
    layer = Layer(path="/c", name="user", syntax="lash", text="", tree={"plugins": [["p", "/p", 1]]})
    [spec] = DIALECT.parse([layer], Lookup()).specs
    parsed = expand(spec, handshake)
    assert all(hook.event in EVENTS for hook in parsed.specs)
    assert len({hook.id for hook in parsed.specs}) == len(parsed.specs)
    describe_plugin("p", handshake)


@given(st.text(max_size=30) | values.map(json.dumps) | st.fixed_dictionaries(
    {"action": st.sampled_from(["allow", "deny", "modify"])}, optional={"data": values, "reason": values}).map(json.dumps))  # fmt: skip
@settings(max_examples=100)
def test_any_answer_is_a_reply_or_a_fault(stdout: str) -> None:
    [spec] = read([["key.up", "blocking:/a", 1]]).specs[:1]
    event = Event(kind=event_kind("key.up"), data={})
    assert isinstance(DIALECT.reply_in(spec, event, RunResult(exit_code=0, stdout=stdout)), Reply | HookError)


@given(st.dictionaries(st.text(max_size=6), values, max_size=4), st.text(max_size=6))
@settings(max_examples=100)
def test_an_envelope_carries_any_data_there_and_back(data: dict[str, Any], session: str) -> None:
    [spec] = read([["input.submit", "blocking:/a", 1]]).specs[:1]
    event = Event(kind=event_kind("input.submit"), data=data, session=session, mode=session)
    incoming = DIALECT.event_in("", json.loads(DIALECT.event_out(spec, event).stdin), {})
    assert (incoming.event, repr(incoming.data), incoming.session) == ("input.submit", repr(data), session)
