"""A hook in words, for people who look at lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from hookline.spec import AgentRun, Command, Function, Http, Plugin, Prompt

if TYPE_CHECKING:
    from hookline.spec import HookSpec


def action_text(spec: HookSpec) -> str:
    """What the hook does, in one line. Prompt hooks carry a ✦, as their users know them."""
    action = spec.action
    match action:
        case Command(form="argv"):
            return " ".join(action.argv)
        case Command():
            return action.text.strip().splitlines()[0] if action.text.strip() else "(empty)"
        case Plugin():
            return f"plugin {action.path}"
        case Prompt():
            return f"✦ {action.text}"
        case AgentRun():
            return f"agent ({action.runner}): {action.prompt}"
        case Http():
            # Without the query: people put tokens there.
            return f"POST {action.url.partition('?')[0]}"
        case Function():
            return f"python {action.target}"
        case _:
            assert_never(action)


def failure_text(hook: str, error: str) -> str:
    """A failure for a person, who has to know whose it is. Lectic's words begin with it."""
    return error if error.startswith(('Hook "', hook)) else f"{hook}: {error}"


def matcher_text(spec: HookSpec) -> str:
    subject = spec.matcher.subject
    parts = [] if subject.style == "any" else [subject.text or "|".join(subject.options)]
    parts += [test.path for test in spec.matcher.fields]
    return ", ".join(parts)
