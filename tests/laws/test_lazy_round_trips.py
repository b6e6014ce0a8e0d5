"""``parse(render(x)) == x`` for lazy-harness's tables, and no table makes the parser raise."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.core.hook import HookSpec, Origin
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.lazy import DIALECT
from hookline.dialects.lazy.wire import EVENTS

LOOKUP = Lookup(find=lambda name: f"/hooks/{name}.py" if name == "mine" else None, builtins={"guard": "a:b"})
#: The machine may be busy with other tests.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip)
JSON = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
EXTERNAL = TEXT | st.fixed_dictionaries(
    {"command": TEXT}, optional={"matcher": st.sampled_from(["", "*", "Bash", "a|b", "x.*"])}
)
TABLE = st.fixed_dictionaries(
    {},
    optional={
        "scripts": st.lists(st.sampled_from(["mine", "guard"]), max_size=3),
        "external": st.lists(EXTERNAL, max_size=3),
        "allow_patterns": st.lists(TEXT, max_size=2),
    },
)


def layer(tree: Any) -> list[Layer]:
    return [Layer(path="/c/config.toml", name="user", syntax="toml", text="", tree=tree)]


def placeless(specs: tuple[HookSpec, ...]) -> list[HookSpec]:
    return [replace(spec, id="", origin=Origin(file="")) for spec in specs]


@settings(PATIENT, max_examples=60)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(EVENTS, TABLE)))
def test_what_is_written_is_read_back_the_same(hooks: Any) -> None:
    parsed = DIALECT.parse(layer({"hooks": hooks}), LOOKUP)
    written = DIALECT.render(parsed.specs)
    assert written.losses == ()
    again = DIALECT.parse(layer(tomllib.loads(written.text)), LOOKUP)
    assert placeless(again.specs) == placeless(parsed.specs)


@settings(PATIENT, max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from([*EVENTS, "x"]),
        JSON | st.fixed_dictionaries({}, optional={"scripts": JSON, "external": JSON, "y": JSON}),
    )
)
def test_no_table_makes_the_parser_raise(hooks: Any) -> None:
    for tree in ({"hooks": hooks}, hooks, {"hooks": [hooks]}):
        parsed = DIALECT.parse(layer(tree), LOOKUP)
        assert all(problem.pointer.startswith("$") and problem.fix for problem in parsed.problems)
