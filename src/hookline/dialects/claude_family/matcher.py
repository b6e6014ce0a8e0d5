"""Claude Code's matcher: a list of names if it is nothing but names, otherwise a regular expression."""

from __future__ import annotations

import re
import warnings
from typing import Literal

from hookline.core.hook import FieldTest, Pattern

#: A call that a hook refused has not failed.
NOT_REFUSED = FieldTest(path="tool_error.type", equals="blocked", negate=True)
#: A command of the agent's own is no prompt.
NOT_A_COMMAND = FieldTest(path="is_command", equals=True, negate=True)

IMPLIED = (NOT_REFUSED, NOT_A_COMMAND)


#: Names and alternatives of them read the same in both languages; most matchers are that.
_SAME = re.compile(r"[\w\-|.:/ ]*(?:\.[*+][\w\-|.:/ ]*)*", re.ASCII)
_COUNT = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_GROUP_NAME = re.compile(r"\(\?<([A-Za-z_$][\w$]*)>", re.ASCII)
_BACK_REFERENCE = re.compile(r"\\k<([A-Za-z_$][\w$]*)>", re.ASCII)
_CODE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
_KNOWN_GROUPS = ("(?:", "(?=", "(?!", "(?<=", "(?<!")
#: Escapes that both languages read alike; any other letter after a backslash is itself in JavaScript.
_SHARED_ESCAPES = frozenset("bBdDwWsSnrtvf0123456789")
_ASCII_CLASSES = re.compile(r"\\[bBdDwW]")


def python_regex(text: str) -> str | None:
    """The same expression for Python; None where JavaScript refuses it or Python cannot say it."""
    if _SAME.fullmatch(text):
        return text
    try:
        translated = _translated(text)
        with warnings.catch_warnings():
            # A set that a later Python may read differently cannot be translated safely.
            warnings.simplefilter("error")
            re.compile(translated)
    except (re.error, ValueError, OverflowError, RecursionError, FutureWarning, DeprecationWarning):
        return None
    return translated


#: What ``python_regex`` writes, and how agents write it: nearly all of them read JavaScript's expressions.
_PYTHON_ONLY = re.compile(r"(\\\\)|\\Z|\(\?a\)|\(\?P<|\(\?P=(\w+)\)")


def agents_regex(text: str) -> str:
    """The inverse of ``python_regex``."""
    words = {"\\Z": "$", "(?a)": "", "(?P<": "(?<"}
    return _PYTHON_ONLY.sub(lambda found: found[1] or words.get(found[0], f"\\k<{found[2]}>"), text)


def _translated(text: str) -> str:
    out: list[str] = []
    here = 0
    while here < len(text):
        piece, here = _piece(text, here)
        out.append(piece)
    whole = "".join(out)
    # JavaScript's \w, \d and \b know ASCII only.
    return f"(?a){whole}" if _ASCII_CLASSES.search(whole) else whole


def _piece(text: str, here: int) -> tuple[str, int]:
    letter = text[here]
    if letter == "\\":
        return _escape(text, here)
    if letter == "[":
        return _set(text, here)
    if letter == "(":
        return _group(text, here)
    if letter in "*+?{":
        return _quantifier(text, here)
    # Without the multiline flag ``$`` is the very end; Python's also matches before a final newline.
    return {"$": r"\Z", "]": r"\]", "}": r"\}"}.get(letter, letter), here + 1


def _escape(text: str, here: int, *, in_set: bool = False) -> tuple[str, int]:
    if here + 1 >= len(text):
        raise ValueError(text)
    if code := _CODE.match(text, here):
        return code[0], code.end()
    letter = text[here + 1]
    if letter == "k" and not in_set and (back := _BACK_REFERENCE.match(text, here)):
        return f"(?P={back[1].replace('$', '_')})", back.end()
    if letter == "c" and here + 2 < len(text) and text[here + 2].isalpha():
        return re.escape(chr(ord(text[here + 2].upper()) % 32)), here + 3
    if letter in _SHARED_ESCAPES:
        return f"\\{letter}", here + 2
    return re.escape(letter), here + 2


def _set(text: str, here: int) -> tuple[str, int]:
    start = here + 1
    negated = text.startswith("^", start)
    here = start + negated
    if text.startswith("]", here):
        # An empty set matches nothing, and its opposite everything.
        return (r"[\s\S]" if negated else r"(?!)"), here + 1
    out = ["[^" if negated else "["]
    while here < len(text):
        if text[here] == "]":
            return "".join([*out, "]"]), here + 1
        if text[here] == "\\":
            piece, here = _escape(text, here, in_set=True)
        else:
            piece, here = ("\\" + text[here] if text[here] in "[&|~" else text[here]), here + 1
        out.append(piece)
    raise ValueError(text)


def _group(text: str, here: int) -> tuple[str, int]:
    if not text.startswith("(?", here):
        return "(", here + 1
    for opening in _KNOWN_GROUPS:
        if text.startswith(opening, here):
            return opening, here + len(opening)
    if name := _GROUP_NAME.match(text, here):
        return f"(?P<{name[1].replace('$', '_')}>", name.end()
    # Inline flags, comments, atomic groups, conditions: Python's own, unknown there.
    raise ValueError(text)


def _quantifier(text: str, here: int) -> tuple[str, int]:
    if text[here] == "{":
        count = _COUNT.match(text, here)
        if count is None:
            return r"\{", here + 1
        piece, here = count[0], count.end()
    else:
        piece, here = text[here], here + 1
    if text.startswith("?", here):
        piece, here = piece + "?", here + 1
    if text.startswith(("*", "+", "?"), here):
        # Possessive in Python, nothing to repeat in JavaScript.
        raise ValueError(text)
    return piece, here


#: What to write instead of a matcher that is neither.
NAMES_OR_REGEX = "write names like Edit|Write, or a regular expression"
_NAMES = re.compile(r"[A-Za-z0-9_\- ,|]*")
_SERVER = re.compile(r"mcp__(?:(?!__).)+")


def claude_pattern(text: str | None) -> Pattern | None:
    """The test a matcher stands for; None if it is no regular expression."""
    if text is None or text in {"", "*"}:
        return Pattern()
    if _NAMES.fullmatch(text):
        names = tuple(name.strip() for name in re.split(r"[|,]", text) if name.strip())
        return names_pattern(names)
    translated = python_regex(text)
    return None if translated is None else Pattern(style="search", text=translated)


def names_pattern(names: tuple[str, ...]) -> Pattern:
    """Tools of these names; ``mcp__server`` is every tool of that server, as it looks."""
    if not any(map(_SERVER.fullmatch, names)):
        return Pattern(style="exact", options=names)
    tools = (f"{re.escape(name)}(?:__.*)?" if _SERVER.fullmatch(name) else re.escape(name) for name in names)
    return Pattern(style="full", text="|".join(tools))


def claude_text(pattern: Pattern) -> str | None:
    """A pattern as a matcher of this kind; None where there is none."""
    match pattern.style:
        case "any":
            return ""
        case "command" | "full across lines" | "search across lines":  # tests of data, not of a name
            return None
        case "exact":
            text = "|".join(pattern.options)
            return text if _NAMES.fullmatch(text) else f"^(?:{'|'.join(map(re.escape, pattern.options))})$"
        case "search":
            return agents_regex(pattern.text)
        case "full":
            return pattern.text if _NAMES.fullmatch(pattern.text) else f"^(?:{agents_regex(pattern.text)})$"
        case "glob":
            inside = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern.text)
            return f"^(?:{inside})$"


def search_pattern(text: str | None) -> Pattern | None:
    """An expression that is searched for, for the agents that know no lists of names."""
    return _expression(text, "search")


def full_pattern(text: str | None) -> Pattern | None:
    """An expression that is tried on the whole name."""
    return _expression(text, "full")


def _expression(text: str | None, style: Literal["search", "full"]) -> Pattern | None:
    if text is None or text in {"", "*"}:
        return Pattern()
    translated = python_regex(text)
    return None if translated is None else Pattern(style=style, text=translated)
