"""What can be typed after ``hookline``, read off the commands' own parsers, so that nothing can be forgotten here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from hookline.cli import COMMANDS, command_module, command_parser
from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_Kind = Literal["events", "agents", "dialects", "hooks", "files", "words", "anything"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What may stand in one place."""

    kind: _Kind
    #: The words there are, where these are few and fixed.
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """``names`` are its spellings; ``value`` is None for a switch."""

    names: tuple[str, ...]
    about: str = ""
    value: Value | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One command, or one of its own: ``knowledge``, or ``knowledge search``."""

    path: tuple[str, ...]
    about: str = ""
    options: tuple[Option, ...] = ()
    #: Name -> what it does, for a command that has commands of its own.
    commands: tuple[tuple[str, str], ...] = ()
    #: What its first word may be; None where it takes none.
    word: Value | None = None

    @property
    def long_options(self) -> tuple[str, ...]:
        return tuple(sorted(name for option in self.options for name in option.names if name.startswith("--")))


def forms() -> tuple[Form, ...]:
    """Every form, in the order of the help, a command before its own commands."""
    found: list[Form] = []
    for command, about in COMMANDS.items():
        found += _forms((command,), about, command_parser(command, command_module(command)))
    return tuple(found)


def _forms(path: tuple[str, ...], about: str, parser: argparse.ArgumentParser) -> Iterator[Form]:
    actions = parser._actions  # noqa: SLF001  argparse has no other door
    inner: Any = next((one for one in actions if isinstance(one.choices, dict)), None)  # its own commands, by name
    words = [_value(one) for one in actions if not one.option_strings and one is not inner]
    helps: dict[str, str] = {one.dest: one.help or "" for one in inner._choices_actions} if inner else {}  # noqa: SLF001
    yield Form(
        path=path,
        about=about,
        options=tuple(_option(one) for one in actions if one.option_strings),
        commands=tuple((name, helps.get(name, "")) for name in inner.choices) if inner else (),
        word=words[0] if words else None,
    )
    if inner:
        for name, made in inner.choices.items():
            yield from _forms((*path, name), helps.get(name, ""), made)


def _option(action: argparse.Action) -> Option:
    value = None if action.nargs == 0 else _value(action)
    return Option(names=tuple(action.option_strings), about=action.help or "", value=value)


def _value(action: argparse.Action) -> Value:
    if action.choices is not None:
        return Value(kind="words", words=tuple(map(str, action.choices)))
    if action.dest in {"event", "events", "on"}:
        return Value(kind="events")
    if action.dest == "agent":
        return Value(kind="agents")
    if action.dest in {"hook", "revoke"}:
        return Value(kind="hooks")
    if action.metavar == "D":
        return Value(kind="dialects")
    named = str(action.metavar)
    return Value(kind="files" if named in {"FILE", "PATH", "TRANSCRIPT"} else "anything")
