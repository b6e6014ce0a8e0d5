"""``@hook``: a Python function as a hook, with the function left as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

from hookline.core.errors import UsageError
from hookline.core.event import EVENTS, Event, event_kind
from hookline.core.hook import Function, HookSpec, Matcher, Origin, Pattern, hook_id


class _Hooked(Protocol):
    """A function that is also a hook: call it to test it, give it (or its ``spec``) to an engine."""

    spec: HookSpec

    def __call__(self, event: Event) -> Any: ...


def hook(
    on: str, *, match: str = "", name: str = "", timeout: float | None = 60.0, **policy: Any
) -> Callable[[Callable[[Event], Any]], _Hooked]:
    """Make a function a hook on one event. ``match`` is a full-match regex on the event's subject.

    ``policy`` takes the remaining fields of ``HookSpec``: ``on_failure``, ``order``, ``gates``, ``mode``, …
    """
    if on not in EVENTS and ":" not in on:
        msg = f"unknown event {on!r}; see hookline.EVENTS"
        raise UsageError(msg)

    def decorate(function: Callable[[Event], Any]) -> _Hooked:
        code = getattr(function, "__code__", None)
        file, line = (code.co_filename, code.co_firstlineno) if code else ("", 0)
        target = f"{function.__module__}:{getattr(function, '__qualname__', function)}"
        given: dict[str, Any] = {"flow": event_kind(on).flow, **policy}
        spec = HookSpec(
            id=hook_id(file, target, on, line),
            name=name or getattr(function, "__name__", target),
            dialect="native",
            event=on,
            native_event=on,
            origin=Origin(file=file, line=line, pointer=target, layer="code"),
            action=Function(target=target, call=function),
            matcher=Matcher(subject=Pattern(style="full", text=match)) if match else Matcher(),
            timeout=timeout,
            **given,
        )
        hooked = cast("_Hooked", function)
        hooked.spec = spec
        return hooked

    return decorate
