"""Values while a command is followed: words that are put together, divided and compared, and what a shell remembers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from hookline.guard.reading import UNKNOWN, Glob, Piece, Word, word

if TYPE_CHECKING:
    from hookline.guard.reading import Invocation, Redirect
    from hookline.guard.syntax import Command

_GLOB = re.compile(r"[*?\[]|\(.*\)", re.DOTALL)

#: An array by the text of its indices, in order.
Array: TypeAlias = "dict[str, Word]"
#: None: known to be unset.
Variable: TypeAlias = "Word | Array | None"


EMPTY = word("")
#: What a jump leaves: a round, a loop, a function, the shell.
ROUND, LOOP, FUNCTION, SHELL = 1, 2, 1_000, 2_000
_T = TypeVar("_T")


def unknown(sources: tuple[Invocation, ...] = (), source: str = "") -> Word:
    return Word((UNKNOWN,), source, sources)


def concatenate(words: Iterable[Word], source: str = "") -> Word:
    pieces, sources = list[Piece](), tuple["Invocation", ...]()
    for each in words:
        add(pieces, each.pieces)
        sources = merge(sources, each.sources)
    return Word(tuple(pieces), source, sources)


def add(pieces: list[Piece], more: Iterable[Piece]) -> None:
    """Append, with neighbouring texts made one."""
    for piece in more:
        last = pieces[-1] if pieces else None
        if isinstance(piece, str) and isinstance(last, str):
            pieces[-1] = last + piece
        elif piece != "" and not (piece is UNKNOWN and last is UNKNOWN):
            pieces.append(piece)


def merge(first: tuple[Invocation, ...], second: tuple[Invocation, ...]) -> tuple[Invocation, ...]:
    if not first or first is second:
        return second
    if not second:
        return first
    known = {id(one) for one in first}
    return first + tuple(one for one in second if id(one) not in known)


def literal(value: Word) -> str | None:
    """The text of a value that is known to the letter, without globs."""
    match value.pieces:
        case ():
            return ""
        case (str(text),):
            return text
        case _:
            return None


def globs(text: str) -> Iterator[Piece]:
    """Unquoted text, with its pattern characters told from the letters."""
    at, close = 0, text.rfind("]")
    if len(text) > 1_000 and _GLOB.search(text):
        yield Glob(text)
        return
    for found in _GLOB.finditer(text):
        if found[0] == "[" and found.end() >= close:
            continue
        if found.start() > at:
            yield text[at : found.start()]
        yield Glob(found[0])
        at = found.end()
    if at < len(text):
        yield text[at:]


def lines(value: Word) -> Word:
    """The value of ``$(…)``: without the newlines at its end."""
    pieces = [piece.replace("\0", "") if isinstance(piece, str) else piece for piece in value.pieces]
    while pieces and isinstance(last := pieces[-1], str):
        pieces[-1] = last.rstrip("\n")
        if pieces[-1]:
            break
        pieces.pop()
    # If what is unknown is nothing, the newlines before it are the last ones.
    while len(pieces) > 1 and pieces[-1] is UNKNOWN and isinstance(last := pieces[-2], str) and last.endswith("\n"):
        pieces[-2:] = [last.rstrip("\n"), UNKNOWN] if last.rstrip("\n") else [UNKNOWN]
    return Word(tuple(pieces), value.source, value.sources)


def split(text: str, separators: str) -> list[str | None]:
    """The fields of unquoted text; None stands where one field ends and the next begins."""
    white = "".join(set(separators) & set(" \t\n"))
    other = "".join(set(separators) - set(" \t\n"))
    if not separators:
        return [text] if text else []
    delimiter = f"[{re.escape(white)}]*[{re.escape(other)}][{re.escape(white)}]*" if other else ""
    blank = f"[{re.escape(white)}]+" if white else ""
    if other and not white:
        delimiter = f"[{re.escape(other)}]"
    found = list[str | None]()
    at = 0
    for cut in re.finditer("|".join(filter(None, (delimiter, blank))), text):
        hard = bool(other) and any(letter in other for letter in cut[0])
        if cut.start() > at or (hard and at == cut.start()):
            found.append(text[at : cut.start()])
        found.append(None)
        at = cut.end()
    if at < len(text):
        found.append(text[at:])
    return found


def below(sources: tuple[Invocation, ...]) -> list[Word]:
    """What ``find /etc`` prints is not known, but where it lies; below the working directory that says little."""
    roots = [each for one in sources if one.name in {"find", "gfind"} for each in one.argv[1:2]]
    return [
        Word((f"{root.text.rstrip('/')}/", UNKNOWN), root.source, sources) for root in roots if root.text[:1] in "/~"
    ]


class Stream:
    """What stands on standard input; taken by whoever reads first. ``word`` is None where nothing is known to be there."""

    __slots__ = ("word",)

    def __init__(self, value: Word | None) -> None:
        self.word = value

    def line(self) -> Word | None:
        """The next line; None at the end."""
        value = self.word
        if value is None:
            return unknown()
        if not value.pieces:
            return None
        first = value.pieces[0]
        if value.pieces == (UNKNOWN,) and (found := below(value.sources)):
            return found[0]
        if not isinstance(first, str) or ("\n" not in first and len(value.pieces) > 1):
            return unknown(value.sources)
        text, _, rest = first.partition("\n")
        self.word = Word((rest, *value.pieces[1:]) if rest else value.pieces[1:], "", value.sources)
        return Word((text,) if text else (), text, value.sources)


class ShellState:
    """What one shell remembers from command to command."""

    __slots__ = (
        "aliases", "dead", "descriptors", "directory", "exported", "files", "functions", "jumps", "loops", "positional",
        "returns", "variables",
    )  # fmt: skip

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        #: Names, and what ``declare`` says of them: ``x`` is exported, ``x()`` a function that is, ``x `` holds something
        #: else than is assigned (an integer, upper case, read-only), ``x A`` is an associative array.
        self.exported = frozenset[str]()
        #: The bodies that a function may have; None among them: it may not be defined.
        self.functions: dict[str, tuple[Command | None, ...]] = {}
        self.aliases = dict[str, str]()
        self.directory: Word | None = None
        #: What this command wrote into files, by path.
        self.files = dict[str, Word]()
        self.positional: list[Word] | None = []
        self.descriptors: dict[str, Redirect] = {}
        #: It has ended: exit, return, break.
        self.dead = False
        #: How the shell was where it may have left something, by what it left: see ``jump``.
        self.jumps: dict[int, ShellState] = {}
        #: How many loops there are to leave, and whether there is a function or a sourced file.
        self.loops, self.returns = 0, False

    def copy(self) -> ShellState:
        other = ShellState()
        other.variables, other.functions = self.variables.copy(), self.functions.copy()
        other.aliases, other.files = self.aliases.copy(), self.files.copy()
        other.descriptors = self.descriptors.copy()
        other.exported, other.directory, other.positional = self.exported, self.directory, self.positional
        other.dead, other.jumps, other.loops, other.returns = self.dead, self.jumps, self.loops, self.returns
        return other

    def jump(self, level: int) -> None:
        """Leave a round of a loop (1), the loop (2), the round (3) or the loop (4) around it, …, a function or the shell."""
        if not self.dead:
            here = self.copy()
            here.jumps = {}
            self.jumps = merge_jumps([self.jumps, {level: here}])

    def land(self, level: int) -> None:
        """The end of what jumps up to ``level`` leave: the shell is as it was at one of them, or as it is here."""
        ends = [state.copy() for kind, state in self.jumps.items() if kind <= level]
        rest = {kind: state for kind, state in self.jumps.items() if kind > level}
        if ends:
            self.become(*ends, *(() if self.dead else (self.copy(),)))
        self.jumps = {kind - LOOP if level == LOOP and kind < FUNCTION else kind: state for kind, state in rest.items()}

    def child(self) -> ShellState:
        """A shell started from this one: it gets what is exported, which arrays never are."""
        other = ShellState()
        other.variables = {
            name: None if isinstance(value, dict) else value
            for name, value in self.variables.items()
            if name in self.exported or value is None
        }
        other.functions = {name: body for name, body in self.functions.items() if f"{name}()" in self.exported}
        other.exported, other.directory, other.files = self.exported, self.directory, self.files
        return other

    def same_as(self, other: ShellState) -> bool:
        kept = ("variables", "directory", "positional", "functions", "aliases")
        return all(getattr(self, name) == getattr(other, name) for name in kept)

    def keep_common(self, other: ShellState) -> None:
        """What ``other`` has changed in variables is no longer known."""
        self.variables = _common([self.variables, other.variables])

    def become(self, *ends: ShellState) -> None:
        """The one state that stands for all ``ends`` of a branch: where they differ, nothing is known."""
        alive = [end for end in ends if not end.dead] or list(ends)
        first = alive[0]
        self.exported = frozenset().union(*(end.exported for end in alive))
        self.dead = all(end.dead for end in ends)
        self.jumps = merge_jumps([end.jumps for end in ends])
        self.directory, self.positional = first.directory, first.positional
        if any(end.directory != first.directory for end in alive):
            self.directory = unknown()
        if any(end.positional != first.positional for end in alive):
            self.positional = None
        self.variables = _common([end.variables for end in alive])
        self.files = _common([end.files for end in alive])
        self.functions = first.functions
        if any(end.functions != first.functions for end in alive):
            names = {name for end in alive for name in end.functions}
            self.functions = {name: _bodies(alive, name) for name in names}
        self.aliases = {name: text for end in alive for name, text in end.aliases.items()}
        self.descriptors = {name: target for end in alive for name, target in end.descriptors.items()}


def merge_jumps(tables: list[dict[int, ShellState]]) -> dict[int, ShellState]:
    """One state for each kind of jump; the very same where there is only one."""
    found = dict[int, ShellState]()
    for table in tables:
        for kind, state in table.items():
            before = found.setdefault(kind, state)
            if before is not state:
                found[kind] = both = ShellState()
                both.become(before, state)
    return found


def _bodies(states: list[ShellState], name: str) -> tuple[Command | None, ...]:
    found = list["Command | None"]()
    for body in (body for state in states for body in state.functions.get(name, (None,))):
        if not any(body is other for other in found):
            found.append(body)
    return tuple(found)


def _common(tables: list[dict[str, _T]]) -> dict[str, _T]:
    first = tables[0]
    if all(table is first or table == first for table in tables[1:]):
        return first
    names = {name for table in tables for name in table}
    nothing = cast("_T", unknown())
    return {
        name: first[name] if all(name in table and table[name] == first[name] for table in tables) else nothing
        for name in names
    }
