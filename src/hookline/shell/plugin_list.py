"""``hookline shell --list-plugins``: what each plugin says about itself, or why it cannot be asked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from hookline.config.load import load
from hookline.core.hook import HookSpec, Plugin
from hookline.core.paths import find_paths, home_directory
from hookline.core.result import Failed, TimedOut
from hookline.core.sanitize import lines
from hookline.dialects.lash.plugins import is_unexpanded
from hookline.shell.engine_host import EngineHost, ShellOptions

_EVENT = "plugin.describe"
_FIELDS = ("version", "description", "hooks", "methods", "completions")


def list_plugins(options: ShellOptions, *, as_json: bool) -> int:
    """1 if some plugin did not load."""
    host = EngineHost(options, os.environ)
    try:
        found = list(_described(host))
    finally:
        host.close()
    if as_json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    else:
        sys.stdout.write("".join(map(_shown, found)) or "There are no plugins. Name them in ~/.lash/plugins.conf.\n")
    return 1 if any("problem" in one for one in found) else 0


def _described(host: EngineHost) -> Iterator[dict[str, Any]]:
    engine = host.engine
    loaded = {name for spec in engine.specs if spec.event == _EVENT and (name := _plugin(spec))}
    for name in sorted(loaded):
        decision = engine.fire_sync(_EVENT, {"name": name})
        failed = next((one for one in decision.outcomes if isinstance(one, Failed | TimedOut)), None)
        if failed is not None:
            yield {"name": name, "problem": failed.error or "it did not answer"}
        else:
            yield {"name": name, **{key: decision.data[key] for key in _FIELDS if decision.data.get(key)}}
    home = home_directory(os.environ)
    paths = find_paths(os.environ, home)
    for spec in load(cwd=os.getcwd(), home=home, environ=os.environ, paths=paths, dialect="lash").specs:
        if is_unexpanded(spec) and spec.name not in loaded:
            yield {"name": spec.name, "problem": "it is not loaded; see: hookline check --dialect lash"}


def _plugin(spec: HookSpec) -> str:
    return spec.action.name if isinstance(spec.action, Plugin) else spec.name


def _shown(one: dict[str, Any]) -> str:
    text = f"{one['name']} {one.get('version', '')}".rstrip()
    if "problem" in one:
        return lines(f"{text}: {one['problem']}") + "\n"
    parts = [str(one["description"])] if one.get("description") else []
    parts += [f"{key}: {', '.join(map(str, one[key]))}" for key in ("hooks", "methods", "completions") if one.get(key)]
    return "".join(f"{lines(line)}\n" for line in (text, *(f"  {part}" for part in parts)))
