"""An environment that notes which of its variables were read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


class WatchedEnviron(Mapping[str, str]):
    """``seen`` has every variable that was read, None for those that were missing."""

    __slots__ = ("_values", "seen", "whole")

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.seen: dict[str, str | None] = {}
        #: Somebody iterated over all of it.
        self.whole = False

    def __getitem__(self, name: str) -> str:
        self.seen[name] = self._values.get(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        self.seen[str(name)] = self._values.get(str(name))
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        self.whole = True
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def same_in(self, other: Mapping[str, str]) -> bool:
        """Whether every read would have given the same in the other environment."""
        if self.whole:
            return self._values == other
        return all(other.get(name) == value for name, value in tuple(self.seen.items()))
