"""What would be written: only our entries come and go, every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.core.agents import all_agents
from hookline.core.json_edit import JsonError, scan
from hookline.deploy.plan import Registration, foreign_entries, own_entries, plan_file, unplan_file
from hookline.deploy.registration import EntryCaller, registrations

LINE = "/usr/bin/hookline hook --agent claude-code --event {} --deadline 60"


def entry(event: str) -> Registration:
    return Registration(
        event=event, entry={"hooks": [{"type": "command", "command": LINE.format(event), "timeout": 70}]}
    )


WANTED = (entry("PreToolUse"), entry("Stop"))

COMMENTED = """\
// my settings
{
    "model": "opus", /* the big one */
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./mine.sh"}]}, // keep
        ],
    },
    "z": [1,2,   3]
}
"""

TEXTS = {
    "nothing": "{}",
    "a space": "{ }\n",
    "one line": '{"model": "opus"}',
    "hooks in one line": '{"hooks": {"PreToolUse": [{"hooks": []}]}, "b": 1}\n',
    "tabs": '{\n\t"a": 1,\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}\n',
    "windows": '{\r\n  "a": 1\r\n}\r\n',
    "comments": COMMENTED,
    "a mark": '\ufeff{\n  "a": "ü"\n}',
    "empty lists": '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    "odd order": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}],"Other":[]},"a":{"b":[]}}',
}


def plain(text: str) -> Any:
    return scan(text.removeprefix("\ufeff")).plain()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_our_entries_are_added_and_nothing_else_changes(text: str) -> None:
    after = plan_file("f", text, WANTED).after
    assert after is not None
    told, before = plain(after), plain(text)
    for event in ("PreToolUse", "Stop"):
        assert told["hooks"][event][:-1] == before.get("hooks", {}).get(event, [])
        told["hooks"][event].pop()
    left = {event: groups for event, groups in told["hooks"].items() if groups or event in before.get("hooks", {})}
    assert {**told, "hooks": left} == {**before, "hooks": before.get("hooks", {})}


@pytest.mark.parametrize("name", sorted(TEXTS.keys() - {"empty lists"}))
def test_every_line_that_was_there_is_still_there(name: str) -> None:
    text = TEXTS[name]
    after = plan_file("f", text, WANTED).after or ""
    if text.count("\n") > 1:
        kept = [line.rstrip("\r,") for line in after.split("\n")]
        assert all(line.rstrip("\r,") in kept for line in text.split("\n"))
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in after) == ("\r\n" in text)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_twice_changes_nothing(text: str) -> None:
    once = plan_file("f", text, WANTED)
    again = plan_file("f", once.after, WANTED)
    assert once.changes
    assert not again.changes
    assert again.diff() == ""


@pytest.mark.parametrize("name", sorted(TEXTS.keys() - {"a space"}))
def test_taking_out_gives_the_bytes_back(name: str) -> None:
    """Also without the copy; a lone space between braces is the one thing that only the copy knows."""
    after = plan_file("f", TEXTS[name], WANTED).after
    assert unplan_file("f", after, TEXTS[name]).after == TEXTS[name]


def test_a_registration_that_changed_is_replaced() -> None:
    old = plan_file("f", COMMENTED, WANTED).after or ""
    new = plan_file("f", old, (entry("SessionStart"),)).after or ""
    assert [one.event for one in own_entries(new)] == ["SessionStart"]
    assert unplan_file("f", new, COMMENTED).after == COMMENTED


def test_what_others_added_meanwhile_stays() -> None:
    after = (plan_file("f", "{}", WANTED).after or "").replace('"hooks": {', '"theirs": 1,\n  "hooks": {', 1)
    assert plain(unplan_file("f", after).after or "") == {"theirs": 1}


def test_a_new_file_is_ours_alone() -> None:
    made = plan_file("f", None, WANTED)
    assert made.before is None
    assert json.loads(made.after or "").keys() == {"hooks"}
    assert "--- /dev/null" in made.diff()


@pytest.mark.parametrize(
    "text",
    ["{", '{"hooks": []}', "[]", '{"hooks": {"Stop": 3}}', '{"hooks": {}, "hooks": {}}', "{'a': 1}", '{"a": 01}'],
)
def test_a_file_that_cannot_be_edited_is_refused(text: str) -> None:
    one = plan_file("f", text, WANTED)
    assert one.refused
    assert (one.after, one.changes) == (text, False)


def test_the_diff_is_the_change() -> None:
    diff = plan_file("f", '{\n  "a": 1\n}\n', (entry("Stop"),)).diff()
    assert '-  "a": 1\n+  "a": 1,\n+  "hooks": {\n' in diff


_KEYS = st.sampled_from(["a", "hooks2", "ü", "x y"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=6,
)
_HOOKS = st.dictionaries(st.sampled_from(["PreToolUse", "Stop", "Other"]), st.lists(_VALUES, max_size=3), max_size=3)


@settings(max_examples=100, deadline=None)
@given(
    tree=st.dictionaries(_KEYS, _VALUES, max_size=3),
    hooks=st.none() | _HOOKS,
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_deploy_then_undeploy_gives_the_bytes_back(tree: dict[str, Any], hooks: Any, indent: Any) -> None:
    text = json.dumps(tree if hooks is None else {**tree, "hooks": hooks}, indent=indent, ensure_ascii=False)
    one = plan_file("f", text, WANTED)
    assert not one.refused
    json.loads(one.after or "")
    assert not plan_file("f", one.after, WANTED).changes
    assert unplan_file("f", one.after, text).after == text


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='{}[]",:/*\n ab1', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        scan(text)
    except JsonError:
        return


def test_every_agent_gets_one_entry_per_event_in_its_own_units() -> None:
    events, caller = ("PreToolUse", "SessionEnd", "Stop"), EntryCaller(program="/x/hookline")
    entries = {
        name: registrations(target, caller, events) for name, target in all_agents().items() if target.form != "plugin"
    }
    assert [one.event for one in entries["gemini-cli"]] == ["BeforeTool", "SessionEnd", "AfterAgent"]
    assert [one.event for one in entries["copilot-cli"]] == ["preToolUse", "sessionEnd", "agentStop"]
    assert entries["claude-code"][0].entry["hooks"][0]["timeout"] == 600
    assert entries["gemini-cli"][0].entry["matcher"] == "*"
    assert entries["gemini-cli"][0].entry["hooks"][0]["timeout"] == 600_000
    assert entries["letta-code"][0].entry["hooks"][0] | {"command": ""} == {
        "type": "command", "command": "", "timeout": 600_000, "quiet": True,
    }  # fmt: skip
    assert entries["codex"][1].entry["hooks"][0]["timeout"] == 3
    assert entries["copilot-cli"][0].entry["timeoutSec"] == 600


BESIDE_COMMENTS = (
    '{"a": 1 // c\n}', '{"a": 1, // c\n}', "{ // c\n}", "{\n  // nothing yet\n}\n", '{"hooks": {"Stop": [] // c\n}}',
    '{"hooks": {"Stop": [{"hooks": []} // c\n]}}', '{"hooks": { // d\n "Stop": [{"hooks": []}, // c\n]}}',
    '{\r\n  // x\r\n  "a": 1 // c\r\n}\r\n', '{"a": 1 /* , */ , /* } */ "b": 2 /* tail */ }', '{"a": 1} // the end',
)  # fmt: skip


@pytest.mark.parametrize("text", BESIDE_COMMENTS)
def test_nothing_of_ours_gets_into_a_comment_and_no_comment_is_lost(text: str) -> None:
    wanted = [entry("PreToolUse"), entry("Stop")]
    there = plan_file("f", text, wanted)
    assert there.after is not None
    assert not there.refused
    assert len(own_entries(there.after)) == 2
    assert unplan_file("f", there.after, text).after == text
    without_original = unplan_file("f", there.after).after
    assert without_original is not None
    scan(without_original)
    assert without_original.count("//") == text.count("//")


@pytest.mark.slow
def test_a_diff_of_a_long_file_is_short_and_right() -> None:
    lines = [f'  "k{number}": {number},' for number in range(20_000)]
    text = "\n".join(["{", *lines, '  "hooks": {}', "}", ""])
    diff = plan_file("f", text, [entry("Stop")]).diff()
    assert len(diff.splitlines()) < 30
    assert "@@ -19999,5 +19999," in diff


def test_only_a_line_feed_ends_a_line_of_a_diff() -> None:
    diff = plan_file("f", '{"a": "x\u2028y"}\x20\n', [entry("Stop")]).diff()
    assert '-{"a": "x\u2028y"} \n' in diff


def test_a_file_with_very_many_keys_is_read_in_no_time() -> None:
    text = json.dumps({f"k{number}": {} for number in range(30_000)})
    assert len(scan(text).children) == 30_000


@pytest.mark.parametrize("text", ['{"hooks": null}', '{"hooks": 7}', '{"hooks": {"PreToolUse": null}}', "[]", "null"])
def test_a_file_without_hooks_has_none_of_others(text: str) -> None:
    assert foreign_entries(text) == []
