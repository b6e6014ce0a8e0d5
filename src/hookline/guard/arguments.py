"""Programs whose command gets its arguments from elsewhere: xargs, parallel, find, fd."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hookline.guard.reading import UNKNOWN, Word, word
from hookline.guard.values import EMPTY, Stream, below, concatenate, literal, unknown
from hookline.guard.wrappers import WrappedCommand, parse, wrapper_options

if TYPE_CHECKING:
    from hookline.guard.commands import Commands
    from hookline.guard.context import Execution

_XARGS_WORDS = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|\\(.)|([^\s\"'\\]+)", re.DOTALL)
_LINES = re.compile(r"(?:[^\n\\'\"]|\\.|'[^'\n]*'|\"[^\"\n]*\"|['\"\\])+", re.DOTALL)
_ESCAPES = re.compile(r"\"([^\"]*)\"|'([^']*)'|\\(.?)", re.DOTALL)
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def inner(call: Execution, name: str, *, more: bool = False) -> Execution:
    return type(call)(call.source, (), (), (*call.wrappers, name), more or call.more, direct=True, external=True)


def join_words(words: list[Word]) -> Word:
    text = concatenate([each for value in words for each in (word(" "), value)][1:])
    return Word(text.pieces, " ".join(each.source for each in words), text.sources)


def hand_on(shell: Commands, name: str, rest: list[Word], call: Execution, *, more: bool = False) -> bool:
    if not rest:
        return False
    shell.invoke(rest, inner(call, name, more=more))
    if not rest[0].known and len(rest) > 1:
        # The unknown word may be options, or nothing at all.
        shell.invoke(rest[1:], inner(call, name, more=more))
    return True


def run_xargs(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    found = parse(argv[1:], wrapper_options("xargs"))
    rest = found.rest or [word("echo")]
    mark = _text(found, "I", "J", "replace") or ("{}" if found.given.any("i", "replace") else None)
    elsewhere = found.given.any("a", "arg-file", "E", "e", "eof")  # from a file, or not to the end
    given = literal(shell.stdin.word) if shell.stdin.word and not elsewhere else None
    sources = shell.stdin.word.sources if shell.stdin.word else ()
    shell.stdin = Stream(EMPTY)
    if mark:
        lines = None if given is None else [_unquoted(line) for line in _LINES.findall(given) if line.strip(" \t")]
        for filled in (
            below(sources) or [unknown(sources)]
            if lines is None
            else _few([Word((each,) if each else (), each, sources) for each in lines])
        ):
            hand_on(shell, name, [_filled(one, mark, filled) for one in rest], call)
        return True
    if given is None or _XARGS_WORDS.sub("", given).strip():
        # Unknown, or with a quote that is not closed, where it stops in the middle.
        return hand_on(shell, name, rest + below(sources), call, more=True)
    by_lines = found.given.any("L", "l", "max-lines")
    arguments = given.splitlines() if by_lines else _divided(given, found)
    size = _text(found, "n", "max-args", "L", "l", "max-lines")
    step = int(size) if size is not None and size.isdigit() and int(size) else 1 if by_lines else len(arguments) or 1
    for at in range(0, max(len(arguments), 1), step):
        some = arguments[at : at + step]
        more = [
            Word((each,) if each else (), each, sources)
            for each in (_divided("\n".join(some), found) if by_lines else some)
        ]
        hand_on(shell, name, rest + more, call, more=by_lines)  # a blank at the end of a line takes the next one, too
    return True


def _text(found: WrappedCommand, *names: str) -> str | None:
    value = found.given.last(*names)
    return None if value is None else literal(value)


def _unquoted(line: str) -> str:
    return _ESCAPES.sub(r"\1\2\3", line.lstrip(" \t"))


def _few(values: list[Word]) -> list[Word]:
    """Enough to follow one by one; of the others, that they are unknown."""
    return values if len(values) <= 20 else [*values[:20], unknown(values[20].sources)]


def _divided(given: str, found: WrappedCommand) -> list[str]:
    if found.given.any("0", "null"):
        return [part for part in given.split("\0") if part]
    delimiter = _text(found, "d", "delimiter")
    if delimiter is not None:
        sign = {"\\n": "\n", "\\t": "\t", "\\0": "\0"}.get(delimiter, delimiter)
        return given.removesuffix(sign).split(sign)
    words, last = list[str](), -1
    for part in _XARGS_WORDS.finditer(given):
        text = next((group for group in part.groups() if group is not None), "")
        if part.start() == last and words:
            words[-1] += text
        else:
            words.append(text)
        last = part.end()
    return words


def _filled(value: Word, mark: str, filling: Word) -> Word:
    parts = list[Word]()
    for piece in value.pieces:
        if not isinstance(piece, str):
            parts.append(Word((piece,)))
            continue
        for count, text in enumerate(piece.split(mark)):
            parts += [filling, word(text)] if count else [word(text)]
    whole = concatenate(parts, value.source)
    return Word(whole.pieces, value.source, whole.sources or value.sources)


def run_parallel(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    rest = parse(argv[1:], wrapper_options("parallel")).rest
    marks = [n for n, each in enumerate(rest) if re.fullmatch(r":::\+?|::::\+?", each.text)]
    command = rest[: marks[0]] if marks else rest
    listed = unknown(shell.stdin.word.sources if shell.stdin.word and not marks else ())
    given = rest[marks[0] + 1 :] if marks and rest[marks[0]].text == ":::" and len(marks) == 1 else [listed]
    if not command:
        texts = given if marks else [shell.stdin.word or unknown()]
        for each in _few(texts):
            shell.child_code(each, name, call)
        return True
    if not marks and shell.stdin.word and (lines := literal(shell.stdin.word)) is not None:
        given = [Word((line,), line, shell.stdin.word.sources) for line in lines.splitlines()]
    template = join_words(command)
    for each in _few(given):
        filled = _filled(template, "{}", each)
        filled = (
            filled if filled.pieces != template.pieces else concatenate([template, word(" "), each], template.source)
        )
        shell.child_code(filled, name, call)
    return True


def run_find(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    first = next(
        (
            n
            for n, each in enumerate(argv[1:], 1)
            if each.text.startswith(("-", "(", "!")) and each.text not in {"-H", "-L", "-P"}
        ),
        len(argv),
    )
    roots = [each for each in argv[1:first] if each.text not in {"-H", "-L", "-P"}] or [word(".")]
    started, at = False, first
    finder = tuple(shell.invocations[-1:])
    while at < len(argv):
        if argv[at].text not in _FIND_RUNS:
            at += 1
            continue
        end = next(
            (
                n
                for n in range(at + 1, len(argv))
                if argv[n].text == ";" or (argv[n].text == "+" and argv[n - 1].text == "{}")
            ),
            len(argv),
        )
        for root in roots:
            path = Word((*root.pieces, UNKNOWN), "{}", (*root.sources, *finder))
            command = [_filled(each, "{}", path) for each in argv[at + 1 : end]]
            started = hand_on(shell, name, command, call, more=True) or started
        at = end + 1
    if started:
        shell.print(unknown((shell.invocations[-1],)))
    return started


def run_fd(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    """``fd PATTERN ROOT… -x COMMAND``: without ``{}``, the path comes last."""
    at = next((n for n, each in enumerate(argv) if each.text in {"-x", "-X", "--exec", "--exec-batch"}), 0)
    command = argv[at + 1 :]
    if not at or not command:
        return False
    roots = [each for each in argv[1:at] if not each.text.startswith("-")][1:] or [word(".")]
    command = command if any("{" in each.text for each in command) else [*command, word("{}")]
    finder = tuple(shell.invocations[-1:])
    for root in roots:
        path = Word((*root.pieces, UNKNOWN), "{}", (*root.sources, *finder))
        hand_on(shell, name, [_filled(each, "{}", path) for each in command], call, more=True)
    return True
