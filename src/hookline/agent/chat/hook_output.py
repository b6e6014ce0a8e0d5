"""The output of hooks, in the wrappers in which a model or a person reads it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hookline.core.result import Context, Decision, Outcome

_BLOCKED = "Blocked by hook"


def refusals(decision: Decision) -> str:
    """Who refused and why, in declared order; a hook that refused without output adds nothing."""
    lines = [
        f"[{outcome.hook}]: {outcome.reply.reason}"
        for outcome in decision.outcomes
        if outcome.reply is not None
        and outcome.reply.effect == "deny"
        and outcome.reply.reason
        and not _silent(outcome)
    ]
    return "\n".join(lines) or decision.reason or (decision.aborted.message if decision.aborted else "") or _BLOCKED


def _silent(outcome: Outcome) -> bool:
    raw = outcome.raw
    return raw is not None and raw.exit_code is not None and not raw.stderr.strip() and not raw.stdout.strip()


def tool_blocked(reason: str) -> str:
    return f"Error: Tool execution blocked by hook. {reason}"


def permission_denied(reason: str) -> str:
    return reason if reason.startswith("Permission denied") else f"Permission denied: {reason}"


def prompt_blocked(decision: Decision) -> str:
    return f"<user-prompt-submit-hook>{refusals(decision)}</user-prompt-submit-hook>"


def stop_refused(reason: str) -> str:
    return f"<stop-hook>\n{reason or 'Stop hook blocked'}\n</stop-hook>"


def after_tool(decisions: Iterable[Decision]) -> str:
    """What is appended to a tool's result; "" when hooks say nothing."""
    lines = [_attributed(decision, hook, context) for decision in decisions for hook, context in _visible(decision)]
    return "\n\n[Hook feedback]:\n" + "\n".join(lines) if lines else ""


def _attributed(decision: Decision, hook: str, context: Context) -> str:
    """A complaint on stderr (exit code 2) is shown with the name of its hook."""
    for outcome in decision.outcomes:
        raw = outcome.raw
        if outcome.hook == hook and raw is not None and raw.exit_code == 2 and raw.stderr.strip() == context.text:
            return f"[{hook}]: {context.text}"
    return _labelled(context)


def _visible(decision: Decision) -> list[tuple[str, Context]]:
    """The contexts for the model: a comment is for people."""
    return [(one.hook, one.context) for one in decision.context if one.context.placement != "comment"]


def session_context(decision: Decision) -> str:
    lines = [_labelled(context) for _, context in _visible(decision)]
    body = "\n".join(lines)
    return f"<system-reminder>\n[SessionStart hook context]:\n{body}\n</system-reminder>\n\n" if lines else ""


def context_messages(decision: Decision) -> list[str]:
    """One reminder for everything without a label, and a block for each label."""
    contexts = [context for _, context in _visible(decision) if context.placement != "attachment"]
    plain = [context.text for context in contexts if not context.label]
    reminder = ["<system-reminder>\n" + "\n".join(plain) + "\n</system-reminder>"] if plain else []
    return [*reminder, *(_labelled(context) for context in contexts if context.label)]


def attachments(decision: Decision) -> list[Context]:
    """Inline output of hooks, which goes into the conversation without any wrapper."""
    return [one.context for one in decision.context if one.context.placement == "attachment"]


def _labelled(context: Context) -> str:
    if not context.label or context.placement == "attachment":
        return context.text
    return f"<|results:{context.label}|>\n{context.text}\n<|end_file:{context.label}|>"
