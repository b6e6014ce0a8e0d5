"""What is lost when a hook is written down as Lectic's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core.event import event_kind
from hookline.core.hook import Gates, Pattern
from hookline.core.problem import Problem
from hookline.dialects.lectic.build import TIMEOUT
from hookline.dialects.lectic.events import BASE_EVENTS, NATIVE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hookline.core.hook import HookSpec


def find_losses(group: Sequence[HookSpec]) -> list[Problem]:
    """One finding for each thing that Lectic does not support, with the hook's address."""
    found = dict.fromkeys(text for spec in group for text in _lost(spec))
    spec = group[0]
    events = {one.event for one in group}
    if spec.dialect != "lectic" and len(events & {"PostToolUse", "PostToolUseFailure"}) == 1:
        found["Lectic fires tool_use_post for successful and failed calls alike"] = None
    if spec.on_failure == "ignore" and may_refuse(group):
        found["in Lectic every failure of this hook refuses the call"] = None
    origin = spec.origin
    return [
        Problem(
            file=origin.file,
            line=origin.line,
            pointer=origin.pointer,
            finding=f"{spec.name}: {text}",
            fix="keep this hook in its own dialect and name the file as a [[source]]",
        )
        for text in found
    ]


def may_refuse(group: Sequence[HookSpec]) -> bool:
    """A hook of another system that can say no. Lectic knows one exit code for "no" and for "broken", so such a hook
    must not be allowed to fail: a guard would become one that never refuses."""
    spec = group[0]
    return spec.dialect != "lectic" and spec.mode == "sync" and any(event_kind(one.event).deniable for one in group)


def _lost(spec: HookSpec) -> Iterator[str]:
    row = NATIVE.get(spec.native_event) if spec.dialect == "lectic" else None
    own_tests = (row.test,) if row and row.test else ()
    other = [test for test in spec.matcher.fields if test not in own_tests and test.path != "interlocutor"]
    if spec.dialect != "lectic":
        yield f"its program expects the input format of {spec.dialect}, and Lectic passes environment variables"
    if spec.matcher.subject != Pattern() or other:
        yield "matcher: not supported by Lectic"
    if spec.gates != (row.gates if row else Gates()):
        yield "when conditions: not supported by Lectic"
    if spec.order:
        yield "order: not supported by Lectic"
    if spec.mode == "apply-later":
        yield "mode apply-later: not supported by Lectic"
    if spec.timeout != (None if spec.mode == "detached" else TIMEOUT):
        yield f"a timeout of {spec.timeout} seconds: not supported by Lectic"
    if not spec.enabled:
        yield "a hook that is turned off: not supported by Lectic"
    if spec.output.inject in ("context", "session"):
        yield f"output as {spec.output.inject}: not supported by Lectic"
    if spec.output.prefix:
        yield "prefix: not supported by Lectic"
    yield from _lost_policy(spec)


def _lost_policy(spec: HookSpec) -> Iterator[str]:
    base = BASE_EVENTS.get(spec.event, "")
    if spec.on_failure == "deny" and base != "tool_use_pre":
        yield "on_failure = deny: supported by Lectic before a tool only"
    if spec.on_failure == "abort" and base == "tool_use_pre" and spec.mode == "sync":
        yield "on_failure = abort: not supported by Lectic before a tool"
    if spec.flow == "parallel" and spec.dialect != "lectic":
        yield "running in parallel: not supported by Lectic"
    if spec.after_deny == "continue":
        yield "running later hooks after a refusal: not supported by Lectic"
