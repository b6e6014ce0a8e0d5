"""``[hooks]`` and ``[plugins]``: what is written is what runs, and what cannot be read is named."""

from __future__ import annotations

import pytest

from hookline.core.hook import Command, Plugin
from hookline.dialects.base import Layer, Lookup, Parsed
from hookline.dialects.lash import DIALECT, is_unexpanded

HOME = "/home/ada"
PATH = f"{HOME}/.lash/config"

DOCUMENTED = """\
[hooks]
process.pre_spawn = observe:/usr/local/bin/log-commands
input.pre_execute = blocking:~/.lash/plugins/linter
prompt.render = fire_and_forget:~/.lash/plugins/logger
"""


def read(text: str) -> Parsed:
    tree: dict[str, list[list[object]]] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("["):
            section = line[1:-1]
        elif "=" in line:
            key, _, value = line.partition("=")
            tree.setdefault(section, []).append([key.strip(), value.strip(), number])
    layer = Layer(path=PATH, name="user", syntax="lash", text=text, tree=tree)
    return DIALECT.parse([layer], Lookup(home=HOME))


def shown(parsed: Parsed) -> list[tuple[str, str, float | None, str]]:
    return [(spec.event, spec.mode, spec.timeout, spec.on_failure) for spec in parsed.specs]


def findings(parsed: Parsed) -> list[str]:
    return [problem.finding for problem in parsed.problems]


def test_the_documents_example_loads_with_its_modes_and_paths() -> None:
    parsed = read(DOCUMENTED)
    assert parsed.problems == ()
    assert shown(parsed) == [
        ("process.pre_spawn", "detached", None, "ignore"),
        ("input.pre_execute", "sync", 5.0, "ignore"),
        ("prompt.render", "detached", None, "ignore"),
    ]
    assert [spec.action for spec in parsed.specs] == [
        Command(form="argv", argv=("/usr/local/bin/log-commands",), base=f"{HOME}/.lash"),
        Command(form="argv", argv=(f"{HOME}/.lash/plugins/linter",), base=f"{HOME}/.lash"),
        Command(form="argv", argv=(f"{HOME}/.lash/plugins/logger",), base=f"{HOME}/.lash"),
    ]


def test_entries_of_a_line_keep_their_order_and_stay_apart() -> None:
    parsed = read("[hooks]\nvariable.set = observe:/a,blocking:/b , async_apply:/a\n")
    assert [(spec.name, spec.mode) for spec in parsed.specs] == [
        ("/a", "detached"),
        ("/b", "sync"),
        ("/a", "apply-later"),
    ]
    assert len({spec.id for spec in parsed.specs}) == 3


def test_a_bad_entry_is_reported_with_its_line_and_the_rest_loads() -> None:
    parsed = read(
        "[settings]\nx = 1\n[hooks]\nprocess.pre_spwan = observe:/a\nprompt.render = sometimes:/b\n"
        "variable.set = observe:\nvariable.drop = observe:/c  # ok\nprompt.render = , blocking:/d\n"
    )
    assert [(spec.event, spec.name) for spec in parsed.specs] == [("variable.drop", "/c"), ("prompt.render", "/d")]
    assert [(problem.line, problem.finding) for problem in parsed.problems] == [
        (4, "unknown event process.pre_spwan"),
        (5, "bad hook 'sometimes:/b'"),
        (6, "bad hook 'observe:'"),
        (8, "bad hook ''"),
    ]
    assert "process.pre_spawn" in parsed.problems[0].fix


def test_a_hash_inside_a_path_is_no_comment() -> None:
    parsed = read("[hooks]\nkey.up = blocking:/opt/c#/lint # the linter\n")
    assert parsed.specs[0].action == Command(form="argv", argv=("/opt/c#/lint",), base=f"{HOME}/.lash")


def test_options_stand_before_the_colon_and_do_not_split_entries() -> None:
    parsed = read("[hooks]\ninput.submit = blocking(on_error=deny, timeout=80ms):/a(1), blocking(timeout=2):/b\n")
    assert parsed.problems == ()
    assert [(spec.name, spec.timeout, spec.on_failure) for spec in parsed.specs] == [
        ("/a(1)", 0.08, "deny"),
        ("/b", 2.0, "ignore"),
    ]


@pytest.mark.parametrize("option", ["on_eror=deny", "timeout=soon", "timeout=0", "on_error", "timeout=-1s"])
def test_a_bad_option_is_reported_and_the_guard_still_runs(option: str) -> None:
    parsed = read(f"[hooks]\ninput.submit = blocking({option}):/a\n")
    assert shown(parsed) == [("input.submit", "sync", 5.0, "ignore")]
    assert f"bad option {option!r}" in findings(parsed)[0]


def test_an_observer_cannot_fail_closed() -> None:
    parsed = read("[hooks]\ninput.submit = observe(on_error=deny):/a\n")
    assert shown(parsed) == [("input.submit", "detached", None, "ignore")]
    assert [problem.severity for problem in parsed.problems] == ["warning"]


def test_agent_events_are_heard_under_their_own_names() -> None:
    assert shown(read("[hooks]\nPreToolUse = blocking:/guard\n")) == [("PreToolUse", "sync", 5.0, "ignore")]


def test_plugins_come_after_every_config_entry_whatever_the_file_says() -> None:
    parsed = read(
        "[plugins]\ngit = ~/.lash/plugins/git\n[hooks]\nkey.up = blocking:/a\n"
        "[plugins]\nrel = plugins/rel\nlint = plugin(on_error=deny, timeout=1s):/opt/a, b\n"
    )
    assert parsed.problems == ()
    assert [spec.action for spec in parsed.specs[1:]] == [
        Plugin(name="git", path=f"{HOME}/.lash/plugins/git"),
        Plugin(name="rel", path=f"{HOME}/.lash/plugins/rel"),
        Plugin(name="lint", path="/opt/a, b"),
    ]
    assert all(is_unexpanded(spec) for spec in parsed.specs[1:])
    assert (parsed.specs[3].timeout, parsed.specs[3].on_failure) == (1.0, "deny")


def test_a_plugin_that_is_built_in_empty_or_named_twice_is_reported() -> None:
    parsed = read("[plugins]\npowerline = builtin:powerline\nnone =\na = /a\na = /b\n")
    assert [spec.action for spec in parsed.specs] == [Plugin(name="a", path="/a")]
    assert findings(parsed) == [
        "plugin powerline: builtin:powerline is not part of hookline",
        "bad plugin 'none' = ''",
        "plugin a is named twice; the first one counts",
    ]


def test_its_places_are_the_two_files_in_the_home_directory() -> None:
    assert [place.path for place in DIALECT.places("/work", HOME, {})] == [
        f"{HOME}/.lash/config",
        f"{HOME}/.lash/plugins.conf",
    ]


@pytest.mark.parametrize(
    "text",
    [
        DOCUMENTED,
        "[hooks]\nPreToolUse = blocking(on_error=deny, timeout=1500ms):~/guard, async_apply(timeout=3s):/b\n",
        "[plugins]\na = ~/a\nb = plugin(on_error=allow, timeout=90s):/b c\n",
    ],
)
def test_what_is_rendered_is_read_back_as_the_same_hooks(text: str) -> None:
    parsed = read(text)
    rendered = DIALECT.render(parsed.specs)
    assert rendered.losses == ()
    assert read(rendered.text) == parsed
