"""The agents, one row each: adding one is a row, a dialect and a transcript reader (docs/how-to/extend.md).

Another package adds its agent with an entry point of the group ``hookline.agents`` that names an ``Agent``. These are
looked up only for a name that no row has, because reading the metadata of all packages takes longer than a warm run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from hookline.core.agent_row import LONGEST, UNPROVEN, Agent, Scope
from hookline.core.errors import ConfigError, UsageError

__all__ = [
    "AGENTS", "ASSUMED", "LONGEST", "UNPROVEN", "Agent", "Scope", "all_agents", "find_agent", "full_name", "select_agents",
    "uses_dialect",
]  # fmt: skip

_PERMISSION = {
    "PermissionRequest": {
        "hookSpecificOutput": {"hookEventName": "{event}", "decision": {"behavior": "deny", "message": "{reason}"}}
    }
}
_DENY = {"decision": "deny", "reason": "{reason}"}
_TOP = {"decision": "block", "reason": "{reason}"}
_COMMAND = {"command": "{command}", "timeout": "{timeout}"}
_GEMINI_TOOLS = {
    "Bash": "run_shell_command", "Read": "read_file", "Write": "write_file", "Edit": "replace", "Glob": "glob",
    "Grep": "grep_search", "LS": "list_directory", "WebFetch": "web_fetch", "WebSearch": "google_web_search", "Task": "invoke_agent",
}  # fmt: skip


def _same(names: str) -> dict[str, str]:
    """Tools that have the canonical name."""
    return {name: name for name in names.split()}


_ROWS = (
    Agent(
        servers=(".claude.json", "mcpServers"), skills=".claude/skills",
        name="claude-code", says_end=True, proven="2.1.327", title="Claude Code", speaker="Claude", dialect="claude", program="claude", home=".claude", package="@anthropic-ai/claude-code", marker="CLAUDECODE",
        home_variable="CLAUDE_CONFIG_DIR", project_variable="CLAUDE_PROJECT_DIR",
        marks_continuation=True, reader="hookline.transcripts.claude:ClaudeReader", tells_interactive=True, newest_is_current=True,
        files={"user": ".claude/settings.json", "project": ".claude/settings.json", "local": ".claude/settings.local.json"},
        unregistered=frozenset({"WorktreeCreate"}), limits={"SessionEnd": 60.0, "MessageDisplay": 10.0},
        run_with="/bin/sh", blocks=_PERMISSION, answers={"PermissionRequest": ()},
        managed="/etc/claude-code/managed-settings.json",
    ),
    Agent(
        servers=(".codex/config.toml", "mcp_servers"), skills=".codex/skills",
        name="codex", proven="0.169.0", title="Codex", dialect="codex", program="codex", home=".codex", package="@openai/codex", home_variable="CODEX_HOME",
        failures="transcript", marks_continuation=True, reader="hookline.transcripts.codex:CodexReader",
        files={"user": ".codex/hooks.json", "project": ".codex/hooks.json"}, inline="config.toml", run_with="login",
        needs_approval=True, managed="/etc/codex/requirements.toml",
        limits={"SessionEnd": 3.0}, blocks=_PERMISSION, answers={"PermissionRequest": ()},
        note="Codex skips hooks that you have not approved, without a message: open codex, type /hooks and trust the new"
        " ones, or deploy with --approve.",
    ),
    Agent(
        servers=(".gemini/settings.json", "mcpServers"),
        name="gemini-cli", says_end=True, proven="0.61.0", title="Gemini CLI", speaker="Gemini", dialect="gemini", program="gemini", home=".gemini", package="@google/gemini-cli", marker="GEMINI_CLI",
        project_variable="GEMINI_PROJECT_DIR", tools=_GEMINI_TOOLS, mcp="mcp_{server}_{tool}", failures="output", echoes_stop_reason=True,
        prefixes_prompt=True, compacts_always=True, reader="hookline.transcripts.gemini:GeminiReader", shows_alone="command",
        files={"user": ".gemini/settings.json", "project": ".gemini/settings.json"},
        per_second=1000, everything="*", extra={"name": "hookline"}, managed="/etc/gemini-cli/settings.json",
        managed_head={"hooksConfig": {"enabled": True}},
        managed_gap="GEMINI_CLI_SYSTEM_SETTINGS_PATH names another file; a person's hooksConfig.disabled can name the hook",
        blocks={"PreToolUse": _DENY, "UserPromptSubmit": _DENY}, answers={"PreToolUse": (), "UserPromptSubmit": ()},
        neutral=1,  # a plain text with any greater code is a deny: on AfterAgent it would keep the agent going for ever
        note="Gemini runs no hooks in a folder that it does not trust: open gemini there once, and trust it.",
    ),
    Agent(
        name="letta-code", says_end=True, proven="0.32.18", title="Letta Code", speaker="Letta", dialect="letta", program="letta", home=".letta", package="@letta-ai/letta-code", marker="LETTA_AGENT_ID",
        reader="hookline.transcripts.letta:LettaReader", newest_is_current=True, session_by_process=True,
        files={"user": ".letta/settings.json", "project": ".letta/settings.json", "local": ".letta/settings.local.json"},
        per_second=1000, everything="*", extra={"quiet": True}, answers={"PermissionRequest": (1, 2)}, run_with="$SHELL",
    ),
    Agent(
        servers=(".qwen/settings.json", "mcpServers"),
        name="qwen-code", proven="0.24.4", title="Qwen Code", speaker="Qwen", dialect="qwen", program="qwen", home=".qwen", package="@qwen-code/qwen-code", marker="QWEN_CODE",
        project_variable="QWEN_PROJECT_DIR", echoes_stop_reason=True, reader="hookline.transcripts.qwen:QwenReader", shows_alone="command",
        tools={
            **_GEMINI_TOOLS, "Edit": "edit", "WebSearch": "web_search", "Task": "agent", "NotebookEdit": "notebook_edit",
        },
        files={"user": ".qwen/settings.json", "project": ".qwen/settings.json"}, per_second=1000,
        extra={"name": "hookline"}, blocks=_PERMISSION, answers={"PermissionRequest": ()},
        managed="/etc/qwen-code/settings.json", managed_head={"disableAllHooks": False},
        managed_gap="QWEN_CODE_SYSTEM_SETTINGS_PATH names another file",
    ),
    Agent(
        servers=(".copilot/mcp-config.json", "mcpServers"), server={"type": "local", "tools": ["*"]},
        name="copilot-cli", says_end=True, proven="1.0.102", title="Copilot CLI", speaker="Copilot", dialect="copilot", program="copilot",
        home=".copilot", package="@github/copilot", marker="COPILOT_CLI", project_variable="COPILOT_PROJECT_DIR", also_reads="claude-code", payload_mark="hookName", entry_variable="COPILOT_HOOK_DIR",
        failures="output", echoes_stop_reason=True, reader="hookline.transcripts.copilot:CopilotReader",
        tools={
            "Bash": "bash", "Read": "view", "Write": "create", "Edit": "edit", "Grep": "grep", "Glob": "glob",
            "WebFetch": "web_fetch", "Task": "task",
        },
        mcp="{server}-{tool}",
        files={"user": ".copilot/hooks/hookline.json", "project": ".github/hooks/hookline.json"}, form="flat", scans=True,
        blocks={
            "PreToolUse": {"permissionDecision": "deny", "permissionDecisionReason": "{reason}"},
            "UserPromptSubmit": {"decision": "block", "reason": "{reason}"},
            "PermissionRequest": {"behavior": "deny", "message": "{reason}"},
        },
        answers={"PreToolUse": (), "UserPromptSubmit": (), "PermissionRequest": ()},
        neutral=0,  # before a tool any other code is a deny
        managed="/etc/github-copilot/policy.d/hookline.json",
        note="Copilot also reads a project's .claude/settings.json: register it once, not in both.",
    ),
    Agent(
        servers=(".config/opencode/opencode.json", "mcp"),
        name="opencode", proven="1.18.33", title="OpenCode", dialect="opencode", program="opencode", home=".config/opencode", package="opencode-ai", marker="OPENCODE",
        runs_own_hooks=False, reader="hookline.transcripts.opencode:OpenCodeReader", form="plugin", failures="output",
        tools={
            "Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "Grep": "grep", "Glob": "glob",
            "LS": "list", "WebFetch": "webfetch", "Task": "task",
        },
        mcp="{server}_{tool}",
        files={"user": ".config/opencode/plugins/hookline.js", "project": ".opencode/plugins/hookline.js"},
    ),
    Agent(
        servers=(".factory/mcp.json", "mcpServers"), server={"type": "stdio"},
        name="droid", says_end=True, proven="0.215.0", reader="hookline.transcripts.droid:DroidReader", title="Factory Droid", speaker="Droid", dialect="droid", marker="FACTORY_DISABLE_SETTINGS_PERSISTENCE", program="droid", home=".factory", package="droid",
        project_variable="FACTORY_PROJECT_DIR", marks_continuation=True,
        tools={
            **_same("Read Edit Glob Grep LS WebSearch Task"), "Bash": "Execute", "Write": "Create", "WebFetch": "FetchUrl",
        },
        mcp="{server}___{tool}",
        files={"user": ".factory/hooks.json", "project": ".factory/hooks.json"}, key="", inline="settings.json",
    ),
    Agent(
        servers=(".kimi-code/mcp.json", "mcpServers"),
        name="kimi-code", proven="2.1.0", reader="hookline.transcripts.kimi:KimiReader", title="Kimi Code", speaker="Kimi", dialect="kimi", program="kimi", home=".kimi-code", package="@moonshot-ai/kimi-code",
        home_variable="KIMI_CODE_HOME",
        tools={**_same("Bash Read Write Edit Glob Grep WebSearch"), "Task": "Agent", "WebFetch": "FetchURL"}, files={"user": ".kimi-code/config.toml"}, form="list",
        # One key that it does not know would make it drop all hooks of the file.
        entries={"": {"event": "{event}", **_COMMAND}},
        unregistered=frozenset({"PermissionDenied"}),
    ),
    Agent(
        servers=(".grok/config.toml", "mcp_servers"),
        name="grok-build", proven="1.0.41", reader="hookline.transcripts.grok:GrokReader", title="Grok Build", speaker="Grok", dialect="grok", marker="GROK_AGENT", program="grok", home=".grok", package="@xai-official/grok",
        project_variable="GROK_WORKSPACE_ROOT", also_reads="claude-code", payload_mark="workspaceRoot", entry_variable="GROK_HOOK_NAME", failures="output",
        marks_continuation=True,
        tools={
            "Bash": "run_terminal_command", "Read": "read_file", "Write": "search_replace", "Edit": "search_replace",
            "LS": "list_dir", "Grep": "grep", "WebSearch": "web_search", "Task": "spawn_subagent",
        },
        mcp="{server}__{tool}",
        files={"user": ".grok/hooks/hookline.json", "project": ".grok/hooks/hookline.json"}, scans=True,
        # Of what a refusal prints on stderr it reads the first line, which may be the shell's.
        blocks={"PreToolUse": _DENY, "UserPromptSubmit": _TOP}, answers={"PreToolUse": (), "UserPromptSubmit": ()},
        note="Grok Build reads a project's hooks only where it trusts the folder (grok --trust), and Claude Code's hooks too.",
    ),
    Agent(
        name="hermes", proven="0.19.0", reader="hookline.transcripts.hermes:HermesReader", title="Hermes Agent", speaker="Hermes", dialect="hermes", marker="HERMES_SESSION_ID", program="hermes", home=".hermes",
        home_variable="HERMES_HOME", failures="output",
        tools={
            "Bash": "terminal", "Read": "read_file", "Write": "write_file", "Edit": "patch", "Grep": "search_files",
            "WebSearch": "web_search", "WebFetch": "web_extract", "Task": "delegate_task",
        },
        files={"user": ".hermes/config.yaml"}, form="flat", entries={"": _COMMAND}, run_with="nothing", needs_approval=True,
        several={"Stop": ("post_llm_call", "pre_verify")},
        limits=dict.fromkeys(("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart", "SessionEnd", "SubagentStart", "SubagentStop", "PermissionRequest", "PreModelRequest", "PostModelRequest"), 300.0),
        blocks={"PreToolUse": _TOP}, answers={"PreToolUse": ()},
        note="Hermes skips hooks that you have not accepted, without a message: start hermes once at a terminal and accept"
        " the new ones, or deploy with --approve.",
    ),
    Agent(
        servers=(".deepagents/.mcp.json", "mcpServers"),
        name="deepagents", says_end=True, proven="0.1.57", reader="hookline.transcripts.deepagents:DeepAgentsReader", title="Deep Agents Code", speaker="Deep Agents", dialect="deepagents", program="deepagents-code", home=".deepagents",
        marks_continuation=True,
        tools={
            **_same("Bash Read Write Edit Glob Grep LS"), "Task": "task", "WebSearch": "web_search", "WebFetch": "fetch_url",
            "Delete": "delete",
        },
        mcp="{server}_{tool}",
        files={"user": ".deepagents/hooks.json", "project": ".deepagents/hooks.json"},
        blocks=_PERMISSION, answers={"PermissionRequest": ()},
        note="Without a terminal, deepagents-code reads a project's hooks only with --trust-project-hooks.",
    ),
    Agent(
        servers=(".pi/agent/mcp.json", "mcpServers"),
        name="pi", says_end=True, proven="1.5.2", reader="hookline.transcripts.pi:PiReader", shows_alone="mode", title="pi", dialect="pi", failures="output", program="pi", home=".pi", package="@earendil-works/pi-coding-agent", marker="PI_CODING_AGENT",
        runs_own_hooks=False, form="plugin",
        tools={
            "Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "Grep": "grep", "Glob": "find", "LS": "ls",
        },
        files={"user": ".pi/agent/extensions/hookline.js", "project": ".pi/extensions/hookline.js"},
        note="pi loads a project's extensions only where it trusts the project (pi --approve).",
    ),
    Agent(
        servers=(".cline/data/settings/cline_mcp_settings.json", "mcpServers"),
        name="cline", proven="3.0.65", reader="hookline.transcripts.cline:ClineReader", title="Cline", dialect="cline", failures="output", marker="CLINE_CONNECTOR_CLI_LAUNCH", program="cline", home=".cline", package="cline", runs_own_hooks=False,
        form="plugin",
        tools={
            "Bash": "run_commands", "Read": "read_files", "Write": "editor", "Edit": "editor", "Grep": "search_codebase",
            "WebFetch": "fetch_web_content", "Task": "spawn_agent",
        },
        mcp="{server}__{tool}",
        # It ends its run when a plugin takes three seconds.
        limits=dict.fromkeys(("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"), 2.6),
        files={"user": ".cline/plugins/hookline.js", "project": ".cline/plugins/hookline.js"},
        note="Cline loads plugins only where node is on its PATH and has them loaded within four seconds; otherwise no hook runs,"
        " and only its log says so. On a busy machine give it more: export CLINE_PLUGIN_IMPORT_TIMEOUT_MS=60000",
    ),
    # ── by their documents ──
    Agent(
        name="cursor", reader="hookline.transcripts.cursor:CursorReader", title="Cursor", dialect="cursor", program="cursor-agent", home=".cursor", proof="documents",
        project_variable="CURSOR_PROJECT_DIR", also_reads="claude-code", payload_mark="cursor_version",
        tools={**_same("Read Write Grep Task Delete"), "Bash": "Shell", "Edit": "Write", "NotebookEdit": "EditNotebook"}, mcp="MCP:{tool}", form="flat", head={"version": 1}, managed="/etc/cursor/hooks.json",
        files={"user": ".cursor/hooks.json", "project": ".cursor/hooks.json"},
        entries={"": _COMMAND, **{key: {**_COMMAND, "failClosed": True} for key in ("PreToolUse", "UserPromptSubmit")}},
        blocks={
            "PreToolUse": {"permission": "deny", "user_message": "{reason}", "agent_message": "{reason}"},
            "UserPromptSubmit": {"continue": False, "user_message": "{reason}"},
        },
        answers={"PreToolUse": (), "UserPromptSubmit": ()},
    ),
    Agent(
        name="vscode", title="VS Code", speaker="Copilot", dialect="vscode", program="code", home=".vscode", proof="documents",
        also_reads="claude-code", payload_mark="hookEventName", marks_continuation=True, form="flat", scans=True,
        tools={
            "Bash": "run_in_terminal", "Read": "read_file", "Write": "create_file", "Edit": "replace_string_in_file",
            "LS": "list_dir", "Glob": "file_search", "Grep": "grep_search", "WebFetch": "fetch_webpage", "Task": "runSubagent",
            "NotebookEdit": "edit_notebook_file",
        },
        mcp="mcp_{server}_{tool}",
        entries={"": {"type": "command", **_COMMAND}},
        files={"user": ".copilot/hooks/hookline-vscode.json", "project": ".github/hooks/hookline-vscode.json"},
        note="Copilot CLI reads the same folder: register one of the two, or its events arrive twice.",
    ),
    Agent(
        name="windsurf", title="Windsurf", dialect="windsurf", program="windsurf", home=".codeium/windsurf", proof="documents",
        form="flat", entries={"": {"command": "{command}", "show_output": False}},
        several={
            "PreToolUse": ("pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use"),
            "PostToolUse": ("post_run_command", "post_write_code", "post_read_code", "post_mcp_tool_use"),
        },
        files={"user": ".codeium/windsurf/hooks.json", "project": ".windsurf/hooks.json"}, managed="/etc/windsurf/hooks.json",
    ),
    Agent(
        name="kiro", title="Kiro", dialect="kiro", failures="output", program="kiro-cli", home=".kiro", proof="documents", form="list",
        head={"version": "v1"}, scans=True,
        tools={
            "Bash": "execute_bash", "Read": "read_file", "Write": "fs_write", "Edit": "str_replace", "LS": "list_directory",
            "Grep": "grep_search", "WebFetch": "webFetch", "WebSearch": "remote_web_search",
        },
        mcp="@{server}/{tool}",
        entries={
            "": {
                "name": "{name}", "trigger": "{event}", "action": {"type": "command", "command": "{command}"},
                "timeout": "{timeout}", "enabled": True,
            }
        },
        files={"user": ".kiro/hooks/hookline.json", "project": ".kiro/hooks/hookline.json"},
    ),
    Agent(
        name="amp", title="Amp", dialect="amp", failures="output", program="amp", home=".config/amp", proof="documents", runs_own_hooks=False,
        form="plugin",
        tools={
            **_same("Bash Read Grep Task"), "Edit": "edit_file", "Write": "create_file", "Glob": "glob",
            "WebFetch": "read_web_page", "WebSearch": "web_search",
        },
        files={"user": ".config/amp/plugins/hookline.ts", "project": ".amp/plugins/hookline.ts"},
    ),
    Agent(
        name="antigravity", title="Antigravity", dialect="antigravity", failures="output", program="agy", home=".gemini/antigravity", proof="documents",
        form="flat", key="hookline",
        tools={
            "Bash": "run_command", "Read": "view_file", "Write": "write_to_file", "Edit": "replace_file_content",
            "LS": "list_dir", "Glob": "find_by_name", "Grep": "grep_search", "WebFetch": "read_url_content", "WebSearch": "search_web",
        },
        entries={
            "": {"type": "command", **_COMMAND},
            **{key: {"matcher": "*", "hooks": [{"type": "command", **_COMMAND}]} for key in ("PreToolUse", "PostToolUse")},
        },
        files={"user": ".gemini/config/hooks.json", "project": ".agents/hooks.json"},
        blocks={"PreToolUse": _DENY}, answers={"PreToolUse": ()},
    ),
    Agent(
        name="crush", title="Crush", dialect="crush", program="crush", home=".config/crush", proof="documents", form="flat",
        tools={
            "Bash": "bash", "Read": "view", "Write": "write", "Edit": "edit", "Grep": "grep", "Glob": "glob", "LS": "ls",
            "WebFetch": "fetch", "Task": "agent",
        },
        mcp="mcp_{server}_{tool}",
        marker="CRUSH", entries={"": {"name": "hookline", **_COMMAND}},
        files={"user": ".config/crush/crush.json", "project": "crush.json"},
    ),
    Agent(
        name="openhands", title="OpenHands", dialect="openhands", program="openhands", home=".openhands", proof="documents",
        project_variable="OPENHANDS_PROJECT_DIR",
        tools={"Bash": "terminal", "Edit": "file_editor", "Write": "file_editor", "Read": "file_editor"},
        files={"user": ".openhands/hooks.json", "project": ".openhands/hooks.json"},
    ),
    Agent(
        name="mistral-vibe", title="Mistral Vibe", speaker="Vibe", dialect="vibe", failures="output", program="vibe", home=".vibe", proof="documents",
        form="list",
        tools={
            "Bash": "bash", "Read": "read_file", "Write": "write_file", "Edit": "search_replace", "Grep": "grep", "Task": "task",
            "WebFetch": "web_fetch", "WebSearch": "web_search",
        },
        entries={
            "": {"name": "{name}", "type": "{event}", **_COMMAND},
            "PreToolUse": {"name": "{name}", "type": "{event}", **_COMMAND, "strict": True},
        },
        files={"user": ".vibe/hooks.toml", "project": ".vibe/hooks.toml"},
        blocks={"PreToolUse": _DENY}, answers={"PreToolUse": ()}, neutral=0,
    ),
    Agent(
        name="junie", title="Junie", dialect="junie", program="junie", home=".junie", proof="documents",
        entries={
            "": {"hooks": [{"type": "command", **_COMMAND}]},
            **{key: {"hooks": [{"type": "command", **_COMMAND, "blockOnError": True}]} for key in ("PreToolUse", "UserPromptSubmit", "PermissionRequest")},
        },
        files={"user": ".junie/config.json"},
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
        from hookline.core.suggest import nearest  # noqa: PLC0415  only a mistake pays for it

        near = full_name(nearest(unknown[0], [*all_agents(), *_FULL_NAMES]))
        fix = f"did you mean {near!r}?" if near else f"write one of {', '.join(all_agents())}"
        raise UsageError(f"unknown agent {unknown[0]!r}; {fix}")
    return list({agent.name: agent for agent in found.values() if agent is not None}.values())


def all_agents() -> Mapping[str, Agent]:
    """Ours, then those of other packages."""
    return {**AGENTS, **{agent.name: agent for agent in _other_agents() if agent.name not in AGENTS}}


@cache
def _other_agents() -> tuple[Agent, ...]:
    from hookline.core.entry_points import entry_points

    found: list[Agent] = []
    for entry in entry_points("hookline.agents"):
        try:
            agent = entry.load()
        except Exception as error:
            msg = f"the agent {entry.name!r} ({entry.value}) cannot be loaded: {type(error).__name__}: {error}"
            raise ConfigError(msg) from error
        if not isinstance(agent, Agent):
            raise ConfigError(f"the agent {entry.name!r} ({entry.value}) is not a hookline.core.agents.Agent")
        found.append(agent)
    return tuple(found)
