"""Dataclasses that cost nothing until they are used: ``dataclass``, ``field``, ``replace`` and ``fields``.

The standard decorator writes and compiles six methods per class and imports ``inspect``: for our ninety classes that
was half of the time of a cold ``hookline hook``. Here the methods that rarely run are shared by all classes, and
``__init__`` is compiled after the first few instances, which most classes of a cold run never see. To everybody
else these are dataclasses: ``dataclasses.fields``, ``replace`` and ``asdict`` work on them, and type checkers see the
standard ones. Left out is what this project does not use: ordering, ``InitVar``, ``KW_ONLY``, heirs without slots.

Values that cannot be changed: the shared empty mapping, and quick ways to make frozen ones.

``dataclass`` sets every field of a frozen instance through ``object.__setattr__``, and calling a class builds a
dictionary of the arguments: together, most of the time of a firing. Here an instance is a draft, whose fields are
simply assigned, until all are set. Both ways are for frozen, slotted, keyword-only dataclasses without heirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType, MappingProxyType

from hookline.core.typed import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from dataclasses import dataclass, field, fields, replace


__all__ = ["MISSING", "Slot", "dataclass", "field", "fields", "is_dataclass", "replace"]

_set = object.__setattr__


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Slot:
    """One field of a class, under the names that ``dataclasses.Field`` gives to the same things."""

    __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "name", "repr", "type")

    def __init__(
        self,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        *,
        init: bool = True,
        repr: bool = True,  # noqa: A002  the standard's own name
        compare: bool = True,
    ) -> None:
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.compare = init, repr, compare
        self.name, self.type, self.kw_only = "", "", False


if not TYPE_CHECKING:

    def field(**given: Any) -> Slot:
        return Slot(**given)

    def fields(thing: Any) -> tuple[Slot, ...]:
        return thing.__slots_of_class__

    def replace(thing: Any, /, **changes: Any) -> Any:
        for slot in thing.__slots_of_class__:
            if slot.init and slot.name not in changes:
                changes[slot.name] = getattr(thing, slot.name)
        return thing.__class__(**changes)

    def dataclass(*, frozen: bool = False, slots: bool = False, kw_only: bool = False) -> Any:
        return lambda cls: _made(cls, frozen=frozen, slots=slots, kw_only=kw_only)


def is_dataclass(thing: object) -> bool:
    # Not __dataclass_fields__: who looks for that on one of ours imports the standard's module, a tenth of a cold call.
    return hasattr(type(thing), "__slots_of_class__")


def _made(cls: Any, *, frozen: bool, slots: bool, kw_only: bool) -> Any:
    own = [name for name, annotation in cls.__annotations__.items() if not str(annotation).startswith("ClassVar")]
    body = (_FROZEN if frozen else _COMMON).copy() | cls.__dict__.copy()
    body.pop("__dict__", None)
    body.pop("__weakref__", None)
    given = {name: body.pop(name) for name in own if name in body}
    body["__slots_of_class__"] = described = _Described(own, given, kw_only=kw_only)
    if slots:
        inherited = {name for base in cls.__mro__[1:-1] for name in _names(base.__dict__.get("__slots__", ()))}
        body["__slots__"] = tuple([name for name in own if name not in inherited])
    else:
        defaults = {name: one.default if type(one) is Slot else one for name, one in given.items()}
        body |= {name: default for name, default in defaults.items() if default is not MISSING}
    described.owner = made = type(cls)(cls.__name__, cls.__bases__, body)
    return made


class _Described:
    """The fields of a class, described when somebody asks: of most classes of a cold run nobody does."""

    __slots__ = ("_given", "_kw_only", "_own", "owner")

    def __init__(self, own: list[str], given: dict[str, Any], *, kw_only: bool) -> None:
        self._own, self._given, self._kw_only = own, given, kw_only
        self.owner: Any = None

    def __get__(self, _thing: Any, _cls: Any) -> tuple[Slot, ...]:
        owner = self.owner
        bases = [base for base in reversed(owner.__mro__[1:]) if "__slots_of_class__" in base.__dict__]
        every = {slot.name: slot for base in bases for slot in base.__slots_of_class__}
        for name in self._own:
            given = self._given.get(name, MISSING)
            every[name] = slot = given if type(given) is Slot else Slot(given)
            slot.name, slot.type, slot.kw_only = name, owner.__annotations__[name], self._kw_only
        owner.__slots_of_class__ = found = tuple(every.values())
        return found


class _Positional:
    """``__match_args__``, found when a pattern or a constructor asks."""

    def __get__(self, _thing: Any, cls: Any) -> tuple[str, ...]:
        return tuple([slot.name for slot in cls.__slots_of_class__ if slot.init and not slot.kw_only])


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


# ── what all classes share ───────────────────────────────────────────────────────────────────────────


#: So many instances are made slowly before a constructor is compiled, which takes as long as that many of them.
_SLOW = 80


def _first_init(self: Any, *args: Any, **given: Any) -> None:
    """Stands in for the first instances, then writes the real one and steps aside."""
    owner = next(base for base in type(self).__mro__ if base.__dict__.get("__init__") is _first_init)
    made = _made_slowly[owner] = _made_slowly.get(owner, 0) + 1
    if made > _SLOW or not _filled(self, owner, args, given):
        owner.__init__ = _swift_init(owner) if owner in _swift else _init_of(owner)  # type: ignore[misc]
        owner.__init__(self, *args, **given)  # type: ignore[misc]  # what this is for


#: Class -> how many of its instances there were; those with the quicker constructor.
_made_slowly: dict[type, int] = {}
_swift: set[type] = set()
#: Class -> the defaults of its fields, their factories, and what may be given.
_defaults: dict[type, tuple[dict[str, Any], dict[str, Any], set[str]]] = {}


def _filled(self: Any, owner: Any, args: tuple[Any, ...], given: Mapping[str, Any]) -> bool:
    """Set the fields one by one; False for arguments that do not fit, which the compiled constructor refuses."""
    known = _defaults.get(owner) or _find_defaults(owner)
    defaults, factories, wanted = known
    values = {**dict(zip(owner.__match_args__, args)), **given} if args else given  # noqa: B905  too many are found out here
    if len(values) != len(args) + len(given) or not wanted.issuperset(values):
        return False
    values = {**defaults, **values}
    for name, make in factories.items():
        if name not in values:
            values[name] = make()
    if not wanted.issubset(values):
        return False
    for name, value in values.items():
        _set(self, name, value)
    if hasattr(owner, "__post_init__"):
        self.__post_init__()
    return True


def _find_defaults(owner: Any) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
    slots = owner.__slots_of_class__
    defaults = {slot.name: slot.default for slot in slots if slot.default is not MISSING}
    factories = {slot.name: slot.default_factory for slot in slots if slot.default_factory is not MISSING}
    found = _defaults[owner] = defaults, factories, {slot.name for slot in slots if slot.init}
    return found


def _init_of(cls: Any) -> Any:
    known: dict[str, Any] = {"_set": _set}
    positional = ["self"]
    named: list[str] = []
    lines: list[str] = []
    frozen = cls.__setattr__ is _refuse_set
    for slot in cls.__slots_of_class__:
        name, value = slot.name, slot.name
        default = f"=_d_{name}"
        if slot.default_factory is not MISSING:
            known[f"_f_{name}"], known[f"_d_{name}"] = slot.default_factory, MISSING
            known["_missing"] = MISSING
            value = f"_f_{name}() if {name} is _missing else {name}" if slot.init else f"_f_{name}()"
        elif slot.default is not MISSING:
            known[f"_d_{name}"] = slot.default
            value = name if slot.init else f"_d_{name}"
        elif not slot.init:
            continue
        else:
            default = ""
        if slot.init:
            (named if slot.kw_only else positional).append(name + default)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *named] if named else [])])
    source = f"def __init__({parameters}):\n" + "".join(f"    {line}\n" for line in lines or ["pass"])
    exec(source, known)  # noqa: S102  as the standard does it; the text is made of the names of our own fields
    written = known["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    return written


def _repr(self: Any) -> str:
    shown = ", ".join(f"{slot.name}={getattr(self, slot.name)!r}" for slot in self.__slots_of_class__ if slot.repr)
    return f"{type(self).__qualname__}({shown})"


def _compared(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, slot.name) for slot in self.__slots_of_class__ if slot.compare])


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _compared(self) == _compared(other)


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _refuse_set(self: Any, name: str, value: Any) -> None:  # the shape of the method
    from dataclasses import FrozenInstanceError  # only a mistake pays for it

    msg = f"cannot assign to field {name!r}"
    raise FrozenInstanceError(msg)


def _refuse_delete(self: Any, name: str) -> None:  # the shape of the method
    from dataclasses import FrozenInstanceError  # only a mistake pays for it

    msg = f"cannot delete field {name!r}"
    raise FrozenInstanceError(msg)


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, slot.name) for slot in self.__slots_of_class__]


def _setstate(self: Any, state: list[Any]) -> None:
    for slot, value in zip(self.__slots_of_class__, state, strict=True):
        _set(self, slot.name, value)


class _StandardFields:
    """What ``dataclasses`` looks for on a class, made when it looks."""

    def __get__(self, _thing: Any, cls: Any) -> dict[str, Any]:
        return {slot.name: _standard(slot) for slot in cls.__slots_of_class__}


def _standard(slot: Slot) -> Any:
    import dataclasses  # the caller has imported it

    names = ("default", "default_factory")
    given = {name: value for name in names if (value := getattr(slot, name)) is not MISSING}
    made: Any = dataclasses.field(init=slot.init, repr=slot.repr, compare=slot.compare, kw_only=slot.kw_only, **given)
    made.name, made.type = slot.name, slot.type
    made._field_type = dataclasses._FIELD  # type: ignore[attr-defined]  # noqa: SLF001  its mark of a plain field
    return made


_STANDARD_FIELDS = _StandardFields()
_COMMON: MappingProxyType[str, Any] = MappingProxyType(
    {
        "__init__": _first_init, "__repr__": _repr, "__eq__": _eq, "__hash__": None, "__match_args__": _Positional(),
        "__dataclass_fields__": _STANDARD_FIELDS,
    }
)  # fmt: skip
_FROZEN: MappingProxyType[str, Any] = MappingProxyType(
    {
        **_COMMON,
        "__hash__": _hash,
        "__setattr__": _refuse_set,
        "__delattr__": _refuse_delete,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
    }
)


EMPTY: Mapping[str, Any] = MappingProxyType({})

_T = TypeVar("_T")


def empty() -> Mapping[str, Any]:
    """A default factory: dataclasses take a mapping proxy for a mutable default, as it has no hash."""
    return EMPTY


def swift(cls: type[_T]) -> type[_T]:
    """The class itself, with instances that are made in half the time."""
    _swift.add(cls)
    return cls


def fast_constructor(cls: type[_T]) -> type[_T]:
    """A function to call like the class, for the few places that every firing passes: a third of the time.

    The first few calls go to the class: a process that fires once need not compile it.
    """
    known = _known(cls)
    calls = 0

    def first_calls(given: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        if calls <= _SLOW:
            return cls(**given)
        written = _written(cls, known, "make(", "self = _new(_draft)", "return self")
        make.__kwdefaults__ = written.__kwdefaults__  # first: another thread may be about to call
        make.__code__ = written.__code__
        return make(**given)

    known["_first_calls"] = first_calls
    make = FunctionType(_call_first.__code__, known, "make")
    return cast("type[_T]", make)


def _call_first(**given: Any) -> Any:
    return _first_calls(given)  # type: ignore[name-defined]  # noqa: F821  in the names of each constructor


def _swift_init(cls: type) -> Any:
    return _written(cls, _known(cls), "__init__(self, ", "_become(self, _draft)", "")


def _known(cls: type) -> dict[str, Any]:
    return {"_cls": cls, "_new": object.__new__, "_become": object.__dict__["__class__"].__set__}


def _written(cls: type, known: dict[str, Any], head: str, first: str, last: str) -> Any:
    # Both, or CPython takes the slow way: it has one slot for the two.
    loose = {"__slots__": (), "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    known["_draft"] = type(f"{cls.__name__}Draft", (cls,), loose)
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
