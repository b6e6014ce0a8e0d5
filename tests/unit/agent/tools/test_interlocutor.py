"""What the tools of a conversation do with what a model gives them."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import textwrap
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.lectic_config import Header, Interlocutor
from hookline.agent.message import ToolOutput
from hookline.agent.tools.base import AgentTool, ToolContext, ToolError
from hookline.agent.tools.exec import exec_tool
from hookline.agent.tools.interlocutor import ToolFactory
from hookline.agent.tools.sqlite import sqlite_tool
from hookline.core.settings import Settings


def used(tool: AgentTool, cwd: Path, /, **arguments: Any) -> list[str]:
    outputs = asyncio.run(tool.use(arguments, context(cwd)))
    assert not isinstance(outputs, str)
    return [output.content for output in outputs]


def context(cwd: Path) -> ToolContext:
    settings = Settings(state_dir=str(cwd / "state"))
    return ToolContext(environ={"PATH": os.environ["PATH"]}, cwd=str(cwd), settings=settings)


def command(text: str, **options: Any) -> AgentTool:
    return exec_tool("x", text, **options)


def test_arguments_stay_whole_and_reach_no_shell(tmp_path: Path) -> None:
    given = ["$(touch pwned)", "a b", "; rm -rf /"]
    out = used(command("printf %s|"), tmp_path, argv=given)
    assert out == ["<stdout>" + "|".join(given) + "|</stdout>", "<exitCode>0</exitCode>"]
    assert not (tmp_path / "pwned").exists()


def test_a_schema_gives_variables_and_the_tools_own_win(tmp_path: Path) -> None:
    tool = command(
        "bash -c 'echo \"$A|$B|$C\"'",
        schema={"A": "text", "B": {"type": "array"}, "C": "x"},
        env={"C": "own"},
    )
    assert used(tool, tmp_path, A="$(id)", B=[1, "x"], C="theirs")[0] == '<stdout>$(id)|[1, "x"]|own\n</stdout>'
    assert tool.spec.parameters["required"] == ["A", "B", "C"]


def test_a_script_and_both_streams(tmp_path: Path) -> None:
    script = "#!/usr/bin/env bash\necho out\necho err >&2\nexit 3\n"
    assert used(command(script, schema={}), tmp_path) == [
        "<stdout>out\n</stdout>", "<stderr>err\n</stderr>", "<exitCode>3</exitCode>",
    ]  # fmt: skip


def test_output_is_plain_and_bounded(tmp_path: Path) -> None:
    tool = command("printf", limit=9)
    assert used(tool, tmp_path, argv=["\\033[31mred\\033[0m"])[0] == "<stdout>red</stdout>"
    assert used(tool, tmp_path, argv=["10%%\\r20%%\\r\\nx"])[0] == "<stdout>20%\nx</stdout>"
    out = used(tool, tmp_path, argv=["0123456789abc"])
    assert out[:2] == [
        "<stdout>012345678</stdout>",
        "<truncated>output exceeded 9 characters and was truncated</truncated>",
    ]


def test_a_tool_that_takes_too_long_is_ended_and_says_what_it_had(tmp_path: Path) -> None:
    tool = command("bash -c 'echo begun; sleep 300'", schema={}, timeout=3)
    with pytest.raises(ToolError) as caught:
        used(tool, tmp_path)
    assert str(caught.value) == (
        "<stdout>begun\n</stdout>\n<error>Killed Process: command timeout occurred after 3 seconds</error>"
    )


def test_a_sandbox_stands_in_front(tmp_path: Path) -> None:
    assert (
        used(command("whoami", sandbox="echo 'in a box'"), tmp_path, argv=["x"])[0]
        == "<stdout>in a box whoami x\n</stdout>"
    )


def test_a_program_that_is_not_there_is_an_answer(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no-such-program"):
        used(command("no-such-program"), tmp_path, argv=[])


# ── sqlite ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "d.db") as connection:
        connection.executescript("create table t (a, b); insert into t values (1, 'x'), (2, null)")
    connection.close()
    return tmp_path


def query(cwd: Path, text: str, **options: Any) -> list[str]:
    return used(sqlite_tool("db", "d.db", **options), cwd, query=text)


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


async def _itself(value: str) -> str:
    return value


async def _nobody(_name: str, _content: str) -> str:
    raise AssertionError


def test_a_server_gives_its_tools_under_its_name(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    written = {"mcp_command": f"'{sys.executable}' server.py", "name": "srv", "exclude": ["other"]}

    async def talk() -> tuple[list[str], Any, str, Any]:
        async with AsyncExitStack() as stack:
            here = context(tmp_path)
            header = Header(interlocutors={}, default="", tree={})
            factory = ToolFactory(header=header, context=here, stack=stack, load=_itself, ask=_nobody)
            tools = await factory.make(Interlocutor(name="Bot", prompt="", fields={"tools": [written]}))
            said = await tools["srv_upper"].use({"t": "hi"}, here)
            listed = await tools["srv_list_resources"].use({}, here)
            try:
                await tools["srv_fail"].use({}, here)
            except ToolError as error:
                return list(tools), said, str(error), listed
        raise AssertionError

    names, said, error, listed = asyncio.run(talk())
    assert names == ["srv_upper", "srv_fail", "srv_list_resources"]
    assert said == (
        ToolOutput(content="HI"), ToolOutput(mimetype="image/png", content="data:image/png;base64,aGk="),
    )  # fmt: skip
    assert (error, listed) == ("broken", "r: file:///r")
