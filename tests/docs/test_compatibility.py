"""The tables of compatibility know every event and every field that the dialects' own code knows."""

from __future__ import annotations

import json
import os

import pytest

from hookline import Engine
from hookline.config.syntax import parse_text
from hookline.core.event import EVENTS
from hookline.dialects import DIALECTS, dialect_named
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.claude import config as claude
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.codex import DIALECT as CODEX
from hookline.dialects.copilot import DIALECT as COPILOT
from hookline.dialects.gemini import DIALECT as GEMINI
from hookline.dialects.lash import entry as lash
from hookline.dialects.lazy import config as lazy
from hookline.dialects.lectic import config as lectic
from hookline.dialects.lectic import validate as lectic_fields
from hookline.dialects.letta import config as letta
from hookline.dialects.memex import config as memex
from hookline.dialects.qwen import DIALECT as QWEN

#: Agents that are nothing but tables: their rows are made from these.
TABLED = DIALECTS[DIALECTS.index("opencode") + 1 :]
NO_FILE = HooksFormat(dialect="", events={}, fields=frozenset())
FIELDS = {
    "lectic": {*lectic_fields._CHECKS, *lectic._PARTS, "inline", "use", "imports", "tools"},
    "letta": {*letta._COMMAND_FIELDS, *letta._PROMPT_FIELDS, letta.SWITCH, "matcher", "hooks"},
    "claude": {*(name for names in claude._FIELDS.values() for name in names), claude.SWITCH, "matcher", "hooks"},
    "lazy": {*lazy.KNOWN, "command", "matcher"},
    "lash": {*lash.TYPES, "on_error", "timeout", "hooks", "hook_config", "event", "mode", "keys", "[hooks]", "[plugins]"},
    "memex": set(memex.KEYS),
    "codex": {*CODEX.system.fields, "matcher", "hooks"},
    "gemini": {*GEMINI.system.fields, *GEMINI.system.group_fields, "matcher", "hooks"},
    "qwen": {*QWEN.system.fields, *QWEN.system.group_fields, "matcher", "hooks"},
    "copilot": {*COPILOT.system.fields, "hooks"},
    "opencode": set(),
    **{name: set(getattr(dialect_named(name), "system", NO_FILE).fields) for name in TABLED},
}  # fmt: skip


TABLES = sorted({*DIALECTS} - {"native"})


@pytest.mark.parametrize("name", TABLES)
def test_every_event_is_in_the_table(name, reference):
    known = set(dialect_named(name).events)
    if name == "lash":  # agent events are an addition, told in one row
        known = {event for event in known if EVENTS[event].family == "shell"} | {"agent events"}
    assert reference.compatibility_table(name)["event"].keys() == known


@pytest.mark.parametrize("name", TABLES)
def test_every_field_is_in_the_table(name, reference):
    assert FIELDS[name] <= reference.compatibility_table(name)["field"].keys()


@pytest.mark.parametrize("name", TABLES)
def test_every_difference_has_a_reason(name, reference):
    table = reference.compatibility_table(name)
    rows = [row for kind in ("field", "event", "behaviour") for row in table[kind].values()]
    assert {honoured for honoured, _note in rows} <= {"yes", "no", "differently"}
    assert [row for row in rows if row[0] != "yes" and not row[1]] == []


def test_the_page_shows_every_table(reference):
    assert sorted(reference.SYSTEMS) == TABLES


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
        ("codex", settings('{"type": "command", "command": "true"}'), 600.0),
        ("codex", settings('{"type": "command", "command": "true"}', "SessionEnd"), 1.0),
        ("gemini", settings('{"type": "command", "command": "true", "timeout": 5000}', "BeforeTool"), 5.0),
        ("qwen", settings('{"type": "command", "command": "true"}'), 60.0),
        ("copilot", '{"hooks": {"preToolUse": [{"type": "command", "bash": "true"}]}}', 30.0),
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


# ── the deliberate differences, fired ────────────────────────────────────────────────────────────────


@pytest.fixture
def fire(tmp_path):
    """Fire one event at the hooks of one file, as its own system would write it."""
    engines = []

    def fired(dialect: str, text: str, event: str, times: int = 1, **data):
        file = tmp_path / "config"
        file.write_text(text, encoding="utf-8")
        engine = Engine.load(cwd=tmp_path, config=[file], dialect=dialect, record=False, home=str(tmp_path))
        engines.append(engine)
        return [engine.fire_sync(event, {"session_id": "s", **data}) for _ in range(times)][-1]

    yield fired
    for engine in engines:
        engine.close()


def command(*lines: str, event: str = "PreToolUse") -> str:
    hooks = [{"type": "command", "command": line} for line in lines]
    return json.dumps({"hooks": {event: [{"hooks": hooks}]}})


def test_letta_rewrites_form_a_chain(fire):
    add = """python3 -c 'import json, sys; text = json.load(sys.stdin)["tool_input"]["command"]
print(json.dumps({"hookSpecificOutput": {"updatedInput": {"command": text + "%s"}}}))'"""
    decision = fire("letta", command(add % "1", add % "2"), "PreToolUse", tool_name="Bash", tool_input={"command": "x"})
    assert decision.data["tool_input"] == {"command": "x12"}


def test_a_letta_hook_that_only_watches_grants_nothing(fire):
    decision = fire("letta", command("true", event="PermissionRequest"), "PermissionRequest", tool_name="Bash")
    assert (decision.effect, decision.granted) == ("allow", False)


@pytest.mark.parametrize("dialect", ["letta", "claude"])
def test_the_loop_guard_lets_an_agent_stop(fire, dialect):
    text = command("echo more >&2; exit 2", event="Stop")
    assert fire(dialect, text, "Stop", times=8).effect == "deny"
    assert fire(dialect, text, "Stop", times=9).effect == "allow"


def test_a_lectic_hook_on_an_event_and_its_alias_runs_once(fire):
    text = "hooks: [{on: [user_message, user_first], do: echo hello, inline: true}]"
    decision = fire("lectic", text, "UserPromptSubmit", prompt="hi", messages_length=1)
    assert len(decision.context) == 1


@pytest.mark.parametrize(
    ("do", "text"),
    [
        ("echo '$USER_MESSAGE'", "$USER_MESSAGE"),
        ('echo a="$USER_MESSAGE b"', "a=one two b"),
        ("sh -c 'echo $USER_MESSAGE'", "one two"),
        ("echo ~/x", "HOME/x"),
    ],
)
def test_lectic_words_are_read_as_the_table_says(fire, tmp_path, do, text):
    hooks = json.dumps([{"on": "user_message", "inline": True, "do": do}])
    decision = fire("lectic", f"hooks: {hooks}", "UserPromptSubmit", prompt="one two")
    home = os.environ["HOME"].rstrip("/")
    assert decision.context[0].context.text.strip().replace(home, "HOME") == text


def test_lectic_allow_failure_covers_a_hook_that_cannot_start(fire):
    text = "hooks: [{on: user_message, do: ./not-there, allow_failure: %s}]"
    assert fire("lectic", text % "true", "UserPromptSubmit", prompt="hi").aborted is None
    assert fire("lectic", text % "false", "UserPromptSubmit", prompt="hi").aborted is not None


def test_lash_modify_is_a_merge_by_key(fire, tmp_path):
    program = tmp_path / "modify"
    program.write_text('#!/bin/sh\necho \'{"action": "modify", "data": {"args": ["-q"]}}\'\n', encoding="utf-8")
    program.chmod(0o755)
    text = f"[hooks]\nprocess.pre_spawn = blocking:{program}"
    decision = fire("lash", text, "process.pre_spawn", command="curl", args=[], env={})
    assert (decision.data["command"], decision.data["args"]) == ("curl", ["-q"])


@pytest.mark.parametrize(("option", "effect"), [("", "allow"), ("(on_error=deny)", "deny")])
def test_a_lash_hook_that_crashes_passes_unless_it_fails_closed(fire, tmp_path, option, effect):
    program = tmp_path / "crash"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    text = f"[hooks]\nprocess.pre_spawn = blocking{option}:{program}"
    assert fire("lash", text, "process.pre_spawn", command="ls").effect == effect


def test_a_lazy_script_runs_by_its_shebang(fire, tmp_path):
    script = tmp_path / "hooks" / "hello"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho hello from sh\n", encoding="utf-8")
    script.chmod(0o755)
    decision = fire("lazy", '[hooks.session_start]\nscripts = ["hello"]', "SessionStart")
    assert [one.context.text for one in decision.context] == ["hello from sh"]
