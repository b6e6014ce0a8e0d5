"""What a project's files change of one's own hooks: the changed hook remembers what it was before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hookline.core._dataclass import replace
from hookline.core.hook import HookSpec, Origin
from hookline.dialects.base import FOREIGN, Layer

_Parse = Callable[[Sequence[Layer]], Sequence[HookSpec]]


def with_own(parse: _Parse, layers: Sequence[Layer], specs: Sequence[HookSpec]) -> tuple[HookSpec, ...]:
    """``specs`` are those of all ``layers``; the hooks that a project changed know what they were before."""
    result = list(specs)
    after = 0
    for own in parse([layer for layer in layers if layer.name not in FOREIGN]):
        if own in result:
            after = result.index(own) + 1
            continue
        place = next((i for i, spec in enumerate(result) if _same(spec, own)), None)
        if place is None:
            gone = replace(own, enabled=False, origin=_changer(parse, layers, own), below=own)
            result.insert(after, gone)
            after += 1
        else:
            changed = result[place]
            origin = changed.origin if changed.origin.layer in FOREIGN else _changer(parse, layers, own)
            result[place] = replace(changed, origin=origin, below=own)
            after = place + 1
    return tuple(result)


def _same(spec: HookSpec, own: HookSpec) -> bool:
    """The hook at the same place, or the one that took its name on the same event."""
    if spec.below is not None:
        return False
    named = (spec.name, spec.native_event, spec.scope) == (own.name, own.native_event, own.scope)
    return spec.id == own.id or (named and spec.origin.layer in FOREIGN)


def _changer(parse: _Parse, layers: Sequence[Layer], own: HookSpec) -> Origin:
    """The first of a project's files without which the hook would be as it was written."""
    foreign = [layer for layer in layers if layer.name in FOREIGN]
    mine = [layer for layer in layers if layer.name not in FOREIGN]
    guilty = next((layer for layer in foreign if own not in parse([*mine, layer])), foreign[-1])
    return Origin(file=guilty.path, line=1, pointer=own.origin.pointer, layer=guilty.name)
