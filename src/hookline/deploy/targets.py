"""The agents that hookline can be registered with, one row each: where, under which names, in which units."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from hookline.core._dataclass import dataclass, empty, field
from hookline.deploy.command import Block, Line
from hookline.deploy.plan import Registration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Scope = Literal["user", "project", "local"]

#: Registered wherever the agent has them, so that hooks which are written later are heard too.
USUAL = (
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse",
    "PostToolUseFailure", "Stop", "SubagentStop", "PreCompact",
)  # fmt: skip

#: Where a hook that fails may refuse. Not where a refusal sends the agent on: a hookline that is gone would do so for ever.
_CLOSABLE = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit"})

_TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What the loaded hooks need of one canonical event."""

    event: str
    #: The longest that all hooks of this event may take together, in seconds.
    seconds: float
    #: Some hook of it must not be skipped.
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One agent."""

    agent: str
    dialect: str
    #: What its program is called, and the directory below home that shows that it was used.
    program: str
    home: str
    #: Scope -> its file, from the home directory (user) or the project (project, local).
    files: Mapping[Scope, str]
    #: A variable that moves the user's directory, and what then stands in it.
    moved_by: str = ""
    form: Literal["groups", "flat", "plugin"] = "groups"
    #: Canonical -> native event, where the names differ; all others are the same.
    renamed: Mapping[str, str] = field(default_factory=empty)
    #: Canonical events that the agent has.
    events: frozenset[str]
    per_second: int = 1
    #: The most that the agent gives an event, in seconds.
    limits: Mapping[str, float] = field(default_factory=empty)
    #: The matcher that means everything; None where leaving it out does, and on which events.
    everything: str | None = None
    #: Further fields of a hook.
    extra: Mapping[str, Any] = field(default_factory=empty)
    #: Canonical event -> how a shell says a block; exit code 2 elsewhere.
    blocks: Mapping[str, Block] = field(default_factory=empty)
    #: Canonical event -> exit codes that are answers there.
    answers: Mapping[str, tuple[int, ...]] = field(default_factory=empty)
    #: The exit code with which a hookline that is gone decides nothing, where any other would refuse.
    neutral: int | None = None
    #: Another file beside ours in which the agent looks for hooks, and whether it reads every file of the directory.
    inline: str = ""
    scans: bool = False
    #: What it runs a command with: a program, or the person's own shell as the environment or the system tells it.
    run_with: Literal["/bin/sh", "bash", "$SHELL", "login"] = "bash"
    #: What a person should know after it was registered.
    note: str = ""

    def native(self, event: str) -> str:
        return self.renamed.get(event, event)

    def path(self, scope: Scope, project: str, home: str, environ: Mapping[str, str]) -> str | None:
        """Where the file of this scope is; None where the agent has no such scope."""
        name = self.files.get(scope)
        if name is None:
            return None
        if scope != "user":
            return os.path.join(project, name)
        moved = environ.get(self.moved_by, "") if self.moved_by else ""
        return os.path.join(moved, os.path.basename(name)) if os.path.isabs(moved) else os.path.join(home, name)

    def wanted(self, program: str, needs: Sequence[Need], scope: Scope = "user") -> tuple[Registration, ...]:
        """One registration per event that the agent has."""
        return tuple(self._registration(program, need, scope) for need in needs if need.event in self.events)

    def line(self, program: str, need: Need, scope: Scope = "user") -> Line:
        closed = need.closed and need.event in _CLOSABLE
        limit = self.limits.get(need.event, 3600.0)
        return Line(
            program=program,
            agent=self.agent,
            event=self.native(need.event),
            scope=scope,
            deadline=max(1, int(min(need.seconds, limit - 1))),
            block=self.blocks.get(need.event, "exit 2") if closed else None,
            answers=self.answers.get(need.event, (2,)),
            neutral=self.neutral,
            any_shell=self.run_with in {"$SHELL", "login"},
        )

    def _registration(self, program: str, need: Need, scope: Scope) -> Registration:
        line = self.line(program, need, scope)
        # The agent waits longer than we do: its own way to end a hook lets the call go on.
        patience = min(self.limits.get(need.event, 3600.0), line.deadline + 10)
        if self.form == "flat":
            entry: dict[str, Any] = {"type": "command", "bash": line.text(), "timeoutSec": int(patience)}
            return Registration(event=line.event, entry=entry)
        hook = {"type": "command", "command": line.text(), "timeout": int(patience * self.per_second), **self.extra}
        matcher = {"matcher": self.everything} if self.everything and need.event in _TOOL_EVENTS else {}
        return Registration(event=line.event, entry={**matcher, "hooks": [hook]})


_CLAUDE_EVENTS = frozenset(
    {
        *USUAL, "PostToolBatch", "PermissionDenied", "UserPromptExpansion", "Setup", "StopFailure", "SubagentStart",
        "PostCompact", "PreModelSwitch", "PostModelSwitch", "Notification", "MessageDisplay", "TeammateIdle",
        "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeRemove",
        "InstructionsLoaded", "CwdChanged", "DirectoryAdded", "FileChanged",
    }
)  # fmt: skip

_ROWS = (
    Target(
        agent="claude-code", dialect="claude", program="claude", home=".claude", moved_by="CLAUDE_CONFIG_DIR",
        files={"user": ".claude/settings.json", "project": ".claude/settings.json", "local": ".claude/settings.local.json"},
        events=_CLAUDE_EVENTS, limits={"SessionEnd": 60.0, "MessageDisplay": 10.0}, run_with="/bin/sh",
        blocks={"PermissionRequest": "claude permission"}, answers={"PermissionRequest": ()},
    ),
    Target(
        agent="codex", dialect="codex", program="codex", home=".codex", moved_by="CODEX_HOME", run_with="login",
        inline="config.toml",
        files={"user": ".codex/hooks.json", "project": ".codex/hooks.json"},
        events=frozenset(
            {
                "SessionStart", "SessionEnd", "UserPromptSubmit", "PreModelRequest", "PostModelRequest", "PreToolUse",
                "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop",
                "Interrupt",
            }
        ),
        limits={"SessionEnd": 3.0}, blocks={"PermissionRequest": "claude permission"}, answers={"PermissionRequest": ()},
        note="Codex runs no hook that you have not approved, and says nothing about it: open codex, type /hooks and trust "
        "the new ones, or deploy with --approve.",
    ),
    Target(
        agent="gemini-cli", dialect="gemini", program="gemini", home=".gemini",
        files={"user": ".gemini/settings.json", "project": ".gemini/settings.json"},
        renamed={
            "UserPromptSubmit": "BeforeAgent", "Stop": "AfterAgent", "PreModelRequest": "BeforeModel",
            "PostModelRequest": "AfterModel", "PreToolSelection": "BeforeToolSelection", "PreToolUse": "BeforeTool",
            "PostToolUse": "AfterTool", "PreCompact": "PreCompress",
        },
        events=frozenset(
            {
                "SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PreModelRequest", "PostModelRequest",
                "PreToolSelection", "PreToolUse", "PostToolUse", "PreCompact", "Notification",
            }
        ),
        per_second=1000, everything="*", extra={"name": "hookline"},
        blocks={"PreToolUse": "gemini", "UserPromptSubmit": "gemini"}, answers={"PreToolUse": (), "UserPromptSubmit": ()},
        neutral=1,  # a plain text with any greater code is a deny: on AfterAgent it would keep the agent going for ever
        note="Gemini runs no hook at all in a folder that it does not trust: open gemini there once, and trust it.",
    ),
    Target(
        agent="letta-code", dialect="letta", program="letta", home=".letta",
        files={"user": ".letta/settings.json", "project": ".letta/settings.json", "local": ".letta/settings.local.json"},
        events=frozenset({*USUAL, "Notification"}), per_second=1000, everything="*", extra={"quiet": True},
        answers={"PermissionRequest": (1, 2)}, run_with="$SHELL",
    ),
    Target(
        agent="qwen-code", dialect="qwen", program="qwen", home=".qwen",
        files={"user": ".qwen/settings.json", "project": ".qwen/settings.json"},
        renamed={"TaskCreated": "TodoCreated", "TaskCompleted": "TodoCompleted"},
        events=frozenset(
            {
                *USUAL, "UserPromptExpansion", "PostToolBatch", "PermissionDenied", "Notification", "MessageDisplay",
                "StopFailure", "SubagentStart", "PostCompact", "InstructionsLoaded", "TaskCreated", "TaskCompleted",
            }
        ),
        per_second=1000, extra={"name": "hookline"},
        blocks={"PermissionRequest": "claude permission"}, answers={"PermissionRequest": ()},
    ),
    Target(
        agent="copilot-cli", dialect="copilot", program="copilot", home=".copilot", form="flat",
        scans=True,
        files={"user": ".copilot/hooks/hookline.json", "project": ".github/hooks/hookline.json"},
        renamed={
            "SessionStart": "sessionStart", "SessionEnd": "sessionEnd", "UserPromptSubmit": "userPromptSubmitted",
            "PreToolUse": "preToolUse", "PermissionRequest": "permissionRequest", "PostToolUse": "postToolUse",
            "PostToolUseFailure": "postToolUseFailure", "Stop": "agentStop", "SubagentStart": "subagentStart",
            "SubagentStop": "subagentStop", "PreCompact": "preCompact", "Notification": "notification",
            "StopFailure": "errorOccurred",
        },
        events=frozenset({*USUAL, "SubagentStart", "Notification", "StopFailure"}),
        blocks={
            "PreToolUse": "copilot tool", "UserPromptSubmit": "copilot prompt", "PermissionRequest": "copilot permission",
        },
        answers={"PreToolUse": (), "UserPromptSubmit": (), "PermissionRequest": ()},
        neutral=0,  # before a tool any other code is a deny
        note="Copilot also reads a project's .claude/settings.json: register it once, not in both.",
    ),
    Target(
        agent="opencode", dialect="opencode", program="opencode", home=".config/opencode", form="plugin",
        files={"user": ".config/opencode/plugins/hookline.js", "project": ".opencode/plugins/hookline.js"},
        renamed={
            "SessionStart": "session.created", "SessionEnd": "dispose", "UserPromptSubmit": "chat.message",
            "PreToolUse": "tool.execute.before", "PostToolUse": "tool.execute.after", "Stop": "session.idle",
            "StopFailure": "session.error", "PostCompact": "session.compacted",
            "PreCompact": "experimental.session.compacting",
        },
        events=frozenset(
            {
                "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "StopFailure",
                "PostCompact", "PreCompact",
            }
        ),
    ),
)  # fmt: skip

TARGETS: Mapping[str, Target] = MappingProxyType({row.agent: row for row in _ROWS})

#: The short names that people type.
SHORT: Mapping[str, str] = MappingProxyType({row.dialect: row.agent for row in _ROWS})
