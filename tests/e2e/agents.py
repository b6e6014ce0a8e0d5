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
    #: A run without a terminal fires SessionStart, UserPromptSubmit and Stop; else what a person types at a terminal.
    sessions: bool = True
    #: Why not, where the agent does not carry out another input before a tool: the call must then be refused.
    no_rewrite: str = ""
    #: Why not, where a refused stop does not send the agent on.
    no_continuation: str = ""
    #: Why not, where no hook can answer for the person.
    no_permission: str = ""
    #: Why not, where a message for the person is printed nowhere.
    no_message: str = ""
    #: Events of other systems that it gives no occasion for, and why.
    underived: dict[str, str] = field(default_factory=dict)
    #: Variables without which a project's own registration is not read.
    project_environ: dict[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """What must be installed."""
        return (self.package, "node") if install.PACKAGES[self.package].node else (self.package,)

    def call(self, command: str = COMMAND, asks: bool = False) -> dict[str, Any]:
        more = {} if self.name == "codex" else {"description": "write proof"}
        if asks and self.name == "codex":
            more = {"sandbox_permissions": "require_escalated", "justification": "it is needed"}
        # Some agents also ask for a title, without tools: that is not the request to answer with a call.
        call = {"name": self.tool, "arguments": {self.command: command, **more}}
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


def _nothing(_home: Path, _project: Path, _asks: bool) -> dict[str, str]:
    return {}


AGENTS = (
    Agent(
        name="claude-code", package="claude", registered_in=".claude/settings.json", files=_nothing, runs=_claude,
        environ={
            "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": "test",
        },
        tool="Bash", command="command", no_message="shown only at a terminal",
    ),
    Agent(
        name="codex", package="codex", registered_in=".codex/hooks.json", files=_codex_files, runs=_codex,
        environ={"FAKE_API_KEY": "test"}, tool="exec_command", command="cmd",
        no_message="shown only at a terminal",
    ),
    Agent(
        name="gemini-cli", package="gemini", registered_in=".gemini/settings.json", files=_gemini_files, runs=_gemini,
        environ={
            "GEMINI_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": URL, "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
        tool="run_shell_command", command="command", no_permission="Gemini CLI does not ask hooks",
        project_environ={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
    Agent(
        name="letta-code", package="letta", registered_in=".letta/settings.json", files=_nothing, runs=_letta,
        environ={
            "LETTA_CODE_TELEM": "0", "DO_NOT_TRACK": "1", "DISABLE_AUTOUPDATER": "1", "SCARF_ANALYTICS": "false",
            "LETTA_LOCAL_BACKEND_EXPERIMENTAL": "1",
        },
        tool="Bash", command="command", sessions=False,
        underived={"assistant_final": "fired only at a terminal", "run_end": "fired only at a terminal"},
        no_continuation="fired only at a terminal", no_message="shown only at a terminal",
    ),
    Agent(
        name="qwen-code", package="qwen", registered_in=".qwen/settings.json", files=_qwen_files, runs=_qwen,
        environ={
            "OPENAI_API_KEY": "test", "OPENAI_BASE_URL": f"{URL}/v1", "OPENAI_MODEL": "scripted",
            "QWEN_TELEMETRY_ENABLED": "false", "QWEN_CODE_NO_RELAUNCH": "true",
        },
        tool="run_shell_command", command="command", no_rewrite="Qwen Code ignores a rewritten input; the call is refused",
        underived={"run_end": "without a terminal, Qwen Code does not report its end"},
        no_permission="without a terminal, Qwen Code offers no tool that needs permission",
    ),
    Agent(
        name="copilot-cli", package="copilot", registered_in=".copilot/hooks/hookline.json", files=_nothing, runs=_copilot,
        environ={
            "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_BASE_URL": f"{URL}/v1",
            "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_API_KEY": "test", "COPILOT_MODEL": "scripted",
        },
        tool="bash", command="command", no_message="not shown",
        project_environ={"GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS": "true"},
    ),
    Agent(
        name="opencode", package="opencode", registered_in=".config/opencode/plugins/hookline.js", files=_opencode_files,
        runs=_opencode,
        environ={
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        },
        tool="bash", command="command", no_continuation="OpenCode reports the end, but cannot be made to continue",
        no_permission="OpenCode does not ask plugins", no_message="not shown",
    ),
)  # fmt: skip


def surroundings(agent: Agent, home: Path) -> dict[str, str]:
    """A clean environment: nothing of whoever runs the tests reaches an agent."""
    first = [os.path.dirname(node())] if "node" in agent.needs else []
    path = os.pathsep.join([*first, str(home / "bin"), "/usr/local/bin", "/usr/bin", "/bin"])
    return {
        "PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
        "TMPDIR": str(home / "tmp"), **agent.environ,
    }  # fmt: skip
