"""Claude Code's matcher: a list of names if it is nothing but names, otherwise a regular expression."""

from __future__ import annotations

import re

from hookline.core.hook import Pattern
from hookline.dialects.claude_family.regex import python_regex

_NAMES = re.compile(r"[A-Za-z0-9_\- ,|]*")


def claude_pattern(text: str | None) -> Pattern | None:
    """The test a matcher stands for; None if it is no regular expression."""
    if text is None or text in {"", "*"}:
        return Pattern()
    if _NAMES.fullmatch(text):
        names = (name.strip() for name in re.split(r"[|,]", text))
        return Pattern(style="exact", options=tuple(name for name in names if name))
    translated = python_regex(text)
    return None if translated is None else Pattern(style="search", text=translated)


def claude_text(pattern: Pattern) -> str | None:
    """A pattern as a matcher of this kind; None where there is none."""
    match pattern.style:
        case "any":
            return ""
        case "exact":
            text = "|".join(pattern.options)
            return text if _NAMES.fullmatch(text) else f"^(?:{'|'.join(map(re.escape, pattern.options))})$"
        case "search":
            return pattern.text
        case "full":
            return pattern.text if _NAMES.fullmatch(pattern.text) else f"^(?:{pattern.text})$"
        case "glob":
            inside = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern.text)
            return f"^(?:{inside})$"
