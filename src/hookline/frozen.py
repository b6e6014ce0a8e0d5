"""The empty mapping, shared: a default that cannot be changed by accident."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

EMPTY: Mapping[str, Any] = MappingProxyType({})


def empty() -> Mapping[str, Any]:
    """A default factory: dataclasses take a mapping proxy for a mutable default, as it has no hash."""
    return EMPTY
