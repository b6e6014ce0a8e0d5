"""For the Python reference: the comment above a field (``#:``) is its description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from griffe import Docstring, Extension

if TYPE_CHECKING:
    from griffe import Attribute

_MARK = "#:"


class FieldComments(Extension):
    def on_attribute(self, *, attr: Attribute, **_: Any) -> None:
        if attr.docstring is None and attr.lineno and not isinstance(attr.filepath, list) and attr.filepath:
            lines = attr.filepath.read_text(encoding="utf-8").split("\n")[: attr.lineno - 1]
            comment: list[str] = []
            while lines and lines[-1].strip().startswith(_MARK):
                comment.insert(0, lines.pop().strip().removeprefix(_MARK).strip())
            if comment:
                attr.docstring = Docstring(" ".join(comment), parent=attr)
