"""The built-in tools, used as the model uses them."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.patience import SOON, alive, eventually

from hookline.agent.tools.base import AgentTool, ToolContext, ToolError, check_arguments, shorten
from hookline.agent.tools.builtin import BUILT_IN
from hookline.agent.tools.custom import load_tools
from hookline.core.settings import Limits, Settings


@dataclass
class Result:
    text: str
    is_error: bool = False
    kind: str = ""


def _context(folder: Path, **limits: Any) -> ToolContext:
    settings = Settings(limits=Limits(**limits), state_dir=str(folder / "state"))
    return ToolContext(cwd=str(folder), environ=dict(os.environ), settings=settings)


def _run(tool: AgentTool, folder: Path, arguments: dict[str, Any]) -> Result:
    try:
        return Result(str(asyncio.run(tool.use(arguments, _context(folder)))))
    except ToolError as error:
        return Result(str(error), is_error=True, kind=error.kind)


def _use(folder: Path, name: str, /, **arguments: Any) -> Result:
    return _run(BUILT_IN[name], folder, arguments)


def test_bash_gives_both_streams_and_a_failure_its_exit_code(tmp_path: Path) -> None:
    assert _use(tmp_path, "Bash", command="echo out; echo err >&2").text == "out\nerr"
    failed = _use(tmp_path, "Bash", command="echo no; exit 3")
    assert (failed.is_error, failed.text) == (True, "Exit code 3\nno")


def test_bash_ends_at_its_deadline_with_everything_it_started(tmp_path: Path) -> None:
    began = time.monotonic()
    output = _use(tmp_path, "Bash", command="sleep 300 & echo $! > pid; wait", timeout=2000)
    assert (output.is_error, output.kind) == (True, "timeout")
    assert time.monotonic() - began < SOON
    assert eventually(lambda: not alive(int((tmp_path / "pid").read_text())))


def test_a_cancelled_turn_ends_the_command(tmp_path: Path) -> None:
    async def story() -> None:
        task = asyncio.ensure_future(BUILT_IN["Bash"].use({"command": "touch begun; sleep 300"}, _context(tmp_path)))
        while not (tmp_path / "begun").exists():  # noqa: ASYNC110  # another process makes it
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(story())
    assert time.monotonic() - began < 60


def test_long_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    output = _use(tmp_path, "Bash", command="echo first; seq 100000; echo last").text
    assert output.startswith("first\n")
    assert output.endswith("last")
    assert len(output) < 31_000
    assert shorten("short") == "short"


def test_a_command_with_a_nul_is_refused(tmp_path: Path) -> None:
    assert _use(tmp_path, "Bash", command="a\0b").is_error


def test_read_numbers_lines_and_refuses_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\nthree\n")
    (tmp_path / "b").write_bytes(b"\0\1")
    os.mkfifo(tmp_path / "fifo")
    assert _use(tmp_path, "Read", file_path="a", offset=2, limit=1).text == "     2\ttwo\n(1 more lines)"
    for name in ("b", "fifo", "nothing", "."):
        assert _use(tmp_path, "Read", file_path=name).is_error


def test_write_replaces_a_file_and_keeps_its_mode_and_links(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o750)
    (tmp_path / "link").symlink_to("real")
    assert not _use(tmp_path, "Write", file_path="link", content="new").is_error
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o750
    assert (tmp_path / "link").is_symlink()
    assert not _use(tmp_path, "Write", file_path="new/deep/file", content="x").is_error


def test_edit_changes_one_clear_place_or_all_where_asked(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes("x = 1\r\nx = 1\r\n\xff".encode("latin-1"))
    assert "occurs 2 times" in _use(tmp_path, "Edit", file_path="a", old_string="x = 1", new_string="y").text
    assert "not in" in _use(tmp_path, "Edit", file_path="a", old_string="z", new_string="y").text
    done = _use(tmp_path, "Edit", file_path="a", old_string="x = 1", new_string="y", replace_all=True)
    assert not done.is_error
    assert file.read_bytes() == b"y\r\ny\r\n\xff"


def test_glob_and_grep_find_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("import os\nprint('hello')\n")
    (tmp_path / "b.txt").write_text("hello there\n")
    assert _use(tmp_path, "Glob", pattern="**/*.py").text == str(tmp_path / "src" / "a.py")
    assert _use(tmp_path, "Grep", pattern="HELLO", ignore_case=True, glob="*.py").text == "src/a.py:2:print('hello')"
    assert _use(tmp_path, "Grep", pattern="^hello").text == "b.txt:1:hello there"
    assert _use(tmp_path, "Grep", pattern="nothing like it").text == "(no matches)"
    assert _use(tmp_path, "Grep", pattern="(").kind == "invalid_args"


def test_a_pattern_that_would_take_for_ever_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a" * 5000 + "b")
    assert _use(tmp_path, "Grep", pattern="(a|a|aa)+$").is_error


@pytest.mark.parametrize(
    ("given", "finding"),
    [
        ("text", "the arguments must be a JSON object"),
        ({}, "invalid arguments: 'command' is a required property"),
        ({"command": 3}, "invalid arguments: command: 3 is not of type 'string'"),
        ({"command": "ls", "timeout": True}, "invalid arguments: timeout: True is not of type 'integer'"),
        (
            {"command": "ls", "other": 1},
            "invalid arguments: Additional properties are not allowed ('other' was unexpected)",
        ),
    ],
)
def test_wrong_arguments_are_named(given: Any, finding: str) -> None:
    with pytest.raises(ToolError) as caught:
        check_arguments(BUILT_IN["Bash"].spec.parameters, given)
    assert (str(caught.value), caught.value.kind) == (finding, "invalid_args")


def test_right_arguments_pass_and_an_invalid_schema_checks_nothing() -> None:
    check_arguments(BUILT_IN["Bash"].spec.parameters, {"command": "ls", "timeout": 3})
    check_arguments({"type": "text", "properties": 3}, {"command": "ls"})


def test_a_tool_of_ones_own_gets_its_arguments_on_stdin(tmp_path: Path) -> None:
    (tmp_path / "echo.sh").write_text("#!/bin/sh\ncat\n")
    (tmp_path / "echo.sh").chmod(0o755)
    file = tmp_path / "tools.toml"
    file.write_text(
        '[[tool]]\nname = "echo"\nrun = ["./echo.sh"]\ntimeout = "60s"\n[tool.parameters.properties.x]\ntype = "string"\n'
    )
    tools, problems = load_tools([str(file)])
    assert not problems
    assert tools["echo"].need == "run"
    output = _run(tools["echo"], tmp_path / "..", {"x": "$(touch evil); é"})
    assert output.text == '{"x": "$(touch evil); é"}'
    assert not (tmp_path / "evil").exists()


def test_a_bad_tool_costs_no_other_one(tmp_path: Path) -> None:
    file = tmp_path / "tools.toml"
    entries = [
        'name = "Bash"\nrun = "x"', 'name = "a"', 'name = "b"\nrun = "x"\ntimeout = "soon"',
        'name = "c"\nrun = "x"\npermission = "maybe"', 'name = "d"\nrun = "x"\nmore = 1', 'name = "good"\nrun = "x"',
    ]  # fmt: skip
    file.write_text("".join(f"[[tool]]\n{entry}\n" for entry in entries))
    tools, problems = load_tools([str(file), str(tmp_path / "missing.toml")])
    assert list(tools) == ["good"]
    assert [problem.pointer for problem in problems] == [*(f"$.tool[{n}]" for n in range(5)), "$"]
