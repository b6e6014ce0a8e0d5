"""Which files in a folder count as code, by their names and by what they are. Nothing here is about approvals."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator

#: Which new files of a folder count: all that could be code, at any depth, or only modules that would be imported
#: instead of Python's own. Any other rule is a pattern of names.
CODE, MODULES = "code", "modules"

_CODE_SUFFIXES = frozenset({
    ".py", ".pyc", ".pyo", ".pyw", ".pyd", ".pth", ".so", ".dylib", ".dll", ".sh", ".bash", ".zsh", ".ksh", ".fish", ".js", ".mjs",
    ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".node", ".wasm", ".rb", ".pl", ".pm", ".pmc", ".lua", ".php", ".ps1", ".awk", ".jq", ".tcl",
    ".r", ".jl", ".go", ".rs", ".swift", ".exe", ".jar", ".class",
})  # fmt: skip
#: Some disks call every file executable.
_DATA_SUFFIXES = frozenset({
    ".log", ".txt", ".json", ".jsonl", ".md", ".csv", ".tsv", ".db", ".sqlite", ".sqlite3", ".lock", ".pid", ".tmp", ".toml", ".yaml",
    ".yml", ".ini", ".cfg", ".swp", ".bak", ".out", ".err",
})  # fmt: skip
_MODULE_SUFFIXES = (".py", ".pyc", ".so", ".pyd")
#: Folders of caches, whose content is not run: Python's is kept out of the way (``PYTHONPYCACHEPREFIX``).
SKIPPED = frozenset({".git", "__pycache__", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store"})


def files_below(folder: str, _above: tuple[str, ...] = ()) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every file and every folder with its path from ``folder``; links lead on, but never in circles."""
    above = (*_above, os.path.realpath(folder))
    for entry in entries(folder):
        yield entry.name, entry
        if is_folder(entry) and not (entry.is_symlink() and os.path.realpath(entry.path) in above):
            yield from ((f"{entry.name}/{path}", inner) for path, inner in files_below(entry.path, above))


def entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [entry for entry in found if entry.name not in SKIPPED]
    except OSError:
        return []


def is_listable(folder: str) -> bool:
    """False for a folder whose files can be run, but not seen."""
    return os.access(folder, os.R_OK) or not os.path.isdir(folder)


def is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def is_code(path: str) -> bool:
    """By its name; else by its mode or its first bytes, if it is there."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix in _CODE_SUFFIXES:
        return True
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or suffix in _DATA_SUFFIXES:
            return False
        if status.st_mode & 0o111:
            return True
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def counts(rule: str, path: str, folder: bool) -> bool:
    name = os.path.basename(path)
    if rule == CODE:
        return not folder and is_code(path)
    if rule == MODULES:
        stem = name.partition(".")[0]
        return stem in sys.stdlib_module_names and (folder or name.endswith(_MODULE_SUFFIXES))
    from fnmatch import fnmatchcase

    return not folder and fnmatchcase(name, rule)
