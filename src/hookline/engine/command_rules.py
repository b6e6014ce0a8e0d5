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
    fits = _fits(rule)

    def test(command: str) -> bool:
        reading = read(command)
        return any(one.argv and (not one.argv[0].known or fits(one)) for one in reading.invocations) or bool(
            reading.doubts
        )

    return test


def why_unsure(rule: str, command: str) -> str:
    """Why a rule is tried on a command that starts nothing it names; "" if it starts such a program."""
    reading, fits = read(command), _fits(rule)
    if any(one.argv and one.argv[0].known and fits(one) for one in reading.invocations):
        return ""
    return next((one.reason for one in reading.doubts), "the name of a program is only known when it runs")


def _fits(rule: str) -> Callable[[Invocation], bool]:
    rule = re.sub(r":\*$", " *", rule)
    loose = rule.removesuffix(" *").rstrip()
    pattern = re.compile(_wild(loose) + r"(?:\s.*)?" if rule.endswith(" *") else _wild(rule), re.DOTALL)
    first = re.compile(_wild(rule.split(" ", 1)[0]), re.DOTALL)

    def fits(one: Invocation) -> bool:
        words = [word.text for word in one.argv[1:]]
        for program in {one.argv[0].text, one.name}:
            if all(word.known for word in one.argv) and not one.more_arguments:
                found = pattern.fullmatch(" ".join([program, *words]))
            else:
                found = first.fullmatch(program)
            if found:
                return True
        return False

    return fits


def _wild(text: str) -> str:
    return ".*".join(re.escape(part) for part in text.split("*"))
