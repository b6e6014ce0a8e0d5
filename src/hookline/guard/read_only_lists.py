"""Whether a call is on the list of what only reads (``tables/reads.txt``)."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from hookline.guard.call import ProgramCall
from hookline.guard.pattern import words
from hookline.guard.reading import Word
from hookline.guard.tables import lines, sections


class _Listing(NamedTuple):
    """The section of one program."""

    everything: bool
    #: Sub-commands, as tuples of words; a group alone stands as one word and an empty one.
    paths: frozenset[tuple[str, ...]]
    takes: frozenset[str]
    never: tuple[str, ...]
    line: re.Pattern[str] | None
    #: It is as good as the command that it starts.
    starts: bool
    version: bool


@cache
def listing(name: str) -> _Listing | None:
    body = sections("reads.txt").get(name)
    if body is None:
        return None
    rows: dict[str, list[str]] = {}
    for line in lines(body):
        key, _, rest = line.text.partition(" ")
        rows.setdefault(key, []).extend([rest] if key == "line" else rest.split())
    paths: set[tuple[str, ...]] = set()
    for item in rows.get("reads", ()):
        group, colon, subs = item.partition(":")
        paths.update([(group, sub) for sub in subs.split(",")] if colon else [(group,)])
    return _Listing(
        "*" in rows.get("reads", ()), frozenset(paths), frozenset(rows.get("takes", ())), tuple(rows.get("never", ())),
        re.compile("|".join(rows["line"])) if "line" in rows else None, "starts" in rows, "version" in rows,
    )  # fmt: skip


def is_listed(call: ProgramCall, name: str, inner: bool) -> bool:
    """``inner``: a command that it starts is judged by itself."""
    found = listing(name)
    if found is None:
        return False
    plain = all(word.known and (word.prefix or not word.globs) for word in call.words)
    if found.line is not None and plain and not call.invocation.more_arguments and matches(found.line, call.texts):
        return True
    if found.never and (call.invocation.more_arguments or any(_forbidden(word, found) for word in call.words)):
        return False
    if found.everything or (found.starts and inner):
        return True
    if any(not word.known and not word.prefix for word in call.words) or call.invocation.more_arguments:
        return False
    if any(text.endswith(";") for text in call.texts):  # tmux: another command follows
        return False
    path = _command_path(list(call.texts), found)
    return path is not None and (path[:1] in found.paths or (*path, "")[:2] in found.paths)


def matches(pattern: re.Pattern[str], texts: tuple[str, ...]) -> bool:
    return pattern.fullmatch(" ".join(text.replace(" ", "_") for text in texts)) is not None


def _forbidden(word: Word, found: _Listing) -> bool:
    """The option, or what may turn out to be one: an unknown word, a pattern that a file called ``-o`` would match."""
    text = word.prefix
    if found.everything and not text and (not word.known or word.globs):
        return True
    return any(gives_option(text, one) for one in found.never)


def gives_option(text: str, option: str) -> bool:
    """``text`` is the option, an abbreviation of it, or a cluster of letters with it."""
    if option in {"operands", "+"}:
        return not text.startswith("-") if option == "operands" else text.startswith("+")
    name = text.partition("=")[0]
    if option.startswith("--"):
        return name == option or (len(name) > 2 and name.startswith("--") and option.startswith(name))
    return name == option or (len(option) == 2 and text.startswith("-") and text[1:2] != "-" and option[1] in text[1:])


def _command_path(texts: list[str], found: _Listing) -> tuple[str, ...] | None:
    """The words before the first unknown option; options before the sub-command must be known to be skipped."""
    path: list[str] = []
    while texts:
        text = texts.pop(0)
        if not text.startswith("-") or any(text in one for one in found.paths):
            path.append(text)
        elif text in found.takes:
            if texts:
                texts.pop(0)
            elif not path:
                return None
        elif not path and "=" not in text and text not in _FLAGS:
            return None
    return tuple(path)


_FLAGS: Final = words(
    "-6 -4 -s -o -d -br -c -p -rc -h -a -t -l -j --brief --human-readable --no-pager -P --bare --debug --verbose -v --no-color --no-input --quiet -q --json --no-optional-locks -currentHost --literal-pathspecs --no-cli-pager -D --tls"
)
