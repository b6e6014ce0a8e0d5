"""Values that cannot be changed: the shared empty mapping, and frozen classes that are quick to make."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

EMPTY: Mapping[str, Any] = MappingProxyType({})

T = TypeVar("T")

_become = object.__dict__["__class__"].__set__


def empty() -> Mapping[str, Any]:
    """A default factory: dataclasses take a mapping proxy for a mutable default, as it has no hash."""
    return EMPTY


def swift(cls: type[T]) -> type[T]:
    """A frozen, slotted, keyword-only dataclass whose instances are made as quickly as mutable ones.

    ``dataclass`` sets every field of a frozen instance through ``object.__setattr__``, and that was half the
    time of a firing. Here an instance is a draft, whose fields can simply be assigned, until all are set. Only for
    classes that nobody inherits from.
    """
    # Both, or CPython takes the slow way: it has one slot for the two.
    loose = {"__slots__": (), "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    draft = type(f"{cls.__name__}Draft", (cls,), loose)
    known: dict[str, Any] = {"_become": _become, "_draft": draft, "_final": cls}
    wanted = list[str]()
    for field in fields(cls):  # type: ignore[arg-type]  # every class given here is a dataclass
        wanted.append(f"{field.name}={_default(field, known)}" if _optional(field) else field.name)
    body = "\n".join(f"    self.{field.name} = {field.name}" for field in fields(cls))  # type: ignore[arg-type]
    source = (
        f"def __init__(self, *, {', '.join(wanted)}):\n    _become(self, _draft)\n{body}\n    self.__class__ = _final"
    )
    exec(source, known)  # noqa: S102  as dataclass does it; the text is made of the names of our own fields
    cls.__init__ = known["__init__"]  # type: ignore[method-assign]  # what swift is for
    return cls


def _optional(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _default(field: Field[Any], known: dict[str, Any]) -> str:
    if field.default is MISSING and field.default_factory is not empty:
        raise TypeError(f"{field.name}: a swift class takes constants and the empty mapping as defaults")
    known[f"_{field.name}"] = EMPTY if field.default is MISSING else field.default
    return f"_{field.name}"
