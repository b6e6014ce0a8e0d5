"""What a ``lectic.yaml`` holds besides hooks: prompts, tools, servers, and the programs and files that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Keys whose values are programs or code.
_PROGRAMS = frozenset({"exec", "mcp_command", "sandbox", "extensions", "sqlite"})


def besides_hooks(tree: Any) -> tuple[Any, Sequence[str]]:
    """First everything but the hooks, with every address, header and variable; then the programs and files it names."""
    besides = _without_hooks(tree)
    return besides, list(_program_names(besides))


def _without_hooks(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _without_hooks(item) for key, item in value.items() if key != "hooks"}
    return [_without_hooks(item) for item in value] if isinstance(value, list) else value


def _program_names(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _program_names(item, str(name))
    elif isinstance(value, list):
        for item in value:
            yield from _program_names(item, key)
    elif isinstance(value, str) and (key in _PROGRAMS or value.lstrip("\"'").startswith(("exec:", "file:"))):
        yield value
