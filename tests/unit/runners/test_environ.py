from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.runners.environ import STRING_LIMIT, ExecArguments, Workspace, child_environ, pass_on


def moved(argv, environ, workspace, **rest) -> Any:
    """The same function, for cases in which everything comes back as bytes."""
    return pass_on(argv, environ, workspace, **rest)


@pytest.fixture
def workspace(tmp_path):
    return Workspace(str(tmp_path / "state"))


def test_what_the_dialect_sets_wins_over_the_caller_even_if_it_is_unset():
    caller = {"A": "1", "B": "2", "C": "3"}
    assert child_environ(caller, frozenset({"B", "C"}), {"C": "4", "D": "5"}) == {"A": "1", "C": "4", "D": "5"}


def test_ordinary_values_pass_unchanged_and_touch_no_file(workspace, tmp_path):
    passed = pass_on(("prog", "ü"), {"NAME": "wört", "RAW": "\udcff"}, workspace)
    assert passed == ExecArguments(argv=("prog", "ü"), environ={"NAME": "wört", "RAW": "\udcff"})
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(("length", "by_file"), [(STRING_LIMIT - 6, False), (STRING_LIMIT - 5, True)])
def test_the_limit_of_a_string_counts_its_name_the_sign_and_the_end(workspace, length, by_file):
    passed = pass_on(("prog",), {"NAME": "x" * length}, workspace)
    assert (b"NAME_FILE" in passed.environ) is by_file


def test_a_long_value_is_in_the_file_that_the_variable_names(workspace):
    value = "ä" * STRING_LIMIT
    passed = moved(("prog", value), {"NAME": value}, workspace)
    path = passed.environ[b"NAME"]
    assert path == passed.environ[b"NAME_FILE"]
    assert Path(path.decode()).read_text() == value
    assert Path(passed.argv[1].decode()).read_text() == value
    workspace.remove()
    assert not Path(path.decode()).exists()


def test_over_the_total_the_largest_go_first(workspace):
    values = {f"V{number}": "v" * number * 1000 for number in range(1, 11)}
    passed = moved(("prog",), values, workspace, budget=40_000)
    by_file = {name for name in passed.environ if name.endswith(b"_FILE")}
    assert by_file == {b"V10_FILE", b"V9_FILE"}


def test_a_total_of_small_values_is_left_to_the_kernel(workspace):
    values = {f"V{number}": "v" * 100 for number in range(100)}
    assert len(moved(("prog",), values, workspace, budget=1000).environ) == 100


def test_a_nul_is_replaced_and_noted_by_name(workspace):
    passed = moved(("prog", "a\0b"), {"NAME": "c\0d"}, workspace)
    assert passed.argv[1] == "a\ufffdb".encode()
    assert passed.environ[b"NAME"] == "c\ufffdd".encode()
    assert len(passed.notes) == 2


def test_a_value_that_is_no_text_is_made_one(workspace):
    values: dict[str, Any] = {"N": 3, "S": "\ud800"}
    assert moved(("prog",), values, workspace).environ == {b"N": b"3", b"S": b"?"}


def test_names_that_differ_only_in_signs_get_files_of_their_own(workspace):
    long = "x" * STRING_LIMIT
    passed = moved(("prog",), {"A.B": long, "A_B": long + "y"}, workspace)
    assert Path(passed.environ[b"A.B"].decode()).read_text() == long
    assert Path(passed.environ[b"A_B"].decode()).read_text() == long + "y"
