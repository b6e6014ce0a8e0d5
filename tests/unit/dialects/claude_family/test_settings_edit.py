"""One hook of a settings file is changed, and every other byte stays."""

from __future__ import annotations

import json

import pytest

from hookline.core.json_edit import JsonError
from hookline.dialects.claude_family.settings_edit import (
    RULES,
    WrittenHook,
    add_hook,
    all_off,
    change_hook,
    read_hook,
    remove_hook,
    switch_all,
)

LETTA, CLAUDE = RULES["letta"], RULES["claude"]
FILE = """{
    "theme":   "dark",   "n": [1,2],
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [
                    {"type": "command", "command": "./a.sh", "quiet": true},
                    {"type": "command", "command": "./b.sh", "timeout": 5000}
                ]
            }
        ],
        "Stop": [{"hooks": [{"type": "prompt", "prompt": "Done?", "model": "haiku"}]}]
    }
}
"""
A, B, STOP = "$.hooks.PreToolUse[0].hooks[0]", "$.hooks.PreToolUse[0].hooks[1]", "$.hooks.Stop[0].hooks[0]"


def rest(text: str) -> str:
    """The lines that were there before."""
    return "\n".join(line for line in text.split("\n") if line in FILE.split("\n"))


def test_a_hook_is_added_at_the_end_of_its_event_in_the_files_own_indentation() -> None:
    after = add_hook(FILE, WrittenHook(event="Stop", text="./c.sh", timeout="5s"), LETTA)
    added = '{"hooks": [{"type": "command", "command": "./c.sh", "timeout": 5000}]}'
    assert after == FILE.replace('"haiku"}]}]', f'"haiku"}}]}}, {added}]')
    fresh = add_hook(FILE, WrittenHook(event="Notification", text="say", matcher="x"), CLAUDE)
    assert json.loads(fresh)["hooks"]["Notification"] == [
        {"matcher": "x", "hooks": [{"type": "command", "command": "say"}]}
    ]
    assert '\n        "Notification": [\n            {\n' in fresh
    assert rest(fresh).count("\n") >= FILE.count("\n") - 2


@pytest.mark.parametrize("text", ["", "{}", '{"hooks": {}}', "// mine\n{}\n"])
def test_a_file_without_hooks_gets_its_first(text: str) -> None:
    after = add_hook(text, WrittenHook(event="Stop", text="x"), CLAUDE)
    assert '"Stop"' in after
    assert remove_hook(after, STOP).split() == (text or "{}").replace(
        "{}", '{"hooks": {}}', 0
    ).split() or "Stop" not in (remove_hook(after, STOP))


def test_removing_what_was_added_gives_the_bytes_back() -> None:
    assert remove_hook(add_hook(FILE, WrittenHook(event="Stop", text="x"), LETTA), "$.hooks.Stop[1].hooks[0]") == FILE


def test_only_the_one_hook_is_removed_and_what_is_empty_then_goes() -> None:
    without = json.loads(remove_hook(FILE, A))
    assert without["hooks"]["PreToolUse"][0]["hooks"] == [{"type": "command", "command": "./b.sh", "timeout": 5000}]
    assert "Stop" not in json.loads(remove_hook(FILE, STOP))["hooks"]


def test_a_hook_is_read_as_a_person_fills_it_in() -> None:
    assert read_hook(FILE, B, LETTA) == WrittenHook(
        event="PreToolUse", text="./b.sh", matcher="Bash", timeout="5s", kind="command"
    )
    assert read_hook(FILE, STOP, LETTA).model == "haiku"


def test_a_field_is_changed_in_its_place() -> None:
    new = WrittenHook(event="PreToolUse", text="./b2.sh", matcher="Bash", timeout="2m")
    assert change_hook(FILE, B, new, LETTA) == FILE.replace("./b.sh", "./b2.sh").replace("5000", "120000")
    assert change_hook(FILE, B, read_hook(FILE, B, LETTA), LETTA) == FILE


def test_another_matcher_makes_it_a_group_of_its_own_and_its_other_fields_stay() -> None:
    new = WrittenHook(event="PreToolUse", text="./a.sh", matcher="Edit")
    groups = json.loads(change_hook(FILE, A, new, LETTA))["hooks"]["PreToolUse"]
    assert [group["matcher"] for group in groups] == ["Bash", "Edit"]
    assert groups[1]["hooks"] == [{"type": "command", "command": "./a.sh", "quiet": True}]


def test_a_command_becomes_a_prompt() -> None:
    new = WrittenHook(event="PreToolUse", kind="prompt", text="Safe?", matcher="Bash", model="haiku")
    hook = json.loads(change_hook(FILE, B, new, LETTA))["hooks"]["PreToolUse"][0]["hooks"][1]
    assert hook == {"type": "prompt", "prompt": "Safe?", "model": "haiku"}


@pytest.mark.parametrize("rules", [LETTA, CLAUDE])
def test_all_hooks_are_switched_off_and_on_again(rules: object) -> None:
    rules = LETTA if rules is LETTA else CLAUDE
    off = switch_all(FILE, rules, off=True)
    assert (all_off(FILE, rules), all_off(off, rules)) == (False, True)
    assert switch_all(off, rules, off=False) == FILE


def test_a_hook_that_is_gone_is_an_error() -> None:
    with pytest.raises(JsonError, match="no hook at"):
        remove_hook(FILE, "$.hooks.PreToolUse[3].hooks[0]")
