"""Programs that start programs: which of their words are options, and which are the command that they start."""

from __future__ import annotations

from functools import cache
from itertools import takewhile

from hookline.core._dataclass import dataclass, replace
from hookline.guard.options import GivenOptions, parse_options
from hookline.guard.reading import Word, cut
from hookline.guard.tables import lines, sections


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that take a value, and how many operands stand before the command."""

    letters: str = ""
    names: tuple[str, ...] = ()
    operands: int = 0
    #: ``NAME=value`` before the command sets a variable.
    assignments: bool = False
    #: The command stands behind one of these sub-commands.
    after: tuple[str, ...] = ()
    #: The options with the folder to run in.
    directory: tuple[str, ...] = ()
    #: The command is a text for a shell.
    shell: bool = False
    #: The option whose value is a text for a shell.
    code: tuple[str, ...] = ()
    #: Options may stand between and behind the operands.
    permuted: bool = False
    remote: bool = False
    #: Long options without ``=`` take a value unless they are named here.
    flags: tuple[str, ...] | None = None

    @property
    def specification(self) -> str:
        takes = [*(f"{letter}:" for letter in self.letters), *(f",{name}:" for name in self.names)]
        return " ".join([*takes, *(f",{name}" for name in self.flags or ())])


@dataclass(frozen=True, slots=True, kw_only=True)
class WrappedCommand:
    """The words of a program that starts another, divided: its own options and operands, and what it starts."""

    given: GivenOptions
    operands: list[Word]
    rest: list[Word]
    assignments: tuple[tuple[str, Word], ...] = ()


@cache
def wrapper(name: str) -> Options | None:
    """What ``tables/wrappers.txt`` says of a program, or of ``program: sub-command``."""
    body = sections("wrappers.txt").get(name)
    if body is None:
        return None
    rows = {line.text.partition(" ")[0]: tuple(line.text.split()[1:]) for line in lines(body)}
    return Options(
        letters="".join(rows.get("letters", ())),
        names=rows.get("names", ()),
        operands=int("".join(rows.get("operands", ("0",)))),
        after=rows.get("after", ()),
        directory=rows.get("directory", ()),
        code=rows.get("code", ()),
        flags=rows.get("flags"),
        **{key: key in rows for key in ("assignments", "shell", "permuted", "remote")},
    )


def wrapper_options(name: str) -> Options:
    return wrapper(name) or Options()


def parse(argv: list[Word], options: Options) -> WrappedCommand:
    """``argv`` without the program's own name."""
    given = parse_options(
        argv,
        options.specification,
        until_operand=not options.permuted,
        before=options.operands,
        others="" if options.flags is None else ":",
    )
    count = len(given.operands) - len(given.after) if options.permuted else options.operands
    operands, rest = list(given.operands[:count]), list(given.operands[count:])
    if not options.assignments:
        return WrappedCommand(given=given, operands=operands, rest=rest)
    found = list(takewhile(_sets, rest))
    rest = rest[len(found) :]
    names = [(each.prefix.partition("=")[0], each) for each in found if each.text != "-"]
    assignments = tuple((name, cut(each, len(name) + 1)) for name, each in names)
    if found and rest and rest[0].prefix.startswith("-"):  # ``sudo A=b -u user program``
        inner = parse(rest, options)
        return replace(inner, assignments=(*assignments, *inner.assignments))
    return WrappedCommand(given=given, operands=operands, rest=rest, assignments=assignments)


def _sets(each: Word) -> bool:
    return each.text == "-" or ("=" in each.prefix.partition("/")[0] and not each.prefix.startswith("="))
