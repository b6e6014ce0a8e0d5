"""Pipelines as xonsh holds them, as hooks see them, and back."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.shell.xonsh.commands import command_data, pipeline_text, rebuild, split_pipeline


def test_a_command_is_told_with_words_and_redirections():
    assert command_data(["ls", ["-l", "a b"], (">", ["out"]), ("2>&1",)]) == {
        "command": "ls",
        "args": ["-l", "a b"],
        "redirects": [{"op": ">", "path": "out"}, {"op": "2>&1", "path": ""}],
    }


def test_a_function_among_the_words_is_known_by_its_name():
    def helper() -> None: ...

    assert command_data([helper, "x"]) == {"command": "helper", "args": ["x"], "redirects": []}


def test_the_text_is_one_line_with_words_quoted():
    commands, background = split_pipeline([["echo", "a b", ("2>&1",)], "|", ["cat", (">", "my file")], "&"])
    assert (
        pipeline_text([command_data(each) for each in commands], background=background)
        == "echo 'a b' 2>&1 | cat > 'my file' &"
    )


def test_what_nobody_touched_keeps_its_very_objects():
    def helper() -> None: ...

    cmds: list[Any] = [[helper, "x"], "|", ["cat"]]
    before = [command_data(each) for each in split_pipeline(cmds)[0]]
    after = [before[0], {"command": "sort", "args": ["-u"], "redirects": [{"op": ">", "path": "f"}]}]
    assert rebuild(cmds, before, after, background=True) == [[helper, "x"], "|", ["sort", "-u", (">", "f")], "&"]


@pytest.mark.parametrize(
    "after",
    [None, [], "ls", [{"command": ""}], [{"command": "ls", "args": "x"}], [{"command": "ls", "args": [1]}], [{}]],
)
def test_a_change_that_is_no_pipeline_is_none(after: Any):
    assert rebuild([["ls"]], [command_data(["ls"])], after, background=False) is None
