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
    """One finding per thing that Lectic has no word for, each with the hook's address."""
    found = dict.fromkeys(text for spec in group for text in _lost(spec))
    spec = group[0]
    events = {one.event for one in group}
    if spec.dialect != "lectic" and len(events & {"PostToolUse", "PostToolUseFailure"}) == 1:
        found["tool_use_post hears successful and failed calls alike"] = None
    if spec.on_failure == "ignore" and may_refuse(group):
        found["that only some of its failures refuse: here every one does"] = None
    origin = spec.origin
    return [
        Problem(
            file=origin.file,
            line=origin.line,
            pointer=origin.pointer,
            finding=f"{spec.name}: {text}",
            fix="Lectic has no word for it",
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
        yield f"its program is written for {spec.dialect}: Lectic calls it with environment variables"
    if spec.matcher.subject != Pattern() or other:
        yield "its matcher"
    if spec.gates != (row.gates if row else Gates()):
        yield "its gates"
    if spec.order:
        yield "its order"
    if spec.mode == "apply-later":
        yield "its mode apply-later"
    if spec.timeout != (None if spec.mode == "detached" else TIMEOUT):
        yield f"its timeout of {spec.timeout} seconds"
    if not spec.enabled:
        yield "that it is turned off"
    if spec.output.inject in ("context", "session"):
        yield f"its output as {spec.output.inject}"
    if spec.output.prefix:
        yield "its prefix"
    yield from _lost_policy(spec)


def _lost_policy(spec: HookSpec) -> Iterator[str]:
    base = BASE_EVENTS.get(spec.event, "")
    if spec.on_failure == "deny" and base != "tool_use_pre":
        yield "on_failure deny"
    if spec.on_failure == "abort" and base == "tool_use_pre" and spec.mode == "sync":
        yield "on_failure abort"
    if spec.flow == "parallel" and spec.dialect != "lectic":
        yield "that it runs side by side with others"
    if spec.after_deny == "continue":
        yield "that later hooks run after its refusal"
