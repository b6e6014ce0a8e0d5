"""Plugins tell which events they hook only when they are asked: those that may run are started and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.dataclass import replace
from hookline.dialects.lash.plugins import expand_plugins, is_unexpanded
from hookline.run.plugin import handshake

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.config import Loaded
    from hookline.spec import HookSpec, Plugin
    from hookline.trust import Verdict


def expanded(loaded: Loaded, verdicts: Mapping[str, Verdict], environ: Mapping[str, str]) -> Loaded:
    """The same hooks, with every plugin that may run replaced by what it registered.

    One that is not trusted stays as it is: it must not be started just to be asked.
    """

    def answer(plugin: Plugin) -> Mapping[str, Any] | str:
        return handshake(plugin, loaded.settings, environ)

    specs: list[HookSpec] = []
    problems = list(loaded.problems)
    for spec in loaded.specs:
        verdict = verdicts.get(spec.id)
        if not is_unexpanded(spec) or (verdict is not None and verdict.state != "trusted"):
            specs.append(spec)
            continue
        parsed = expand_plugins([spec], answer)
        specs += parsed.specs
        problems += parsed.problems
    return replace(loaded, specs=tuple(specs), problems=tuple(problems))
