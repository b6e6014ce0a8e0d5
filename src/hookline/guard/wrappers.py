"""Programs that start programs: which of their words are options, and which are the command that they start."""

from __future__ import annotations

from functools import cache

from hookline.core._dataclass import dataclass, field
from hookline.guard.reading import Word
from hookline.guard.tables import lines, sections
from hookline.guard.values import literal


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


@dataclass(slots=True)
class WrappedCommand:
    values: dict[str, Word | None] = field(default_factory=dict)
    operands: list[Word] = field(default_factory=list)
    rest: list[Word] = field(default_factory=list)
    assignments: list[tuple[str, Word]] = field(default_factory=list)
    #: A guess was needed: an abbreviation that may be another option.
    unsure: bool = False


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
    found, at = WrappedCommand(), 0
    while at < len(argv):
        text = argv[at].text if argv[at].known else ""
        if text == "--":
            at += 1
            break
        if text.startswith("--") and len(text) > 2:
            at = _long(argv, at, text[2:], options, found)
        elif text.startswith("-") and len(text) > 1:
            at = _cluster(argv, at, text, options, found)
        elif options.assignments and "=" in argv[at].prefix.partition("/")[0] and not text.startswith("="):
            name, _, _ = argv[at].prefix.partition("=")
            found.assignments.append((name, without(argv[at], len(name) + 1)))
            at += 1
        elif len(found.operands) < options.operands or options.permuted:
            found.operands.append(argv[at])
            at += 1
        elif text == "-" and options.assignments:
            at += 1
        else:
            break
    while len(found.operands) < options.operands and at < len(argv):
        found.operands.append(argv[at])
        at += 1
    found.rest = argv[at:]
    return found


def without(value: Word, letters: int) -> Word:
    """A word less the first letters, which are known."""
    pieces = value.pieces
    if letters and pieces and isinstance(first := pieces[0], str):
        pieces = (first[letters:], *pieces[1:]) if first[letters:] else pieces[1:]
    return Word(pieces, value.source, value.sources)


def _long(argv: list[Word], at: int, text: str, options: Options, found: WrappedCommand) -> int:
    name, equals, _ = text.partition("=")
    if equals:
        found.values[_full(name, options)] = without(argv[at], len(name) + 3)
        return at + 1
    takes = name not in options.flags if options.flags is not None else _full(name, options) in options.names
    found.unsure = found.unsure or (takes and options.flags is None and name not in options.names)
    if takes and at + 1 < len(argv):
        found.values[_full(name, options)] = argv[at + 1]
        return at + 2
    found.values[name] = None
    return at + 1


def _full(name: str, options: Options) -> str:
    """The option that an abbreviation stands for."""
    matching = [each for each in options.names if each.startswith(name)]
    return name if name in options.names or len(matching) != 1 else matching[0]


def _cluster(argv: list[Word], at: int, text: str, options: Options, found: WrappedCommand) -> int:
    for place, letter in enumerate(text[1:], 2):
        if letter not in options.letters:
            found.values[letter] = None
            continue
        if place < len(text) or len(argv[at].pieces) > 1:
            found.values[letter] = without(argv[at], place)
            return at + 1
        if at + 1 < len(argv):
            found.values[letter] = argv[at + 1]
        return at + 2
    return at + 1


def option(found: WrappedCommand, *names: str) -> Word | None:
    return next((value for name in names if (value := found.values.get(name)) is not None), None)


def option_text(found: WrappedCommand, *names: str) -> str | None:
    value = option(found, *names)
    return None if value is None else literal(value)
