"""What the tools of a conversation do with what a model gives them."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import textwrap
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.tools.base import HostTool, Place, ToolError, check_arguments
from hookline.agent.tools.exec import ExecTool
from hookline.agent.tools.mcp import connected
from hookline.agent.tools.sqlite import SqliteTool


def used(tool: HostTool, **arguments: Any) -> list[str]:
    return [result.content for result in asyncio.run(tool.use(arguments))]


def place(cwd: Path, **environ: str) -> Place:
    return Place(environ={"PATH": os.environ["PATH"], **environ}, cwd=str(cwd), state_dir=str(cwd / "state"))


def command(cwd: Path, text: str, **options: Any) -> ExecTool:
    given: dict[str, Any] = {"env": {}, **options}
    return ExecTool(name="x", command=text, place=place(cwd), **given)


def test_arguments_stay_whole_and_reach_no_shell(tmp_path: Path) -> None:
    given = ["$(touch pwned)", "a b", "; rm -rf /"]
    out = used(command(tmp_path, "printf %s|"), argv=given)
    assert out == ["<stdout>" + "|".join(given) + "|</stdout>", "<exitCode>0</exitCode>"]
    assert not (tmp_path / "pwned").exists()


def test_a_schema_gives_variables_and_the_tools_own_win(tmp_path: Path) -> None:
    tool = command(
        tmp_path,
        "bash -c 'echo \"$A|$B|$C\"'",
        schema={"A": "text", "B": {"type": "array"}, "C": "x"},
        env={"C": "own"},
    )
    assert used(tool, A="$(id)", B=[1, "x"], C="theirs")[0] == '<stdout>$(id)|[1, "x"]|own\n</stdout>'
    assert tool.told.parameters["required"] == ["A", "B", "C"]


def test_a_script_and_both_streams(tmp_path: Path) -> None:
    script = "#!/usr/bin/env bash\necho out\necho err >&2\nexit 3\n"
    assert used(command(tmp_path, script, schema={})) == [
        "<stdout>out\n</stdout>", "<stderr>err\n</stderr>", "<exitCode>3</exitCode>",
    ]  # fmt: skip


def test_output_is_plain_and_bounded(tmp_path: Path) -> None:
    tool = command(tmp_path, "printf", limit=9)
    assert used(tool, argv=["\\033[31mred\\033[0m"])[0] == "<stdout>red</stdout>"
    assert used(tool, argv=["10%%\\r20%%\\r\\nx"])[0] == "<stdout>20%\nx</stdout>"
    out = used(tool, argv=["0123456789abc"])
    assert out[:2] == [
        "<stdout>012345678</stdout>",
        "<truncated>output exceeded 9 characters and was truncated</truncated>",
    ]


def test_a_tool_that_takes_too_long_is_ended_and_says_what_it_had(tmp_path: Path) -> None:
    tool = command(tmp_path, "bash -c 'echo begun; sleep 300'", schema={}, timeout=3)
    with pytest.raises(ToolError) as caught:
        used(tool)
    assert str(caught.value) == (
        "<stdout>begun\n</stdout>\n<error>Killed Process: command timeout occurred after 3 seconds</error>"
    )


def test_a_sandbox_stands_in_front(tmp_path: Path) -> None:
    assert (
        used(command(tmp_path, "whoami", sandbox="echo 'in a box'"), argv=["x"])[0]
        == "<stdout>in a box whoami x\n</stdout>"
    )


def test_a_program_that_is_not_there_is_an_answer(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no-such-program"):
        used(command(tmp_path, "no-such-program"), argv=[])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "Missing required argument: a"),
        ({"a": "x", "z": 1}, "Unknown argument: z"),
        ({"a": 1}, "Invalid string value: 1"),
        ({"a": "x", "n": True}, "Invalid integer value: true"),
        ([], "The tool input isn't the right type."),
    ],
)
def test_arguments_are_checked_before_a_tool_runs(given: Any, told: str) -> None:
    schema: Mapping[str, Any] = {
        "properties": {
            "a": {"type": "string"},
            "n": {"type": "integer"},
            "l": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["a"],
    }
    with pytest.raises(ToolError) as caught:
        check_arguments(schema, given)
    assert (str(caught.value).startswith(told), caught.value.kind) == (True, "invalid_args")
    fine = {"a": "x", "n": 2, "l": ["y"]}
    assert check_arguments(schema, fine) == fine


# ── sqlite ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "d.db") as connection:
        connection.executescript("create table t (a, b); insert into t values (1, 'x'), (2, null)")
    connection.close()
    return tmp_path


def query(cwd: Path, text: str, **options: Any) -> list[str]:
    return used(SqliteTool(name="db", path="d.db", place=place(cwd), **options), query=text)


def test_each_statement_has_its_result(database: Path) -> None:
    assert query(database, "select * from t; -- done\nselect 'a;b' as s;") == [
        "- a: 1\n  b: x\n- a: 2\n  b: null\n",
        "- s: a;b\n",
    ]


@pytest.mark.parametrize(
    "text",
    ["attach 'x' as y", "/* a */ PRAGMA user_version", "vacuum", "vacuum into 'copy.db'", "detach y", "commit", "begin",
     "rollback", "savepoint s", "select load_extension('x')", "select x'00' as b", "select nothing", "delete from"],
)  # fmt: skip
def test_what_is_refused_leaves_nothing_behind(database: Path, text: str) -> None:
    with pytest.raises(ToolError):
        query(database, f"insert into t values (9, 'new'); {text}")
    assert query(database, "select count(*) as n from t") == ["- n: 2\n"]


def test_a_read_only_database_is_not_changed(database: Path) -> None:
    with pytest.raises(ToolError):
        query(database, "delete from t", readonly=True)
    assert query(database, "select count(*) as n from t", readonly=True) == ["- n: 2\n"]


def test_a_result_that_is_too_large_is_refused(database: Path) -> None:
    with pytest.raises(ToolError, match="result was too large, try a more selective query"):
        query(database, "select * from t", limit=5)


# ── mcp ──────────────────────────────────────────────────────────────────────────────────────────────

SERVER = textwrap.dedent("""\
    import json, sys
    TOOLS = [{"name": n, "description": "d", "inputSchema": {"type": "object", "properties": {"t": {"type": "string"}}}}
             for n in ("upper", "fail", "other")]
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        method, params = asked["method"], asked.get("params") or {}
        if method == "initialize":
            result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}, "resources": {}},
                      "serverInfo": {"name": "s", "version": "1"}}
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method == "resources/list":
            result = {"resources": [{"name": "r", "uri": "file:///r"}]}
        elif method == "tools/call" and params["name"] == "upper":
            result = {"content": [{"type": "text", "text": params["arguments"]["t"].upper()},
                                  {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
        elif method == "tools/call":
            result = {"content": [{"type": "text", "text": "broken"}], "isError": True}
        else:
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
""")


def test_a_server_gives_its_tools_under_its_name(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    written = {"mcp_command": f"'{sys.executable}' server.py", "name": "srv", "exclude": ["other"]}

    async def talk() -> tuple[list[str], Any, str, Any]:
        async with AsyncExitStack() as stack:
            tools = await stack.enter_async_context(connected("srv", written, place(tmp_path), ""))
            by_name = {tool.told.name: tool for tool in tools}
            said = await by_name["srv_upper"].use({"t": "hi"})
            listed = await by_name["srv_list_resources"].use({})
            try:
                await by_name["srv_fail"].use({})
            except ToolError as error:
                return list(by_name), [(one.mimetype, one.content) for one in said], str(error), listed[0].content
        raise AssertionError

    names, said, error, listed = asyncio.run(talk())
    assert names == ["srv_upper", "srv_fail", "srv_list_resources"]
    assert said == [("text/plain", "HI"), ("image/png", "data:image/png;base64,aGk=")]
    assert (error, listed) == ("broken", "r: file:///r")
