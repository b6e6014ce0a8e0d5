"""Taking one table out of a TOML text, and putting one behind it."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.tui.toml_edit import append_table, remove_table

THREE = """\
# the head
title = "x"   # stays

[[hook]]  # one
name = "one"
script = '''
[[hook]]
name = "a trap"
'''

# about two
[[hook]]
name = "two"
env = { A = "[", B = "]" }
list = [
  "a", # [[hook]]
  "b",
]
[hook.when]
min_turn = 3

[limits]
timeout = "5s"

# about three
[[ hook ]]
name = "three"
"""


def test_exactly_the_table_goes() -> None:
    start = THREE.index('[[hook]]\nname = "two"')
    end = THREE.index("\n[limits]")
    # The comment above stays: nobody can know whether it speaks of this table or of the whole file.
    assert remove_table(THREE, "hook", 1) == THREE[:start] + THREE[end:]


def test_brackets_in_strings_and_comments_are_no_tables() -> None:
    left = remove_table(THREE, "hook", 0)
    assert left is not None
    assert "a trap" not in left
    assert [hook["name"] for hook in tomllib.loads(left)["hook"]] == ["two", "three"]


def test_a_subtable_behind_other_tables_goes_too() -> None:
    text = '[[hook]]\nname = "a"\n[limits]\ngrace = "1s"\n[hook.env]\nA = "1"\n'
    assert remove_table(text, "hook", 0) == '[limits]\ngrace = "1s"\n'


@pytest.mark.parametrize("text", ['hook = [{ name = "inline" }]\n', "not toml [", "", '[hook]\nname = "x"\n'])
def test_what_cannot_be_taken_out_exactly_is_left_alone(text: str) -> None:
    assert remove_table(text, "hook", 0) is None


@pytest.mark.parametrize("index", [-1, 3, 99])
def test_there_is_no_such_table(index: int) -> None:
    assert remove_table(THREE, "hook", index) is None


NEW = '[[hook]]\nname = "new"\nrun = "./x"\n'

lines = st.sampled_from(
    ["", "# a comment", "# [[hook]]", '[[hook]]\nname = "h"', "[[hook]]\ns = '''\n[[hook]]\n'''", "[[hook]]\na = [\n1,\n]"]
)  # fmt: skip


@settings(max_examples=100)
@given(st.lists(lines, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_adding_and_taking_out_gives_the_bytes_back(parts: list[str], newline: str) -> None:
    text = "".join(f"{part}\n" for part in parts).replace("\n", newline)
    longer = append_table(text, NEW)
    assert longer.startswith(text)
    number = len(tomllib.loads(text).get("hook", []))
    assert tomllib.loads(longer)["hook"][number] == {"name": "new", "run": "./x"}
    assert remove_table(longer, "hook", number) == text


def test_a_last_line_without_a_break_is_not_glued_to_the_table() -> None:
    assert append_table("a = 1", "[[hook]]\n") == "a = 1\n\n[[hook]]\n"
    assert append_table("", "[[hook]]\n") == "[[hook]]\n"
