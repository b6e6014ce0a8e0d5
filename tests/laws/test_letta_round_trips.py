"""``parse(render(x)) == x`` for Letta Code's files, and no file makes the parser raise."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.core.event import Event, event_kind
from hookline.core.hook import HookSpec, Origin
from hookline.core.result import HookError, Reply, RunResult
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.letta import DIALECT
from hookline.dialects.letta.config import EVENTS, ROWS

#: The machine may be busy with other tests.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
TIMEOUT = st.integers(1, 10**7) | st.floats(0.001, 1e9)
COMMAND = st.fixed_dictionaries(
    {"type": st.just("command"), "command": TEXT}, optional={"timeout": TIMEOUT, "quiet": st.booleans()}
)
PROMPT = st.fixed_dictionaries(
    {"type": st.just("prompt"), "prompt": TEXT}, optional={"model": TEXT, "timeout": TIMEOUT}
)
MATCHER = st.sampled_from(["", "*", "Bash", "Edit|Write", ".*Edit", "[invalid", "(?i)x", "a)|(b", r"\w+$"]) | TEXT


def groups(event: str) -> st.SearchStrategy[list[Any]]:
    hooks = st.lists(COMMAND | PROMPT if ROWS[event].prompts else COMMAND, max_size=3)
    return st.lists(st.fixed_dictionaries({"hooks": hooks}, optional={"matcher": MATCHER}), max_size=3)


FILES = st.fixed_dictionaries({}, optional={**{name: groups(name) for name in EVENTS}, "disabled": st.booleans()})


def layers(*trees: Any) -> list[Layer]:
    names = ("user", "project", "local")
    return [Layer(path=f"/{n}", name=names[n], syntax="json", text="", tree=tree) for n, tree in enumerate(trees)]


def placeless(specs: tuple[HookSpec, ...]) -> list[HookSpec]:
    return [replace(spec, id="", origin=Origin(file="")) for spec in specs]


@settings(PATIENT, max_examples=60)
@given(st.lists(FILES, min_size=1, max_size=3))
def test_what_is_written_is_read_back_the_same(files: list[Any]) -> None:
    parsed = DIALECT.parse(layers(*({"hooks": hooks} for hooks in files)), Lookup())
    written = DIALECT.render(parsed.specs)
    assert written.losses == ()
    again = DIALECT.parse(layers(json.loads(written.text)), Lookup())
    assert placeless(again.specs) == placeless(parsed.specs)


@settings(PATIENT, max_examples=30)
@given(
    st.dictionaries(
        st.sampled_from([*EVENTS, "disabled", "x"]),
        JSON | st.lists(st.fixed_dictionaries({"hooks": JSON, "matcher": JSON})),
    )
)
def test_no_file_makes_the_parser_raise(hooks: Any) -> None:
    parsed = DIALECT.parse(layers({"hooks": hooks}, hooks), Lookup())
    assert all(problem.pointer.startswith("$") and problem.fix for problem in parsed.problems)


@settings(PATIENT, max_examples=100)
@given(
    st.sampled_from(sorted(EVENTS)),
    st.sampled_from([0, 1, 2, 3, 127, None]),
    st.text(max_size=20)
    | JSON.map(lambda value: json.dumps({"hookSpecificOutput": value, "additionalContext": value})),
    st.text(max_size=20),
)
def test_any_output_means_something(event: str, code: int | None, stdout: str, stderr: str) -> None:
    spec = DIALECT.parse(
        layers({"hooks": {event: [{"hooks": [{"type": "command", "command": "x"}]}]}}), Lookup()
    ).specs[0]
    found = DIALECT.reply_in(
        spec, Event(kind=event_kind(event), data={}), RunResult(exit_code=code, stdout=stdout, stderr=stderr)
    )
    assert isinstance(found, Reply if code in {0, 2} else HookError)
    if isinstance(found, Reply) and found.effect == "deny":
        assert code == 2
        assert ROWS[event].on_two in {"deny", "stop"}
        assert found.reason
