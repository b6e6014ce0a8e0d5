"""The table of dialects. Looking one up imports that one and no other."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from hookline.core.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.dialects.base import Dialect

#: Name -> where it is. Strings, because no dialect may cost the others their imports.
DIALECTS: Mapping[str, str] = MappingProxyType(
    {
        "native": "hookline.dialects.native:DIALECT",
        "lectic": "hookline.dialects.lectic:DIALECT",
        "letta": "hookline.dialects.letta:DIALECT",
        "lazy": "hookline.dialects.lazy:DIALECT",
        "lash": "hookline.dialects.lash:DIALECT",
        "memex": "hookline.dialects.memex:DIALECT",
        "claude": "hookline.dialects.claude:DIALECT",
        "codex": "hookline.dialects.codex:DIALECT",
        "gemini": "hookline.dialects.gemini:DIALECT",
        "qwen": "hookline.dialects.qwen:DIALECT",
        "copilot": "hookline.dialects.copilot:DIALECT",
        "opencode": "hookline.dialects.opencode:DIALECT",
    }
)

#: Other words people use for the same thing.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "hookline": "native", "letta-code": "letta", "lazy-harness": "lazy", "lazyharness": "lazy",
        "iptic-memex": "memex", "claude-code": "claude", "gemini-cli": "gemini", "qwen-code": "qwen",
        "copilot-cli": "copilot",
    }
)  # fmt: skip

#: Agents that run the hooks of their own files -> the variable in which they tell a hook where they were started.
RUN_BY_THEMSELVES: Mapping[str, str] = MappingProxyType(
    {
        "claude": "CLAUDE_PROJECT_DIR", "codex": "", "gemini": "GEMINI_PROJECT_DIR", "letta": "",
        "qwen": "QWEN_PROJECT_DIR", "copilot": "COPILOT_PROJECT_DIR",
    }
)  # fmt: skip

ENTRY_POINTS = "hookline.dialects"


def dialect_named(name: str) -> Dialect:
    """The dialect of that name, ours or another package's (entry point ``hookline.dialects``)."""
    known = DIALECTS.get(ALIASES.get(name, name))
    if known is not None:
        return _ours(known)
    return _installed(name)


@cache  # every event passes here, and import_module takes its time to find what is there already
def _ours(where: str) -> Dialect:
    module, _, attribute = where.partition(":")
    return cast("Dialect", getattr(import_module(module), attribute))


#: Agents that read the files of another, and then ask in words of their own: whose files -> (the field that only the
#: guest's payload has, the guest).
_GUESTS: Mapping[str, tuple[str, str]] = MappingProxyType({"claude": ("hookName", "copilot")})


def dialect_of_asker(name: str, payload: Mapping[str, Any]) -> Dialect:
    """Whose words this payload is in, when the registration that was called says ``name``."""
    field, guest = _GUESTS.get(ALIASES.get(name, name), ("", ""))
    return dialect_named(guest if field and field in payload else name)


def _installed(name: str) -> Dialect:
    # Imported here: reading the metadata of all installed packages costs more than a whole warm run.
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS, name=name):
        try:
            found = entry.load()
        except Exception as error:
            msg = f"the dialect {name!r} ({entry.value}) cannot be loaded: {type(error).__name__}: {error}"
            raise ConfigError(msg) from error
        if not hasattr(found, "parse"):
            msg = f"the dialect {name!r} ({entry.value}) is no dialect; see: hookline.testing.check_dialect"
            raise ConfigError(msg)
        return cast("Dialect", found)
    from difflib import get_close_matches  # only a typo needs it

    near = get_close_matches(name, (*DIALECTS, *ALIASES), n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    msg = f"unknown dialect {name!r}{meant}; known are {', '.join(DIALECTS)}"
    raise UsageError(msg)
