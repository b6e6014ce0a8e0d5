"""Rules like ``git push *`` on what a shell command starts, read as bash reads it."""

from __future__ import annotations

import re
from collections.abc import Callable

from hookline.guard.read import read
from hookline.guard.reading import Invocation


def compile_rule(rule: str) -> Callable[[str], bool]:
    """A test whether the command starts a program that the rule is about. What cannot be known counts as such a one:
    a hook that is not run cannot object.

    ``git *`` is git with or without more words, ``git*`` anything that begins so.
    """
    rule = re.sub(r":\*$", " *", rule)
    loose = rule.removesuffix(" *").rstrip()
    pattern = re.compile(_wild(loose) + r"(?:\s.*)?" if rule.endswith(" *") else _wild(rule), re.DOTALL)
    first = re.compile(_wild(rule.split(" ", 1)[0]), re.DOTALL)

    def fits(one: Invocation) -> bool:
        if not one.argv or not one.argv[0].known:
            return bool(one.argv)
        words = [word.text for word in one.argv[1:]]
        for program in {one.argv[0].text, one.name}:
            if all(word.known for word in one.argv) and not one.more_arguments:
                found = pattern.fullmatch(" ".join([program, *words]))
            else:
                found = first.fullmatch(program)
            if found:
                return True
        return False

    def test(command: str) -> bool:
        reading = read(command)
        return any(map(fits, reading.invocations)) or bool(reading.doubts)

    return test


def _wild(text: str) -> str:
    return ".*".join(re.escape(part) for part in text.split("*"))
