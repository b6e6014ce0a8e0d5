"""One name for one tool and for what it is given: what agents call them, and what a hook may call them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from hookline.core.fast_json import loads
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.typed import Any

#: Canonical name -> what agents call it; a canonical name may stand for itself.
_NATIVE = {
    "Bash": "run_shell_command bash shell Shell exec_command local_shell unified_exec ShellCommand Execute exec run_commands"
    " execute_command run_terminal_command run_terminal_cmd terminal execute execute_bash executeBash execute_cmd"
    " executePwsh run_command run_in_terminal shell_command RunShellCommand powershell PowerShell runCommand runInTerminal",
    "Read": "read_file read view read_many_files read_file_gemini ReadFile read_files fs_read readFile readCode view_file"
    " read_notebook view_file_outline view_code_item view_image ReadMediaFile",
    "Write": "write_file write create write_file_gemini Create WriteFile write_to_file fs_write create_file",
    "Edit": "replace edit str_replace str_replace_editor multiedit apply_patch ApplyPatch patch StrReplaceFile StrReplace"
    " replace_in_file edit_file editor search_replace strReplace file_editor replace_file_content"
    " multi_replace_file_content replace_string_in_file multi_replace_string_in_file insert_edit_into_file editFiles"
    " apply_diff fs_append MultiEdit",
    "Glob": "glob glob_gemini find find_by_name file_search list_files_glob",
    "Grep": "search_file_content grep_search grep rg search_codebase search_files grepSearch textSearch",
    "LS": "list_directory list ls list_dir list_files listDirectory LSTool",
    "WebFetch": "web_fetch webfetch fetch fetch_webpage FetchURL FetchUrl fetch_web_content web_extract fetch_url"
    " read_url_content read_web_page webFetch agentic_fetch download browser_navigate",
    "WebSearch": "google_web_search web_search websearch search_web SearchWeb remote_web_search webSearch",
    "Task": "task Agent agent spawn_agent collaborationspawn_agent spawn_subagent delegate_task runSubagent"
    " invokeSubAgent use_subagent invoke_agent AgentSwarm subagent",
    "Delete": "delete delete_file DeleteFile deleteFile delete_files remove_file",
    "NotebookEdit": "notebook_edit edit_notebook EditNotebook editNotebook edit_notebook_file",
    "TodoWrite": "todo_write todowrite write_todos todo todos TodoList SetTodoList manage_todo_list update_plan update_todo",
    "AskUserQuestion": "ask_user ask_user_question ask_question request_user_input clarify",
    "Skill": "skill skills activate_skill skill_view",
}

#: Native name -> canonical name. A canonical name maps to itself by not being here.
CANONICAL: Mapping[str, str] = MappingProxyType(
    {native: ours for ours, names in _NATIVE.items() for native in names.split()}
)

#: A tool that does the work of several: a matcher for any of them must see it.
ANSWERS_TO: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("apply_patch", "ApplyPatch", "patch", "editor", "search_replace", "str_replace_editor", "file_editor", "fs_write"),
            ("Edit", "Write"),
        ),
        "download": ("WebFetch", "Write"),
    }
)  # fmt: skip
#: Of these, those that are given a patch.
_PATCHERS = frozenset({"apply_patch", "ApplyPatch", "patch"})
#: Tools that write a new file where they are given no old text: Write then.
_CREATORS = frozenset({"editor", "str_replace_editor", "file_editor", "fs_write"})
#: Tools that give a shell or an interpreter something to run though no shell is called for it: what they are given it in.
#: Without that they look at what runs, or end it, and keep their own name.
RUNNERS: Mapping[str, str] = MappingProxyType(
    {
        "Monitor": "command", "monitor": "command", "write_stdin": "chars", "write_bash": "input",
        "write_powershell": "input", "process": "data", "send_command_input": "Input", "execute_code": "code",
        "create_and_run_task": "task",
    }
)  # fmt: skip

#: Dialects whose own names of tools are the canonical ones.
CANONICAL_DIALECTS = frozenset({"claude"})


def canonical(native: str) -> str:
    return CANONICAL.get(native, native)


def _canonical_call(native: str, given: Any) -> str:
    """What a call of the tool is: some tools read, write, edit or run something, as their input says."""
    if native in _CREATORS and isinstance(given, dict):
        order = given.get("command")
        if isinstance(order, str) and order in {"view", "create"}:
            return "Read" if order == "view" else "Write"
        old = (*INPUTS["Edit"]["old_string"], "insert_line", "edits")
        if order is None and all(given.get(key) is None for key in old):
            return "Write"
        return "Edit"
    if native in RUNNERS:
        return "Bash" if _run_text(native, _as_object(given)) else native
    return canonical(native)


def _run_text(native: str, own: Mapping[str, Any]) -> str:
    """What a tool of ``RUNNERS`` runs, as a shell would be told it."""
    given = own.get(RUNNERS[native])
    if native == "execute_code" and isinstance(given, str):
        return _command_line(["python3", "-c", given])
    if isinstance(given, dict):
        return _one_command(given)
    return given if isinstance(given, str) else ""


def matching_names(name: str, native: str | None = None) -> tuple[str, ...]:
    """Every name that a matcher is tried on, canonical first, none twice."""
    called = native or name
    others = _possible_names(called) if called != name and name.startswith("mcp__") else ANSWERS_TO.get(called, ())
    return tuple(dict.fromkeys((name, called, canonical(called), *others)))


def _possible_names(called: str) -> Iterator[str]:
    """Where one character joins server and tool, nobody can tell which: the server may have it in its name too."""
    joined = called.removeprefix("mcp_")
    if "__" not in joined:
        for at, one in enumerate(joined):
            if one in "_-" and 0 < at < len(joined) - 1:
                yield f"mcp__{joined[:at]}__{joined[at + 1 :]}"


# ── what a tool is given ─────────────────────────────────────────────────────────────────────────────

_PATH = (
    "file_path",
    "filePath",
    "absolute_path",
    "path",
    "target_file",
    "targetFile",
    "AbsolutePath",
    "TargetFile",
    "File",
    "filename",
)
_NOTEBOOK = ("notebook_path", "notebookPath", "target_notebook", *_PATH)
_FOLDER = (
    "path", "dir_path", "directory", "directory_path", "folder", "DirectoryPath", "SearchPath", "SearchDirectory",
    "target_directory",
)  # fmt: skip

#: Canonical tool -> our name for a part of its input (Claude Code's) -> what agents call it, ours first.
INPUTS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Bash": {
            "command": ("command", "cmd", "command_line", "CommandLine", "commands", "input"),
            "cwd": ("cwd", "workdir", "working_directory", "workingDirectory", "dir_path", "directory", "Cwd"),
        },
        "Read": {"file_path": _PATH},
        "Write": {
            "file_path": _PATH,
            "content": ("content", "file_text", "text", "new_text", "CodeContent", "contents", "fileText", "code"),
        },
        "Edit": {
            "file_path": _PATH,
            "old_string": (
                "old_string", "oldString", "old_str", "oldStr", "oldText", "old_text", "TargetContent", "search", "old",
            ),
            "new_string": (
                "new_string", "newString", "new_str", "newStr", "newText", "new_text", "ReplacementContent", "code_edit",
                "text", "code", "new",
            ),
            "replace_all": ("replace_all", "replaceAll", "change_all", "allow_multiple", "AllowMultiple"),
        },
        "Glob": {"pattern": ("pattern", "Pattern", "glob_pattern", "filePattern", "query", "patterns"), "path": _FOLDER},
        "Grep": {
            "pattern": ("pattern", "query", "Query", "regex", "queries"), "path": _FOLDER,
            "glob": ("glob", "include", "include_pattern", "glob_pattern", "file_glob", "file_pattern", "includePattern"),
        },
        "LS": {"path": _FOLDER},
        "WebFetch": {"url": ("url", "Url", "uri")},
        "WebSearch": {"query": ("query", "Query", "search_term", "queries")},
        "Task": {
            "prompt": ("prompt", "message", "task", "goal", "prompt_template", "description"),
            "subagent_type": ("subagent_type", "agent_type", "agentName", "subagent_name", "agent_name", "agent"),
        },
        "Delete": {"file_path": _PATH},
        # Its file under the name of every other tool's too, last: a change of it counts.
        "NotebookEdit": {
            "notebook_path": _NOTEBOOK,
            "new_source": ("new_source", "newSource", "newCode", "new_code", "new_string", "source", "code", "content"),
            "file_path": _NOTEBOOK,
        },
    }
)  # fmt: skip

#: Where a patch is, in the input of a tool that applies one, and the lines of it that name files.
_PATCH = ("command", "input", "patch", "patchText")
_PATCHED = lazy_pattern(r"\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*\S)")
_URL = lazy_pattern(r"https?://[^\s<>\"'`)\]}]+")
#: Parts of an input that hold several of what we give one name.
_SEVERAL = frozenset({"commands", "queries", "patterns"})
#: A command that leaves nothing open for the next line.
_LINE = lazy_pattern(r"[^\\<(){}`\n]*")
#: Parts that a guard decides by.
_HIDING = frozenset({"command", "file_path", "content", "new_string", "new_source"})
#: Where an input lists files, and changes of one or several.
_FILES = ("paths", "files", "file_paths", "operations")
_EDITS = ("edits", "edit", "changes", "replacements", "ReplacementChunks")
#: What stands beside other marks of such a block.
_BLOCK_MARKS = MappingProxyType({"SEARCH": "<<<<<", "REPLACE": ">>>>>"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash"})


def tool_fields(native: str, given: Any, cwd: str, name: str = "") -> dict[str, Any]:
    """The fields of an event about a tool call: its name and its input in our words, the agent's own beside them."""
    name = name or _canonical_call(native, given)
    fields: dict[str, Any] = {"tool_name": name, "native_tool_name": native}
    if name.startswith("mcp__") and name.count("__") > 1:
        _, fields["mcp_server_name"], fields["mcp_tool_name"] = name.split("__", 2)
    if given is None:
        return fields
    ours = _in_our_words(native, name, given, cwd)
    return fields if ours == given else {**fields, "tool_input": ours, "native_tool_input": given}


def input_names(native: str, given: Any, cwd: str) -> tuple[dict[str, str], list[str]]:
    """Our name of each part of an input -> the agent's ("" where it was made of another part), and what has no name of
    ours."""
    own = _as_object(given)
    name = _canonical_call(native, own)
    found, keys = _renamed(native, name, own, cwd)
    return {ours: keys.get(ours, "") for ours in found}, [key for key in own if key not in keys.values()]


def _in_our_words(native: str, name: str, given: Any, cwd: str) -> dict[str, Any]:
    """The agent's own names stay beside ours: hooks that were written for one agent go on working."""
    own = _as_object(given)
    return {**own, **_renamed(native, name, own, cwd)[0]}


def _as_object(given: Any) -> Mapping[str, Any]:
    """An input that comes as text: JSON, or a patch."""
    if isinstance(given, str):
        try:
            read = loads(given)
        except (ValueError, RecursionError):
            read = None
        return read if isinstance(read, dict) else {"input": given}
    return given if isinstance(given, dict) else {}


def _renamed(native: str, name: str, own: Mapping[str, Any], cwd: str) -> tuple[dict[str, Any], dict[str, str]]:
    """What is found in an input under our names, and where it was; what was made of something else has no place."""
    keys = {
        ours: next((key for key in theirs if own.get(key) is not None), next(key for key in theirs if key in own))
        for ours, theirs in INPUTS.get(name, {}).items()
        if not own.keys().isdisjoint(theirs)
    }
    found: dict[str, Any] = {ours: _plain_text(ours, own[key]) for ours, key in keys.items()}
    if native in RUNNERS and name == "Bash":
        own_name = RUNNERS[native] if isinstance(own[RUNNERS[native]], str) and native != "execute_code" else ""
        return {"command": _run_text(native, own)}, {"command": own_name}
    if name.startswith("mcp__"):
        return _unpacked(native, own), {}
    if native in _PATCHERS and "new_string" not in found:
        found |= _patched(own)
    elif name == "Bash" and isinstance(found.get("command"), list) and all(map(_is_readable, found["command"])):
        if keys["command"] in _SEVERAL:
            found["command"] = _several_commands([*map(_one_command, found["command"])])
        else:
            found["command"], keys["command"] = _command_line(found["command"]), ""
    elif name in {"Edit", "Write"} and (edits := _listed_edits(own)):
        for ours, text in _joined_edits(edits).items():
            found[ours] = "\n".join(dict.fromkeys([*_texts(found.get(ours)), text]))
        found |= _listed_paths(own, *_EDITS)
    elif name == "Edit" and "old_string" not in found and (blocks := _replacements(own)):
        found |= blocks
    elif name in {"Edit", "Write", "Read", "Delete"}:
        found |= _listed_paths(own, *(("include",) if name == "Read" else ()))
    elif name == "WebFetch" and "url" not in found:
        found |= _listed_urls(own)
    if native in ANSWERS_TO and name == "Edit" and not found.get("old_string") and "new_string" in found:
        found["content"] = found["new_string"]  # with no old text it writes a new file
    _add_others(name, own, found, keys)
    _complete(found, cwd)
    return found, keys


def _unpacked(native: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """The input of an MCP server's tool that comes with the tool's name around it; {} if it does not."""
    inner = own.get("tool_input")
    is_packed = set(own) == {"tool_name", "tool_input"} and own["tool_name"] == native
    return dict(inner) if is_packed and isinstance(inner, dict) else {}


def _add_others(name: str, own: Mapping[str, Any], found: dict[str, Any], keys: dict[str, str]) -> None:
    """An input that has one part under several names, and not the same: which one the tool reads is not known, so a
    harmless one beside it must not hide the other."""
    for ours in _HIDING & keys.keys():
        texts = [text for key in INPUTS[name][ours] for text in _texts(own.get(key), is_argv=key in {"command", "cmd"})]
        if len(set(texts)) > 1:
            keys[ours] = ""
            if ours == "command":
                found[ours] = _several_commands(texts)
            elif ours == "file_path":
                found["file_paths"] = list(dict.fromkeys([*texts, *found.get("file_paths", ())]))
            else:
                found[ours] = "\n".join(dict.fromkeys(texts))


def _shlex() -> Any:
    import shlex  # noqa: PLC0415  few agents send lists

    return shlex


def _several_commands(commands: list[str]) -> str:
    """Each in a shell of its own, as the agent runs them, where the text of one could hide another: with an open quote, a
    here-document or a function."""
    try:
        is_plain = all(_LINE.fullmatch(one) and _shlex().split(f"x {one}") for one in commands)
    except ValueError:
        is_plain = False
    return "\n".join(
        commands if is_plain or len(commands) == 1 else [f"sh -c {_shlex().quote(one)}" for one in commands]
    )


def _texts(value: Any, *, is_argv: bool = False) -> list[str]:
    """A text, an argument list as one, or the lines of a list of texts; [] for anything else."""
    if isinstance(value, list):
        return [_command_line(value) if is_argv else "\n".join(map(_one_command, value))]
    return [value] if isinstance(value, str) else []


def _plain_text(ours: str, value: Any) -> Any:
    """Several command lines or queries of one call are lines of one text; an argument list stays a list."""
    if ours == "command" or not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        return value
    return "\n".join(value)


def _listed_paths(own: Mapping[str, Any], *more: str) -> dict[str, Any]:
    listed = next((own[key] for key in (*_FILES, *more) if isinstance(own.get(key), list)), None)
    if listed is None:
        return {}
    parts = [
        next((part[key] for key in _PATH if key in part), None) if isinstance(part, dict) else part for part in listed
    ]
    whole = [own[key] for key in _PATH if key in own]
    paths = dict.fromkeys(path for path in (*whole, *parts) if isinstance(path, str))
    return {"file_paths": list(paths)} if paths else {}


def _listed_edits(own: Mapping[str, Any]) -> list[Any]:
    found: Any = next((own[key] for key in _EDITS if isinstance(own.get(key), list | dict)), [])
    return found if isinstance(found, list) else [found]


def _listed_urls(own: Mapping[str, Any]) -> dict[str, Any]:
    listed = next((own[key] for key in ("urls", "requests") if isinstance(own.get(key), list)), None)
    if listed is None:
        return {"urls": list(dict.fromkeys(_URL.findall(str(own.get("prompt", "")))))}
    found = [part.get("url") if isinstance(part, dict) else part for part in listed]
    return {"urls": [url for url in found if isinstance(url, str)]}


def _complete(found: dict[str, Any], cwd: str) -> None:
    """Paths are absolute, as Claude Code's are; the first of several is what a hook for one of them reads."""
    for one, several, made in (("file_path", "file_paths", cwd), ("url", "urls", ""), ("cwd", "", cwd)):
        if isinstance(found.get(several), list):
            found[several] = [_absolute(value, made) for value in found[several]]
            found |= {one: found[several][0]} if found[several] else {}
            if len(found[several]) < 2:
                del found[several]
        elif made and isinstance(found.get(one), str):
            found[one] = _absolute(found[one], made)


def _absolute(path: str, cwd: str) -> str:
    return os.path.normpath(os.path.join(cwd, path)) if cwd and path and not path.startswith(("/", "~")) else path


def _is_readable(part: Any) -> bool:
    """A word or a command line; what is neither stays as it came, so that a guard can see that it cannot read it."""
    return isinstance(part.get("command") if isinstance(part, dict) else part, str | int | float)


def _one_command(part: Any) -> str:
    """A command line, also where its arguments stand beside the program."""
    if not isinstance(part, dict):
        return str(part)
    words = [str(word) for word in part["args"]] if isinstance(part.get("args"), list) else []
    return " ".join(
        [str(part.get("command", "")), *(_shlex().quote(word) if word.split() != [word] else word for word in words)]
    )


def _command_line(words: list[Any]) -> str:
    """``["bash", "-lc", "…"]`` is the text that the shell runs; any other list is a program with its arguments."""
    texts = [str(word) for word in words]
    is_shell = len(texts) == 3 and os.path.basename(texts[0]) in _SHELLS and texts[1].startswith("-")
    return texts[2] if is_shell and texts[1].endswith("c") else _shlex().join(texts)


def _replacements(own: Mapping[str, Any]) -> dict[str, str]:
    """What blocks between ``<<<<<<<``, ``=======`` and ``>>>>>>>`` take out, and what they put in; {} without one."""
    text = next((own[key] for key in ("diff", "content") if isinstance(own.get(key), str)), "")
    lines: dict[str, list[str]] = {}
    part = ""
    for line in text.splitlines():
        marks = {"<<<<<": "old_string", "=====": "new_string" if part == "old_string" else "", ">>>>>": ""}
        begins = _BLOCK_MARKS.get(line.strip("-+<> "), line[:5]) if line[:1] in "-+" else line[:5]
        if begins in marks:
            part = marks[begins] or (part if begins[0] == "=" else "")
        elif part:
            lines.setdefault(part, []).append(line)
    return {ours: "\n".join(found) for ours, found in lines.items()}


def _joined_edits(edits: list[Any]) -> dict[str, Any]:
    names = INPUTS["Edit"]
    parts = [edit for edit in edits if isinstance(edit, dict)]
    return {
        ours: "\n".join(str(next(edit[key] for key in names[ours] if key in edit)) for edit in parts if not edit.keys().isdisjoint(names[ours]))
        for ours in ("old_string", "new_string")
    }  # fmt: skip


def _patched(own: Mapping[str, Any]) -> dict[str, Any]:
    """Every file that a patch touches; of a single one also what is taken out and put in."""
    files = _patch_files(own)
    whole: dict[str, Any] = {"file_paths": list(files)} if files else {}
    return {**whole, **next(iter(files.values()))} if len(files) == 1 else whole


def _patch_files(own: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Path -> the text that a patch takes out of the file and puts into it."""
    text = next((own[key] for key in _PATCH if isinstance(own.get(key), str)), "")
    removed: dict[str, list[str]] = {}
    added: dict[str, list[str]] = {}
    here: list[str] = []
    for line in text.splitlines():
        if header := _PATCHED.fullmatch(line):
            here = [*here, header[1]] if line.startswith("*** Move") else [header[1]]
            for path in here:
                removed.setdefault(path, [])
                added.setdefault(path, [])
        elif line.startswith(("+", "-")):
            for path in here:
                (added if line[0] == "+" else removed)[path].append(line[1:])
    return {
        path: {"old_string": "\n".join(removed[path]), "new_string": (new := "\n".join(added[path])), "content": new}
        for path in added
    }


def each_input(data: Mapping[str, Any], cwd: str) -> list[dict[str, Any]]:
    """The input once for each of the files or addresses in it, as if that were the only one; [] where there are not
    several."""
    whole, own = data.get("tool_input"), data.get("native_tool_input")
    if not isinstance(whole, dict) or not ("file_paths" in whole or "urls" in whole):  # asked for every hook
        return []
    name = data.get("tool_name")
    if not isinstance(name, str) or name not in INPUTS:
        return []
    for one, several in (("file_path", "file_paths"), ("url", "urls")):
        values = whole.get(several)
        if isinstance(values, list) and len(values) > 1:
            rest = {key: value for key, value in whole.items() if key != several}
            texts = {_absolute(path, cwd): found for path, found in _patch_files(_as_object(own)).items()}
            return [{**rest, one: value, **texts.get(value, {})} for value in values]
    return []


def native_input(data: Mapping[str, Any], cwd: str) -> Any:
    """A tool's input, as hooks left it, under the agent's own names; None if it cannot be written so."""
    own, changed = data["native_tool_input"], data.get("tool_input")
    native, name = str(data.get("native_tool_name", "")), str(data.get("tool_name", ""))
    before = _in_our_words(native, name, own, cwd)
    if changed == before:
        return own
    if not isinstance(own, dict) or not isinstance(changed, dict):
        return None
    found, keys = _renamed(native, name, own, cwd)
    result = {key: value for key, value in changed.items() if key not in found}
    for ours in found:
        key = keys.get(ours, "")
        if ours in changed and changed[ours] != before.get(ours):
            if not key:
                return None
            result[key] = [changed[ours]] if key in _SEVERAL else changed[ours]
        elif key and (key not in changed or key == ours):
            result[key] = own[key]
    return result
