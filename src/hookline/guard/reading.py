"""What a command line says once it is read as bash reads it: the values between the reader and the effects.

``read`` turns the text of a command into a ``Reading``: every program that bash would start, with the words it would
get. What cannot be known is ``UNKNOWN``, never left out: the effects and the policy decide what that means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, final

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
class _Unknown:
    """A part of a word that only running the command would tell: the output of a program, a variable set elsewhere."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()

#: Text as bash would pass it on, an unquoted glob character (``*``, ``?``, ``[``) as ``Glob``, or ``UNKNOWN``.
Piece: TypeAlias = "str | Glob | _Unknown"


@dataclass(frozen=True, slots=True)
class Glob:
    """An unquoted pattern character: the word may become any number of names that match."""

    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """One argument after expansion. ``source`` is how it stands in the command, for people."""

    pieces: tuple[Piece, ...]
    source: str = ""
    #: The programs whose output is in it, known or not: ``$(curl …)``, ``<(curl …)`` (whose text is ``/dev/fd/63``), and a
    #: variable set from one of them. ``bash -c "$(curl …)"`` and ``curl -d "$(cat .env)"`` are judged by it.
    sources: tuple[Invocation, ...] = ()

    @property
    def known(self) -> bool:
        """Exactly this text; a glob counts as known, because its shape is."""
        return UNKNOWN not in self.pieces

    @property
    def text(self) -> str:
        """The text with globs as written and unknown parts as ``…``."""
        if len(self.pieces) == 1 and isinstance(only := self.pieces[0], str):  # nearly always, and this is asked often
            return only
        return "".join(_show(piece) for piece in self.pieces)

    @property
    def prefix(self) -> str:
        """The known text before the first glob or unknown part."""
        return "".join(_leading(self.pieces))

    @property
    def globs(self) -> bool:
        return any(isinstance(piece, Glob) for piece in self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """``operator`` is one of ``>``, ``>>``, ``>|``, ``<>``, ``&>``, ``&>>``, ``<``; copies of descriptors are left out.

    A copy of a descriptor that ``exec 3>/dev/tcp/…`` opened in the same command stands here with that target.
    """

    operator: str
    target: Word
    descriptor: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One program (or builtin) that would be started, with what decides its effects."""

    #: argv[0] is the program as named: a path, an option cluster or a name in odd letters stay as they are.
    argv: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    #: Variables set for this program alone: ``FOO=1 git push``.
    environment: tuple[tuple[str, Word], ...] = ()
    #: What it reads from a heredoc, a herestring or an earlier program whose output is known; None when unknown or empty.
    stdin: Word | None = None
    #: The programs whose output is piped into it, nearest last.
    upstream: tuple[Invocation, ...] = ()
    #: Programs that start it: ("sudo", "xargs") for ``sudo xargs rm``. Each of them is an invocation of its own, too.
    wrappers: tuple[str, ...] = ()
    #: Where it runs, after ``cd`` in the same command or ``git -C``-like options of a wrapper; None: where the command runs.
    directory: Word | None = None
    #: True where more arguments come from standard input (``xargs``, ``parallel``) or from ``find``.
    more_arguments: bool = False
    #: It runs elsewhere: ssh, docker exec, kubectl exec. Paths are not those of this machine.
    remote: bool = False
    #: The text it stands in, for people.
    source: str = ""

    @property
    def name(self) -> str:
        """The program without its directory; "" when unknown."""
        return self.argv[0].text.rpartition("/")[2] if self.argv and self.argv[0].known else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Something that could not be read, with the reason in plain English and the words that cause it."""

    reason: str
    source: str
    #: Bash itself would refuse the text (an unterminated quote): what stands before it may still run.
    syntax: bool = False
    #: A known text with an unknown part in it is run as code: what is known of it is read, the part may hold more commands.
    part: bool = False
    #: A shell takes this text from its standard input; what it may be is judged by the flow of data.
    piped: bool = False
    #: Reading ended here, because of its limits or of a fault: anything may follow.
    limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Everything that a command would start, in order. ``doubts`` is what bash might do beyond that."""

    invocations: tuple[Invocation, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    #: Loops without end and functions that start processes of themselves (``:(){ :|:& };:``), as they stand.
    bombs: tuple[str, ...] = ()
    #: The command as it came.
    text: str = ""


def word(text: str, source: str | None = None) -> Word:
    """A word that is known to the letter."""
    return Word((text,) if text else (), text if source is None else source)


def cut(word: Word, count: int) -> Word:
    """The word without its first ``count`` known characters."""
    pieces = list(word.pieces)
    while count and pieces and isinstance(pieces[0], str):
        head = pieces[0]
        pieces[0:1] = [head[count:]] if len(head) > count else []
        count -= min(count, len(head))
    return Word(tuple(pieces), word.source, word.sources)


def _show(piece: Piece) -> str:
    match piece:
        case str():
            return piece
        case Glob():
            return piece.text
        case _Unknown():
            return "…"


def _leading(pieces: Iterable[Piece]) -> Iterable[str]:
    for piece in pieces:
        if not isinstance(piece, str):
            return
        yield piece
