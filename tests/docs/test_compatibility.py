"""The tables of compatibility know every event and every field that the dialects' own code knows."""

from __future__ import annotations

import pytest

from hookline.config.syntax import parse_text
from hookline.dialects import DIALECTS, dialect_named
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.claude import config as claude
from hookline.dialects.compat import TABLES, table_of
from hookline.dialects.lash import entry as lash
from hookline.dialects.lazy import config as lazy
from hookline.dialects.lectic import config as lectic
from hookline.dialects.lectic import fields as lectic_fields
from hookline.dialects.letta import config as letta
from hookline.dialects.memex import config as memex
from hookline.event import EVENTS

FIELDS = {
    "lectic": {*lectic_fields._CHECKS, *lectic._PARTS, "inline", "use", "imports", "tools"},
    "letta": {*letta._COMMAND_FIELDS, *letta._PROMPT_FIELDS, letta.SWITCH, "matcher", "hooks"},
    "claude": {*(name for names in claude._FIELDS.values() for name in names), claude.SWITCH, "matcher", "hooks"},
    "lazy": {*lazy.KNOWN, "command", "matcher"},
    "lash": {*lash.TYPES, "on_error", "timeout", "hooks", "hook_config", "event", "mode", "keys", "[hooks]", "[plugins]"},
    "memex": set(memex.KEYS),
}  # fmt: skip


def test_every_dialect_of_another_system_has_a_table():
    assert set(TABLES) == DIALECTS.keys() - {"native"}


@pytest.mark.parametrize("name", TABLES)
def test_every_event_is_in_the_table(name):
    known = set(dialect_named(name).events)
    if name == "lash":  # agent events are an addition, told in one row
        known = {event for event in known if EVENTS[event].family == "shell"} | {"agent events"}
    assert table_of(name).named("event") == known


@pytest.mark.parametrize("name", TABLES)
def test_every_field_is_in_the_table(name):
    assert FIELDS[name] <= table_of(name).named("field")


@pytest.mark.parametrize("name", TABLES)
def test_no_row_is_there_twice_and_every_difference_has_a_reason(name):
    rows = table_of(name).rows
    assert len({(row.kind, row.what) for row in rows}) == len(rows)
    assert [row.what for row in rows if row.honoured != "yes" and not row.note] == []


# ── what the rows say, tried ─────────────────────────────────────────────────────────────────────────


def parsed(name: str, text: str):
    dialect = dialect_named(name)
    document = parse_text("page", text, dialect.syntax)
    layer = Layer(path="/p/file", name="user", syntax=dialect.syntax, text=text, tree=document.tree)
    return dialect.parse([layer], Lookup(home="/home/me", cwd="/p"))


def settings(hook: str, event: str = "PreToolUse") -> str:
    return f'{{"hooks": {{"{event}": [{{"hooks": [{hook}]}}]}}}}'


@pytest.mark.parametrize(
    ("name", "text", "seconds"),
    [
        ("lectic", "hooks:\n- {on: run_start, do: 'true'}", 600.0),
        ("letta", settings('{"type": "command", "command": "true"}'), 60.0),
        ("letta", settings('{"type": "prompt", "prompt": "?"}'), 30.0),
        ("claude", settings('{"type": "command", "command": "true"}'), 600.0),
        ("claude", settings('{"type": "command", "command": "true"}', "MessageDisplay"), 10.0),
        ("lazy", '[hooks.notification]\nexternal = ["true"]', 60.0),
        ("lash", "[hooks]\nprocess.pre_spawn = blocking:/x", 5.0),
        ("lash", "[hooks]\nprocess.pre_spawn = blocking(timeout=2s):/x", 2.0),
        ("memex", "[HOOKS]\npre_turn = a\n[HOOK.a]\nprompt = hello there", 120.0),
    ],
)
def test_the_timeouts_are_those_of_the_tables(name, text, seconds):
    assert [spec.timeout for spec in parsed(name, text).specs] == [seconds]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude", settings('{"type": "agent", "prompt": "x"}')),
        ("letta", settings('{"type": "prompt", "prompt": "x"}', "PreCompact")),
        ("lash", "[plugins]\nhistory = builtin:history"),
        ("memex", "[HOOKS]\npre_turn = a\n[HOOK.a]\nprompt = prompts/gone.md"),
        ("lazy", '[hooks.session_start]\nscripts = ["unheard-of"]'),
    ],
)
def test_what_is_not_here_is_a_problem_and_no_hook(name, text):
    result = parsed(name, text)
    assert (result.specs, bool(result.problems)) == ((), True)


@pytest.mark.parametrize("word", ["0", "off", "none", "disabled", "false", "no"])
def test_memex_hooks_are_switched_off_by_any_word_for_it(word):
    result = parsed("memex", f"[HOOKS]\npre_turn = a\n[HOOK.a]\nprompt = hello there\nenable = {word}")
    assert [spec.enabled for spec in result.specs] == [False]


def test_lash_entries_can_fail_closed():
    (spec,) = parsed("lash", "[hooks]\nprocess.pre_spawn = blocking(on_error=deny):/x").specs
    assert spec.on_failure == "deny"
