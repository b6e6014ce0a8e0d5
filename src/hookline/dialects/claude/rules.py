"""``if``: one permission rule, as tests of the event's fields.

Where a rule cannot be followed exactly (what a compound command really runs), the test lets more through, not
less: a guard that runs once too often is better than one that sleeps.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hookline.core.hook import FieldTest, Pattern
from hookline.core.tool_names import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_RULE = re.compile(r"(?s)([A-Za-z_][\w\-]*\*?)(?:\((.*)\))?")

#: A rule for one of these also speaks for the tools that do the same.
_ANSWERING: Mapping[str, tuple[str, ...]] = {"Edit": ("Edit", "Write", "MultiEdit", "NotebookEdit")}

#: Where a command can begin inside shell source, past variables that are set for it alone.
_BEGINS = r"(?s)(?:^|[;&|(){}\n`])\s*(?:[A-Za-z_]\w*=\S*\s+)*"
_ENDS = r"\s*(?:$|[;&|(){}\n`])"


def rule_tests(rule: str) -> tuple[FieldTest, ...] | None:
    """The tests that a rule stands for; None if it is no rule that we know."""
    found = _RULE.fullmatch(rule.strip())
    if found is None:
        return None
    tool, inside = found[1], found[2]
    tests = (FieldTest(path="tool_name", pattern=_tool(tool)),)
    if inside is None or inside.strip() in {"", "*"}:
        return tests
    known = _INSIDE.get(canonical(tool))
    test = known(inside.strip()) if known is not None else None
    return None if test is None else (*tests, test)


def _tool(name: str) -> Pattern:
    if name.endswith("*"):
        return Pattern(style="glob", text=name)
    ours = canonical(name)
    return Pattern(style="exact", options=tuple(dict.fromkeys((name, *_ANSWERING.get(ours, (ours,))))))


def _command(text: str) -> FieldTest:
    """``git *`` and ``git:*`` are git with or without more words; ``git*`` is anything that begins so."""
    text = re.sub(r":\*$", " *", text)
    if text.endswith(" *"):
        pattern = f"{_BEGINS}{_wild(text[:-2].rstrip())}(?:\\s|{_ENDS})"
    elif text.endswith("*"):
        pattern = _BEGINS + _wild(text[:-1])
    else:
        pattern = _BEGINS + _wild(text) + _ENDS
    return FieldTest(path="tool_input.command", pattern=Pattern(style="search", text=pattern))


def _wild(text: str) -> str:
    return ".*".join(re.escape(part) for part in text.split("*"))


def _path(text: str) -> FieldTest:
    """gitignore's patterns: ``*`` stays in one directory, ``**`` does not; ``//`` begins at the root."""
    if text.startswith("//"):
        before, text = "/", text[2:]
    elif text.startswith("~/"):
        before, text = "(?:/.*/|~/)", text[2:]
    else:
        # From the project or the working directory: which of them is not known here, so any directory will do.
        before, text = "(?:.*/)?", text.removeprefix("./").removeprefix("/")
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", text)
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pattern = "(?s)" + before + "".join(words.get(part, re.escape(part)) for part in parts)
    return FieldTest(path="tool_input.file_path", pattern=Pattern(style="full", text=pattern + "(?:/.*)?"))


def _domain(text: str) -> FieldTest | None:
    if not text.startswith("domain:"):
        return None
    host = re.escape(text.removeprefix("domain:")).replace(r"\*", "[^/]*")
    pattern = rf"(?i)https?://(?:[^/@]*@)?{host}(?::\d+)?(?:[/?#].*)?"
    return FieldTest(path="tool_input.url", pattern=Pattern(style="full", text=pattern))


_INSIDE: Mapping[str, Callable[[str], FieldTest | None]] = {
    "Bash": _command, "Edit": _path, "Write": _path, "Read": _path, "MultiEdit": _path, "WebFetch": _domain,
}  # fmt: skip
