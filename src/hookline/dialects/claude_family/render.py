"""Writing hooks as a settings file, with everything that such a file cannot express."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from math import inf, nextafter
from typing import Any

from hookline.core.event import event_kind
from hookline.core.hook import Command, FieldTest, Gates, HookSpec, Output, Pattern, Scope
from hookline.core.problem import Problem, Severity
from hookline.dialects.base import Rendered
from hookline.dialects.claude_family.matcher import IMPLIED, agents_regex


class Losses:
    """What is lost when hooks change their dialect; a loss is a problem at the place the hook came from.

    An error: the hook is left out. A warning: it is written, and means a little less.
    """

    __slots__ = ("_dialect", "_kin", "_problems")

    def __init__(self, dialect: str, *, kin: tuple[str, ...] = ()) -> None:
        """``kin`` are dialects whose programs read and answer as ours do."""
        self._dialect = dialect
        self._kin = (dialect, *kin)
        self._problems: list[Problem] = []

    def all(self) -> tuple[Problem, ...]:
        return tuple(self._problems)

    def weaken(self, spec: HookSpec, what: str) -> None:
        self._add(spec, f"{what}: not supported by {self._dialect}", "warning")

    def leave_out(self, spec: HookSpec, what: str) -> None:
        self._add(spec, f"{what}: not supported by {self._dialect}, so the hook is left out", "error")

    def _add(self, spec: HookSpec, finding: str, severity: Severity) -> None:
        fix = "keep this hook in its own dialect and name the file as a [[source]]"
        problem = spec.origin.problem(f"{spec.name!r}: {finding}", fix, severity)
        if problem not in self._problems:
            self._problems.append(problem)

    def without_matcher(self, spec: HookSpec) -> bool:
        """Whether it can be written under an event that has no matcher: what refuses nothing may run more often."""
        if spec.matcher.subject == Pattern():
            return True
        kind, what = event_kind(spec.event), f"a matcher on {spec.event}"
        harmless = not kind.denies and kind.subject != "tool_name"
        if harmless:
            self._add(spec, f"{what}: not supported by {self._dialect}, so it runs on every {spec.event}", "warning")
        else:
            self.leave_out(spec, what)
        return harmless

    def unwritable(self, spec: HookSpec, *, written: tuple[FieldTest, ...] = ()) -> bool:
        """Whether a condition cannot be written: a guard for one tool must not start to judge all of them."""
        found: list[str] = []
        if any(test not in written and test not in IMPLIED for test in spec.matcher.fields):
            found.append("a test of the event's fields")
        if spec.gates != Gates():
            found.append("when conditions")
        if spec.scope != Scope():
            found.append(f"a scope ({spec.scope.kind} {spec.scope.name})")
        for what in found:
            self.leave_out(spec, what)
        return bool(found)

    def policy(self, spec: HookSpec, *, modes: tuple[str, ...] = ("sync",)) -> None:
        """Everything about how a hook runs that none of these files can express."""
        if spec.dialect not in self._kin and isinstance(spec.action, Command):
            finding = f"its program expects the input format of {spec.dialect}, and gets that of {self._dialect}"
            self._add(spec, finding, "warning")
        if spec.on_failure != "ignore":
            self.weaken(spec, f"on_failure = {spec.on_failure}")
        if spec.mode not in modes:
            self.weaken(spec, f"mode {spec.mode}")
        if spec.environ:
            self.weaken(spec, "environment variables")
        if spec.order or spec.phase:
            self.weaken(spec, "an explicit order")
        if spec.timeout is None:
            self.weaken(spec, "no time limit")
        if spec.output != Output():
            self.weaken(spec, "output settings")


def writable_hooks(
    specs: Sequence[HookSpec], dialect: str, events: Mapping[str, str], losses: Losses, *, off: bool = False
) -> Iterator[tuple[str, HookSpec]]:
    """Native event and hook, in order. ``off``: all are turned off, for which the file has a switch."""
    for spec in specs:
        event = spec.native_event if spec.dialect == dialect else events.get(spec.event)
        if event is None:
            losses.leave_out(spec, f"the event {spec.event}")
        elif not spec.enabled and not off:
            losses.leave_out(spec, "a single hook that is turned off")
        else:
            yield event, spec


def command_text(action: Command) -> str | None:
    """Shell source for a command; None for a script, whose text is a file of its own."""
    if action.form == "shell":
        return action.text
    if action.form == "argv":
        return shlex.join(action.argv)
    return None


def full_match_text(pattern: Pattern) -> str | None:
    """A pattern as an agent's expression for the whole name; None where there is no such expression."""
    text = full_match_regex(pattern)
    return None if text is None else agents_regex(text)


def full_match_regex(pattern: Pattern) -> str | None:
    """The same for Python."""
    match pattern.style:
        case "any" | "command" | "full across lines" | "search across lines":
            return None
        case "full":
            return pattern.text
        case "exact":
            return "|".join(re.escape(option).replace("\\-", "-").replace("\\ ", " ") for option in pattern.options)
        case "search":
            flag = "(?a)" if pattern.text.startswith("(?a)") else ""
            return f"{flag}.*(?:{pattern.text.removeprefix(flag)}).*"
        case "glob":
            return "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern.text)


def amount(timeout: float, per_second: int) -> int | float:
    """The number to write so that reading it gives exactly this timeout again."""
    product = timeout * per_second
    whole = round(product)
    for candidate in (whole, product, nextafter(product, inf), nextafter(product, -inf)):
        if candidate / per_second == timeout:
            return candidate
    return product


def toml_table(name: str, fields: Mapping[str, Any]) -> str:
    """One entry of an array of tables; the escapes of a JSON text mean the same in TOML."""
    lines = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f") for key, value in fields.items()
    ]
    return "\n".join([f"[[{name}]]", *lines]) + "\n"


class Groups:
    """Hooks by event, in order; neighbours with the same matcher share a group."""

    __slots__ = ("_events",)

    def __init__(self) -> None:
        self._events: dict[str, list[dict[str, Any]]] = {}

    def add(self, event: str, matcher: str | None, hook: Mapping[str, Any]) -> None:
        groups = self._events.setdefault(event, [])
        if not groups or groups[-1].get("matcher") != matcher:
            groups.append({"hooks": []} if matcher is None else {"matcher": matcher, "hooks": []})
        groups[-1]["hooks"].append(dict(hook))

    def put(self, event: str, hook: Mapping[str, Any]) -> None:
        """A hook that is in no group."""
        self._events.setdefault(event, []).append(dict(hook))

    def events(self) -> dict[str, Any]:
        return dict(self._events)

    def text(self, losses: Losses, *, inside: Mapping[str, Any], beside: Mapping[str, Any]) -> Rendered:
        """The file: ``inside`` are switches among the events, ``beside`` are further keys of the file."""
        tree = {**beside, "hooks": {**inside, **self._events}}
        return Rendered(text=json.dumps(tree, indent=2, ensure_ascii=False) + "\n", losses=losses.all())
