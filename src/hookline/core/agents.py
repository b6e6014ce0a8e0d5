"""The agents, one row each: adding one is a row, a dialect and a transcript reader (docs/how-to/extend.md).

Another package adds its agent with an entry point of the group ``hookline.agents`` that names an ``Agent``. These are
looked up only for a name that no row has, because reading the metadata of all packages takes longer than a warm run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.errors import ConfigError, UsageError

Scope = Literal["user", "project", "local"]
#: Seconds that an agent waits for hookline at most, where its own limit is not shorter.
LONGEST = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Facts about one agent. Its events are its dialect's; what is more than a fact is code in its dialect, its reader and ``deploy``."""

    name: str
    #: What its makers call it, and the heading of its messages in an exported session.
    title: str
    speaker: str = ""
    #: Its input and output format; people may type this name for the agent too.
    dialect: str
    #: Its program, and the directory below home that shows that it was used.
    program: str
    home: str
    #: The variable that moves this directory, and the one that tells a hook where the agent was started.
    home_variable: str = ""
    project_variable: str = ""
    #: The npm package that its program is part of, and a variable that it sets for the commands it runs.
    package: str = ""
    marker: str = ""
    #: Canonical tool -> what the agent calls it, where the names differ.
    tools: Mapping[str, str] = field(default_factory=empty)

    # ── its events ──
    #: It runs the hooks of its own files itself, so hookline leaves them to it.
    runs_own_hooks: bool = True
    #: Another agent whose project files it reads as well, and the field that only its own payloads have.
    also_reads: str = ""
    payload_mark: str = ""
    #: Where a failed tool shows: it has an event of its own, or PostToolUse carries the output or only the transcript
    #: knows.
    failures: Literal["event", "output", "transcript"] = "event"
    #: It fires the reason with which a hook kept it from stopping as if a person had typed it.
    echoes_stop_reason: bool = False
    #: Its Stop says whether a hook has sent it on before in the same turn.
    marks_continuation: bool = False
    #: Some of its events do not name their session: it is the one that its process named last.
    session_by_process: bool = False
    #: It puts the context from the session's start in front of the first prompt.
    prefixes_prompt: bool = False
    #: PreCompact comes before every model call, whether it compacts or not.
    compacts_always: bool = False

    # ── its transcripts ──
    #: ``module:class`` of its ``TranscriptReader``.
    reader: str = ""
    #: They mark interactive sessions; one without the mark was none.
    tells_interactive: bool = False
    #: An event that names no transcript is about the newest one of its directory.
    newest_is_current: bool = False

    # ── its registration ──
    #: Scope -> the file for hooks, from the home directory (user) or the project (project, local).
    files: Mapping[Scope, str]
    #: Groups with a matcher, a flat list of commands, or a plugin file of ours.
    form: Literal["groups", "flat", "plugin"] = "groups"
    #: Canonical events that are never registered: the agent expects its hook to do the work itself.
    unregistered: frozenset[str] = frozenset()
    #: The unit of a timeout, and the most that the agent gives an event, in seconds.
    per_second: int = 1
    limits: Mapping[str, float] = field(default_factory=empty)
    #: The matcher that means everything, where leaving it out does not.
    everything: str = ""
    #: Further fields of a hook.
    extra: Mapping[str, Any] = field(default_factory=empty)
    #: Canonical event -> the JSON that blocks it, with {event} and {reason}; exit code 2 and stderr elsewhere.
    blocks: Mapping[str, Mapping[str, Any]] = field(default_factory=empty)
    #: Canonical event -> exit codes that are answers there; 2 elsewhere.
    answers: Mapping[str, tuple[int, ...]] = field(default_factory=empty)
    #: The exit code that decides nothing, where the agent takes other failures for a refusal.
    neutral: int | None = None
    #: Another file beside ours in which it looks for hooks, and whether it reads every file of the directory.
    inline: str = ""
    scans: bool = False
    #: What it runs a command with: a program, or the person's own shell from the environment or the system.
    run_with: Literal["/bin/sh", "bash", "$SHELL", "login"] = "bash"
    #: It runs only hooks that the person approved (hookline.deploy.approval).
    needs_approval: bool = False
    #: What a person should know after hookline was registered.
    note: str = ""

    def time_limit(self, event: str) -> float:
        """Seconds that an entry of ours asks the agent to wait at this event; hookline answers before."""
        return min(self.limits.get(event, LONGEST), LONGEST)

    def config_path(self, scope: Scope, project: str, home: str, environ: Mapping[str, str]) -> str | None:
        """Its file of this scope; None if it has no such scope."""
        name = self.files.get(scope)
        if name is None:
            return None
        if scope != "user":
            return os.path.join(project, name)
        moved = environ.get(self.home_variable, "") if self.home_variable else ""
        return os.path.join(moved, os.path.basename(name)) if os.path.isabs(moved) else os.path.join(home, name)


_PERMISSION = {
    "PermissionRequest": {
        "hookSpecificOutput": {"hookEventName": "{event}", "decision": {"behavior": "deny", "message": "{reason}"}}
    }
}
_DENY = {"decision": "deny", "reason": "{reason}"}
_GEMINI_TOOLS = {
    "Bash": "run_shell_command", "Read": "read_file", "Write": "write_file", "Edit": "replace", "Glob": "glob",
    "Grep": "search_file_content", "LS": "list_directory", "WebFetch": "web_fetch", "WebSearch": "google_web_search",
}  # fmt: skip

_ROWS = (
    Agent(
        name="claude-code", title="Claude Code", speaker="Claude", dialect="claude", program="claude", home=".claude", package="@anthropic-ai/claude-code", marker="CLAUDECODE",
        home_variable="CLAUDE_CONFIG_DIR", project_variable="CLAUDE_PROJECT_DIR",
        marks_continuation=True, reader="hookline.transcripts.claude:ClaudeReader", tells_interactive=True, newest_is_current=True,
        files={"user": ".claude/settings.json", "project": ".claude/settings.json", "local": ".claude/settings.local.json"},
        unregistered=frozenset({"WorktreeCreate"}), limits={"SessionEnd": 60.0, "MessageDisplay": 10.0},
        run_with="/bin/sh", blocks=_PERMISSION, answers={"PermissionRequest": ()},
    ),
    Agent(
        name="codex", title="Codex", dialect="codex", program="codex", home=".codex", package="@openai/codex", home_variable="CODEX_HOME",
        failures="transcript", marks_continuation=True, reader="hookline.transcripts.codex:CodexReader",
        files={"user": ".codex/hooks.json", "project": ".codex/hooks.json"}, inline="config.toml", run_with="login",
        needs_approval=True,
        limits={"SessionEnd": 3.0}, blocks=_PERMISSION, answers={"PermissionRequest": ()},
        note="Codex skips hooks that you have not approved, without a message: open codex, type /hooks and trust the new"
        " ones, or deploy with --approve.",
    ),
    Agent(
        name="gemini-cli", title="Gemini CLI", speaker="Gemini", dialect="gemini", program="gemini", home=".gemini", package="@google/gemini-cli", marker="GEMINI_CLI",
        project_variable="GEMINI_PROJECT_DIR", tools=_GEMINI_TOOLS, failures="output", echoes_stop_reason=True,
        prefixes_prompt=True, compacts_always=True, reader="hookline.transcripts.gemini:GeminiReader",
        files={"user": ".gemini/settings.json", "project": ".gemini/settings.json"},
        per_second=1000, everything="*", extra={"name": "hookline"},
        blocks={"PreToolUse": _DENY, "UserPromptSubmit": _DENY}, answers={"PreToolUse": (), "UserPromptSubmit": ()},
        neutral=1,  # a plain text with any greater code is a deny: on AfterAgent it would keep the agent going for ever
        note="Gemini runs no hooks in a folder that it does not trust: open gemini there once, and trust it.",
    ),
    Agent(
        name="letta-code", title="Letta Code", speaker="Letta", dialect="letta", program="letta", home=".letta", package="@letta-ai/letta-code", marker="LETTA_AGENT_ID",
        reader="hookline.transcripts.letta:LettaReader", newest_is_current=True, session_by_process=True,
        files={"user": ".letta/settings.json", "project": ".letta/settings.json", "local": ".letta/settings.local.json"},
        per_second=1000, everything="*", extra={"quiet": True}, answers={"PermissionRequest": (1, 2)}, run_with="$SHELL",
    ),
    Agent(
        name="qwen-code", title="Qwen Code", speaker="Qwen", dialect="qwen", program="qwen", home=".qwen", package="@qwen-code/qwen-code", marker="QWEN_CODE",
        project_variable="QWEN_PROJECT_DIR", echoes_stop_reason=True, reader="hookline.transcripts.qwen:QwenReader",
        tools={**_GEMINI_TOOLS, "Edit": "edit", "Grep": "grep_search", "WebSearch": "web_search"},
        files={"user": ".qwen/settings.json", "project": ".qwen/settings.json"}, per_second=1000,
        extra={"name": "hookline"}, blocks=_PERMISSION, answers={"PermissionRequest": ()},
    ),
    Agent(
        name="copilot-cli", title="Copilot CLI", speaker="Copilot", dialect="copilot", program="copilot",
        home=".copilot", package="@github/copilot", marker="COPILOT_CLI", project_variable="COPILOT_PROJECT_DIR", also_reads="claude-code", payload_mark="hookName",
        failures="output", echoes_stop_reason=True, reader="hookline.transcripts.copilot:CopilotReader",
        tools={
            "Bash": "bash", "Read": "view", "Write": "create", "Edit": "edit", "Grep": "grep", "Glob": "glob",
            "WebFetch": "web_fetch", "Task": "task",
        },
        files={"user": ".copilot/hooks/hookline.json", "project": ".github/hooks/hookline.json"}, form="flat", scans=True,
        blocks={
            "PreToolUse": {"permissionDecision": "deny", "permissionDecisionReason": "{reason}"},
            "UserPromptSubmit": {"decision": "block", "reason": "{reason}"},
            "PermissionRequest": {"behavior": "deny", "message": "{reason}"},
        },
        answers={"PreToolUse": (), "UserPromptSubmit": (), "PermissionRequest": ()},
        neutral=0,  # before a tool any other code is a deny
        note="Copilot also reads a project's .claude/settings.json: register it once, not in both.",
    ),
    Agent(
        name="opencode", title="OpenCode", dialect="opencode", program="opencode", home=".config/opencode", package="opencode-ai", marker="OPENCODE",
        runs_own_hooks=False, reader="hookline.transcripts.opencode:OpenCodeReader", form="plugin",
        tools={
            "Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "Grep": "grep", "Glob": "glob",
            "LS": "list", "WebFetch": "webfetch", "Task": "task",
        },
        files={"user": ".config/opencode/plugins/hookline.js", "project": ".opencode/plugins/hookline.js"},
    ),
)  # fmt: skip

#: The agent of records and payloads that do not show theirs: lazy-harness wrote its hooks for it.
ASSUMED = "claude-code"
#: The agents that hookline knows by itself.
AGENTS: Mapping[str, Agent] = MappingProxyType({row.name: row for row in _ROWS})
_FULL_NAMES: Mapping[str, str] = MappingProxyType({row.dialect: row.name for row in _ROWS})
_DIALECTS: Mapping[str, str] = MappingProxyType({row.name: row.dialect for row in _ROWS})


def full_name(name: str) -> str:
    """``claude`` means ``claude-code``; a name that no row has stays as it is."""
    return _FULL_NAMES.get(name, name)


@cache
def uses_dialect(name: str, dialect: str) -> bool:
    """Whether the agent of this name calls hookline in this dialect."""
    if dialect in _FULL_NAMES:
        return _DIALECTS.get(name, name) == dialect
    agent = find_agent(name)
    return name == dialect or (agent is not None and agent.dialect == dialect)


def find_agent(name: str) -> Agent | None:
    """By its name or its dialect's, ours or another package's."""
    known = AGENTS.get(full_name(name))
    if known is not None or not name:
        return known
    return next((agent for agent in _other_agents() if name in {agent.name, agent.dialect}), None)


def select_agents(names: Iterable[str]) -> list[Agent]:
    """Raises ``UsageError`` for a name that is no agent's."""
    found = {name: find_agent(name) for name in names}
    unknown = [name for name, agent in found.items() if agent is None]
    if unknown:
        from hookline.core.suggest import suggest  # noqa: PLC0415  only a mistake pays for it

        raise UsageError(f"unknown agent {unknown[0]!r}; {suggest(unknown[0], all_agents())}")
    return list({agent.name: agent for agent in found.values() if agent is not None}.values())


def all_agents() -> Mapping[str, Agent]:
    """Ours, then those of other packages."""
    return {**AGENTS, **{agent.name: agent for agent in _other_agents() if agent.name not in AGENTS}}


@cache
def _other_agents() -> tuple[Agent, ...]:
    from importlib.metadata import entry_points  # few installations have any

    found: list[Agent] = []
    for entry in entry_points(group="hookline.agents"):
        try:
            agent = entry.load()
        except Exception as error:
            msg = f"the agent {entry.name!r} ({entry.value}) cannot be loaded: {type(error).__name__}: {error}"
            raise ConfigError(msg) from error
        if not isinstance(agent, Agent):
            raise ConfigError(f"the agent {entry.name!r} ({entry.value}) is not a hookline.core.agents.Agent")
        found.append(agent)
    return tuple(found)
