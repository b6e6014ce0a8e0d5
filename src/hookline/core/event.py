"""What happened: the table of all events, one row each, and ``Event``, one happening.

Everything that the engine needs to know about an event stands in its row. If a new event needs an ``if``
somewhere else, the row lacks a column.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import count
from time import gmtime
from types import MappingProxyType

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.typed import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from hookline.core.paths import Directories

Flow = Literal["chain", "parallel"]

_Family = Literal["agent", "shell", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKind:
    """One row of ``EVENTS``."""

    name: str
    family: _Family
    about: str
    #: The field of the data that a hook's ``match`` is tried on; None: ``match`` by name does not apply.
    subject: str | None = None
    #: What a deny stops, in words a person understands; "" when it has already happened.
    denies: str = ""
    #: Top-level fields of the data that a hook may change; the others are restored and the attempt recorded.
    modifies: frozenset[str] = frozenset()
    #: Whether text of a hook can reach the model or the person's session.
    injects: bool = False
    #: How hooks run that do not set it themselves.
    flow: Flow = "chain"
    #: The field that ``message_contains`` looks at.
    message: str | None = None
    #: A deny makes the agent go on working, so a loop guard counts it.
    continues: bool = False
    #: A typed one opens a new turn of the session.
    opens_turn: bool = False
    #: Background hooks of the session are awaited first; if one failed, the event says so.
    joins: bool = False
    #: The documented fields of the data, in order; others are kept and passed on.
    fields: tuple[str, ...] = ()

    @property
    def deniable(self) -> bool:
        return bool(self.denies)


_TOOL = ("tool_name", "tool_input", "tool_use_id", "tokens")
_AFTER_TOOL = ("duration_ms", "preceding_reasoning", "preceding_assistant_message")


def _agent(name: str, about: str, **columns: Any) -> EventKind:
    return EventKind(name=name, family="agent", about=about, **columns)


def _shell(name: str, about: str, fields: str, modifies: str = "", denies: str = "", **columns: Any) -> EventKind:
    """A shell event: by the document, hooks are blocking and form a chain, and nothing is injected."""
    names, changeable = tuple(fields.split()), frozenset(modifies.split())
    return EventKind(
        name=name, family="shell", about=about, fields=names, modifies=changeable, denies=denies, **columns
    )


ROWS = (
    # ── the run and the session ──────────────────────────────────────────────────────────────────────
    _agent("RunStart", "One run of a conversation begins.", fields=("run_id", "started_at"), denies="the run"),
    _agent(
        "RunEnd", "A run has ended, well or badly.",
        fields=("run_id", "status", "duration_ms", "error_message", "tokens"), joins=True,
    ),
    _agent("Setup", "The agent was asked to prepare a workspace.", fields=("trigger",), injects=True, subject="trigger"),
    _agent("SessionStart", "A session begins or is resumed.", fields=("source", "is_new_session", "agent_name"), injects=True, subject="source"),
    _agent(
        "SessionEnd", "A session ends.", fields=("reason", "duration_ms", "message_count", "tool_call_count"),
        flow="parallel", subject="reason", injects=True,
    ),
    # ── the turn ─────────────────────────────────────────────────────────────────────────────────────
    _agent(
        "UserPromptSubmit", "The person submitted a prompt; the model has not seen it yet.",
        fields=("prompt", "messages_length", "is_command"), denies="the prompt", modifies=frozenset({"prompt"}), injects=True,
        message="prompt", opens_turn=True,
    ),
    _agent(
        "UserPromptExpansion", "A slash command was expanded into a prompt.",
        fields=("prompt", "command_name", "command_args"), denies="the prompt", injects=True, message="prompt",
        subject="command_name",
    ),
    _agent(
        "AssistantMessage", "The model finished one reply; its tool calls have not run yet.",
        fields=("message", "tool_use_done", "loop_count", "final_pass_count", "tokens", "conversation"),
        injects=True, message="message",
    ),
    _agent("MessageDisplay", "Text of the model is shown to the person.", fields=("message",), flow="parallel"),
    _agent(
        "Stop", "The agent finished its answer; a deny gives it the reason and lets it go on.",
        fields=("stop_reason", "assistant_message", "user_message", "preceding_reasoning", "continuations",
                "message_count", "tool_call_count"),
        denies="stopping", continues=True, injects=True, message="user_message",
    ),
    _agent("StopFailure", "A turn ended with an error.", fields=("error", "assistant_message"), flow="parallel"),
    _agent("Interrupt", "The person interrupted the turn.", flow="parallel"),
    # ── tools ────────────────────────────────────────────────────────────────────────────────────────
    _agent(
        "PreToolUse", "A tool is about to be called.", subject="tool_name", fields=_TOOL,
        denies="the tool call", modifies=frozenset({"tool_input"}), injects=True,
    ),
    _agent(
        "PermissionRequest", "The agent is about to ask the person for permission.", subject="tool_name",
        fields=(*_TOOL, "permission", "session_permissions"), denies="the permission",
        modifies=frozenset({"tool_input"}),
    ),
    _agent("PermissionDenied", "A permission was refused.", subject="tool_name", fields=(*_TOOL, "reason"), flow="parallel"),
    _agent(
        "PostToolUse", "A tool call succeeded.", subject="tool_name",
        fields=(*_TOOL, "tool_output", *_AFTER_TOOL), modifies=frozenset({"tool_output"}), injects=True, flow="parallel",
    ),
    _agent(
        "PostToolUseFailure", "A tool call failed or was refused.", subject="tool_name",
        fields=(*_TOOL, "tool_error", *_AFTER_TOOL), injects=True, flow="parallel",
    ),
    _agent("PostToolBatch", "All tool calls of one reply are done.", fields=("tool_calls",), injects=True, flow="parallel"),
    _agent("PreToolSelection", "The model is about to be offered its tools.", fields=("llm_request",)),
    # ── models ───────────────────────────────────────────────────────────────────────────────────────
    _agent("PreModelRequest", "A request is about to go to the model.", fields=("llm_request",), denies="the request", injects=True),
    _agent("PostModelRequest", "The model's answer has arrived.", fields=("llm_response", "status"), flow="parallel"),
    _agent("PreModelSwitch", "The model is about to be changed.", fields=("model",), denies="the switch"),
    _agent("PostModelSwitch", "The model was changed.", fields=("model",), injects=True, flow="parallel"),
    # ── subagents and tasks ──────────────────────────────────────────────────────────────────────────
    _agent("SubagentStart", "A subagent begins.", fields=("subagent_type",), injects=True, subject="subagent_type"),
    _agent(
        "SubagentStop", "A subagent finished; a deny gives it the reason and lets it go on.",
        fields=("stop_reason", "assistant_message", "user_message", "preceding_reasoning", "continuations",
                "subagent_type", "subagent_id", "success", "error"),
        denies="stopping", continues=True, subject="subagent_type",
    ),
    _agent("TeammateIdle", "A teammate has nothing to do.", denies="idling", continues=True),
    _agent("TaskCreated", "A task was added to the agent's list.", denies="the task"),
    _agent("TaskCompleted", "A task is about to be marked as done.", denies="the completion"),
    # ── the conversation's size ──────────────────────────────────────────────────────────────────────
    _agent(
        "PreCompact", "The conversation is about to be compacted.", fields=("trigger", "context_length", "max_context_length"),
        injects=True, flow="parallel", subject="trigger",
    ),
    _agent("PostCompact", "The conversation was compacted.", fields=("trigger", "summary"), injects=True, flow="parallel", subject="trigger"),
    # ── the surroundings ─────────────────────────────────────────────────────────────────────────────
    _agent("Notification", "The agent tells the person something.", fields=("message", "level", "notification_type"),
           flow="parallel", message="message", subject="notification_type"),
    _agent("InstructionsLoaded", "An instruction file was read.", fields=("file_path", "load_reason"), flow="parallel"),
    _agent("ConfigChange", "A settings file of the agent changed.", denies="the change", subject="source"),
    _agent("CwdChanged", "The working directory changed.", fields=("old_cwd", "new_cwd"), flow="parallel"),
    _agent("DirectoryAdded", "A directory was added to the workspace.", flow="parallel"),
    _agent("FileChanged", "A watched file changed.", fields=("file_path",), flow="parallel", subject="file_path"),
    _agent("WorktreeCreate", "A worktree is about to be made.", denies="the worktree"),
    _agent("WorktreeRemove", "A worktree is removed.", flow="parallel"),
    _agent("Elicitation", "A tool server asks the person something.", denies="the question"),
    _agent("ElicitationResult", "The person answered a tool server.", denies="the answer"),
    # ── the shell: processes and pipelines ───────────────────────────────────────────────────────────
    _shell("process.pre_spawn", "Before a process is created.", "command args env cwd pipeline_id index",
           "command args env cwd", "the process", subject="command"),
    _shell("process.post_spawn", "A process has started.", "pid command args pgid pipeline_id", subject="command"),
    _shell("process.pre_exit", "Before an exit code is delivered.", "pid command exit_code signal duration_ms", "exit_code", subject="command"),
    _shell("pipeline.pre_execute", "Before a pipeline runs.", "pipeline_id text commands background",
           "commands background", "the pipeline", message="text"),
    _shell("pipeline.post_execute", "A pipeline has ended.", "pipeline_id text exit_code statuses duration_ms background", message="text"),
    # ── the shell: variables, jobs, files ────────────────────────────────────────────────────────────
    _shell("variable.set", "A variable is assigned.", "name value old mutable scope", "value", "the assignment", subject="name"),
    _shell("variable.drop", "A variable is dropped.", "name value", "", "the drop", subject="name"),
    _shell("env.change", "An environment variable is set or unset.", "name op value old", "value", "the change", subject="name"),
    _shell("config.change", "A setting is changed at run time.", "key value old source", "value", "the change", subject="key"),
    _shell("job.background", "A job moves to the background.", "job_id pids text cause", "", "the move", message="text"),
    _shell("job.foreground", "A job moves to the foreground.", "job_id pids text", "", "the move", message="text"),
    _shell("file.redirect", "A file is written by > or >>.", "path append fd pipeline_id", "path append", "the redirection", subject="path"),
    # ── the shell: the session and its editor ────────────────────────────────────────────────────────
    _shell("completion.request", "Completion was requested.", "line cursor word candidates", "candidates", "the completion"),
    _shell("error.dispatch", "Before an error is shown.", "type expr step code problem suggestion suggest",
           "type expr step code problem suggestion suggest", "showing the error", subject="type"),
    _shell("session.connect", "A frontend connects.", "frontend pid tty cwd interactive", "", "the connection"),
    _shell("session.disconnect", "A frontend disconnects.", "reason exit_code"),
    _shell("display.mode_switch", "A process switches between stream and full screen.", "pid from to"),
    _shell("input.pre_execute", "Enter was pressed; the line has not been sent.", "text", "text", "the line", message="text"),
    _shell("input.submit", "A line is about to be processed.", "text history", "text history", "the line", message="text"),
    _shell("input.post_complete", "A completion was chosen.", "line cursor candidates chosen"),
    _shell("input.prefix", "The first character on an empty line.", "char", "", "the character", subject="char"),
    _shell("input.key", "A hooked key was pressed.", "key buffer cursor", "key buffer cursor", "the key", subject="key"),
    _shell("key.tab", "Tab was pressed.", "buffer cursor", "buffer cursor", "the key's action"),
    _shell("key.up", "The up arrow was pressed.", "buffer cursor", "buffer cursor", "the key's action"),
    _shell("key.down", "The down arrow was pressed.", "buffer cursor", "buffer cursor", "the key's action"),
    _shell("prompt.render", "Before the prompt is drawn.", "prompt right cwd exit_code duration_ms jobs", "prompt right", "the change of the prompt"),
    # ── the shell: plugins ───────────────────────────────────────────────────────────────────────────
    _shell("plugin.describe", "A plugin is asked to describe itself.", "name description version hooks methods completions",
           "name description version hooks methods completions"),
    _shell("plugin.load", "A plugin process has started.", "name pid path", subject="name"),
    _shell("plugin.unload", "A plugin process has ended.", "name pid reason exit_code", subject="name"),
    _shell("plugin.message", "A plugin sent a message.", "name data", subject="name"),
)  # fmt: skip


EVENTS: Mapping[str, EventKind] = MappingProxyType({row.name: row for row in ROWS})

#: Where a guard refuses what an agent is about to do. Not where a refusal makes the agent go on: a hookline that is missing
#: would do so for ever.
GUARDED = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit"})

#: Fields that every agent event may carry.
COMMON_FIELDS = (
    "session_id", "turn", "auto_submit", "agent", "agent_id", "conversation_id", "model", "interlocutor",
    "file", "cwd", "transcript_path", "history", "contexts", "synthetic", "derived", "derived_from",
)  # fmt: skip


def event_kind(name: str) -> EventKind:
    """The row of a canonical name; an event without a row is carried, not lost."""
    known = EVENTS.get(name)
    if known is not None:
        return known
    return EventKind(name=name, family="unknown", about="An event that hookline has no row for.", flow="parallel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One happening, in the form from which every dialect makes its payload."""

    kind: EventKind
    data: Mapping[str, Any]
    id: str = ""
    session: str = ""
    #: Typed user turns so far, from 1; 0 before the first.
    turn: int = 0
    agent: str = "hookline"
    role: str = "user"
    #: The session mode that a hook set (lash); "" when none is set.
    mode: str = ""
    #: Counts the firings of this kind in this session, to tell a late answer from a current one.
    generation: int = 0
    cwd: str = ""
    environ: Mapping[str, str] = field(default_factory=empty, repr=False)
    #: Seconds since the epoch.
    time: float = 0.0
    #: Until when the caller waits for an answer, by ``time.monotonic``; 0.0: for ever.
    until: float = 0.0
    #: The payload as an agent sent it, and the name it used; empty for our own events.
    native: Mapping[str, Any] = field(default_factory=empty, repr=False)
    native_name: str = ""
    #: Where the person's files are, if whoever called has established it; None: the variables say.
    directories: Directories | None = None
    #: The process that asked, negative where it is the agent itself; 0: it is unknown.
    caller: int = 0


def event_ids() -> Callable[[], str]:
    """Short, unique across processes, and sortable within one."""
    prefix, number = os.urandom(5).hex(), count(1)
    return lambda: f"{prefix}{next(number):x}"


def iso_time(seconds: float) -> str:
    """UTC, to the millisecond, for any number: a caller's clock may be nonsense. ``datetime`` takes longer to load."""
    try:
        whole, microseconds = divmod(round(seconds * 1e6), 1_000_000)
        year, month, day, hour, minute, second, *_ = gmtime(whole)
    except (OverflowError, ValueError, OSError):
        return iso_time(0)
    if not 1 <= year <= 9999:
        return iso_time(0)
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microseconds // 1000:03}Z"
