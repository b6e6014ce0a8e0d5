"""Plugins that agents have installed themselves: where each keeps them, and which are switched on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.errors import PackError
from hookline.core.files import note
from hookline.dialects.plugins import PluginLayout, read_layout
from hookline.packs.tree import FolderTree

#: Bytes of an agent's list of plugins.
_LARGEST = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _InstalledPlugin:
    agent: str
    name: str
    folder: str
    enabled: bool = True


def find_plugins(agent: str, home: str) -> tuple[_InstalledPlugin, ...]:
    """Those of one agent (its full name), with hooks or without."""
    finder = _FINDERS.get(agent)
    if finder is None:
        raise PackError(f"it is not known where {agent} keeps plugins; known are {', '.join(_FINDERS)}")
    found = {one.folder: one for one in finder(home) if os.path.isdir(one.folder)}
    return tuple(found.values())


def agents_with_plugins() -> tuple[str, ...]:
    return tuple(_FINDERS)


def plugin_layout(one: _InstalledPlugin) -> PluginLayout | None:
    """None for a plugin without hooks, or one that cannot be read."""
    try:
        return read_layout(FolderTree(one.folder), one.name)
    except PackError:
        return None


def find_marketplaces(home: str) -> dict[str, str]:
    """Name -> source of the marketplaces that an agent on this machine knows."""
    found: dict[str, str] = {}
    for name, one in _read(os.path.join(home, ".claude/plugins/known_marketplaces.json")).items():
        source = one.get("source") if isinstance(one, dict) else None
        if isinstance(source, dict):
            text = {
                "github": f"github:{source.get('repo')}",
                "git": str(source.get("url")),
                "url": str(source.get("url")),
                "directory": str(source.get("path")),
            }.get(str(source.get("source")), "")
            found |= {name: text} if text else {}
    return found


# ── one agent each ───────────────────────────────────────────────────────────────────────────────────


def _claude(home: str) -> Iterator[_InstalledPlugin]:
    base = os.path.join(home, ".claude")
    chosen = _read(os.path.join(base, "settings.json")).get("enabledPlugins")
    switches = chosen if isinstance(chosen, dict) else {}
    for name, rows in (_read(os.path.join(base, "plugins/installed_plugins.json")).get("plugins") or {}).items():
        for row in rows if isinstance(rows, list) else [rows]:
            folder = row.get("installPath") if isinstance(row, dict) else None
            if isinstance(folder, str) and os.path.isabs(folder):
                yield _InstalledPlugin(
                    agent="claude-code", name=str(name), folder=folder, enabled=switches.get(name, True) is not False
                )


def _codex(home: str) -> Iterator[_InstalledPlugin]:
    """``plugins/cache/MARKETPLACE/PLUGIN/VERSION``, switched on in config.toml; the newest version counts."""
    import tomllib

    base = os.path.join(home, ".codex")
    try:
        with open(os.path.join(base, "config.toml"), "rb") as file:
            chosen = tomllib.load(file).get("plugins", {})
    except (OSError, ValueError):
        chosen = {}
    for market, name, folder in _two_levels(os.path.join(base, "plugins/cache")):
        versions = sorted(os.listdir(folder), key=lambda one: os.stat(os.path.join(folder, one)).st_mtime)
        key = f"{name}@{market}"
        entry = chosen.get(key) if isinstance(chosen, dict) else None
        if versions:
            enabled = isinstance(entry, dict) and entry.get("enabled", True) is not False
            yield _InstalledPlugin(agent="codex", name=key, folder=os.path.join(folder, versions[-1]), enabled=enabled)


def _copilot(home: str) -> Iterator[_InstalledPlugin]:
    for market, name, folder in _two_levels(os.path.join(home, ".copilot/installed-plugins")):
        yield _InstalledPlugin(agent="copilot-cli", name=f"{name}@{market}", folder=folder)


def _extensions(agent: str, place: str, home: str) -> Iterator[_InstalledPlugin]:
    base = os.path.join(home, place)
    switches = _read(os.path.join(base, "extension-enablement.json"))
    for name in _folders(base):
        rules = (switches.get(name) or {}).get("overrides", []) if isinstance(switches.get(name), dict) else []
        off = any(isinstance(rule, str) and rule.startswith("!") for rule in rules)
        yield _InstalledPlugin(agent=agent, name=name, folder=os.path.join(base, name), enabled=not off)


_FINDERS: Mapping[str, Callable[[str], Iterator[_InstalledPlugin]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": partial(_extensions, "gemini-cli", ".gemini/extensions"),
    "copilot-cli": _copilot,
    "qwen-code": partial(_extensions, "qwen-code", ".qwen/extensions"),
}


def _two_levels(base: str) -> Iterator[tuple[str, str, str]]:
    for market in _folders(base):
        for name in _folders(os.path.join(base, market)):
            yield market, name, os.path.join(base, market, name)


def _folders(base: str) -> list[str]:
    note(base)
    try:
        return sorted(one.name for one in os.scandir(base) if one.is_dir())
    except OSError:
        return []


def _read(path: str) -> dict[str, Any]:
    note(path)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
