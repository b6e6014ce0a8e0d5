"""Values that cannot be changed: the shared empty mapping, and quick ways to make frozen ones.

``dataclass`` sets every field of a frozen instance through ``object.__setattr__``, and calling a class builds a
dictionary of the arguments: together, most of the time of a firing. Here an instance is a draft, whose fields are
simply assigned, until all are set. Both ways are for frozen, slotted, keyword-only dataclasses without heirs.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hookline.dataclass import MISSING, fields

if TYPE_CHECKING:
    from collections.abc import Mapping

EMPTY: Mapping[str, Any] = MappingProxyType({})

T = TypeVar("T")


def empty() -> Mapping[str, Any]:
    """A default factory: dataclasses take a mapping proxy for a mutable default, as it has no hash."""
    return EMPTY


def swift(cls: type[T]) -> type[T]:
    """The class itself, with instances that are made in half the time."""
    written = _written(cls, "__init__(self, ", "_become(self, _draft)", "")
    cls.__init__ = written  # type: ignore[method-assign]  # what this is for
    return cls


def maker(cls: type[T]) -> type[T]:
    """A function to call like the class, for the few places that every firing passes: a third of the time."""
    return cast("type[T]", _written(cls, "make(", "self = _new(_draft)", "return self"))


def _written(cls: type, head: str, first: str, last: str) -> Any:
    # Both, or CPython takes the slow way: it has one slot for the two.
    loose = {"__slots__": (), "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    known: dict[str, Any] = {
        "_cls": cls,
        "_draft": type(f"{cls.__name__}Draft", (cls,), loose),
        "_new": object.__new__,
        "_become": object.__dict__["__class__"].__set__,
    }
    wanted = ", ".join(_parameter(field, known) for field in fields(cls))
    lines = [first, *(f"self.{field.name} = {field.name}" for field in fields(cls)), "self.__class__ = _cls", last]
    source = f"def {head}*, {wanted}):\n" + "".join(f"    {line}\n" for line in lines)
    exec(source, known)  # noqa: S102  as dataclass does it; the text is made of the names of our own fields
    return known[head.partition("(")[0]]


def _parameter(field: Any, known: dict[str, Any]) -> str:
    name: str = field.name
    if field.default is MISSING and field.default_factory is MISSING:
        return name
    if field.default is MISSING and field.default_factory is not empty:
        raise TypeError(f"{name}: only constants and the empty mapping can be defaults here")
    known[f"_{name}"] = EMPTY if field.default is MISSING else field.default
    return f"{name}=_{name}"
