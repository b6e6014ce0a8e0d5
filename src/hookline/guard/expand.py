"""Words as bash expands them: braces, tilde, parameters, substitutions, arithmetic, splitting into fields."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.guard.arithmetic import changes, evaluate
from hookline.guard.parameters import expand_parameter, has_unknown, separators, text_lookup
from hookline.guard.reading import UNKNOWN, Glob, Piece, Word, word
from hookline.guard.syntax import Arithmetic, LiteralText, Parameter, Part, Raw, Substitution
from hookline.guard.values import add, concatenate, globs, lines, merge, split, unknown

if TYPE_CHECKING:
    from hookline.guard.context import ReadingContext
    from hookline.guard.reading import Invocation

_SPECIAL = re.compile(r"[{~*?\[(\U0010fe00-\U0010feff]")
_HOLE = re.compile(r"[\U0010fe00-\U0010feff]")
_SEQUENCE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
#: ``"${x-"{"}"``: bash takes the inner quotes for the end and the beginning of the outer ones.
_NESTED = re.compile(r'"[^"]*\$\{[^"]*"[^"]*(?<!\$)\{')
_MOST_WORDS = 300


def fields(shell: ReadingContext, raw: Raw, *, like: bool = True) -> list[Word]:
    """The arguments that a word becomes: none, one or many."""
    plain = raw.plain
    if plain is not None and not _SPECIAL.search(plain):
        return [Word((plain,), plain)]
    found = list[Word]()
    for parts in braces(shell, raw.parts):
        if parts is None:
            _Fields(shell, raw.source).expand(raw.parts, like=False)  # the commands in it run, whatever it becomes
            found.append(unknown(source=raw.source))
        else:
            found += _Fields(shell, raw.source).expand(parts, like=like and parts is raw.parts)
    return found


def scalar(shell: ReadingContext, raw: Raw, *, assigned: bool = False) -> Word:
    """One value without splitting: what is assigned, a redirection's target, a heredoc, the subject of ``case``."""
    plain = raw.plain
    if plain is not None and not _SPECIAL.search(plain):
        return Word((plain,), raw.source)
    pieces, sources = list[Piece](), tuple["Invocation", ...]()
    for part in _tilde(shell, raw.parts, assigned=assigned):
        value = part_value(shell, part)
        if isinstance(value, list):
            value = concatenate(_between(value, word(" ")))
        if not isinstance(part, LiteralText) and len(raw.parts) > 1:
            value = _without_globs(value)
        if isinstance(part, LiteralText) and not part.quoted and not assigned:
            add(
                pieces, (piece for text in value.pieces for piece in (globs(text) if isinstance(text, str) else [text]))
            )
        else:
            add(pieces, value.pieces)
        sources = merge(sources, value.sources)
        shell.budget.spend(_length(value) // 100)
    return Word(tuple(pieces), raw.source, sources)


def _without_globs(value: Word) -> Word:
    """What a program printed for ``*``: one name, or many in a row, which do not all begin as the word does."""
    if not value.globs:
        return value
    return replace(value, pieces=tuple(UNKNOWN if isinstance(each, Glob) else each for each in value.pieces))


def _length(value: Word) -> int:
    """Texts that double with every assignment must not fill the memory."""
    return sum(len(piece) for piece in value.pieces if isinstance(piece, str))


def _between(values: list[Word], glue: Word) -> list[Word]:
    return [each for value in values for each in (glue, value)][1:]


def part_value(shell: ReadingContext, part: Part) -> Word | list[Word]:
    """A list where it is several fields even in quotes: ``"$@"``."""
    value = _raw_value(shell, part)
    return scalar(shell, value) if isinstance(value, Raw) else value


def _raw_value(shell: ReadingContext, part: Part) -> Word | list[Word] | Raw:
    """A word that is not expanded yet where ``${x:-…}`` puts it in the place of the variable."""
    shell.budget.spend()
    match part:
        case LiteralText():
            return shell.fill(part.text)
        case Parameter():
            return expand_parameter(shell, part)
        case Substitution(direction=""):
            return lines(shell.substitute(part.script))
        case Substitution():
            return shell.process_file(part)
        case Arithmetic():
            return number(shell, part.raw)


def number(shell: ReadingContext, raw: Raw) -> Word:
    value = scalar(shell, raw)
    text = value.text if value.known else None
    if text is None:
        shell.failures += 1  # if it is no expression, and then nothing of the command happens
        return unknown(value.sources, raw.source)
    for name in changes(text):
        shell.state.variables[name] = unknown()
    if "[" in text and ("$(" in text or "`" in text):
        shell.doubt("a subscript is evaluated, with the commands in it", text, part=True)
    found = evaluate(text, lambda name: _evaluated(shell, name))
    shell.failures += found is None
    return unknown(value.sources, raw.source) if found is None else Word((str(found),), raw.source, value.sources)


def _evaluated(shell: ReadingContext, name: str) -> str | None:
    """A variable's text as an expression, in which a subscript may hold commands."""
    text = text_lookup(shell, name)
    if text and "[" in text:
        expand_text(shell, word(text))
    return text


def expand_text(shell: ReadingContext, value: Word) -> Word:
    """A text in which bash looks for expansions once more, as if in double quotes."""
    from hookline.guard.parse import ScriptParser

    return scalar(shell, ScriptParser("", shell.budget, shell.doubts).inner(value.prefix))


class _Fields:
    """Puts the parts of one word together and divides them where bash does."""

    def __init__(self, shell: ReadingContext, source: str) -> None:
        self._shell, self._source = shell, source
        self._done = list[Word]()
        self._pieces = list[Piece]()
        self._sources = tuple["Invocation", ...]()
        self._begun = False
        #: A dollar sign that stands for itself: bash then divides nothing in the word, other shells do.
        self._lone = False

    def expand(self, parts: list[Part], *, like: bool = False) -> list[Word]:
        self._lone = any(isinstance(part, LiteralText) and "$" in part.text and not part.quoted for part in parts)
        self._parts(_tilde(self._shell, parts, like=like), loose=False)
        self._cut()
        return self._done

    def _parts(self, parts: list[Part], *, loose: bool) -> None:
        """``loose``: unquoted text is divided as a variable's would be, inside ``${x:-…}``."""
        for part in parts:
            value = _raw_value(self._shell, part)
            if isinstance(value, Raw):
                self._parts(_tilde(self._shell, value.parts, like=False), loose=True)
            elif isinstance(value, list):
                # Where a field may be none or many, nobody knows to which of them the rest of the word belongs.
                whole = len(parts) > 1 and has_unknown(value)
                self._list([unknown(concatenate(value).sources)] if whole else value, quoted=part.quoted)
            elif part.quoted or (isinstance(part, Substitution) and part.direction):
                self._quoted(value if len(parts) == 1 else _without_globs(value))
            elif isinstance(part, LiteralText) and not loose:
                self._text(value)
            else:
                value = value if len(parts) == 1 or isinstance(part, LiteralText) else _without_globs(value)
                self._divided(value if part is parts[-1] else _open_ended(value))

    def _cut(self) -> None:
        if self._begun:
            self._done.append(Word(tuple(self._pieces), self._source, self._sources))
        self._pieces, self._sources, self._begun = [], (), False

    def _quoted(self, value: Word) -> None:
        self._shell.budget.spend(_length(value) // 100)
        add(self._pieces, value.pieces)
        self._sources = merge(self._sources, value.sources)
        self._begun = True

    def _text(self, value: Word) -> None:
        for piece in value.pieces:
            add(self._pieces, globs(piece) if isinstance(piece, str) else (piece,))
        self._sources = merge(self._sources, value.sources)
        self._begun = self._begun or bool(value.pieces)

    def _list(self, values: list[Word], *, quoted: bool) -> None:
        for count, value in enumerate(values):
            if count:
                self._cut()
            if quoted:
                self._quoted(value)
            else:
                self._divided(value)

    def _divided(self, value: Word) -> None:
        signs = separators(self._shell)
        if signs is None or (self._lone and not set(signs).isdisjoint(value.text)):
            value = unknown(value.sources)
        self._sources = merge(self._sources, value.sources)
        for piece in value.pieces:
            if not isinstance(piece, str):
                add(self._pieces, (piece,))
                self._begun = True
                continue
            self._shell.budget.spend(1 + len(piece) // 100)
            for text in split(piece, signs or ""):
                if text is None:
                    self._cut()
                    self._sources = value.sources
                else:
                    add(self._pieces, globs(text))
                    self._begun = True


def _open_ended(value: Word) -> Word:
    """Before more of the same word: if what is unknown at its end is nothing, the blanks before it divide nothing."""
    match value.pieces:
        case (*before, str(text), last) if last is UNKNOWN:
            return Word((*before, *filter(None, (text.rstrip(),)), UNKNOWN), value.source, value.sources)
        case _:
            return value


def _tilde(shell: ReadingContext, parts: list[Part], *, assigned: bool = False, like: bool = True) -> list[Part]:
    """``~`` at the start; behind ``=`` and ``:`` as well in what is, or looks ``like``, an assignment."""
    if not any(isinstance(part, LiteralText) and not part.quoted and "~" in part.text for part in parts):
        return parts
    first = parts[0]
    posix = bool(shell.wrappers) and shell.wrappers[-1] in {"sh", "dash", "ash"}
    looks = (
        _ASSIGNED.match(first.text)
        if like and not posix and isinstance(first, LiteralText) and not first.quoted
        else None
    )
    found = list[Part]()
    for place, part in enumerate(parts):
        if not isinstance(part, LiteralText) or part.quoted or not (place == 0 or assigned or looks):
            found.append(part)
            continue
        head = looks.end() if looks and place == 0 and not assigned else 0
        texts = re.split("(?<=:)", part.text[head:]) if assigned or looks else [part.text]
        found += [LiteralText(part.text[:head], quoted=False)] if head else []
        for number_, text in enumerate(texts):
            starts = number_ > 0 or place == 0
            ends = number_ == len(texts) - 1 and place < len(parts) - 1
            found += (
                _home(shell, text, ends=ends) if starts and text.startswith("~") else [LiteralText(text, quoted=False)]
            )
    return found


def _home(shell: ReadingContext, text: str, *, ends: bool) -> list[Part]:
    name = text.removesuffix(":").partition("/")[0]
    rest = text[len(name) :]
    if name.startswith("~:"):
        # Outside of assignments bash expands this as well, and what follows it sometimes not at all.
        return [LiteralText(shell.hole(unknown()), quoted=False)]
    if ends and "/" not in rest:
        return [LiteralText(text, quoted=False)]
    home = {"~": shell.home_directory(), "~root": "/root"}.get(name) or shell.hole(unknown())
    return [LiteralText(home, quoted=True), LiteralText(rest, quoted=False)]


# ── braces ───────────────────────────────────────────────────────────────────────────────────────────


def braces(shell: ReadingContext, parts: list[Part]) -> list[list[Part] | None]:
    """``a{b,c}d`` is two words. None: more words than are followed."""
    if not any(isinstance(part, LiteralText) and not part.quoted and "{" in part.text for part in parts):
        return [parts]
    atoms = list[str | Part]()
    for part in parts:
        if isinstance(part, LiteralText) and not part.quoted:
            atoms += part.text
        else:
            atoms.append(part)
    shell.budget.spend(len(atoms) // 10)
    for part in parts:
        if isinstance(part, Parameter) and part.argument is not None and _NESTED.search(part.argument.source):
            shell.doubt("a brace in nested quotes may keep the others from counting", part.argument.source, part=True)
        # Bash takes these quotes for the word's own when it looks for braces.
        if isinstance(part, Substitution) and part.quoted and part.source[0] == "`" and '"' in part.source:
            shell.doubt("quotes in backquotes beside braces cannot be read", part.source)
            return [None]
    try:
        found = _alternatives(shell, atoms)
        return [parts] if found == [atoms] else [_parts(each) for each in found]
    except OverflowError:
        return [None]


def _parts(atoms: list[str | Part]) -> list[Part]:
    found = list[Part]()
    for atom in atoms:
        last = found[-1] if found else None
        if not isinstance(atom, str):
            found.append(atom)
        elif isinstance(last, Parameter) and last.bare and not last.quoted and _NAME.fullmatch(last.name + atom):
            found[-1] = Parameter(last.name + atom, last.quoted, bare=True)
        elif isinstance(last, LiteralText) and not last.quoted:
            found[-1] = LiteralText(last.text + atom, quoted=False)
        else:
            found.append(LiteralText(atom, quoted=False))
    return found


def _alternatives(shell: ReadingContext, atoms: list[str | Part]) -> list[list[str | Part]]:
    shell.budget.spend(1 + len(atoms) // 20)
    start, inner, end = _first_brace(atoms)
    if inner is None:
        return [atoms]
    shell.budget.enter()
    rest = _alternatives(shell, atoms[end + 1 :])
    found = [
        [*atoms[:start], *each, *tail] for choice in inner for each in _alternatives(shell, choice) for tail in rest
    ]
    shell.budget.leave()
    shell.budget.spend(len(found))
    if len(found) > _MOST_WORDS:
        raise OverflowError
    return found


def _first_brace(atoms: list[str | Part]) -> tuple[int, list[list[str | Part]] | None, int]:
    """Where the first brace that counts stands, what may stand in its place, and where it ends."""
    opened = list[tuple[int, list[int]]]()
    best: tuple[int, list[int], int] | None = None
    for at, atom in enumerate(atoms):
        if atom == "{":
            opened.append((at, []))
        elif atom == "," and opened:
            opened[-1][1].append(at)
        elif atom == "}" and opened:
            start, commas = opened.pop()
            if (commas or _as_sequence(atoms, start, at)) and (best is None or start < best[0]):
                best = (start, commas, at)
            if best and not opened:
                break
    if best is None:
        return 0, None, 0
    start, commas, end = best
    if found := None if commas else _as_sequence(atoms, start, end):
        return start, [list(text) for text in _sequence(found)], end
    return start, [atoms[left + 1 : right] for left, right in pairwise([start, *commas, end])], end


def _as_sequence(atoms: list[str | Part], start: int, end: int) -> re.Match[str] | None:
    inner = atoms[start + 1 : end] if end - start < 80 else []
    found = _SEQUENCE.fullmatch("".join(atom if isinstance(atom, str) else "\0" for atom in inner))
    return found if found and found[1].isalpha() == found[2].isalpha() else None


def _sequence(found: re.Match[str]) -> list[str]:
    letters = found[1].isalpha()
    first, last = (ord(found[1]), ord(found[2])) if letters else (int(found[1]), int(found[2]))
    step = abs(int(found[3] or 1)) or 1
    numbers = range(first, last + 1, step) if last >= first else range(first, last - 1, -step)
    odd = letters and found[1].isupper() != found[2].isupper()  # signs are among them, which mean something
    if len(numbers) > _MOST_WORDS or odd:
        raise OverflowError
    padded = not letters and any(len(text) > 1 and text.lstrip("-").startswith("0") for text in (found[1], found[2]))
    width = max(len(found[1]), len(found[2])) if padded else 0
    return [chr(each) if letters else str(each).zfill(width) for each in numbers]


def pattern(shell: ReadingContext, raw: Raw) -> Word:
    """A pattern: quoted parts stand for themselves, unquoted ones may be globs, also those of variables."""
    pieces, sources = list[Piece](), tuple["Invocation", ...]()
    for part in raw.parts:
        value = part_value(shell, part)
        whole = concatenate(value) if isinstance(value, list) else value
        for piece in whole.pieces:
            add(pieces, globs(piece) if isinstance(piece, str) and not part.quoted else (piece,))
        sources = merge(sources, whole.sources)
    return Word(tuple(pieces), raw.source, sources)


__all__ = ["UNKNOWN", "Glob", "fields", "number", "part_value", "pattern", "scalar"]
