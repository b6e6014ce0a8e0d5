"""How long the line editor waits for hooks: a person must never see it freeze.

A hook without a timeout gets the one of its event. A configured timeout below the usual five seconds is kept.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.hook import HookSpec

#: The usual default; a timeout of this length or more counts as not configured.
_DEFAULT = 5.0

#: Event -> seconds for each hook.
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
    if seconds is None or spec.mode != "sync" or (spec.timeout is not None and spec.timeout < _DEFAULT):
        return spec
    return replace(spec, timeout=seconds)
