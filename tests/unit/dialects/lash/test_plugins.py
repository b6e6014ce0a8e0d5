"""From a handshake to hooks: modes, keys and what is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.session_facts import Facts
from hookline.dialects.base import Layer, Lookup, Parsed
from hookline.dialects.lash import DIALECT, describe_plugin, expand, expand_plugins, key_hook_config
from hookline.dialects.lash.entry import canonical_key
from hookline.engine.match import Index

if TYPE_CHECKING:
    from hookline.core.hook import HookSpec, Plugin


def placeholder(name: str = "p", value: str = "/opt/p") -> HookSpec:
    layer = Layer(
        path="/h/.lash/plugins.conf", name="user", syntax="lash", text="", tree={"plugins": [[name, value, 2]]}
    )
    return DIALECT.parse([layer], Lookup(home="/h")).specs[0]


def shown(parsed: Parsed) -> list[tuple[str, str]]:
    return [(spec.event, spec.mode) for spec in parsed.specs]


def test_hook_config_comes_first_and_a_name_in_both_is_one_registration() -> None:
    parsed = expand(
        placeholder(),
        {
            "hooks": ["key.up", "input.submit", "key.up"],
            "hook_config": [
                {"event": "input.submit", "mode": "fire_and_forget"},
                {"event": "prompt.render", "mode": "async_apply"},
            ],
        },
    )
    assert shown(parsed) == [("input.submit", "detached"), ("prompt.render", "apply-later"), ("key.up", "sync")]
    assert [spec.timeout for spec in parsed.specs] == [None, 60.0, 5.0]
    assert parsed.problems == ()


def test_a_mode_that_is_left_out_is_blocking_and_observe_is_accepted() -> None:
    parsed = expand(placeholder(), {"hook_config": [{"event": "key.up"}, {"event": "key.down", "mode": "observe"}]})
    assert shown(parsed) == [("key.up", "sync"), ("key.down", "detached")]


def test_the_persons_options_win_over_the_plugins() -> None:
    entry = {"event": "key.up", "on_error": "deny", "timeout": "1s"}
    [own] = expand(placeholder(), {"hook_config": [entry]}).specs
    [told] = expand(placeholder(value="plugin(on_error=allow, timeout=2s):/p"), {"hook_config": [entry]}).specs
    assert [(spec.on_failure, spec.timeout) for spec in (own, told)] == [("deny", 1.0), ("ignore", 2.0)]


@pytest.mark.parametrize(
    ("handshake", "finding"),
    [
        ({"hooks": "key.up"}, "hooks is not a list"),
        ({"hooks": [7]}, "7 is not an event"),
        ({"hooks": ["key.left"]}, "unknown event key.left"),
        ({"hook_config": {}}, "hook_config is not a list"),
        ({"hook_config": [[]]}, "an entry without an event"),
        ({"hook_config": [{"event": "key.up", "mode": "later"}]}, "bad mode 'later' on key.up"),
        ({"hook_config": [{"event": "input.key", "keys": ["F13"]}]}, "bad key 'F13'"),
        ({"hook_config": [{"event": "input.key", "keys": "a"}]}, "keys is 'a', not a list"),
        ({"hook_config": [{"event": "key.tab", "keys": ["x"]}]}, "keys ignored on key.tab"),
    ],
)
def test_what_a_plugin_declares_wrongly_is_reported_and_the_rest_holds(handshake: dict[str, Any], finding: str) -> None:
    good = {"event": "variable.set"}
    configured = handshake.get("hook_config")
    whole = {**handshake, "hook_config": [*configured, good]} if isinstance(configured, list) else handshake
    parsed = expand(placeholder(), whole)
    assert [problem.finding for problem in parsed.problems] == [f"plugin p: {finding}"]
    assert parsed.problems[0].line == 2
    assert isinstance(configured, list) is any(spec.event == "variable.set" for spec in parsed.specs)


def test_placeholders_are_replaced_at_their_place_and_a_failure_is_a_problem() -> None:
    def handshake_of(plugin: Plugin) -> dict[str, Any] | str:
        return "it exited with 1" if plugin.name == "bad" else {"hooks": ["key.up"]}

    parsed = expand_plugins([placeholder("a"), placeholder("bad"), placeholder("c")], handshake_of)
    assert [(spec.name, spec.event) for spec in parsed.specs] == [("a", "key.up"), ("c", "key.up")]
    assert [problem.finding for problem in parsed.problems] == ["plugin bad did not load: it exited with 1"]


def test_a_message_is_not_sent_back_to_the_plugin_it_came_from() -> None:
    [spec] = expand(placeholder(), {"hooks": ["plugin.message"]}).specs
    index = Index([spec])

    def heard_from(name: str) -> int:
        event = Event(kind=event_kind("plugin.message"), data={"name": name, "data": {}})
        return len(index.select(event, Facts()).chosen)

    assert (heard_from("p"), heard_from("q")) == (0, 1)


def hooked(*entries: dict[str, Any]) -> list[HookSpec]:
    return list(expand(placeholder(), {"hook_config": list(entries)}).specs)


def test_the_key_hook_config_is_the_union_with_the_keys_of_key_events() -> None:
    specs = hooked(
        {"event": "input.key", "keys": ["escape", "ctrl+t", "ctrl+i"]},
        {"event": "input.key", "keys": [" "]},
        {"event": "key.down"},
    )
    assert key_hook_config(specs) == [" ", "ctrl+t", "down", "escape", "tab"]


@pytest.mark.parametrize(("asked", "pressed"), [("ctrl+i", "ctrl+i"), ("ctrl+i", "tab"), ("enter", "ctrl+m")])
def test_a_key_is_heard_under_each_of_its_names(asked: str, pressed: str) -> None:
    index = Index(hooked({"event": "input.key", "keys": [asked]}))
    event = Event(kind=event_kind("input.key"), data={"key": pressed})
    assert len(index.select(event, Facts()).chosen) == 1


def test_one_hook_that_wants_every_key_makes_it_a_star() -> None:
    assert key_hook_config(hooked({"event": "input.key", "keys": ["a"]}, {"event": "input.key"})) == "*"


def test_an_empty_list_of_keys_is_no_key_at_all() -> None:
    [spec] = hooked({"event": "input.key", "keys": []})
    assert key_hook_config([spec]) == []
    assert (spec.matcher.subject.style, spec.matcher.subject.options) == ("exact", ())


@pytest.mark.parametrize(
    "name",
    [
        ">", "a", "A", "/", " ", "é", *(f"ctrl+{letter}" for letter in "abcdefgjklnopqrstuvwxyz"),
        "up", "down", "left", "right", "home", "end",
        "enter", "tab", "backspace", "escape", "delete", "shift+tab", "ctrl+left", "ctrl+right",
    ],
)  # fmt: skip
def test_every_name_of_the_document_is_a_key(name: str) -> None:
    assert canonical_key(name) == name


@pytest.mark.parametrize(
    ("alias", "name"), [("ctrl+i", "tab"), ("ctrl+m", "enter"), ("ctrl+h", "backspace"), ("ctrl+[", "escape")]
)
def test_keys_a_terminal_cannot_tell_apart_have_one_name(alias: str, name: str) -> None:
    assert canonical_key(alias) == name


@pytest.mark.parametrize("name", ["", "ctrl+1", "F13", "Up", "ctrl+A", "ab", "\t", "\x1b", "ctrl+up", "shift+a"])
def test_what_no_frontend_can_send_is_no_key(name: str) -> None:
    assert canonical_key(name) is None


def test_a_plugin_that_does_not_describe_itself_is_described_from_its_handshake() -> None:
    handshake = {
        "methods": ["csv"],
        "hooks": ["key.up"],
        "completions": ["*"],
        "hook_config": [{"event": "input.key"}, 3],
    }
    assert describe_plugin("p", handshake) == {
        "name": "p", "description": "", "version": "", "hooks": ["input.key", "key.up"], "methods": ["csv"], "completions": ["*"],
    }  # fmt: skip
