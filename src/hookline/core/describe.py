"""Hooks described for people, in lists and for approval."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hookline.core._dataclass import fields
from hookline.core.event import event_kind
from hookline.core.hook import AgentRun, Command, FieldTest, Function, Gates, HookSpec, Http, Pattern, Plugin, Prompt
from hookline.core.typed import assert_never


def action_text(spec: HookSpec) -> str:
    """What the hook does, in one line; … where there is more. Prompt hooks carry a ✦, as their users know them."""
    action = spec.action
    match action:
        case Command(form="argv"):
            return " ".join(action.argv)
        case Command():
            return _first_line(action.text)
        case Plugin():
            return f"plugin {action.path}"
        case Prompt():
            return f"✦ {action.text}"
        case AgentRun():
            return f"agent ({action.runner}): {action.prompt}"
        case Http():
            # Without the query: people put tokens there.
            return f"POST {action.url.partition('?')[0]}"
        case Function(given=given) if given:
            return f"{action.target.rpartition(':')[2]} {given}"
        case Function():
            return f"python {action.target}"
        case _:
            assert_never(action)


def _first_line(text: str) -> str:
    """The first line that does something: a shebang says nothing about a script."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "(empty)"
    first = next((line for line in lines if not line.startswith("#")), lines[0])
    return first if len(lines) == 1 else f"{first} …"


def action_whole(spec: HookSpec) -> str:
    """The whole action, of as many lines as it has: people can only approve what they have seen."""
    action = spec.action
    match action:
        case Command(form="argv"):
            return " ".join(map(_word, action.argv))
        case Command():
            return " ".join((action.text.strip("\n"), *map(_word, action.argv))) or "(empty)"
        case Plugin():
            return f"plugin {action.interpreter} {action.path}" if action.interpreter else f"plugin {action.path}"
        case Prompt():
            return f"✦{_asking(action.model)} {action.text}"
        case AgentRun():
            tools = "its usual tools" if action.tools is None else ", ".join(action.tools) or "no tools"
            command = f", {' '.join(map(_word, action.command))}" if action.command else ""
            about = f"{action.runner}{_asking(action.model)}{command}, {action.steps} steps, {tools}"
            return f"agent ({about}): {action.prompt}"
        case Http():
            headers = "".join(f"\n{name}: {value}" for name, value in action.headers)
            return f"POST {action.url}{headers}"
        case Function(given=given) if given:
            return action_text(spec)
        case Function():
            return f"python {action.target}" + (f" (looked up in {action.base})" if action.base else "")
        case _:
            assert_never(action)


def _asking(model: str) -> str:
    return f" (asks {model})" if model else ""


def _word(word: str) -> str:
    """As one would type it, so that a word with a space in it does not look like two."""
    from shlex import quote  # noqa: PLC0415  only who looks needs it

    return quote(word)


def failure_text(hook: str, error: str) -> str:
    """A failure with the name of its hook, which Lectic's messages already begin with."""
    return error if error.startswith(('Hook "', hook)) else f"{hook}: {error}"


def matcher_text(spec: HookSpec) -> str:
    subject = spec.matcher.subject
    parts = [] if subject.style == "any" else [subject.text or "|".join(subject.options)]
    parts += [test.path for test in spec.matcher.fields]
    return ", ".join(parts)


def conditions(spec: HookSpec) -> tuple[str, ...]:
    """All that must be so for the hook to run on its event; nothing: it always runs."""
    return (*_matching(spec), *_gates(spec.gates))


def _matching(spec: HookSpec) -> Iterator[str]:
    if spec.scope.kind != "everywhere":
        yield f"{spec.scope.kind} is {spec.scope.name}"
    if test_text := _pattern(spec.matcher.subject):
        yield f"{event_kind(spec.event).subject or 'its subject'} {test_text}"
    for test in spec.matcher.fields:
        yield f"{'not: ' if test.negate else ''}{test.path} {_field(test)}"


def _field(test: FieldTest) -> str:
    if test.pattern is None:
        return f"is {json.dumps(test.equals, ensure_ascii=False, default=str)}"
    return _pattern(test.pattern) or "is there"


def _pattern(pattern: Pattern) -> str:
    names = pattern.text or "|".join(pattern.options)
    words = {
        "any": "",
        "full": f"matches {names}",
        "search": f"contains a match of {names}",
        "full across lines": f"matches {names}",
        "search across lines": f"contains a match of {names}",
        "glob": f"is like {names}",
    }
    return words.get(pattern.style, f"is {names}")


def _gates(gates: Gates) -> Iterator[str]:
    usual = Gates()
    for field in fields(Gates):
        value = getattr(gates, field.name)
        if value != getattr(usual, field.name):
            yield f"{field.name} = {json.dumps(value, ensure_ascii=False, default=list)}"
