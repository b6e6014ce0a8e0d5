"""Whether a call is on a list of what only reads: options that must not be there, sub-commands that may."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from hookline.guard.call import ProgramCall
from hookline.guard.pattern import words
from hookline.guard.read_only_table import TREES
from hookline.guard.reading import Word


def leaf_reads(call: ProgramCall, row: str) -> bool:
    letters, _, names = row.partition("|")
    if not row:
        return True
    if call.invocation.more_arguments:
        return False
    return not any(_forbidden(word, letters, names.split()) for word in call.words)


def _forbidden(word: Word, letters: str, names: list[str]) -> bool:
    """The option, or what may turn out to be one: an unknown word, a pattern that a file called ``-o`` would match."""
    text = word.prefix
    if not text and (not word.known or word.globs):
        return True
    if ("#" in letters and not text.startswith("-")) or ("+" in letters and text.startswith("+")):
        return True
    if text.startswith("--"):
        name = text[2:].partition("=")[0]
        return any(one.startswith(name) for one in names) if name else False
    return text.startswith("-") and any(letter in letters for letter in text[1:])


@lru_cache(maxsize=64)
def _paths(name: str) -> frozenset[tuple[str, ...]]:
    """All listed sub-commands, as tuples of words; a group alone stands as one word and an empty one."""
    found: set[tuple[str, ...]] = set()
    for item in TREES[name][1].split():
        group, colon, subs = item.partition(":")
        found.update((group, sub) for sub in subs.split(",")) if colon else found.add((group,))
    return frozenset(found)


def tree_reads(call: ProgramCall, name: str) -> bool:
    takes, _, never = TREES[name]
    if any(not word.known and not word.prefix for word in call.words) or call.invocation.more_arguments:
        return False
    if any(text.endswith(";") for text in call.texts):  # tmux: another command follows
        return False
    never_words = never.split()
    if any(gives_option(text, one) for text in call.texts for one in never_words):
        return False
    path = command_path(list(call.texts), frozenset(takes.split()), name)
    return path is not None and _listed(path, _paths(name))


def gives_option(text: str, option: str) -> bool:
    """``text`` is the option, an abbreviation of it, or a cluster of letters with it."""
    if option.startswith("--"):
        return text.partition("=")[0] == option or (
            text.startswith("--") and len(text) > 2 and option.startswith(text.partition("=")[0])
        )
    return (
        text == option
        or text.startswith(option + "=")
        or (len(option) == 2 and re.match(rf"-[a-zA-Z]*{option[1]}", text) is not None and not text.startswith("--"))
    )


def command_path(texts: list[str], takes: frozenset[str], name: str) -> tuple[str, ...] | None:
    """The words before the first unknown option; options before the sub-command must be known to be skipped."""
    path: list[str] = []
    while texts:
        text = texts.pop(0)
        if not text.startswith("-") or any(path_[0] == text for path_ in _paths(name)):
            path.append(text)
        elif text in takes:
            if not texts:
                return None
            texts.pop(0)
        elif not path and "=" not in text and text not in _FLAGS:
            return None
    return tuple(path)


_FLAGS: Final = words(
    "-6 -4 -s -o -d -br -c -p -rc -h -a -t -l -j --brief --human-readable --no-pager -P --bare --debug --verbose -v --no-color --no-input --quiet -q --json --no-optional-locks -currentHost --literal-pathspecs --no-cli-pager -D --tls"
)


def _listed(path: tuple[str, ...], listed: frozenset[tuple[str, ...]]) -> bool:
    if path[:1] in listed:
        return True
    if len(path) == 1:
        return (path[0], "") in listed
    return path[:2] in listed
