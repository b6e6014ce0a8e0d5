"""Objects as trees of leaves: what changed between two of them, and putting one leaf into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class _Gone:
    """The value of a leaf that was taken away."""

    def __repr__(self) -> str:
        return "GONE"


GONE = _Gone()


def diff(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every leaf in which ``after`` differs from ``before``. Objects are branches, everything else is a leaf."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        if not _same(before, after):
            yield path, after
        return
    for key, value in after.items():
        if key in before:
            yield from diff(before[key], value, (*path, key))
        else:
            yield (*path, key), value
    for key in before:
        if key not in after:
            yield (*path, key), GONE


def graft(tree: Mapping[str, Any], path: tuple[str, ...], leaf: Any) -> dict[str, Any]:
    """``tree`` with one leaf put in (or taken away); shared branches are copied, never changed."""
    key, *rest = path
    copy = dict(tree)
    if rest:
        branch = copy.get(key)
        copy[key] = graft(branch if isinstance(branch, dict) else {}, tuple(rest), leaf)
    elif leaf is GONE:
        copy.pop(key, None)
    else:
        copy[key] = leaf
    return copy


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 and true are different values there."""
    return type(one) is type(other) and bool(one == other)
