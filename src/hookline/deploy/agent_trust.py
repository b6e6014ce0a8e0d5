"""Whether an agent would run what is registered: its own switches, and whether it trusts the folder.

Read from the agents' own files, as far as they tell; "unknown" where only the agent itself knows.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from hookline.core._dataclass import dataclass
from hookline.core.json_edit import JsonError, scan
from hookline.deploy import allowlist, approval
from hookline.deploy.apply import read
from hookline.deploy.installed import find_registrations
from hookline.deploy.requirements import AgentFile


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trust:
    """One thing that lets the agent's hooks run, or keeps them from it; ``next`` is what to do about it."""

    state: Literal["trusted", "untrusted", "unknown"]
    why: str
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustContext:
    """Where it is looked: the project, the person's home, and the agent's program ("" where it is not found)."""

    project: str
    home: str
    environ: Mapping[str, str]
    program: str = ""


def trust_checks(aim: AgentFile, around: TrustContext) -> tuple[_Trust, ...]:
    """Everything that has a say; nothing for an agent that runs whatever is registered."""
    look = _LOOKS.get(aim.agent.name)
    return tuple(look(aim, around)) if look is not None else ()


# ── one per agent ────────────────────────────────────────────────────────────────────────────────────


def _claude(aim: AgentFile, around: TrustContext) -> Iterator[_Trust]:
    moved = around.environ.get("CLAUDE_CONFIG_DIR", "")
    base = moved if os.path.isabs(moved) else os.path.join(around.home, ".claude")
    managed = "/etc/claude-code/managed-settings.json"
    files = [
        managed, os.path.join(base, "settings.json"), os.path.join(around.project, ".claude/settings.json"),
        os.path.join(around.project, ".claude/settings.local.json"),
    ]  # fmt: skip
    yield from _switched_off(files, ("disableAllHooks",))
    yield from _switched_off([managed], ("allowManagedHooksOnly",))
    state = _settings(os.path.join(moved if os.path.isabs(moved) else around.home, ".claude.json"))
    known = _at(state, "projects")
    accepted = [root for root, one in known.items() if _at(one).get("hasTrustDialogAccepted") is True]
    if any(_inside(around.project, root) for root in accepted):
        yield _Trust(state="trusted", why="Claude Code trusts this folder")
    elif aim.scope != "user" or known:
        yield _Trust(
            state="unknown", why="Claude Code asks whether it may trust this folder when it is opened here, and runs no"
            " hook before (claude -p runs them at once)", next="open claude here once and say yes",
        )  # fmt: skip


def _codex(aim: AgentFile, around: TrustContext) -> Iterator[_Trust]:
    path = approval.config_file(around.home, around.environ)
    text, refused = read(path)
    try:
        config: Any = tomllib.loads((text or "").removeprefix("\ufeff")) if not refused else {}
    except tomllib.TOMLDecodeError as error:
        yield _Trust(state="untrusted", why=f"{path} is not valid TOML: {error}", next=f"correct {path}")
        return
    features = _at(config, "features")
    if False in (features.get("hooks"), features.get("codex_hooks")):
        yield _Trust(state="untrusted", why=f"hooks are turned off in {path} ([features])", next=f"edit {path}")
    if aim.scope == "project":
        levels = {root for root, one in _at(config, "projects").items() if _at(one).get("trust_level") == "trusted"}
        if around.project in levels:
            yield _Trust(state="trusted", why="Codex trusts this project")
        else:
            yield _Trust(
                state="untrusted", why="Codex reads a project's hooks only where it trusts the project",
                next="open codex here once and say yes",
            )  # fmt: skip
    yield from _approved(aim, around, _at(config, "hooks", "state"))


def _approved(aim: AgentFile, around: TrustContext, states: Mapping[str, Any]) -> Iterator[_Trust]:
    """Asked of Codex itself, since it alone knows the digests of today."""
    approve = f"hookline deploy --agent codex --scope {aim.scope} --approve"
    if not any(key.startswith((f"{aim.path}:", os.path.realpath(aim.path))) for key in states):
        why = "Codex skips the hooks silently, because they are not approved"
        yield _Trust(state="untrusted", why=why, next=approve)
        return
    if not around.program:
        yield _Trust(state="unknown", why="codex is not found, so its approvals cannot be compared")
        return
    listed = approval.own_states(around.program, around.project, around.environ)
    mine = [(key, digest) for key, digest in listed if key.startswith((f"{aim.path}:", os.path.realpath(aim.path)))]
    off = [key for key, _digest in mine if _at(states.get(key)).get("enabled") is False]
    bad = [key for key, digest in mine if _at(states.get(key)).get("trusted_hash") != digest]
    if not mine:
        yield _Trust(state="untrusted", why="Codex does not see the registered hooks", next=approve)
    elif off:
        yield _Trust(state="untrusted", why=f"{len(off)} of them are turned off in Codex", next="open codex: /hooks")
    elif bad:
        yield _Trust(
            state="untrusted", next=approve,
            why=f"Codex skips {len(bad)} of {len(mine)} hooks silently, because they are not approved",
        )  # fmt: skip
    else:
        yield _Trust(state="trusted", why=f"all {len(mine)} hooks are approved in Codex")


def _gemini(aim: AgentFile, around: TrustContext) -> Iterator[_Trust]:
    """In a folder that it does not trust it runs no hooks at all, not even the person's own."""
    own = ".gemini" if aim.agent.name == "gemini-cli" else ".qwen"
    files = [os.path.join(around.home, own, "settings.json"), os.path.join(around.project, own, "settings.json")]
    yield from _switched_off(files, ("disableAllHooks",))
    for file in files:
        if _at(_settings(file), "hooksConfig").get("enabled") is False:
            yield _Trust(state="untrusted", why=f"hooks are turned off in {file} (hooksConfig)", next=f"edit {file}")
    default = aim.agent.name == "gemini-cli"
    asks = _at(_settings(files[0]), "security", "folderTrust").get("enabled", default)
    if asks is False or around.environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        yield _Trust(state="trusted", why=f"{aim.agent.program} does not ask for trust in folders")
        return
    rules = _settings(os.path.join(around.home, own, "trustedFolders.json"))
    best, trust = "", ""
    for folder, level in rules.items():
        root = os.path.dirname(folder) if level == "TRUST_PARENT" else folder
        if _inside(around.project, root) and len(root) > len(best):
            best, trust = root, str(level)
    if trust.startswith("TRUST"):
        yield _Trust(state="trusted", why=f"{aim.agent.program} trusts {best}")
    else:
        yield _Trust(
            state="untrusted", why=f"{aim.agent.program} does not trust this folder, and runs no hook in it",
            next=f"open {aim.agent.program} here and trust the folder",
        )  # fmt: skip


def _letta(_aim: AgentFile, around: TrustContext) -> Iterator[_Trust]:
    names = (".letta/settings.json", ".letta/settings.local.json")
    for file in (os.path.join(around.home, names[0]), *(os.path.join(around.project, name) for name in names)):
        if _at(_settings(file), "hooks").get("disabled") is True:
            yield _Trust(state="untrusted", why=f"hooks are turned off in {file}", next=f"edit {file}")


def _copilot(aim: AgentFile, around: TrustContext) -> Iterator[_Trust]:
    yield from _switched_off([aim.path], ("disableAllHooks",))
    if aim.scope == "user":
        return
    config = _settings(os.path.join(around.home, ".copilot/config.json"))
    listed = config.get("trusted_folders") or config.get("trustedFolders")
    folders = listed if isinstance(listed, list) else []
    if any(isinstance(folder, str) and _inside(around.project, folder) for folder in folders):
        yield _Trust(state="trusted", why="Copilot trusts this folder")
    else:
        yield _Trust(
            state="unknown", why="Copilot reads a project's hooks only where it trusts the folder; copilot -p needs"
            " GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true", next="open copilot here once and trust the folder",
        )  # fmt: skip


def _droid(aim: AgentFile, around: TrustContext) -> Iterator[_Trust]:
    folders = _at(_settings(os.path.join(around.home, ".factory/settings.json")), "trustedFolders")
    if not any(_inside(around.project, folder) for folder in folders):
        yield _Trust(
            state="unknown", why="Droid asks whether it may trust this folder when it is opened here, and runs no hook"
            " before (droid exec runs them at once)", next="open droid here once and say yes",
        )  # fmt: skip


def _hermes(_aim: AgentFile, around: TrustContext) -> Iterator[_Trust]:
    """Every pair of event and command must be on its list."""
    given = {
        (one.get("event"), one.get("command"))
        for one in allowlist.read_approvals(allowlist.list_file(around.home, around.environ))
        if isinstance(one, dict)
    }
    mine = [(entry.event, entry.command) for entry in find_registrations(_aim.path)]
    missing = [pair for pair in mine if pair not in given]
    if not missing:
        yield _Trust(state="trusted", why=f"all {len(mine)} hooks are accepted in Hermes")
    elif around.environ.get("HERMES_ACCEPT_HOOKS", "").lower() not in {"1", "true", "yes", "on"}:
        yield _Trust(
            state="untrusted", why=f"Hermes skips {len(missing)} of {len(mine)} hooks silently, because they are not accepted",
            next="hookline deploy --agent hermes --approve",
        )  # fmt: skip


def _only_project(why: str, then: str) -> Callable[[AgentFile, TrustContext], Iterator[_Trust]]:
    """An agent that keeps its trust where only it can look."""

    def look(aim: AgentFile, _around: TrustContext) -> Iterator[_Trust]:
        if aim.scope != "user":
            yield _Trust(state="unknown", why=why, next=then)

    return look


_LOOKS: Mapping[str, Callable[[AgentFile, TrustContext], Iterator[_Trust]]] = {
    "claude-code": _claude, "codex": _codex, "gemini-cli": _gemini, "qwen-code": _gemini, "letta-code": _letta,
    "copilot-cli": _copilot, "droid": _droid, "hermes": _hermes,
    "grok-build": _only_project("Grok Build skips a project's hooks silently where it does not trust the folder", "grok --trust"),
    "pi": _only_project("pi skips a project's extensions silently where it does not trust the project", "pi --approve"),
    "deepagents": _only_project("deepagents-code reads a project's hooks only if told to", "deepagents-code --trust-project-hooks"),
}  # fmt: skip


# ── their files ──────────────────────────────────────────────────────────────────────────────────────


def _switched_off(files: list[str], names: tuple[str, ...]) -> Iterator[_Trust]:
    for file in files:
        for name in names:
            if _settings(file).get(name) is True:
                yield _Trust(state="untrusted", why=f"hooks are turned off in {file} ({name})", next=f"edit {file}")


def _settings(path: str) -> Mapping[str, Any]:
    """A settings file of an agent's, which may have comments; empty where it cannot be read."""
    text, refused = read(path)
    plain = "" if refused else (text or "").removeprefix("\ufeff").strip()
    try:
        value = scan(plain).plain() if plain else None
    except JsonError:
        return {}
    return value if isinstance(value, dict) else {}


def _at(value: Any, *names: str) -> Mapping[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _inside(path: str, folder: str) -> bool:
    real, root = os.path.realpath(path), os.path.realpath(folder).rstrip("/")
    return real == root or real.startswith(root + "/")
