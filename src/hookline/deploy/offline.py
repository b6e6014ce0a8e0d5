"""How each agent is run without a terminal and without a network, against a scripted model on loopback."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import dataclass, empty, field

_PROMPT = "Write hello to proof.txt"
_COMMAND = "echo hello > proof.txt && cat proof.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """``{url}`` in a value stands for the model's address, ``{program}`` in a word for the agent's."""

    #: The command lines, one after the other; the last of them is the session.
    runs: tuple[tuple[str, ...], ...]
    environ: Mapping[str, str] = field(default_factory=empty)
    #: (address, project) -> files below home that must be there first.
    files: Callable[[str, str], Mapping[str, Any]] = field(default=lambda _url, _project: {})
    #: The model's tool call: its name, and the name of the command in its arguments.
    tool: str = "Bash"
    command: str = "command"
    #: Arguments that the tool asks for besides.
    more: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({"description": "write proof"}))
    #: Seconds for one run; some look for the network first.
    patience: float = 120.0

    def step(self) -> dict[str, Any]:
        """What the model says first. Some agents also ask for a title, without tools: that is not answered with a call."""
        given: Any = [_COMMAND] if self.command == "commands" else _COMMAND
        call = {"name": self.tool, "arguments": {self.command: given, **self.more}}
        return {"tool": call, "match": f'"name": "{self.tool}"'}

    def lines(self, program: str, url: str) -> list[list[str]]:
        return [[word.replace("{program}", program).replace("{url}", url) for word in run] for run in self.runs]

    def variables(self, url: str) -> dict[str, str]:
        return {name: value.replace("{url}", url) for name, value in self.environ.items()}


def _codex(url: str, project: str) -> Mapping[str, Any]:
    config = f"""\
model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = {json.dumps(url + "/v1")}
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
request_max_retries = 0
stream_max_retries = 0
[features]
plugins = false
[analytics]
enabled = false
[projects.{json.dumps(project)}]
trust_level = "trusted"
"""
    return {".codex/config.toml": config}


def _gemini(_url: str, _project: str) -> Mapping[str, Any]:
    return {
        ".gemini/settings.json": {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
        }
    }  # fmt: skip


def _qwen(_url: str, _project: str) -> Mapping[str, Any]:
    return {
        ".qwen/settings.json": {
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        }
    }  # fmt: skip


def _opencode(url: str, _project: str) -> Mapping[str, Any]:
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 100000, "output": 4000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": {"baseURL": f"{url}/v1", "apiKey": "test"},
        "models": {"scripted": model},
    }  # fmt: skip
    return {
        ".config/opencode/opencode.json": {
            "autoupdate": False, "share": "disabled", "lsp": False, "formatter": False, "model": "scripted/scripted",
            "small_model": "scripted/scripted", "enabled_providers": ["scripted"], "provider": {"scripted": provider},
        }
    }  # fmt: skip


def _droid(url: str, project: str) -> Mapping[str, Any]:
    model = {
        "model": "scripted", "id": "custom:scripted-0", "index": 0, "displayName": "scripted", "baseUrl": f"{url}/v1",
        "apiKey": "test", "provider": "generic-chat-completion-api", "maxOutputTokens": 4000,
    }  # fmt: skip
    trusted = {project: {"trustedAt": "2026-01-01T00:00:00.000Z"}}
    return {".factory/settings.json": {"customModels": [model], "trustedFolders": trusted, "enableDroidShield": False}}


def _kimi(url: str, _project: str) -> Mapping[str, Any]:
    return {
        ".kimi-code/config.toml": f"""\
default_model = "scripted"
telemetry = false
[providers.scripted]
type = "openai"
base_url = {json.dumps(url + "/v1")}
api_key = "test"
[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 128000
"""
    }


def _grok(url: str, _project: str) -> Mapping[str, Any]:
    return {
        ".grok/config.toml": f"""\
[models]
default = "scripted"
[model.scripted]
model = "scripted"
base_url = {json.dumps(url + "/v1")}
api_key = "test"
api_backend = "chat_completions"
context_window = 100000
"""
    }


def _hermes(url: str, _project: str) -> Mapping[str, Any]:
    lines = ("model:", "  provider: custom", "  default: scripted", f"  base_url: {url}/v1", "  api_key: test")
    return {".hermes/config.yaml": "\n".join([*lines, "  context_length: 100000", ""])}


def _pi(url: str, _project: str) -> Mapping[str, Any]:
    models = [{"id": "scripted", "contextWindow": 128000, "maxTokens": 4000}]
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "test", "models": models}
    return {".pi/agent/models.json": {"providers": {"scripted": provider}}}


def _cline(url: str, _project: str) -> Mapping[str, Any]:
    settings = {"provider": "openai-compatible", "apiKey": "test", "model": "scripted", "baseUrl": f"{url}/v1"}
    provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": provider},
    }
    return {".cline/data/settings/providers.json": providers}


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "claude-code": Recipe(
            runs=(("{program}", "-p", _PROMPT, "--allowedTools", "Bash"),),
            environ={
                "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "IS_SANDBOX": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ANTHROPIC_BASE_URL": "{url}",
                "ANTHROPIC_API_KEY": "test",
            },
        ),
        # Whether the hooks are approved is looked at for itself.
        "codex": Recipe(
            runs=(("{program}", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", _PROMPT),),
            environ={"SCRIPTED_API_KEY": "test"}, files=_codex, tool="exec_command", command="cmd", more={},
        ),
        "gemini-cli": Recipe(
            runs=(("{program}", "-p", _PROMPT, "--approval-mode", "yolo", "-m", "gemini-2.5-flash"),),
            environ={
                "GEMINI_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_TELEMETRY_ENABLED": "false",
                "GEMINI_CLI_NO_RELAUNCH": "true",
            },
            files=_gemini, tool="run_shell_command",
        ),
        "letta-code": Recipe(
            runs=(
                ("{program}", "connect", "openai-compatible", "--base-url", "{url}/v1", "--api-key", "test", "--backend",
                 "local"),
                ("{program}", "-p", _PROMPT, "--backend", "local", "--new-agent", "-m", "openai-compatible/scripted",
                 "--toolset", "default", "--yolo"),
            ),
            environ={
                "LETTA_CODE_TELEM": "0", "DO_NOT_TRACK": "1", "DISABLE_AUTOUPDATER": "1", "SCARF_ANALYTICS": "false",
                "LETTA_LOCAL_BACKEND_EXPERIMENTAL": "1",
            },
        ),
        "qwen-code": Recipe(
            runs=(("{program}", "-p", _PROMPT, "--approval-mode", "yolo"),),
            environ={
                "OPENAI_API_KEY": "test", "OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": "scripted",
                "QWEN_TELEMETRY_ENABLED": "false", "QWEN_CODE_NO_RELAUNCH": "true",
            },
            files=_qwen, tool="run_shell_command",
        ),
        "copilot-cli": Recipe(
            runs=(("{program}", "-p", _PROMPT, "--allow-all-tools", "--no-color"),),
            environ={
                "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
                "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_API_KEY": "test", "COPILOT_MODEL": "scripted",
            },
            tool="bash",
        ),
        "opencode": Recipe(
            runs=(("{program}", "run", _PROMPT),),
            environ={
                "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            },
            files=_opencode, tool="bash", patience=240.0,
        ),
        "droid": Recipe(
            runs=(("{program}", "exec", _PROMPT, "-m", "custom:scripted-0", "--skip-permissions-unsafe"),),
            environ={"FACTORY_API_KEY": "fk-test", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"}, files=_droid,
            tool="Execute", more={"summary": "write proof", "riskLevel": "low", "riskLevelReason": "writes one file"},
        ),
        "kimi-code": Recipe(
            runs=(("{program}", "-p", _PROMPT),), environ={"KIMI_CODE_NO_AUTO_UPDATE": "1"}, files=_kimi, more={}
        ),
        "grok-build": Recipe(
            runs=(("{program}", "-m", "scripted", "-p", _PROMPT, "--always-approve"),), files=_grok,
            tool="run_terminal_command",
        ),
        # Whether the hooks are accepted is looked at for itself.
        "hermes": Recipe(
            runs=(("{program}", "chat", "-Q", "--yolo", "-q", _PROMPT, "--accept-hooks"),), environ={"OPENAI_API_KEY": "test"},
            files=_hermes, tool="terminal", more={},
        ),
        "deepagents": Recipe(
            runs=(("{program}", "-M", "openai:scripted", "--no-mcp", "-n", _PROMPT, "-S", "all", "-q"),),
            environ={
                "OPENAI_API_KEY": "test", "OPENAI_BASE_URL": "{url}/v1", "LANGSMITH_TRACING": "false",
                "DEEPAGENTS_CODE_AUTO_UPDATE": "0", "DEEPAGENTS_CODE_NO_UPDATE_CHECK": "1", "DEEPAGENTS_CODE_OFFLINE": "1",
                "DEEPAGENTS_CODE_ONBOARDING": "0",
            },
            tool="execute", more={}, patience=240.0,
        ),
        "pi": Recipe(
            runs=(("{program}", "--model", "scripted/scripted", "-p", _PROMPT),), environ={"PI_OFFLINE": "1"}, files=_pi,
            tool="bash", more={},
        ),
        "cline": Recipe(
            runs=(("{program}", _PROMPT),), environ={"CLINE_NO_AUTO_UPDATE": "1"}, files=_cline, tool="run_commands",
            command="commands", more={},
        ),
    }
)  # fmt: skip


def write_files(recipe: Recipe, home: str, project: str, url: str) -> None:
    for name, content in recipe.files(url, project).items():
        path = os.path.join(home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n")
