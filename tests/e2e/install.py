"""Installs the real agents, at pinned versions, into a cache outside of the repository: ``python -m tests.e2e.install [NAME]…``.

``HOOKLINE_AGENTS_DIR`` moves the cache (default: ``hookline-agents`` in ``$XDG_CACHE_HOME`` or ``~/.cache``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """One agent as npm has it. ``program`` is what is run, below the agent's own directory."""

    name: str
    version: str
    #: What is given to ``npm install``; ``packed`` is fetched and unpacked as it is instead.
    install: tuple[str, ...]
    program: str
    packed: str = ""
    #: Written for Node 22; the others are native programs or run on any.
    node: bool = False


PACKAGES = {
    package.name: package
    for package in (
        Package(
            name="claude", version="2.1.325", install=("@anthropic-ai/claude-code@2.1.325",),
            program="node_modules/@anthropic-ai/claude-code-linux-x64/claude",
        ),
        Package(
            name="codex", version="0.166.0", install=("@openai/codex@0.166.0",),
            program="node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        ),
        Package(name="node", version="22.23.3", install=("node@22.23.3",), program="node_modules/node/bin/node"),
        Package(
            name="gemini", version="0.61.0", install=("@google/gemini-cli@0.61.0",),
            program="node_modules/@google/gemini-cli/bundle/gemini.js", node=True,
        ),
        # Its dependencies are bundled, and some of them are not in every registry: only what it loads is installed.
        Package(
            name="letta", version="0.32.18", install=("ws@8", "node-pty@1.1.0", "@vscode/ripgrep@1"),
            packed="@letta-ai/letta-code@0.32.18", program="node_modules/@letta-ai/letta-code/letta.js", node=True,
        ),
        Package(
            name="qwen", version="0.24.4", install=("@qwen-code/qwen-code@0.24.4",),
            program="node_modules/@qwen-code/qwen-code/cli-entry.js", node=True,
        ),
        Package(
            name="copilot", version="1.0.102", install=("@github/copilot@1.0.102",),
            program="node_modules/@github/copilot-linux-x64/copilot",
        ),
        # It installs the last of these itself when it starts; here it finds it, since it is offline.
        Package(
            name="opencode", version="1.18.33", install=("opencode-ai@1.18.33", "@opencode-ai/plugin@1.18.33"),
            program="node_modules/opencode-linux-x64/bin/opencode",
        ),
    )
}  # fmt: skip


def cache() -> Path:
    given = os.environ.get("HOOKLINE_AGENTS_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(given or os.path.join(base, "hookline-agents"))


def directory(package: Package) -> Path:
    return cache() / f"{package.name}-{package.version}"


def program(name: str) -> Path | None:
    """The installed program of an agent; None when it is not there."""
    file = directory(PACKAGES[name]) / PACKAGES[name].program
    return file if file.is_file() else None


def install(name: str) -> Path:
    package = PACKAGES[name]
    found = program(name)
    if found is not None:
        return found
    place = directory(package)
    place.mkdir(parents=True, exist_ok=True)
    npm("install", "--prefix", str(place), "--no-audit", "--no-fund", "--no-package-lock", *package.install, cwd=place)
    if package.packed:
        unpack(package, place)
    installed = program(name)
    if installed is None:
        raise SystemExit(f"{name}: npm has installed something, but not {package.program}")
    return installed


def unpack(package: Package, place: Path) -> None:
    archive = npm("pack", package.packed, "--silent", cwd=place).strip().splitlines()[-1]
    target = place / "node_modules" / package.packed.rpartition("@")[0]
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-xzf", archive, "-C", target, "--strip-components=1"], cwd=place, check=True)
    (place / archive).unlink()


def npm(*words: str, cwd: Path) -> str:
    tool = shutil.which("npm")
    if tool is None:
        raise SystemExit("npm is not installed: the real agents come from there")
    done = subprocess.run([tool, *words], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"npm {' '.join(words)}:\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    for wanted in sys.argv[1:] or PACKAGES:
        sys.stdout.write(f"{wanted:8} {install(wanted)}\n")
        sys.stdout.flush()
