"""OpenCode through our plugin: what it sends, and the few orders it carries out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.dialects.base import Answer, Call, Parsed, Rendered
from hookline.dialects.claude_family.capabilities import CAPABILITIES, feasible
from hookline.dialects.claude_family.render import Losses
from hookline.dialects.claude_family.reply import to_json
from hookline.dialects.claude_family.reply_reader import Rules, read
from hookline.dialects.opencode.fields import EVENTS, event_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.problem import Problem
    from hookline.core.result import Decision, HookError, Reply, RunResult
    from hookline.dialects.base import ConfigPlace, Include, Incoming, Layer, Lookup, Syntax


class _OpenCodeDialect:
    """An agent without hooks of its own: nothing is read from its files, and nothing can be written into them."""

    name = "opencode"
    syntax: Syntax = "json"
    events: Mapping[str, str] = EVENTS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:  # the protocol's
        return ()

    def includes(self, layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:  # the protocol's
        return (), ()

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:  # the protocol's
        return Parsed()

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        losses = Losses("opencode")
        for spec in specs:
            losses.leave_out(spec, "a hook")
        return Rendered(text="", losses=losses.all())

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        del spec
        return Call(cwd=event.cwd)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        return read(spec, event, raw, Rules())

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        del environ
        return event_in(name, payload)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        """Orders for the plugin: ``deny`` throws, ``args`` and ``output`` are put in place, ``context`` is added."""
        can = CAPABILITIES["opencode"]
        possible = feasible(can, event, decision)
        orders: dict[str, Any] = {}
        lost = possible.lost
        if possible.effect == "deny":
            orders["deny"] = possible.reason
        elif possible.field == "tool_input":
            orders["args"] = decision.data["tool_input"]
        elif possible.field == "tool_output":
            orders["output"] = decision.data["tool_output"]
        text = decision.model_text
        if text and event.kind.name in can.context:
            orders["context"] = text
        elif text:
            lost = (*lost, "context")
        if message := decision.message_text:
            orders["message"] = message
        return Answer(stdout=to_json(orders) if orders else "", lost=lost)


DIALECT = _OpenCodeDialect()
