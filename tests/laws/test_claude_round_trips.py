"""``parse(render(x)) == x`` for Claude Code's files, and nothing that is written or said makes us raise."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.core.event import Event, event_kind
from hookline.core.hook import HookSpec, Origin
from hookline.core.result import HookError, RunResult
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.claude import DIALECT, EVENTS
from hookline.dialects.claude.config import PROMPT_EVENTS, TOOL_EVENTS

#: The machine may be busy with other tests.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
TIMEOUT = st.integers(1, 10**6) | st.floats(0.001, 1e6)
RULE = st.sampled_from(
    ["Bash(git *)", "Bash(ls:*)", "Edit(src/**)", "Write", "mcp__x__*", "WebFetch(domain:a.b)", "Foo(x)"]
)
MATCHER = st.sampled_from(["", "*", "Bash", "Edit|Write", "a, b", "mcp__.*", "^x$", "[bad"]) | TEXT


def hooks(event: str) -> st.SearchStrategy[Any]:
    shared: dict[str, Any] = {"timeout": TIMEOUT, "statusMessage": TEXT}
    if event in TOOL_EVENTS:
        shared["if"] = RULE
    command = st.fixed_dictionaries(
        {"type": st.just("command"), "command": TEXT},
        optional={**shared, "args": st.lists(st.text(max_size=4), max_size=2), "async": st.booleans(), "asyncRewake": st.booleans(),
                  "shell": st.sampled_from(["bash", "powershell"])},
    )  # fmt: skip
    http = st.fixed_dictionaries(
        {"type": st.just("http"), "url": TEXT}, optional={**shared, "headers": st.dictionaries(TEXT, TEXT, max_size=2)}
    )
    prompt = st.fixed_dictionaries({"type": st.just("prompt"), "prompt": TEXT}, optional={**shared, "model": TEXT})
    return command | http | prompt if event in PROMPT_EVENTS else command | http


def groups(event: str) -> st.SearchStrategy[list[Any]]:
    return st.lists(
        st.fixed_dictionaries({"hooks": st.lists(hooks(event), max_size=2)}, optional={"matcher": MATCHER}), max_size=2
    )


SOME = ("PreToolUse", "PostToolUse", "Stop", "SessionStart", "InstructionsLoaded")
FILES = st.fixed_dictionaries(
    {"hooks": st.fixed_dictionaries({}, optional={name: groups(name) for name in SOME})},
    optional={"disableAllHooks": st.booleans()},
)


def layers(*trees: Any) -> list[Layer]:
    return [Layer(path=f"/{n}", name="user", syntax="json", text="", tree=tree) for n, tree in enumerate(trees)]


def placeless(specs: tuple[HookSpec, ...]) -> list[HookSpec]:
    return [replace(spec, id="", origin=Origin(file="")) for spec in specs]


@settings(PATIENT, max_examples=40)
@given(st.lists(FILES, min_size=1, max_size=2))
def test_what_is_written_is_read_back_the_same(files: list[Any]) -> None:
    parsed = DIALECT.parse(layers(*files), Lookup())
    written = DIALECT.render(parsed.specs)
    assert written.losses == ()
    again = DIALECT.parse(layers(json.loads(written.text)), Lookup())
    assert placeless(again.specs) == placeless(parsed.specs)


@settings(PATIENT, max_examples=30)
@given(
    st.dictionaries(
        st.sampled_from([*sorted(EVENTS)[:6], "x"]),
        JSON | st.lists(st.fixed_dictionaries({"hooks": JSON, "matcher": JSON})),
    )
)
def test_no_file_makes_the_parser_raise(tree: Any) -> None:
    parsed = DIALECT.parse(layers({"hooks": tree, "disableAllHooks": tree.get("x")}, tree), Lookup())
    assert all(problem.pointer.startswith("$") and problem.fix for problem in parsed.problems)


KEYS = ["decision", "reason", "continue", "systemMessage", "hookSpecificOutput", "permissionDecision", "updatedInput",
        "additionalContext", "updatedToolOutput", "hookEventName"]  # fmt: skip


@settings(PATIENT, max_examples=100)
@given(
    st.sampled_from(sorted(EVENTS)),
    st.sampled_from([0, 1, 2, None]),
    st.dictionaries(
        st.sampled_from(KEYS), JSON | st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(["deny", "allow"]))
    ),
)
def test_any_answer_means_something_and_no_deny_is_without_a_word(event: str, code: int | None, answer: Any) -> None:
    spec = DIALECT.parse(
        layers({"hooks": {event: [{"hooks": [{"type": "command", "command": "x"}]}]}}), Lookup()
    ).specs[0]
    raw = RunResult(exit_code=code, stdout=json.dumps(answer))
    found = DIALECT.reply_in(spec, Event(kind=event_kind(event), data={"tool_input": {}}), raw)
    assert isinstance(found, HookError) or found.effect != "deny" or found.reason


@settings(PATIENT, max_examples=100)
@given(st.sampled_from([*sorted(EVENTS), "Dream"]), st.dictionaries(st.text(max_size=8), JSON, max_size=5))
def test_no_field_of_a_payload_is_lost(name: str, sent: dict[str, Any]) -> None:
    came = DIALECT.event_in(name, {**sent, "hook_event_name": name}, {})
    assert set(sent) - {"hook_event_name"} <= set(came.data)
