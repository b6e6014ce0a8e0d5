"""One name for one tool: what agents call their tools, and what a matcher may call them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
        "google_web_search": "WebSearch", "web_search": "WebSearch", "websearch": "WebSearch",
        "task": "Task", "Agent": "Task", "agent": "Task", "spawn_agent": "Task",
        "collaborationspawn_agent": "Task",
    }
)  # fmt: skip

#: A tool that does the work of several: a matcher for any of them must see it.
ANSWERS_TO: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"apply_patch": ("Edit", "Write"), "ApplyPatch": ("Edit", "Write"), "patch": ("Edit", "Write")}
)


def canonical(native: str) -> str:
    return CANONICAL.get(native, native)


def matching_names(name: str, native: str | None = None) -> tuple[str, ...]:
    """Every name that a matcher is tried on, canonical first, none twice."""
    called = native or name
    return tuple(dict.fromkeys((name, called, canonical(called), *ANSWERS_TO.get(called, ()))))
