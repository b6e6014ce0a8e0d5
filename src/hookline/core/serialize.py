"""The JSON that programs read. These field names are a contract; fields are added, never changed."""

from __future__ import annotations

from hookline.core.problem import Problem
from hookline.core.result import STATUS, Decision, Injected, Message, Outcome, Replied
from hookline.core.typed import Any


def decision_shape(decision: Decision) -> dict[str, Any]:
    """What ``fire --json`` prints."""
    aborted = decision.aborted
    return {
        "event": decision.event,
        "effect": decision.effect,
        "granted": decision.granted,
        "reason": decision.reason,
        "aborted": None if aborted is None else {"hook": aborted.hook, "message": aborted.message},
        "data": dict(decision.data),
        "modified": decision.modified,
        "context": [context_shape(one) for one in decision.context],
        "messages": [message_shape(one) for one in decision.messages],
        "attributes": dict(decision.attributes),
        "conflicts": [{"field": one.pointer, "first": one.first, "second": one.second} for one in decision.conflicts],
        "ignored": [message_shape(one) for one in decision.ignored],
        "outcomes": [outcome_shape(one) for one in decision.outcomes],
    }


def context_shape(injected: Injected) -> dict[str, Any]:
    context = injected.context
    return {
        "hook": injected.hook,
        "text": context.text,
        "as": context.placement,
        "label": context.label,
        "attributes": dict(context.attributes),
    }


def message_shape(message: Message) -> dict[str, str]:
    return {"hook": message.hook, "text": message.text}


def outcome_shape(outcome: Outcome) -> dict[str, Any]:
    return {
        "hook": outcome.hook,
        "status": STATUS[type(outcome)],
        "effect": hook_effect(outcome),
        "exit_code": outcome.raw.exit_code if outcome.raw is not None else None,
        "ms": round(outcome.ms, 3),
        "error": outcome.error or None,
    }


def hook_effect(outcome: Outcome) -> str | None:
    """The hook's own effect; None when it had no opinion or did not answer."""
    if isinstance(outcome, Replied) and outcome.reply is not None:
        return outcome.reply.effect
    return None


def problem_shape(problem: Problem) -> dict[str, Any]:
    """One entry of ``check --json``."""
    return {
        "file": problem.file,
        "line": problem.line,
        "pointer": problem.pointer,
        "severity": problem.severity,
        "finding": problem.finding,
        "fix": problem.fix,
    }
