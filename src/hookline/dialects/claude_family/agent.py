"""Both faces of an agent of this family: tables say what differs, and an agent may override what no table can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hookline.core.event import Event
from hookline.core.hook import Command, HookSpec
from hookline.core.result import Decision, HookError, Reply, RunResult
from hookline.dialects import base
from hookline.dialects.base import Answer, Call, ConfigPlace, Incoming, Layer, Lookup, Parsed, Rendered, Syntax
from hookline.dialects.claude_family import field_map, hooks_file
from hookline.dialects.claude_family.field_map import FieldMap
from hookline.dialects.claude_family.form_reader import read_by_forms
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.payload import bash_launchers, compact
from hookline.dialects.claude_family.render import Losses
from hookline.dialects.claude_family.reply import ReplyDraft, write_reply
from hookline.dialects.claude_family.reply_reader import Rules, read
from hookline.dialects.claude_family.reply_table import Replies, write


class AgentDialect:
    """An agent whose hooks file and payload are tables."""

    name: str
    syntax: Syntax = "json"
    events: Mapping[str, str]
    system: HooksFormat
    words: FieldMap
    #: How the answers of its hooks are read, and how ours are written (``reply.write_reply``).
    rules = Rules()
    forms: Callable[[ReplyDraft], Answer | None]
    #: Or, where no code is needed, its answers as tables (``reply_table``).
    replies: Replies | None = None
    #: Its hooks answer in forms of its own; otherwise in Claude Code's.
    own_forms = False
    #: Variables that it sets for its hooks: ``{cwd}`` and ``{session}`` stand for the event's.
    variables: Mapping[str, str] = MappingProxyType({})

    def __init__(self, **tables: Any) -> None:
        """An agent that is nothing but tables: ``name``, ``words``, ``system``, ``replies``, ``rules``, ``variables``."""
        self.__dict__.update(tables)
        if "words" in tables:
            self.events = self.words.events
            self.syntax = self.system.syntax

    includes = staticmethod(base.includes)

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:
        return base.agent_places(self.name, cwd, home, environ)

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:  # the protocol's
        return hooks_file.parse(self.system, layers)

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        return hooks_file.render(self.system, specs)

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        """The event on stdin, under bash, as these agents call their hooks."""
        stdin = compact(field_map.payload(self.words, spec.native_event or event.kind.name, event))
        if not isinstance(spec.action, Command):
            return Call(stdin=stdin, cwd=event.cwd)
        argv, *others = bash_launchers(spec.action.text)
        return Call(argv=argv, fallbacks=tuple(others), stdin=stdin, environ=self.environ(event), cwd=event.cwd)

    def environ(self, event: Event) -> Mapping[str, str]:  # most agents set variables of the event
        """What this agent sets for its hooks."""
        known = {"{cwd}": event.cwd, "{session}": event.session}
        return {name: known.get(value, value) for name, value in self.variables.items()}

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        return field_map.event_in(self.words, name, payload, environ)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        if self.own_forms and self.replies is not None:
            return read_by_forms(self.replies, event, raw)
        return read(spec, event, raw, self.rules)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        if self.replies is None:
            return write_reply(self.name, event, decision, self.forms)
        native = next((theirs for theirs, ours in self.events.items() if ours == event.kind.name), "")
        return write(self.replies, event, decision, native)


class PluginDialect:
    """An agent that calls a plugin of ours: nothing is read from its files, and nothing can be written into them."""

    syntax: Syntax = "json"
    includes = staticmethod(base.includes)

    def __init__(self, words: FieldMap, replies: Replies) -> None:
        self.name, self.events, self.words, self.replies = words.dialect, words.events, words, replies

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:  # the protocol's
        return ()

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:  # the protocol's
        return Parsed()

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        losses = Losses(self.name)
        for spec in specs:
            losses.leave_out(spec, "a hook in a file")
        return Rendered(text="", losses=losses.all())

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        """Its own payload, which nobody but a probe of ours asks for."""
        stdin = compact(field_map.payload(self.words, spec.native_event or event.kind.name, event))
        return Call(stdin=stdin, cwd=event.cwd)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        return read(spec, event, raw, Rules())

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        return field_map.event_in(self.words, name, payload, environ)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return write(self.replies, event, decision, event.native_name)
