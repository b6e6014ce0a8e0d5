"""What is known about an agent: the columns of a row of ``hookline.core.agents``."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.typed import Any, Literal

Scope = Literal["user", "project", "local"]
#: Seconds that an agent waits for hookline at most, where its own limit is not shorter.
LONGEST = 600.0
#: Of agents whose program could not be run here.
UNPROVEN = "by its documents, not proven here"


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
    #: Whether hookline was tried with its program (``make e2e``), or only follows what its makers have written.
    proof: Literal["binary", "documents"] = "binary"
    #: The version of its program that it was tried with last.
    proven: str = ""
    #: Canonical tool -> what the agent calls it: all that it has, or nothing where it has Claude Code's.
    tools: Mapping[str, str] = field(default_factory=empty)
    #: What it calls a tool of an MCP server; "" if that is not known.
    mcp: str = "mcp__{server}__{tool}"

    # ── its events ──
    #: It runs the hooks of its own files itself, so hookline leaves them to it.
    runs_own_hooks: bool = True
    #: Another agent whose project files it reads as well, and the field that only its own payloads have.
    also_reads: str = ""
    payload_mark: str = ""
    #: The variable in which it tells a hook which of its entries was called.
    entry_variable: str = ""
    #: Where a failed tool shows: it has an event of its own, or PostToolUse carries the output or only the transcript
    #: knows.
    failures: Literal["event", "output", "transcript"] = "event"
    #: It says when a session is over, whenever it ends in the usual way.
    says_end: bool = False
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
    #: How a run without a person shows, where they do not: the command has ``-p`` or reads no terminal, or the payload
    #: has a mode.
    shows_alone: Literal["", "command", "mode"] = ""
    #: An event that names no transcript is about the newest one of its directory.
    newest_is_current: bool = False

    # ── its registration ──
    #: Scope -> the file for hooks, from the home directory (user) or the project (project, local).
    files: Mapping[Scope, str]
    #: Groups with a matcher, a flat list of commands for each event, one list of all, or a plugin file of ours.
    form: Literal["groups", "flat", "list", "plugin"] = "groups"
    #: Where in the file the events are ("" for the file itself), and what a new file begins with.
    key: str = "hooks"
    head: Mapping[str, Any] = field(default_factory=empty)
    #: Canonical event ("" for all others) -> an entry, with {command}, {timeout}, {event} and {name}; {group} is a
    #: Claude Code hook. Where it is empty, entries are groups.
    entries: Mapping[str, Mapping[str, Any]] = field(default_factory=empty)
    #: Canonical event -> the agent's own events that it is, where they are several.
    several: Mapping[str, tuple[str, ...]] = field(default_factory=empty)
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
    #: What it runs a command with: a program, the person's own shell from the environment or the system, or nothing.
    run_with: Literal["/bin/sh", "bash", "$SHELL", "login", "nothing"] = "bash"
    #: It runs only hooks that the person approved (hookline.deploy.approval).
    needs_approval: bool = False
    #: The file in which the owner of a machine registers hooks for everybody on it, and what a new one begins with; ""
    #: if the agent has none.
    managed: str = ""
    managed_head: Mapping[str, Any] = field(default_factory=empty)
    #: How a person can still get around it.
    managed_gap: str = ""
    #: The user's file with MCP servers, from the home directory, the member in it, and further fields of a server.
    servers: tuple[str, str] = ("", "")
    server: Mapping[str, Any] = field(default_factory=empty)
    #: The user's directory with skills, from the home directory; "" if that is not known.
    skills: str = ""
    #: What a person should know after hookline was registered.
    note: str = ""

    @property
    def label(self) -> str:
        """What a person should know about how far hookline was tried with it; "" where it was."""
        return "" if self.proof == "binary" else UNPROVEN

    def tool_name(self, name: str) -> str:
        """What the agent calls the tool of this canonical name."""
        if self.mcp and name.startswith("mcp__") and "__" in name[5:]:
            server, _, tool = name[5:].partition("__")
            return self.mcp.replace("{server}", server).replace("{tool}", tool)
        return self.tools.get(name, name)

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
