"""Tests of texts that answer in bounded time: a pattern that somebody wrote may not hang the engine."""

from __future__ import annotations

from collections.abc import Callable
from os.path import expanduser

from hookline.core.hook import Pattern
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re

#: Seconds one pattern may take on one text.
_PATIENCE = 0.05

_NAME_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:/ |")
#: At most two wildcards and no groups: quick on a short text, in the standard engine.
_HARMLESS = lazy_pattern(r"(?a)[\w\-:/ |^$\\.]*(?:\.[*+][\w\-:/ |^$\\.]*){0,2}")

#: Characters up to which such a test is quick: the time grows with the third power of the length.
_SHORT = 256


class Undecided(Exception):  # it is not an error, it is the third answer
    """A pattern took too long to say yes or no."""


def are_names(text: str) -> bool:
    """Plain words and alternatives of them: no test of these can take long, and they can be looked up."""
    return _NAME_LETTERS.issuperset(text)


def compile_pattern(pattern: Pattern) -> Callable[[str], bool]:
    """A test that answers in bounded time, or raises ``Undecided``."""
    match pattern.style:
        case "any":
            return lambda _text: True
        case "exact":
            return frozenset(pattern.options).__contains__
        case "glob":
            glob = _compile_glob(pattern.text)
            return lambda text: glob.match(text) is not None
        case "command":
            from hookline.engine.command_rules import compile_rule

            return compile_rule(pattern.text)
        case "full" | "search":
            return _regular(pattern.text, full=pattern.style == "full")
        case "full across lines" | "search across lines":
            return _regular(_without_start(pattern), full=pattern.style.startswith("full"), flags="sm")


def _without_start(pattern: Pattern) -> str:
    """A search that begins with "anything" finds the same without it, and in much less time."""
    text = pattern.text
    if pattern.style.startswith("full") or "|" in text or text[2:3] in {"?", "+"}:
        return text
    return text.removeprefix(".*")


def _regular(text: str, *, full: bool, flags: str = "") -> Callable[[str], bool]:
    try:
        if are_names(text):
            if full and "." not in text:
                return frozenset(text.split("|")).__contains__
            return _standard(text, full=full, flags=flags)
        if _HARMLESS.fullmatch(text):
            return _by_length(text, full=full, flags=flags)
        return _limited(text, full=full, flags=flags)
    except Exception as error:  # the engines raise more than their own error types on odd patterns
        return _refusing(f"the pattern {text!r} is not a regular expression: {error}")


def _by_length(text: str, *, full: bool, flags: str) -> Callable[[str], bool]:
    """Short texts need no limit, and most runs then need no second engine."""
    quick = _standard(text, full=full, flags=flags)
    careful: list[Callable[[str], bool]] = []

    def test(subject: str) -> bool:
        if len(subject) <= _SHORT:
            return quick(subject)
        if not careful:
            careful.append(_limited(text, full=full, flags=flags))
        return careful[0](subject)

    return test


def _standard(text: str, *, full: bool, flags: str) -> Callable[[str], bool]:
    import re  # noqa: PLC0415  most hooks name their tools

    compiled = re.compile(text, re.DOTALL | re.MULTILINE if flags else 0)
    test = compiled.fullmatch if full else compiled.search
    return lambda subject: test(subject) is not None


def _limited(text: str, *, full: bool, flags: str) -> Callable[[str], bool]:
    """With the engine that supports a timeout.

    A pattern that ran away once gets less time from then on, but it is tried again: if one hostile text could
    switch it off, that text would switch off a guard.
    """
    import regex  # only patterns that could run away need it

    compiled = regex.compile(text, regex.DOTALL | regex.MULTILINE if flags else 0)
    test = compiled.fullmatch if full else compiled.search
    patience = _PATIENCE

    def limited(subject: str) -> bool:
        nonlocal patience
        try:
            return test(subject, timeout=patience) is not None
        except TimeoutError:
            why = f"the pattern {text!r} took longer than {patience * 1000:.0f} ms; simplify it"
            patience = _PATIENCE / 10
            raise Undecided(why) from None

    return limited


def _refusing(why: str) -> Callable[[str], bool]:
    def refuse(_subject: str) -> bool:
        raise Undecided(why)

    return refuse


def _compile_glob(text: str) -> re.Pattern[str]:
    import re  # noqa: PLC0415  as above
    from fnmatch import translate

    return re.compile(translate(text))


def is_folder(text: str, folder: str) -> bool:
    """Whether a glob means this folder: ``~`` is one's home, and ``x/**`` means ``x`` too."""
    from fnmatch import fnmatchcase

    glob = expanduser(text)
    return fnmatchcase(folder, glob) or (glob.endswith("/**") and fnmatchcase(folder, glob[:-3]))
