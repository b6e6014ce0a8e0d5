"""Copilot's files, and both directions of its wire."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.event import Event
from hookline.core.hook import HookSpec, Pattern
from hookline.core.own_registration import calls_hookline
from hookline.core.result import Decision, HookError, Reply, RunResult
from hookline.dialects.base import Answer, ConfigPlace, Incoming, Layer, Lookup, Parsed, Rendered
from hookline.dialects.claude_family import field_map, hooks_file
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import FieldMap, field_names
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import python_regex
from hookline.dialects.claude_family.payload import output_text
from hookline.dialects.claude_family.render import Losses, full_match_text
from hookline.dialects.claude_family.settings_file import Findings, HookEntry, as_object, hooks_object, show
from hookline.dialects.copilot.reply import reply_in, reply_out

_CAMEL: Mapping[str, str] = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "permissionRequest": "PermissionRequest",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "agentStop": "Stop",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
    "notification": "Notification",
    "errorOccurred": "StopFailure",
}

EVENTS: Mapping[str, str] = MappingProxyType({**_CAMEL, **{name: name for name in _CAMEL.values()}})

#: Copilot's word for how a session began -> ours.
_SOURCES = {"new": "startup"}


def _meant(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if event == "PostToolUse":
        found |= _result(sent)
    if event == "PostToolUseFailure":
        message = sent.get("error", sent.get("errorMessage"))
        found["tool_error"] = {"type": "error", "message": output_text(message)}
    if event == "SessionStart" and sent.get("source") in _SOURCES:
        found |= {"source": _SOURCES[sent["source"]], "native_source": sent["source"]}
    if event in {"Stop", "SubagentStop"}:
        found["continuations"] = int(bool(sent.get("stop_hook_active")))
    return found


def _result(sent: Mapping[str, Any]) -> dict[str, Any]:
    """A result that is no success has an event of its own for everybody else, so it is derived."""
    result = sent.get("toolResult", sent.get("tool_result"))
    if not isinstance(result, dict):
        return {"tool_output": output_text(result)}
    kind = result.get("resultType", result.get("result_type", "success"))
    text = output_text(result.get("textResultForLlm", result.get("text_result_for_llm", "")))
    if kind == "success":
        return {"tool_output": text}
    return {
        "carried_as": "PostToolUseFailure", "derived": ["event"],
        "tool_error": {"type": "blocked" if kind in {"denied", "rejected"} else "error", "message": text},
    }  # fmt: skip


def _derived(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    match event:
        case "PostToolUse":
            return {"toolResult": {"resultType": "success", "textResultForLlm": output_text(data.get("tool_output"))}}
        case "Stop" | "SubagentStop":
            return {"stop_hook_active": data.get("stop_hook_active", bool(data.get("continuations")))}
        case _:
            return {}


_TOOL = field_names("tool_name:toolName tool_input:toolArgs tool_use_id:toolCallId")

WORDS = FieldMap(
    dialect="copilot",
    events=EVENTS,
    frame=field_names("session_id:sessionId timestamp cwd transcript_path:transcriptPath"),
    named_by="hook_event_name",
    cwd_variable="COPILOT_PROJECT_DIR",
    fields={
        "SessionStart": field_names("source initial_prompt:initialPrompt"),
        "SessionEnd": field_names("reason"),
        "UserPromptSubmit": field_names("prompt"),
        "PreToolUse": _TOOL,
        "PermissionRequest": field_names(
            "tool_name:toolName tool_input:toolInput permission_suggestions:permissionSuggestions"
        ),
        "PostToolUse": _TOOL,
        "PostToolUseFailure": (*_TOOL, ("error", "error")),
        "Stop": field_names("stop_reason:stopReason stop_hook_active"),
        "SubagentStart": field_names("subagent_type:agentName"),
        "SubagentStop": field_names("subagent_type:agentName stop_reason:stopReason stop_hook_active"),
        "PreCompact": field_names("trigger"),
        "Notification": field_names("message notification_type title"),
        "StopFailure": field_names("error"),
    },
    meant=_meant,
    derived=_derived,
)


def _pattern(text: str | None) -> Pattern | None:
    """Tried on the whole name, as Copilot does."""
    if text is None or text in {"", "*"}:
        return Pattern()
    translated = python_regex(text)
    return None if translated is None else Pattern(style="full", text=translated)


SYSTEM = HooksFormat(
    dialect="copilot",
    pattern=_pattern,
    pattern_text=full_match_text,
    events=EVENTS,
    fields=frozenset({"type", "bash", "command", "powershell", "timeoutSec", "timeout", "cwd", "env", "comment", "matcher"}),
    kept=("powershell", "cwd", "env", "comment"),
    timeout=30.0,
    matched=frozenset(
        name for name, canonical in EVENTS.items()
        if canonical in {"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"}
    ),
)  # fmt: skip


class _CopilotDialect(AgentDialect):
    """Hooks of Copilot's hooks files, and Copilot itself as an agent that calls us."""

    name = "copilot"
    events = EVENTS
    system = SYSTEM
    words = WORDS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:  # the protocol's
        """Copilot reads every file of two directories; a list of directories is not known here, so one name is."""
        user = os.path.normpath(os.path.join(home, ".copilot/hooks/hooks.json"))
        project = os.path.normpath(os.path.join(cwd, ".github/hooks/hooks.json"))
        return (
            ConfigPlace(path=user, layer="user", syntax="json"),
            ConfigPlace(path=project, layer="project", syntax="json"),
        )

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:
        del lookup
        findings = Findings()
        specs: list[HookSpec] = []
        for layer in layers:
            for entry in _entries(layer, findings):
                spec = hooks_file.build_spec(SYSTEM, entry)
                if spec is not None:
                    specs.append(spec)
        return Parsed(specs=tuple(specs), problems=findings.all())

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        import json  # only who writes a file needs it

        losses = Losses("copilot")
        events: dict[str, list[dict[str, Any]]] = {}
        for event, matcher, hook in hooks_file.render_hooks(SYSTEM, specs, losses):
            told: dict[str, Any] = {"type": "command", "bash": hook.pop("command")}
            told |= {"matcher": matcher} if matcher else {}
            told |= {"timeoutSec": hook.pop("timeout")} if "timeout" in hook else {}
            events.setdefault(event, []).append({**told, **hook})
        tree = {"version": 1, "hooks": events}
        return Rendered(text=json.dumps(tree, indent=2, ensure_ascii=False) + "\n", losses=losses.all())

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        """The name comes with the call: a camelCase payload has none."""
        came = field_map.event_in(self.words, name, payload, environ)
        return replace(came, native_name=name) if name else came

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        return reply_in(spec, event, raw)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return reply_out(event, decision)


def _entries(layer: Layer, findings: Findings) -> Iterator[HookEntry]:
    """Copilot's lists are flat: a hook carries its own matcher."""
    for event, hooks in hooks_object(layer, findings).items():
        pointer = f"$.hooks.{event}"
        if event not in EVENTS:
            fix = f"write one of {', '.join(EVENTS)}"
            findings.report(layer, pointer, f"unknown event {event!r}: its hooks never fire", fix, "warning")
        if not isinstance(hooks, list):
            findings.report(layer, pointer, f"{event} is {show(hooks)}, not a list", 'write [{"type": "command", …}]')
            continue
        for position, hook in enumerate(hooks):
            place, fields = f"{pointer}[{position}]", as_object(hook)
            if fields is None:
                findings.report(layer, place, f"the hook is {show(hook)}", 'write {"type": "command", "bash": "…"}')
                continue
            if calls_hookline(fields):
                continue
            yield HookEntry(
                layer=layer, event=event, pointer=place, matcher=_matcher(fields), fields=_usual(fields),
                findings=findings,
            )  # fmt: skip


def _matcher(fields: Mapping[str, Any]) -> str | None:
    matcher = fields.get("matcher")
    return matcher if isinstance(matcher, str) else None


def _usual(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Under the names that the other agents of the family use."""
    told = dict(fields)
    for theirs, usual in (("bash", "command"), ("timeoutSec", "timeout")):
        if told.get(theirs) is not None:
            told[usual] = told.pop(theirs)
    return told


DIALECT = _CopilotDialect()
