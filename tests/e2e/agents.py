"""How each real agent is set up and run without a terminal, against the scripted model on loopback."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e import install

#: Every run has a namespace of its own, so one port serves all.
PORT = 8900
URL = f"http://127.0.0.1:{PORT}"
PROMPT = "Write hello to proof.txt"
COMMAND = "echo hello > proof.txt && cat proof.txt"
TERMINAL_ONLY = "fired only at a terminal"
SUBTASK = "SUBTASK: run what you are told"
NO_OTHER_SHELL = "it offers no such tool"
NO_NEW_START = "it compacts what was said at the start with the rest, and does not report a new start"


@dataclass(frozen=True)
class Agent:
    """``files(home, project, asks)`` are written first; ``runs(program, asks)`` are the command lines, the last of them
    the session. ``asks``: tools need a permission."""

    name: str
    package: str
    #: The file that hookline deploy edits, below home.
    registered_in: str
    files: Callable[[Path, Path, bool], dict[str, str]]
    runs: Callable[[str, bool], list[list[str]]]
    environ: dict[str, str]
    #: The model's tool call: its name, and the name of the command in its arguments.
    tool: str
    command: str
    #: Further arguments of the call.
    more: dict[str, Any] = field(default_factory=lambda: {"description": "write proof"})
    #: Rows of the matrix that it cannot fill, and what was observed instead.
    lacks: dict[str, str] = field(default_factory=dict)
    #: Why not, where the agent does not carry out another input before a tool: the call must then be refused.
    no_rewrite: str = ""
    #: Why not, where a refused stop does not send the agent on.
    no_continuation: str = ""
    #: Why not, where no hook can answer for the person.
    no_permission: str = ""
    #: The command line of ``runs`` at a terminal, and what is typed there, where it asks nobody without one.
    asked: Callable[[str], tuple[list[str], list[tuple[str, str]]]] | None = None
    #: Why not, where a message for the person is printed nowhere.
    no_message: str = ""
    #: Events of other systems that it gives no occasion for, and why.
    underived: dict[str, str] = field(default_factory=dict)
    #: Requests that show the reason of a refused stop: some agents ask for a summary besides.
    requests_after_stop: int = 1
    #: A native program that runs its plugins with Node.
    needs_node: bool = False
    #: Words of the command line that go on with the last session.
    resume: tuple[str, ...] = ()
    #: They are the whole command line, and the prompt is typed at a terminal, unless it is among them.
    resume_typed: bool = False
    #: The call that starts a subagent with ``SUBTASK``.
    subagent: dict[str, Any] = field(default_factory=dict)
    #: The call of the tool ``echo`` of an MCP server, where the model does not call it by its name.
    server_call: Callable[[str], dict[str, Any]] | None = None
    #: A call of another tool than the shell that runs ``COMMAND``.
    runner: dict[str, Any] = field(default_factory=dict)
    #: Where it reads of MCP servers, below home, and the form of such a file.
    servers: tuple[str, str] = ("", "")
    #: Variables without which a project's own registration is not read.
    project_environ: dict[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """What must be installed."""
        return (self.package, "node") if self.needs_node or install.PACKAGES[self.package].node else (self.package,)

    def call(self, command: str = COMMAND, asks: bool = False) -> dict[str, Any]:
        more = self.more
        if asks and self.name == "codex":
            more = {"sandbox_permissions": "require_escalated", "justification": "it is needed"}
        # Some agents also ask for a title, without tools: that is not the request to answer with a call.
        given: Any = [command] if self.command == "commands" else command
        call = {"name": self.tool, "arguments": {self.command: given, **more}}
        return {"tool": call, "match": f'"name": "{self.tool}"'}


def node() -> str:
    return str(install.directory(install.PACKAGES["node"]) / install.PACKAGES["node"].program)


def _claude(program: str, asks: bool) -> list[list[str]]:
    return [[program, "-p", PROMPT, *([] if asks else ["--allowedTools", "Bash"])]]


def _codex(program: str, asks: bool) -> list[list[str]]:
    return [[program, "exec", "--skip-git-repo-check", *(["--approve-for-me"] if asks else []), PROMPT]]


def _codex_files(_home: Path, project: Path, asks: bool) -> dict[str, str]:
    policy, sandbox = ("on-request", "workspace-write") if asks else ("never", "danger-full-access")
    config = f"""\
model = "gpt-5"
model_provider = "fake"
approval_policy = "{policy}"
sandbox_mode = "{sandbox}"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "{URL}/v1"
wire_api = "responses"
env_key = "FAKE_API_KEY"
request_max_retries = 0
stream_max_retries = 0
[features]
plugins = false
[analytics]
enabled = false
[projects.{json.dumps(str(project))}]
trust_level = "trusted"
"""
    return {".codex/config.toml": config}


def _gemini(program: str, asks: bool) -> list[list[str]]:
    return [[node(), program, "-p", PROMPT, "--approval-mode", "yolo", "-m", "gemini-2.5-flash"]]


def _gemini_files(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        # After thirty turns it asks the model whether it repeats itself, and again for minutes where no JSON comes back.
        "model": {"disableLoopDetection": True},
    }
    return {".gemini/settings.json": "// kept\n" + json.dumps(settings, indent=2) + "\n"}


def _letta(program: str, asks: bool) -> list[list[str]]:
    start = [node(), program]
    permission = ["--permission-mode", "default"] if asks else ["--yolo"]
    return [
        [*start, "connect", "openai-compatible", "--base-url", f"{URL}/v1", "--api-key", "test", "--backend", "local"],
        [*start, "-p", PROMPT, "--backend", "local", "--new-agent", "-m", "openai-compatible/scripted", "--toolset",
         "default", *permission],
    ]  # fmt: skip


def _qwen(program: str, asks: bool) -> list[list[str]]:
    return [[node(), program, "-p", PROMPT, "--approval-mode", "yolo"]]


def _qwen_asked(program: str) -> tuple[list[str], list[tuple[str, str]]]:
    keys = [("Type your message", PROMPT), ("", "\r"), ("All done.", "/quit\r")]
    return [node(), program, "--approval-mode", "default"], keys


def _qwen_files(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    return {".qwen/settings.json": json.dumps(settings)}


def _copilot(program: str, asks: bool) -> list[list[str]]:
    return [[program, "-p", PROMPT, "--no-color", *([] if asks else ["--allow-all-tools"])]]


def _opencode(program: str, asks: bool) -> list[list[str]]:
    return [[program, "run", PROMPT]]


def _opencode_files(home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    config = {
        "autoupdate": False, "share": "disabled", "lsp": False, "formatter": False, "model": "fake/scripted",
        "small_model": "fake/scripted", "enabled_providers": ["fake"],
        "provider": {
            "fake": {
                "npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": f"{URL}/v1", "apiKey": "test"},
                "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": 100000, "output": 4000}}},
            }
        },
    }  # fmt: skip
    place = home / ".config/opencode"
    place.mkdir(parents=True, exist_ok=True)
    package = install.PACKAGES["opencode"]
    # Else it spends more than a minute on trying to fetch this from the registry; it believes only a lock.
    (place / "node_modules").symlink_to(install.directory(package) / "node_modules")
    wanted = {"dependencies": {"@opencode-ai/plugin": package.version}}
    lock = {"lockfileVersion": 3, "packages": {"": wanted}}
    files = {"opencode.json": config, "package.json": wanted, "package-lock.json": lock}
    return {f".config/opencode/{name}": json.dumps(told) for name, told in files.items()}


def _droid(program: str, asks: bool) -> list[list[str]]:
    return [[program, "exec", PROMPT, "-m", "custom:fake-0", "--skip-permissions-unsafe"]]


def _droid_files(_home: Path, project: Path, _asks: bool) -> dict[str, str]:
    model = {
        "model": "scripted", "id": "custom:fake-0", "index": 0, "displayName": "fake", "baseUrl": f"{URL}/v1", "apiKey": "test",
        "provider": "generic-chat-completion-api", "maxOutputTokens": 4000,
    }  # fmt: skip
    settings = {
        "customModels": [model], "model": "custom:fake-0", "hasSeenOnboarding": True, "enableDroidShield": False,
        "sessionDefaultSettings": {"model": "custom:fake-0", "autonomyMode": "auto-high"},
        "trustedFolders": {str(project): {"trustedAt": "2026-01-01T00:00:00.000Z"}},
    }  # fmt: skip
    return {".factory/settings.json": json.dumps(settings, indent=1)}


def _kimi(program: str, asks: bool) -> list[list[str]]:
    return [[node(), program, "-p", PROMPT]]


def _kimi_files(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    config = f"""\
# kept
default_model = "fake"
telemetry = false
[providers.fake]
type = "openai"
base_url = "{URL}/v1"
api_key = "test"
[models.fake]
provider = "fake"
model = "scripted"
max_context_size = 128000
"""
    return {".kimi-code/config.toml": config}


def _grok(program: str, asks: bool) -> list[list[str]]:
    return [[program, "-m", "fake", "-p", PROMPT, "--always-approve"]]


def _grok_files(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    config = f"""\
[models]
default = "fake"
[model.fake]
model = "scripted"
name = "fake"
base_url = "{URL}/v1"
api_key = "test"
api_backend = "chat_completions"
context_window = 100000
"""
    return {".grok/config.toml": config}


def _hermes(program: str, asks: bool) -> list[list[str]]:
    return [[program, "chat", "-Q", "--yolo", "-q", PROMPT]]


def _hermes_files(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    config = f"""\
# kept
model:
  provider: custom
  default: scripted
  base_url: {URL}/v1
  api_key: test
  context_length: 100000
"""
    return {".hermes/config.yaml": config}


def _deepagents(program: str, asks: bool) -> list[list[str]]:
    return [[program, "-M", "openai:scripted", "--no-mcp", "-n", PROMPT, "-S", "ls" if asks else "all", "-q"]]


def _deepagents_files(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    """On a busy machine its JavaScript is not loaded within five seconds, and it ends before it asks the model."""
    return {".deepagents/config.toml": "[interpreter]\ntimeout_seconds = 120.0\n"}


def _pi(program: str, asks: bool) -> list[list[str]]:
    return [[node(), program, "--model", "fake/scripted", "-p", PROMPT]]


def _pi_files(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    model = {"id": "scripted", "contextWindow": 128000, "maxTokens": 4000}
    fake = {"baseUrl": f"{URL}/v1", "api": "openai-completions", "apiKey": "test", "models": [model]}
    return {".pi/agent/models.json": json.dumps({"providers": {"fake": fake}})}


def _pi_server_call(text: str) -> dict[str, Any]:
    """By default pi offers tools of MCP servers to scripts of the model only."""
    code = f"text((await tools.mcp__t__echo({{text: {json.dumps(text)}}})).content[0].text)"
    return {"name": "codemode", "arguments": {"code": code}}


def _cline(program: str, asks: bool) -> list[list[str]]:
    # By itself it ends after a few refusals in a row.
    return [[program, "--retries", "99", PROMPT]]


def _cline_files(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    settings = {"provider": "openai-compatible", "apiKey": "test", "model": "scripted", "baseUrl": f"{URL}/v1"}
    provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    told = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": provider},
    }
    return {".cline/data/settings/providers.json": json.dumps(told)}


def _nothing(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    return {}


MONITOR = {
    "name": "Monitor",
    "arguments": {"command": COMMAND, "description": "d", "timeout_ms": 5000, "persistent": False},
}
AGENTS = (
    Agent(
        name="claude-code", package="claude", registered_in=".claude/settings.json", files=_nothing, runs=_claude,
        lacks={"rewrite shown": "it prints no commands"}, runner=MONITOR,
        resume=("-c",), subagent={"name": "Agent", "arguments": {"description": "d", "prompt": SUBTASK, "subagent_type": "general-purpose", "run_in_background": False}},
        servers=(".claude.json", "mcpServers"),
        environ={
            "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": "test",
        },
        tool="Bash", command="command", no_message="shown only at a terminal",
    ),
    Agent(
        name="codex", package="codex", registered_in=".codex/hooks.json", files=_codex_files, runs=_codex,
        resume=("exec resume", "--last"), subagent={"name": "spawn_agent", "namespace": "multi_agent_v1", "arguments": {"message": SUBTASK}},
        server_call=lambda text: {"name": "echo", "namespace": "mcp__t", "arguments": {"text": text}}, servers=(".codex/config.toml", "mcp_servers"),
        lacks={"other shells": "Codex tells no hook what its model types into a program that runs (write_stdin)"},
        environ={"FAKE_API_KEY": "test"}, tool="exec_command", command="cmd", more={},
        no_message="shown only at a terminal",
    ),
    Agent(
        name="gemini-cli", package="gemini", registered_in=".gemini/settings.json", files=_gemini_files, runs=_gemini,
        lacks={"rewrite shown": "it prints no commands", "compaction": NO_NEW_START, "other shells": NO_OTHER_SHELL},
        resume=("-r", "latest"), subagent={"name": "invoke_agent", "arguments": {"agent_name": "generalist", "prompt": SUBTASK}},
        servers=(".gemini/settings.json", "mcpServers"),
        environ={
            "GEMINI_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": URL, "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
        tool="run_shell_command", command="command", no_permission="Gemini CLI does not ask hooks",
        project_environ={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
    Agent(
        name="letta-code", package="letta", registered_in=".letta/settings.json", files=_nothing, runs=_letta,
        resume=("--conversation", "local-conv-1"), runner=MONITOR,
        subagent={"name": "Agent", "arguments": {"description": "d", "prompt": SUBTASK, "subagent_type": "general-purpose"}},
        environ={
            "LETTA_CODE_TELEM": "0", "DO_NOT_TRACK": "1", "DISABLE_AUTOUPDATER": "1", "SCARF_ANALYTICS": "false",
            "LETTA_LOCAL_BACKEND_EXPERIMENTAL": "1",
        },
        tool="Bash", command="command",
        lacks={**dict.fromkeys(("session events", "session context", "prompt context", "prompt refused"), TERMINAL_ONLY), "rewrite shown": "it prints no commands", "output": "Letta Code reads no other output",
            "MCP": "it offers no such tools: the model types letta mcp call, and the guard of Bash decides", "compaction": NO_NEW_START},
        underived={"assistant_final": "fired only at a terminal", "run_end": "fired only at a terminal"},
        no_continuation="fired only at a terminal", no_message="shown only at a terminal",
    ),
    Agent(
        name="qwen-code", package="qwen", registered_in=".qwen/settings.json", files=_qwen_files, runs=_qwen,
        lacks={"rewrite shown": "it prints no commands", "output": "Qwen Code reads no other output"},
        runner={"name": "tool_call", "arguments": {"name": "monitor", "arguments": {"command": COMMAND, "description": "d"}}},
        resume=("-c",), subagent={"name": "agent", "arguments": {"description": "d", "prompt": SUBTASK, "subagent_type": "general-purpose"}},
        servers=(".qwen/settings.json", "mcpServers"),
        environ={
            "OPENAI_API_KEY": "test", "OPENAI_BASE_URL": f"{URL}/v1", "OPENAI_MODEL": "scripted",
            "QWEN_TELEMETRY_ENABLED": "false", "QWEN_CODE_NO_RELAUNCH": "true",
        },
        tool="run_shell_command", command="command", no_rewrite="Qwen Code ignores a rewritten input; the call is refused",
        underived={"run_end": "without a terminal, Qwen Code does not report its end"},
        asked=_qwen_asked,
    ),
    Agent(
        name="copilot-cli", package="copilot", registered_in=".copilot/hooks/hookline.json", files=_nothing, runs=_copilot,
        lacks={"rewrite shown": "it prints the description of a command only", "compaction": NO_NEW_START, "other shells": NO_OTHER_SHELL},
        resume=("--continue",), subagent={"name": "task", "arguments": {"name": "sub", "description": "d", "prompt": SUBTASK, "agent_type": "general-purpose", "mode": "sync"}},
        servers=(".copilot/mcp-config.json", "mcpServers"),
        environ={
            "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_BASE_URL": f"{URL}/v1",
            "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_API_KEY": "test", "COPILOT_MODEL": "scripted",
        },
        tool="bash", command="command", no_message="not shown",
        project_environ={"GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS": "true"},
    ),
    Agent(
        name="opencode", package="opencode", registered_in=".config/opencode/plugins/hookline.js", files=_opencode_files,
        resume=("-c",), subagent={"name": "task", "arguments": {"description": "d", "prompt": SUBTASK, "subagent_type": "general"}},
        servers=(".config/opencode/opencode.json", "mcp"),
        runs=_opencode,
        environ={
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        },
        lacks={"other shells": NO_OTHER_SHELL},
        tool="bash", command="command", no_continuation="OpenCode reports the end, but cannot be made to continue",
        no_permission="OpenCode does not ask plugins", no_message="not shown",
    ),
    Agent(
        name="droid", package="droid", registered_in=".factory/hooks.json", files=_droid_files, runs=_droid,
        # exec -s asks its service for the session.
        resume=("--resume", "{session}"), resume_typed=True, subagent={"name": "Task", "arguments": {"description": "d", "prompt": SUBTASK, "subagent_type": "worker"}},
        servers=(".factory/mcp.json", "mcpServers"),
        environ={"FACTORY_API_KEY": "fk-test", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false", "FACTORY_AIRGAP_ENABLED": "true"},
        tool="Execute", command="command",
        more={"summary": "write proof", "riskLevel": "low", "riskLevelReason": "writes one file"},
        lacks={"rewrite shown": "it prints no commands", "output": "Droid reads no other output", "compaction": NO_NEW_START, "other shells": NO_OTHER_SHELL,
            **dict.fromkeys(
                ("session events", "prompt context", "prompt refused"), "UserPromptSubmit is fired only at a terminal"
            ),
        },
        underived={"tool failure": "Droid fires nothing after a tool that failed"},
        no_permission="Droid does not ask hooks; an allow before the tool is a grant", no_message="not shown",
    ),
    Agent(
        name="kimi-code", package="kimi", registered_in=".kimi-code/config.toml", files=_kimi_files, runs=_kimi,
        resume=("-c",), subagent={"name": "Agent", "arguments": {"description": "d", "prompt": SUBTASK}},
        servers=(".kimi-code/mcp.json", "mcpServers"),
        environ={"KIMI_CODE_NO_AUTO_UPDATE": "1"}, tool="Bash", command="command", more={},
        no_rewrite="Kimi Code reads no rewritten input; the call is refused",
        lacks={"rewrite shown": "it prints no commands", "output": "Kimi Code ignores what a hook answers after a tool",
            "tool events": "Kimi Code does not wait for hooks after a tool, and ends them with the turn: some are lost",
            **dict.fromkeys(("session context", "compaction"), "Kimi Code ignores what a hook answers at the start"),
            "result context": "Kimi Code ignores what a hook answers after a tool",
            "registered twice": "Kimi Code has no hooks of a project", "other shells": NO_OTHER_SHELL,
        },
        underived={"run_end": "without a terminal, Kimi Code does not report its end"},
        no_permission="Kimi Code only reports its questions to hooks", no_message="not shown",
    ),
    Agent(
        name="grok-build", package="grok", registered_in=".grok/hooks/hookline.json", files=_grok_files, runs=_grok,
        resume=("-c",), subagent={"name": "spawn_subagent", "arguments": {"description": "d", "prompt": SUBTASK, "background": False}},
        servers=(".grok/config.toml", "mcp_servers"),
        environ={}, tool="run_terminal_command", command="command", requests_after_stop=2, runner={**MONITOR, "name": "monitor"},
        server_call=lambda text: {"name": "use_tool", "arguments": {"tool_name": "t__echo", "tool_input": {"text": text}}},
        lacks={**dict.fromkeys(("session context", "prompt context", "compaction"), "Grok Build ignores text from these hooks"), "rewrite shown": "it prints no commands", "output": "Grok Build reads no other output"},
        no_permission="Grok Build does not let hooks grant", no_message="not shown",
    ),
    Agent(
        name="hermes", package="hermes", registered_in=".hermes/config.yaml", files=_hermes_files, runs=_hermes,
        resume=("--continue",), subagent={"name": "delegate_task", "arguments": {"goal": SUBTASK, "background": False}},
        servers=(".hermes/config.yaml", "mcp_servers"),
        environ={"OPENAI_API_KEY": "test"}, tool="terminal", command="command", more={},
        runner={"name": "execute_code", "arguments": {"code": f"import os\nos.system({COMMAND!r})"}},
        no_rewrite="Hermes reads no rewritten input; the call is refused",
        no_continuation="Hermes can be made to go on only after it edited a file",
        lacks={"rewrite shown": "it prints no commands", "output": "Hermes ignores what a hook answers after a tool",
            **dict.fromkeys(("session context", "compaction"), "Hermes ignores what a hook answers at the start"),
            "result context": "Hermes ignores what a hook answers after a tool",
            "prompt refused": "Hermes reads only context at a prompt",
            "registered twice": "Hermes has no hooks of a project",
        },
        no_permission="Hermes only reports its questions to hooks", no_message="not shown",
    ),
    Agent(
        name="deepagents", package="deepagents", registered_in=".deepagents/hooks.json", files=_deepagents_files, runs=_deepagents,
        lacks={"rewrite shown": "it prints no commands", "output": "deepagents-code reads no other output", "other shells": NO_OTHER_SHELL},
        resume=("-r", "{session}", "-M", "openai:scripted", "--no-mcp", "-S", "all", "-m", PROMPT), resume_typed=True, subagent={"name": "task", "arguments": {"description": SUBTASK, "subagent_type": "general-purpose"}},
        servers=(".deepagents/.mcp.json", "mcpServers"),
        environ={
            "OPENAI_API_KEY": "test", "OPENAI_BASE_URL": f"{URL}/v1", "LANGSMITH_TRACING": "false",
            "DEEPAGENTS_CODE_AUTO_UPDATE": "0", "DEEPAGENTS_CODE_NO_UPDATE_CHECK": "1", "DEEPAGENTS_CODE_OFFLINE": "1",
            "DEEPAGENTS_CODE_ONBOARDING": "0",
        },
        tool="execute", command="command", more={},
        no_rewrite="deepagents-code reads no rewritten input; the call is refused",
    ),
    Agent(
        name="pi", package="pi", registered_in=".pi/agent/extensions/hookline.js", files=_pi_files, runs=_pi,
        lacks={"rewrite shown": "it prints no commands", "subagent": "pi has no subagents", "other shells": NO_OTHER_SHELL},
        resume=("-c",), servers=(".pi/agent/mcp.json", "mcpServers"), server_call=_pi_server_call,
        environ={"PI_OFFLINE": "1"}, tool="bash", command="command", more={},
        no_permission="pi asks nobody", no_message="shown only at a terminal",
    ),
    Agent(
        name="cline", package="cline", registered_in=".cline/plugins/hookline.js", files=_cline_files, runs=_cline,
        resume=("--id", "{session}", "-i"), resume_typed=True, subagent={"name": "spawn_agent", "arguments": {"systemPrompt": "Do it.", "task": SUBTASK}},
        servers=(".cline/data/settings/cline_mcp_settings.json", "mcpServers"),
        # As its note advises: on a busy machine it otherwise goes on without plugins.
        environ={"CLINE_NO_AUTO_UPDATE": "1", "CLINE_PLUGIN_IMPORT_TIMEOUT_MS": "60000"}, tool="run_commands", command="commands", more={}, needs_node=True,
        lacks={"compaction": NO_NEW_START, "other shells": NO_OTHER_SHELL},
        no_continuation="Cline reports the end, but cannot be made to continue",
        underived={"run_end": "Cline does not tell plugins of its end"},
        no_permission="Cline does not ask plugins", no_message="not shown",
    ),
)  # fmt: skip


def resumed(agent: Agent, run: list[str], session: str) -> list[str]:
    """The command line that goes on with the last session."""
    words = [word.replace("{session}", session) for word in agent.resume]
    if agent.resume_typed:
        return [run[0], *words]
    if agent.name == "letta-code":
        run = [word for word in run if word not in {"--new-agent", "-m", "openai-compatible/scripted"}]
    if words[0] == "exec resume":
        return [*run[:2], "resume", *words[1:], *run[2:]]
    at = run.index(PROMPT) if agent.name == "opencode" else len(run)
    return [*run[:at], *words, *run[at:]]


def server_config(agent: Agent, home: Path, command: list[str]) -> None:
    """Writes where the agent reads of MCP servers that there is one, ``t``."""
    name, key = agent.servers
    file = home / name
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    file.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".toml"):
        words = json.dumps(command[1:])
        file.write_text(f"{before}\n[{key}.t]\ncommand = {json.dumps(command[0])}\nargs = {words}\n", encoding="utf-8")
    elif name.endswith(".yaml"):
        file.write_text(
            f"{before}\n{key}:\n  t:\n    command: {command[0]}\n    args: {json.dumps(command[1:])}\n",
            encoding="utf-8",
        )
    else:
        tree = json.loads(before.removeprefix("// kept\n")) if before else {}
        entry: dict[str, Any] = {"command": command[0], "args": command[1:]}
        if key == "mcp":
            entry = {"type": "local", "command": command, "enabled": True}
        elif agent.name in {"copilot-cli", "droid"}:
            entry |= {"type": "local" if agent.name == "copilot-cli" else "stdio", "tools": ["*"]}
        elif agent.name == "gemini-cli":
            entry["trust"] = True
        tree.setdefault(key, {})["t"] = entry
        file.write_text(json.dumps(tree), encoding="utf-8")


def surroundings(agent: Agent, home: Path) -> dict[str, str]:
    """A clean environment: nothing of whoever runs the tests reaches an agent."""
    first = [os.path.dirname(node())] if "node" in agent.needs else []
    path = os.pathsep.join([*first, str(home / "bin"), "/usr/local/bin", "/usr/bin", "/bin"])
    return {
        "PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
        "TMPDIR": str(home / "tmp"), **agent.environ,
    }  # fmt: skip
