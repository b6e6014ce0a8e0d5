"""A configuration tree that remembers where everything was written, and how two of them are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hookline.core._dataclass import dataclass, replace

#: A hook's variable is nine levels deep; anything deeper is not about hooks and is kept as it is.
_MAX_DEPTH = 12
#: YAML aliases can unfold a small file without end; nobody writes this much by hand.
_MAX_NODES = 100_000

Branch: TypeAlias = "dict[str, YamlNode]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """An address: ``rank`` counts the layers from the lowest precedence, ``pointer`` is inside that layer."""

    rank: int
    pointer: str

    def at(self, step: str) -> Spot:
        return replace(self, pointer=self.pointer + step)


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlNode:
    """A mapping (``dict`` of nodes), a list (``tuple`` of nodes) or anything else, just as it was read."""

    value: Any
    at: Spot

    @property
    def branch(self) -> Branch:
        """The children of a mapping; none for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> tuple[YamlNode, ...]:
        """The items of a list; none for anything else."""
        return self.value if isinstance(self.value, tuple) else ()

    @property
    def name(self) -> str | None:
        """The name by which lists are merged."""
        return self.text("name")

    def text(self, key: str) -> str | None:
        child = self.branch.get(key)
        return child.value if child is not None and isinstance(child.value, str) else None


class TooLargeError(Exception):
    """The tree has more nodes than anybody writes: aliases that unfold without end."""


def grow(tree: Any, at: Spot) -> YamlNode:
    """``tree`` with addresses. Bounded in depth and size, so that a cyclic alias ends too."""
    left = _MAX_NODES

    def node(value: Any, spot: Spot, depth: int) -> YamlNode:
        nonlocal left
        left -= 1
        if left < 0:
            raise TooLargeError
        if depth < _MAX_DEPTH and isinstance(value, dict):
            return YamlNode(value=branch(value, spot, depth + 1), at=spot)
        if depth < _MAX_DEPTH and isinstance(value, list):
            items = enumerate(value)
            return YamlNode(value=tuple(node(item, spot.at(f"[{i}]"), depth + 1) for i, item in items), at=spot)
        return YamlNode(value=value, at=spot)

    def branch(value: dict[Any, Any], spot: Spot, depth: int) -> Branch:
        keyed = ((_key(key), child) for key, child in value.items())
        return {key: node(child, spot.at(f".{key}"), depth) for key, child in keyed}

    return node(tree, at, 0)


def _key(key: Any) -> str:
    # A YAML 1.1 reader takes the bare word ``on`` for true.
    return "on" if key is True else str(key)


def plain(node: YamlNode) -> Any:
    """The tree without its addresses."""
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.branch.items()}
    if isinstance(node.value, tuple):
        return [plain(item) for item in node.items]
    return node.value


def later(one: Spot, other: Spot) -> Spot:
    """The address in the layer of higher precedence: the layer that wrote last is the one to trust."""
    return other if other.rank > one.rank else one


def merge(low: YamlNode, high: YamlNode) -> YamlNode:
    """Named items merge in place, other lists grow, mappings merge by key; null changes nothing."""
    if isinstance(low.value, tuple) and isinstance(high.value, tuple):
        return YamlNode(value=tuple(_merge_items(low.items, high.items)), at=high.at)
    if isinstance(low.value, dict) and isinstance(high.value, dict):
        if high.name is not None and high.name != low.name:
            return high
        return YamlNode(value=_merge_keys(low.branch, high.branch), at=high.at)
    return low if high.value is None else high


def _merge_keys(low: Mapping[str, YamlNode], high: Mapping[str, YamlNode]) -> Branch:
    merged = dict(low)
    for key, child in high.items():
        merged[key] = merge(low[key], child) if key in low else child
    return merged


def _merge_items(low: Sequence[YamlNode], high: Sequence[YamlNode]) -> list[YamlNode]:
    merged = list(low)
    known = {item.name: index for index, item in enumerate(low) if item.name is not None}
    for item in high:
        index = known.get(item.name) if item.name is not None else None
        if index is None:
            merged.append(item)
        else:
            merged[index] = merge(merged[index], item)
    return merged


def one_per_name(items: Sequence[YamlNode]) -> tuple[YamlNode, ...]:
    """Of two items with one name the later overrides the earlier, in the earlier one's position.

    Within one file it replaces the earlier one; across files the two are merged, as in ``merge``.
    """
    kept: list[YamlNode] = []
    known: dict[str, int] = {}
    for item in items:
        name = item.name
        if name is None or name not in known:
            if name is not None:
                known[name] = len(kept)
            kept.append(item)
            continue
        before = kept[known[name]]
        kept[known[name]] = item if item.at.rank == before.at.rank else merge(before, item)
    return tuple(kept)
