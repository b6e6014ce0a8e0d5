"""Lectic's parsers never raise, and what was written can be written again."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.config.syntax.yaml import read
from hookline.core.event import Event, event_kind
from hookline.core.hook import HookSpec, Origin
from hookline.core.result import HookError, Reply, RunResult
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.lectic import DIALECT
from hookline.dialects.lectic.events import NATIVE
from hookline.dialects.lectic.tokens import expand_argv, split
from hookline.dialects.lectic.wire import split_headers, with_headers

MODEST = settings(max_examples=60, deadline=None)

words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
names = st.sampled_from(["a", "b", "long name", "on", "1"])

hooks = st.fixed_dictionaries(
    {
        "on": st.sampled_from(sorted(NATIVE)) | st.lists(st.sampled_from(sorted(NATIVE)), max_size=3),
        "do": words.filter(str.strip) | words.map(lambda text: f"#!/bin/sh\n{text}\necho"),
    },
    optional={
        "name": names,
        "icon": words,
        "inline": st.booleans(),
        "inline_as": st.sampled_from(["attachment", "comment"]),
        "env": st.dictionaries(st.sampled_from(["A", "B_C"]), words, max_size=2),
        "allow_failure": st.booleans(),
    },
)
people = st.fixed_dictionaries(
    {"name": names, "hooks": st.lists(hooks, max_size=2)},
    optional={
        "tools": st.lists(
            st.fixed_dictionaries({"name": names, "exec": st.just("x"), "hooks": st.lists(hooks, max_size=2)}),
            max_size=2,
            # Lectic wants each tool's name once; two tools of one name would be written as one.
            unique_by=lambda tool: str(tool["name"]),
        )
    },
)
headers = st.fixed_dictionaries(
    {"hooks": st.lists(hooks, max_size=4)}, optional={"interlocutors": st.lists(people, max_size=3)}
)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "hooks",
                    "hook_defs",
                    "env_defs",
                    "interlocutor",
                    "interlocutors",
                    "kits",
                    "tools",
                    "kit",
                    "use",
                    "on",
                    "do",
                    "name",
                    "env",
                    "mode",
                    "inline",
                    "imports",
                    "path",
                    "plugin",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


def layer(tree: Any, path: str = "/p/lectic.yaml") -> Layer:
    return Layer(path=path, name="user", syntax="yaml", text="", tree=tree)


def bare(specs: tuple[HookSpec, ...]) -> list[HookSpec]:
    return [replace(spec, id="", origin=Origin(file="")) for spec in specs]


@MODEST
@given(st.lists(anything, min_size=1, max_size=3))
def test_no_tree_makes_the_parser_raise(trees: list[Any]) -> None:
    layers = [layer(tree, f"/p{index}") for index, tree in enumerate(trees)]
    for one in layers:
        DIALECT.includes(one, Lookup())
    specs = DIALECT.parse(layers, Lookup()).specs
    assert len({spec.id for spec in specs}) == len(specs)


@MODEST
@given(headers)
def test_rendered_hooks_are_the_hooks_that_were_parsed(header: dict[str, Any]) -> None:
    specs = DIALECT.parse([layer(header)], Lookup()).specs
    rendered = DIALECT.render(specs)
    again = DIALECT.parse([layer(read("/p", rendered.text).tree)], Lookup()).specs
    assert bare(again) == bare(specs)


@MODEST
@given(st.lists(words))
def test_a_quoted_command_is_split_into_its_words(argv: list[str]) -> None:
    assert expand_argv(" ".join(map(shlex.quote, argv)), {}) == tuple(argv)


@MODEST
@given(st.text(max_size=40), st.dictionaries(st.sampled_from(["A", "B"]), st.text(max_size=5)))
def test_expansion_never_changes_the_number_of_words(line: str, environ: dict[str, str]) -> None:
    assert len(expand_argv(line, environ)) == len(split(line))


@MODEST
@given(
    st.sampled_from(["bash -c ", "env sh -ec ", "timeout 3 /bin/zsh -c "]),
    st.text(st.characters(exclude_characters="'"), max_size=20),
)
def test_shell_code_never_holds_a_value(shell: str, secret: str) -> None:
    environ = {"USER_MESSAGE": secret}
    assert expand_argv(f'{shell}"run $USER_MESSAGE" ', environ)[-1] == "run $USER_MESSAGE"


@MODEST
@given(
    st.dictionaries(
        st.from_regex(r"[a-z0-9_-]{1,5}", fullmatch=True),
        st.text(st.characters(exclude_characters="\n\r"), max_size=6),
        max_size=3,
    ),
    st.text(max_size=20),
)
def test_headers_come_back_as_they_were_written(given_headers: dict[str, str], text: str) -> None:
    printed = with_headers(given_headers, text)
    if given_headers or not text.startswith("LECTIC:"):
        assert split_headers(printed) == (given_headers, text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(
    [
        "prompt",
        "message",
        "messages_length",
        "tokens",
        "tool_name",
        "tool_input",
        "tool_output",
        "tool_error",
        "cwd",
        "duration_ms",
        "run_id",
        "started_at",
        "status",
        "error_message",
        "conversation",
        "history",
        "interlocutor",
        "model",
        "file",
        "tool_use_done",
        "loop_count",
    ]
)


@MODEST
@given(st.sampled_from(sorted(NATIVE)), st.dictionaries(fields, json_values, max_size=6))
def test_any_data_make_a_call_that_a_process_can_take(native: str, data: dict[str, Any]) -> None:
    tree = {"hooks": [{"on": native, "do": "echo $USER_MESSAGE", "inline": True}]}
    for spec in DIALECT.parse([layer(tree)], Lookup()).specs:
        event = Event(kind=event_kind(spec.event), data=data, environ={"HOME": "/h"})
        call = DIALECT.event_out(spec, event)
        assert all("\0" not in value and value.encode() is not None for value in call.environ.values())
        assert not call.unset & call.environ.keys()


@MODEST
@given(
    st.sampled_from(sorted(NATIVE)),
    st.text(max_size=20),
    st.text(max_size=10),
    st.none() | st.integers(0, 255),
    st.booleans(),
)
def test_any_output_has_a_meaning_and_only_a_refusal_refuses(
    native: str, stdout: str, stderr: str, code: int | None, allowed: bool
) -> None:
    tree = {"hooks": [{"on": native, "do": "x", "inline": True, "allow_failure": allowed}]}
    for spec in DIALECT.parse([layer(tree)], Lookup()).specs:
        event = Event(kind=event_kind(spec.event), data={})
        answer = DIALECT.reply_in(spec, event, RunResult(exit_code=code, stdout=stdout, stderr=stderr))
        denied = isinstance(answer, Reply) and answer.effect == "deny"
        refusable = native == "tool_use_pre" or (event.kind.family == "shell" and event.kind.deniable)
        assert denied == (refusable and code != 0 and not allowed)
        assert isinstance(answer, HookError) == (code != 0 and not denied)


@MODEST
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), json_values, max_size=3))
def test_tool_arguments_come_back_from_their_variable(arguments: dict[str, Any]) -> None:
    (spec,) = DIALECT.parse([layer({"hooks": [{"on": "tool_use_pre", "do": "x"}]})], Lookup()).specs
    event = Event(kind=event_kind("PreToolUse"), data={"tool_name": "t", "tool_input": arguments})
    environ = DIALECT.event_out(spec, event).environ
    told = DIALECT.event_in("tool_use_pre", environ, {})
    assert told.data["tool_input"] == arguments == json.loads(environ["TOOL_ARGS"])
