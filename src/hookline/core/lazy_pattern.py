"""Regular expressions that are compiled at their first use: each costs a cold call a tenth of a millisecond."""

from __future__ import annotations

from hookline.core.typed import TYPE_CHECKING, Any

_METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


class _LazyPattern:
    __slots__ = ("_flags", "_text", *_METHODS)

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Called until the first use; from then on the methods are those of the compiled pattern."""
        import re  # noqa: PLC0415  a plain event needs none of them

        compiled = re.compile(self._text, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


if TYPE_CHECKING:
    import re

    lazy_pattern = re.compile
else:
    lazy_pattern = _LazyPattern
