"""How long the line editor waits: a person must never see it freeze.

A hook that says nothing of its time gets what its place can bear; one whose time is written and shorter than the
ordinary five seconds keeps it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.hook import HookSpec

#: What a hook gets elsewhere without asking; from here on a time is taken for nobody's wish.
_ORDINARY = 5.0

#: Event -> seconds that its hooks have, each.
EDITOR_TIMEOUTS: Mapping[str, float] = MappingProxyType(
    {
        "input.key": 0.25,
        "key.tab": 0.25,
        "key.up": 0.25,
        "key.down": 0.25,
        "input.prefix": 0.25,
        "completion.request": 1.0,
        "input.post_complete": 1.0,
        "prompt.render": 1.0,
    }
)


def cap_editor_timeout(spec: HookSpec) -> HookSpec:
    seconds = EDITOR_TIMEOUTS.get(spec.event)
    if seconds is None or spec.mode != "sync" or (spec.timeout is not None and spec.timeout < _ORDINARY):
        return spec
    return replace(spec, timeout=seconds)
