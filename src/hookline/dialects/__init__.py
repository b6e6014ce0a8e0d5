"""The table of dialects. Looking one up imports that one and no other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from hookline.core.agents import AGENTS, find_agent
from hookline.core.errors import ConfigError, UsageError
from hookline.core.typed import cast
from hookline.dialects.base import Dialect

#: Each is a module or a package here, with its ``DIALECT``.
DIALECTS = (
    "native", "lectic", "letta", "lazy", "lash", "memex", "claude", "codex", "gemini", "qwen", "copilot", "opencode",
    "droid", "kimi", "grok", "hermes", "deepagents", "pi", "cline", "cursor", "vscode", "windsurf", "kiro", "amp",
    "antigravity", "crush", "openhands", "vibe", "junie",
)  # fmt: skip

#: Other names people use for the same thing.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "hookline": "native", "lazy-harness": "lazy", "lazyharness": "lazy", "iptic-memex": "memex",
        **{agent.name: agent.dialect for agent in AGENTS.values() if agent.name != agent.dialect},
    }
)  # fmt: skip

#: Dialect -> of every other agent that reads the same files, the field that only its payload has, and its dialect.
_GUESTS: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        AGENTS[host].dialect: tuple(
            (one.payload_mark, one.dialect) for one in AGENTS.values() if one.also_reads == host
        )
        for host in {one.also_reads for one in AGENTS.values() if one.also_reads}
    }
)


def dialect_named(name: str) -> Dialect:
    """The dialect of that name, ours or another package's (entry points ``hookline.dialects`` and ``hookline.agents``)."""
    full = ALIASES.get(name, name)
    if full in DIALECTS:
        return _ours(full)
    agent = find_agent(name)
    if agent is None or agent.dialect == name:
        return _installed(name)
    return dialect_named(agent.dialect)


@cache  # every event passes here, and import_module takes its time to find what is there already
def _ours(name: str) -> Dialect:
    return cast("Dialect", import_module(f"hookline.dialects.{name}").DIALECT)


def find_guests(name: str) -> tuple[tuple[str, str], ...]:
    """The fields that give away other agents which read the same files, each with that agent's dialect."""
    return _GUESTS.get(ALIASES.get(name, name), ())


def _installed(name: str) -> Dialect:
    # Imported here: reading the metadata of all installed packages costs more than a whole warm run.
    from importlib.metadata import entry_points

    for entry in entry_points(group="hookline.dialects", name=name):
        try:
            found = entry.load()
        except Exception as error:
            msg = f"the dialect {name!r} ({entry.value}) cannot be loaded: {type(error).__name__}: {error}"
            raise ConfigError(msg) from error
        if not hasattr(found, "parse"):
            msg = f"the dialect {name!r} ({entry.value}) is not a dialect; see hookline.testing.check_dialect"
            raise ConfigError(msg)
        return cast("Dialect", found)
    from difflib import get_close_matches  # only a typo needs it

    near = get_close_matches(name, (*DIALECTS, *ALIASES), n=1)
    guess = f" (did you mean {near[0]!r}?)" if near else ""
    raise UsageError(f"unknown dialect {name!r}{guess}; known dialects: {', '.join(DIALECTS)}")
