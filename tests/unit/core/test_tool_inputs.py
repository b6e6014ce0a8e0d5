"""One canonical input: whatever an agent calls the parts of a tool's input, hooks find them under one name."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.core.tool_names import each_input, matching_names, native_input, tool_fields

PATCH = """*** Begin Patch
*** Add File: new.txt
+hello
*** Update File: src/a.py
*** Move to: src/b.py
@@
-old
+new
*** Delete File: /etc/gone
*** End Patch
"""


BLOCKS = """<<<<<<< SEARCH
one
=======
two
>>>>>>> REPLACE
<<<<<<< SEARCH
three
=======
four
>>>>>>> REPLACE
"""


@pytest.mark.parametrize(
    ("tool", "own", "ours"),
    [
        ("Bash", {"command": ["bash", "-lc", "ls -l"]}, {"command": "ls -l"}),
        ("shell", {"command": ["git", "commit", "-m", "a b"]}, {"command": "git commit -m 'a b'"}),
        ("exec_command", {"cmd": "ls"}, {"command": "ls"}),
        ("read_file", {"absolute_path": "/w/a"}, {"file_path": "/w/a"}),
        ("read_file", {"file_path": "a"}, {"file_path": "/w/a"}),
        ("view", {"path": "../x"}, {"file_path": "/x"}),
        ("view", {"path": "~/x"}, {"file_path": "~/x"}),
        ("create", {"path": "/w/a", "file_text": "x"}, {"file_path": "/w/a", "content": "x"}),
        ("write", {"filePath": "/w/a", "content": "x"}, {"file_path": "/w/a", "content": "x"}),
        (
            "edit", {"filePath": "/w/a", "oldString": "x", "newString": "y", "replaceAll": True},
            {"file_path": "/w/a", "old_string": "x", "new_string": "y", "replace_all": True},
        ),
        ("edit", {"path": "/w/a", "old_str": "x", "new_str": "y"}, {"file_path": "/w/a", "old_string": "x", "new_string": "y"}),
        (
            "multiedit", {"filePath": "/w/a", "edits": [{"oldString": "x", "newString": "y"}, {"oldString": "v", "newString": "w"}]},
            {"file_path": "/w/a", "old_string": "x\nv", "new_string": "y\nw"},
        ),
        ("apply_patch", {"command": PATCH}, {"file_paths": ["/w/new.txt", "/w/src/a.py", "/w/src/b.py", "/etc/gone"]}),
        ("web_fetch", {"prompt": "read https://a.test/x and https://b.test."}, {"url": "https://a.test/x"}),
        ("google_web_search", {"query": "x"}, {"query": "x"}),
        ("spawn_agent", {"message": "do it", "agent_type": "default"}, {"prompt": "do it", "subagent_type": "default"}),
        ("grep_search", {"pattern": "x", "include": "*.py"}, {"pattern": "x", "glob": "*.py"}),
        ("list_directory", {"dir_path": "/w"}, {"path": "/w"}),
        ("LS", {"directory_path": "/w"}, {"path": "/w"}),
        ("Glob", {"patterns": ["*.py", "*.md"], "folder": "/w"}, {"pattern": "*.py\n*.md", "path": "/w"}),
        ("search_files", {"pattern": "x", "file_glob": "*.py"}, {"glob": "*.py"}),
        ("fs_write", {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}, {"file_path": "/w/a", "new_string": "y"}),
        ("fs_write", {"command": "create", "path": "a", "file_text": "x"}, {"file_path": "/w/a", "content": "x"}),
        ("fs_write", {"path": "a", "text": "x"}, {"file_path": "/w/a", "content": "x"}),
        ("MultiEdit", {"file_path": "/w/a", "edits": [{"old_string": "x", "new_string": "y"}]}, {"new_string": "y"}),
        ("view_image", {"path": "a.png"}, {"file_path": "/w/a.png"}),
        ("download", {"url": "https://a.test", "file_path": "a"}, {"url": "https://a.test"}),
        ("search_replace", {"file_path": "a", "content": BLOCKS}, {"file_path": "/w/a", "old_string": "one\nthree", "new_string": "two\nfour"}),
        ("replace_in_file", {"path": "a", "diff": BLOCKS}, {"old_string": "one\nthree", "new_string": "two\nfour"}),
        ("replace_in_file", {"path": "a", "diff": "------- SEARCH\none\n=======\ntwo\n+++++++ REPLACE\n"}, {"old_string": "one", "new_string": "two"}),
        ("StrReplaceFile", {"path": "a", "edit": {"old": "x", "new": "y"}}, {"old_string": "x", "new_string": "y"}),
        ("MultiEdit", {"file_path": "a", "changes": [{"old_str": "x", "new_str": "y"}]}, {"old_string": "x", "new_string": "y"}),
        ("run_commands", {"commands": [{"command": "rm", "args": ["-rf", "a b"]}, "ls"]}, {"command": "rm -rf 'a b'\nls"}),
        ("Bash", {"command": "ls", "cwd": "sub"}, {"command": "ls", "cwd": "/w/sub"}),
        ("terminal", {"command": "ls", "workdir": "/etc"}, {"cwd": "/etc"}),
        ("write_file", {"file_path": None, "path": "a", "content": "x"}, {"file_path": "/w/a"}),
        ("read_many_files", {"include": ["a", "/etc/passwd"]}, {"file_path": "/w/a", "file_paths": ["/w/a", "/etc/passwd"]}),
        ("read_files", {"file_paths": ["a", "b"]}, {"file_path": "/w/a", "file_paths": ["/w/a", "/w/b"]}),
        ("subagent", {"agent": "scout", "task": "look"}, {"prompt": "look", "subagent_type": "scout"}),
        ("AgentSwarm", {"prompt_template": "look at {item}", "items": ["a"]}, {"prompt": "look at {item}"}),
    ],
)  # fmt: skip
def test_what_agents_call_otherwise_has_one_name(tool: str, own: dict[str, Any], ours: dict[str, Any]) -> None:
    fields = {"tool_input": own, **tool_fields(tool, own, "/w")}
    assert ours.items() <= fields["tool_input"].items()
    assert fields.get("native_tool_input", own) == own


@pytest.mark.parametrize(
    ("tool", "own", "command"),
    [
        ("Monitor", {"command": "tail -f log", "timeout_ms": 5}, "tail -f log"),
        ("monitor", {"command": "tail -f log"}, "tail -f log"),
        ("write_stdin", {"session_id": 1, "chars": "ls\n"}, "ls\n"),
        ("write_bash", {"shellId": "s", "input": "ls{enter}"}, "ls{enter}"),
        ("process", {"action": "submit", "session_id": "p", "data": "ls"}, "ls"),
        ("send_command_input", {"CommandId": "c", "Input": "ls"}, "ls"),
        ("execute_code", {"code": "import os"}, "python3 -c 'import os'"),
        ("create_and_run_task", {"task": {"command": "ls", "args": ["-l"]}}, "ls -l"),
    ],
)
def test_whatever_gives_a_shell_something_to_run_is_a_shell(tool: str, own: dict[str, Any], command: str) -> None:
    fields = {"tool_input": own, **tool_fields(tool, own, "/w")}
    assert (fields["tool_name"], fields["native_tool_name"]) == ("Bash", tool)
    assert fields["tool_input"]["command"] == command


@pytest.mark.parametrize(
    ("tool", "own"), [("process", {"action": "list"}), ("Monitor", {"ws": {}}), ("write_stdin", {"chars": ""}), ("execute_code", {"code": 7})]
)  # fmt: skip
def test_what_only_looks_at_a_process_keeps_its_name(tool: str, own: dict[str, Any]) -> None:
    assert tool_fields(tool, own, "/w") == {"tool_name": tool, "native_tool_name": tool}


def test_the_input_of_a_servers_tool_is_found_with_the_tools_name_around_it() -> None:
    packed = {"tool_name": "t__echo", "tool_input": {"text": "x"}}
    fields = tool_fields("t__echo", packed, "/w", "mcp__t__echo")
    assert fields["tool_input"]["text"] == "x"
    assert native_input({**fields, "tool_input": {**fields["tool_input"], "text": "y"}}, "/w") is None
    # A tool that has parts of these names itself is not packed, and nothing in them hides the rest.
    assert "tool_input" not in tool_fields("t__echo", {**packed, "text": "z"}, "/w", "mcp__t__echo")


def test_an_input_in_our_words_is_left_alone() -> None:
    own = {"file_path": "/w/a", "content": "x"}
    assert tool_fields("Write", own, "/w") == {"tool_name": "Write", "native_tool_name": "Write"}
    assert tool_fields("Anything", {"path": "a"}, "/w") == {"tool_name": "Anything", "native_tool_name": "Anything"}


def test_a_part_that_is_null_is_not_there() -> None:
    given = {"path": "a", "new_text": "x", "old_text": None, "insert_line": None}
    assert tool_fields("editor", given, "/w")["tool_name"] == "Write"


@pytest.mark.parametrize("command", [[[]], [["rm", "x"]], [{"args": ["x"]}], [None]])
def test_a_command_that_nobody_can_read_stays_as_it_came(command: list[Any]) -> None:
    assert "tool_input" not in tool_fields("bash", {"command": command}, "/w")


def test_an_input_as_text_is_read() -> None:
    assert tool_fields("bash", "rm x", "/w")["tool_input"]["command"] == "rm x"
    assert tool_fields("create", '{"path": "/a", "file_text": "x"}', "")["tool_input"]["content"] == "x"
    assert tool_fields("apply_patch", PATCH, "/w")["tool_input"]["file_paths"][1] == "/w/src/a.py"


def test_a_server_and_its_tool_have_a_name_each() -> None:
    fields = tool_fields("mcp__git__log__all", {}, "")
    assert (fields["mcp_server_name"], fields["mcp_tool_name"]) == ("git", "log__all")


@pytest.mark.parametrize("native", ["my_server_read_it", "mcp_my_server_read_it"])
def test_a_matcher_finds_a_server_whose_name_has_what_joins_it_to_its_tool(native: str) -> None:
    names = matching_names("mcp__my__server_read_it", native)
    assert names[:2] == ("mcp__my__server_read_it", native)
    assert "mcp__my_server__read_it" in names
    assert not any("mcp" in one for one in matching_names("Bash", "run_shell_command"))
    assert matching_names("mcp__a_b__c", "mcp__a_b__c") == ("mcp__a_b__c",)


def test_each_file_of_a_patch_is_an_input_of_its_own() -> None:
    data = tool_fields("apply_patch", {"command": PATCH}, "/w")
    parts = each_input(data, "/w")
    assert [part["file_path"] for part in parts] == data["tool_input"]["file_paths"]
    assert (parts[0]["content"], parts[2]["old_string"], parts[2]["new_string"]) == ("hello", "old", "new")
    assert not any("file_paths" in part for part in parts)
    assert each_input(tool_fields("write", {"filePath": "/a"}, "/w"), "/w") == []


@pytest.mark.parametrize(
    ("tool", "own", "change", "expected"),
    [
        ("write", {"filePath": "a", "content": "x"}, {"file_path": "/b"}, {"filePath": "/b", "content": "x"}),
        ("write", {"filePath": "a", "content": "x"}, {"content": "y"}, {"filePath": "a", "content": "y"}),
        ("write", {"filePath": "a", "content": "x"}, {"filePath": "c"}, {"filePath": "c", "content": "x"}),
        ("read_file", {"file_path": "a"}, {"limit": 3}, {"file_path": "a", "limit": 3}),
        ("read_file", {"file_path": "a"}, {"file_path": "/b"}, {"file_path": "/b"}),
        ("apply_patch", {"command": PATCH}, {"command": "x"}, {"command": "x"}),
        ("apply_patch", {"command": PATCH}, {"file_paths": ["/x"]}, None),
        ("Bash", {"command": ["ls"]}, {"command": "ls -l"}, None),
        ("write_stdin", {"session_id": 1, "chars": "ls"}, {"command": "ls -l"}, {"session_id": 1, "chars": "ls -l"}),
        ("execute_code", {"code": "1"}, {"command": "python3 -c 2"}, None),
        ("write", '{"filePath": "a"}', {"file_path": "/b"}, None),
    ],
)
def test_a_change_reaches_the_agent_under_its_own_names(
    tool: str, own: Any, change: dict[str, Any], expected: Any
) -> None:
    data = tool_fields(tool, own, "/w")
    assert native_input(data, "/w") == own
    assert native_input({**data, "tool_input": {**data["tool_input"], **change}}, "/w") == expected


def test_a_whole_new_input_in_claude_codes_words_is_translated() -> None:
    data = tool_fields("create", {"path": "/a", "file_text": "x"}, "/w")
    changed = {**data, "tool_input": {"file_path": "/b", "content": "x"}}
    assert native_input(changed, "/w") == {"path": "/b", "file_text": "x"}


@pytest.mark.parametrize("name", [{"a": 1}, [], None, 7])
def test_a_tool_name_that_is_no_text_names_no_tool(name: object) -> None:
    assert each_input({"tool_name": name, "tool_input": {"file_paths": ["/a", "/b"]}}, "/w") == []


@pytest.mark.parametrize(
    ("tool", "own", "ours"),
    [
        ("Bash", {"command": "ls", "cmd": "rm -rf ~"}, {"command": "ls\nrm -rf ~"}),
        ("Bash", {"command": "ls", "cmd": ["rm", "-rf", "/w"]}, {"command": "ls\nrm -rf /w"}),
        ("run_commands", {"command": "ls", "commands": ["rm -rf ~"]}, {"command": "ls\nrm -rf ~"}),
        ("write", {"path": "/w/.env", "file_path": "/w/ok", "content": "x"}, {"file_paths": ["/w/ok", "/w/.env"]}),
        ("write", {"file_path": "/w/a", "content": "ok", "file_text": "key"}, {"content": "ok\nkey"}),
        ("edit", {"path": "/w/a", "new_string": "ok", "edits": [{"newText": "key"}]}, {"new_string": "ok\nkey"}),
    ],
)
def test_what_stands_under_another_name_of_the_same_part_is_not_hidden(
    tool: str, own: dict[str, Any], ours: dict[str, Any]
) -> None:
    given = tool_fields(tool, own, "/w")["tool_input"]
    assert {key: given.get(key) for key in ours} == ours


@pytest.mark.parametrize(
    ("tool", "own", "paths", "text"),
    [
        ("multi_replace_string_in_file", {"replacements": [{"filePath": "a", "newString": "x"}, {"filePath": ".env", "newString": "y"}]}, ["/w/a", "/w/.env"], "x\ny"),
        ("multiedit", {"filePath": "a", "edits": [{"filePath": ".env", "newString": "y"}]}, ["/w/a", "/w/.env"], "y"),
        ("editFiles", {"files": ["a", ".env"]}, ["/w/a", "/w/.env"], None),
        ("fs_append", {"path": ".env", "text": "y"}, ["/w/.env"], "y"),
        ("insert_edit_into_file", {"filePath": ".env", "code": "y"}, ["/w/.env"], "y"),
        ("multi_replace_file_content", {"TargetFile": ".env", "ReplacementChunks": [{"ReplacementContent": "y"}]}, ["/w/.env"], "y"),
    ],
)  # fmt: skip
def test_every_file_of_an_edit_is_found(tool: str, own: dict[str, Any], paths: list[str], text: str | None) -> None:
    fields = tool_fields(tool, own, "/w")
    given = fields["tool_input"]
    assert [one["file_path"] for one in each_input(fields, "/w") or [given]] == paths
    assert (fields["tool_name"], given.get("new_string")) == ("Edit", text)


@pytest.mark.parametrize("first", ["cat <<'X'", "echo '", "f() {", "echo \\"])
def test_one_command_of_several_cannot_hide_the_next(first: str) -> None:
    given = tool_fields("run_commands", {"commands": [first, "rm -rf ~\nX"]}, "/w")["tool_input"]
    assert given["command"].endswith("\nsh -c 'rm -rf ~\nX'")
