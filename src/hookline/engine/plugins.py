"""Plugins name their events in a handshake: those that may run are started to get it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.event import Event
from hookline.core.hook import FieldTest, Function, HookSpec, Matcher, Pattern, Plugin, hook_id
from hookline.core.loaded import Loaded
from hookline.dialects.lash.plugins import describe_plugin, expand_plugins, is_unexpanded
from hookline.runners.plugin.runner import handshake
from hookline.state.trust import TrustVerdict

_DESCRIBE, _GUARDED = "plugin.describe", "pipeline.pre_execute"


def register_plugins(
    loaded: Loaded,
    verdicts: Mapping[str, TrustVerdict],
    environ: Mapping[str, str],
    is_changed: Callable[[str], bool] = lambda _pack: False,
) -> Loaded:
    """The same hooks, with every plugin that may run replaced by what it registered.

    One that is not trusted, or whose pack is not as approved (``is_changed``), stays as it is: it must not be started.
    """
    specs: list[HookSpec] = []
    problems = list(loaded.problems)
    for spec in loaded.specs:
        verdict = verdicts.get(spec.id)
        pack = spec.extra.get("pack")
        if (
            not is_unexpanded(spec)
            or (verdict is not None and verdict.state != "trusted")
            or (pack and is_changed(pack))
        ):
            specs.append(spec)
            continue
        assert isinstance(spec.action, Plugin), "is_unexpanded says so"
        answer = handshake(spec.action, loaded.settings, environ)
        parsed = expand_plugins([spec], {spec.action: answer}.__getitem__)
        of_pack = {"pack": pack} if pack else {}
        problems += parsed.problems
        if isinstance(answer, str):
            specs += [_refuser(spec, answer)] if spec.extra.get("on_failure") == "deny" else []
        else:
            specs.append(_describer(spec, spec.action.name, answer))
        about = _about(spec.action.name)
        own = (replace(one, matcher=about) if one.event == _DESCRIBE else one for one in parsed.specs)
        specs += (replace(one, extra={**one.extra, **of_pack}) if pack else one for one in own)
    return replace(loaded, specs=tuple(specs), problems=tuple(problems))


def _refuser(spec: HookSpec, error: str) -> HookSpec:
    """What a plugin that fails closed would have guarded is unknown if it never loaded, so nothing runs."""

    def fail(_event: Event) -> Mapping[str, Any]:
        raise RuntimeError(f"it did not load: {error}")

    return replace(
        spec,
        id=hook_id(spec.origin.file, spec.origin.pointer, _GUARDED),
        dialect="native",
        event=_GUARDED,
        native_event=_GUARDED,
        action=Function(target=f"plugin {spec.name}", call=fail),
        mode="sync",
        on_failure="deny",
        extra={"plugin": spec.id, "inner": True},
    )


def _describer(spec: HookSpec, name: str, answer: Mapping[str, Any]) -> HookSpec:
    """A plugin is described from its handshake; what it then answers itself goes over that."""

    def describe(_event: Event) -> Mapping[str, Any]:
        return {"data": dict(describe_plugin(name, answer))}

    return replace(
        spec,
        id=hook_id(spec.origin.file, spec.origin.pointer, _DESCRIBE),
        dialect="native",
        event=_DESCRIBE,
        native_event=_DESCRIBE,
        action=Function(target=f"handshake of {name}", call=describe),
        matcher=_about(name),
        extra={"plugin": spec.id, "inner": True},
    )


def _about(name: str) -> Matcher:
    """Only the plugin that is asked describes itself: another one's answer would stand in its place."""
    return Matcher(fields=(FieldTest(path="name", pattern=Pattern(style="exact", options=(name,), when_missing=True)),))
