"""One name for one tool and for what it is given: what agents call them, and what a hook may call them."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

#: Native name -> canonical name. A canonical name maps to itself by not being here.
CANONICAL: Mapping[str, str] = MappingProxyType(
    {
        "run_shell_command": "Bash", "bash": "Bash", "shell": "Bash", "exec_command": "Bash", "local_shell": "Bash",
        "unified_exec": "Bash", "ShellCommand": "Bash",
        "read_file": "Read", "read": "Read", "view": "Read", "read_many_files": "Read", "read_file_gemini": "Read",
        "write_file": "Write", "write": "Write", "create": "Write", "write_file_gemini": "Write",
        "replace": "Edit", "edit": "Edit", "str_replace": "Edit", "str_replace_editor": "Edit", "multiedit": "Edit",
        "apply_patch": "Edit", "ApplyPatch": "Edit", "patch": "Edit",
        "glob": "Glob", "glob_gemini": "Glob",
        "search_file_content": "Grep", "grep_search": "Grep", "grep": "Grep", "rg": "Grep",
        "list_directory": "LS", "list": "LS", "ls": "LS",
        "web_fetch": "WebFetch", "webfetch": "WebFetch", "fetch": "WebFetch",
        "fetch_webpage": "WebFetch",
        "google_web_search": "WebSearch", "web_search": "WebSearch", "websearch": "WebSearch",
        "task": "Task", "Agent": "Task", "agent": "Task", "spawn_agent": "Task",
        "collaborationspawn_agent": "Task",
    }
)  # fmt: skip

#: A tool that does the work of several: a matcher for any of them must see it.
ANSWERS_TO: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"apply_patch": ("Edit", "Write"), "ApplyPatch": ("Edit", "Write"), "patch": ("Edit", "Write")}
)

#: Dialects whose own names of tools are the canonical ones.
CANONICAL_DIALECTS = frozenset({"claude"})


def canonical(native: str) -> str:
    return CANONICAL.get(native, native)


def matching_names(name: str, native: str | None = None) -> tuple[str, ...]:
    """Every name that a matcher is tried on, canonical first, none twice."""
    called = native or name
    return tuple(dict.fromkeys((name, called, canonical(called), *ANSWERS_TO.get(called, ()))))


# ── what a tool is given ─────────────────────────────────────────────────────────────────────────────

_PATH = ("file_path", "filePath", "absolute_path", "path", "target_file")
_FOLDER = ("path", "dir_path")

#: Canonical tool -> our name for a part of its input (Claude Code's) -> what agents call it, ours first.
INPUTS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Bash": {"command": ("command", "cmd")},
        "Read": {"file_path": _PATH},
        "Write": {"file_path": _PATH, "content": ("content", "file_text", "text")},
        "Edit": {
            "file_path": _PATH, "old_string": ("old_string", "oldString", "old_str"),
            "new_string": ("new_string", "newString", "new_str"), "replace_all": ("replace_all", "replaceAll"),
        },
        "Glob": {"pattern": ("pattern",), "path": _FOLDER},
        "Grep": {"pattern": ("pattern",), "path": _FOLDER, "glob": ("glob", "include")},
        "LS": {"path": _FOLDER},
        "WebFetch": {"url": ("url",)},
        "WebSearch": {"query": ("query",)},
        "Task": {"prompt": ("prompt", "message"), "subagent_type": ("subagent_type", "agent_type")},
    }
)  # fmt: skip

#: Where a patch is, in the input of a tool that applies one, and the lines of it that name files.
_PATCH = ("command", "input", "patch", "patchText")
_PATCHED = re.compile(r"\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*\S)")
_URL = re.compile(r"https?://[^\s<>\"'`)\]}]+")
_SHELLS = frozenset({"sh", "bash", "zsh", "dash"})


def tool_fields(native: str, given: Any, cwd: str, name: str = "") -> dict[str, Any]:
    """The fields of an event about a tool call: its name and its input in our words, the agent's own beside them."""
    name = name or canonical(native)
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
    own, name = _as_object(given), canonical(native)
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
            read = json.loads(given)
        except (ValueError, RecursionError):
            read = None
        return read if isinstance(read, dict) else {"input": given}
    return given if isinstance(given, dict) else {}


def _renamed(native: str, name: str, own: Mapping[str, Any], cwd: str) -> tuple[dict[str, Any], dict[str, str]]:
    """What is found in an input under our names, and where it was; what was made of something else has no place."""
    keys = {
        ours: next(key for key in theirs if key in own)
        for ours, theirs in INPUTS.get(name, {}).items()
        if not own.keys().isdisjoint(theirs)
    }
    found: dict[str, Any] = {ours: own[key] for ours, key in keys.items()}
    if native in ANSWERS_TO:
        found |= _patched(own)
    elif name == "Bash" and isinstance(found.get("command"), list):
        found["command"], keys["command"] = _command_line(found["command"]), ""
    elif name == "Edit" and isinstance(own.get("edits"), list) and "new_string" not in found:
        found |= _joined_edits(own["edits"])
    elif name == "Read" and isinstance(own.get("paths"), list):
        found["file_paths"] = [path for path in own["paths"] if isinstance(path, str)]
    elif name == "WebFetch" and "url" not in found:
        found["urls"] = list(dict.fromkeys(_URL.findall(str(own.get("prompt", "")))))
    _complete(found, cwd)
    return found, keys


def _complete(found: dict[str, Any], cwd: str) -> None:
    """Paths are absolute, as Claude Code's are; the first of several is what a hook for one of them reads."""
    for one, several, made in (("file_path", "file_paths", cwd), ("url", "urls", "")):
        if isinstance(found.get(several), list):
            found[several] = [_absolute(value, made) for value in found[several]]
            found |= {one: found[several][0]} if found[several] else {}
            if len(found[several]) < 2:
                del found[several]
        elif made and isinstance(found.get(one), str):
            found[one] = _absolute(found[one], made)


def _absolute(path: str, cwd: str) -> str:
    return os.path.normpath(os.path.join(cwd, path)) if cwd and path and not path.startswith(("/", "~")) else path


def _command_line(words: list[Any]) -> str:
    """``["bash", "-lc", "…"]`` is the text that the shell runs; any other list is a program with its arguments."""
    texts = [str(word) for word in words]
    is_shell = len(texts) == 3 and os.path.basename(texts[0]) in _SHELLS and texts[1].startswith("-")
    return texts[2] if is_shell and texts[1].endswith("c") else shlex.join(texts)


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
    if not isinstance(whole, dict) or data.get("tool_name") not in INPUTS:
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
            result[key] = changed[ours]
        elif key and (key not in changed or key == ours):
            result[key] = own[key]
    return result
