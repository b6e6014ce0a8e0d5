"""Installs the real agents, at pinned versions, into a cache outside of the repository: ``python -m tests.e2e.install [NAME]…``.

``HOOKLINE_E2E_AGENTS`` names the agents that are tried, each perhaps with another version: ``claude-code@2.2.0 codex``.
``python -m tests.e2e.install --resolve claude-code@latest`` prints which version that is today.

``HOOKLINE_AGENTS_DIR`` moves the cache (default: ``hookline-agents`` in ``$XDG_CACHE_HOME`` or ``~/.cache``).
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from hookline.core.agents import full_name, select_agents


class NotInstalledError(Exception):
    """An agent that cannot be had here; the message says why."""


@dataclass(frozen=True)
class Package:
    """One agent as npm or PyPI has it. ``program`` is what is run, below the agent's own directory."""

    name: str
    version: str
    #: What is given to ``npm install``, or to ``pip install`` where the program is in a virtual environment; ``packed``
    #: is fetched from npm and unpacked as it is.
    install: tuple[str, ...]
    program: str
    packed: str = ""
    #: A program that comes compressed: it is unpacked beside itself.
    compressed: str = ""
    #: Written for Node 22; the others are native programs or run on any.
    node: bool = False

    @property
    def published(self) -> str:
        """Its name in its registry."""
        first = self.packed or self.install[0]
        return re.split(r"\[|==", first)[0] if self.in_venv else first.rpartition("@")[0]

    @property
    def in_venv(self) -> bool:
        return self.program.startswith("venv/")

    def at(self, version: str) -> Package:
        """The same, in another version."""

        def moved(word: str) -> str:
            name, mark, old = word.rpartition("==" if self.in_venv else "@")
            return f"{name}{mark}{version}" if old == self.version else word

        return replace(self, version=version, install=tuple(map(moved, self.install)), packed=moved(self.packed))


PACKAGES = {
    package.name: package
    for package in (
        Package(
            name="claude", version="2.1.327", install=("@anthropic-ai/claude-code@2.1.327",),
            program="node_modules/@anthropic-ai/claude-code-linux-x64/claude",
        ),
        Package(
            name="codex", version="0.169.0", install=("@openai/codex@0.169.0",),
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
        Package(
            name="droid", version="0.215.0", install=("droid@0.215.0",),
            program="node_modules/@factory/cli-linux-x64/bin/droid",
        ),
        Package(
            name="kimi", version="2.1.0", install=("@moonshot-ai/kimi-code@2.1.0",),
            program="node_modules/@moonshot-ai/kimi-code/dist/main.mjs", node=True,
        ),
        # Its own install script would ask the network for more; the compressed program is all that is needed.
        Package(
            name="grok", version="1.0.41", install=("@xai-official/grok@1.0.41", "--ignore-scripts"),
            program="node_modules/@xai-official/grok-linux-x64/bin/grok",
            compressed="node_modules/@xai-official/grok-linux-x64/bin/grok.br",
        ),
        Package(name="hermes", version="0.19.0", install=("hermes-agent[mcp]==0.19.0",), program="venv/bin/hermes"),
        Package(
            name="deepagents", version="0.1.57", install=("deepagents-code==0.1.57",), program="venv/bin/deepagents-code"
        ),
        # Bundled: it loads only these two from outside, and some of its declared dependencies are not in every registry.
        Package(
            name="pi", version="1.5.2", install=("jiti@2.7.0", "quickjs-wasi@3.6.2"),
            packed="@earendil-works/pi-coding-agent@1.5.2",
            program="node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js", node=True,
        ),
        Package(
            name="cline", version="3.0.65", install=("cline@3.0.65",), program="node_modules/@cline/cli-linux-x64/bin/cline"
        ),
    )
}  # fmt: skip


def wanted(text: str) -> dict[str, str]:
    """The agents of ``claude-code@2.2.0 codex`` by their full names, each with its version, "" for the pinned one."""
    pairs = [word.partition("@")[::2] for word in text.split()]
    return {select_agents([name])[0].name: version for name, version in pairs}


#: The agents that are tried, if not all are.
WANTED = wanted(os.environ.get("HOOKLINE_E2E_AGENTS", ""))
PACKAGES |= {
    package.name: package.at(version)
    for package in PACKAGES.values()
    if (version := WANTED.get(full_name(package.name), ""))
}


def latest(package: Package) -> str:
    """The newest version that is published. Raises ``NotInstalledError``."""
    end = time.monotonic() + 120
    here = Path.cwd()
    if not package.in_venv:
        return npm("view", package.published, "version", cwd=here, end=end).strip()
    words = (
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--dry-run",
        "--no-deps",
        "--ignore-installed",
        "--report",
        "-",
    )
    told = json.loads(run(sys.executable, "-m", "pip", *words, package.published, cwd=here, end=end))
    return str(told["install"][0]["metadata"]["version"])


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


def install(name: str, seconds: float | None = None) -> Path:
    """Raises ``NotInstalledError``, also when it takes longer than that; half an installation is never left behind."""
    package = PACKAGES[name]
    place = directory(package)
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{place}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = program(name)
        if found is None:
            _fetch(package, place, time.monotonic() + (seconds or 3600))
            found = program(name)
    if found is None:
        raise NotInstalledError(f"something was installed, but not {package.program}")
    return found


def _fetch(package: Package, place: Path, end: float) -> None:
    new = place.with_name(f"{place.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    shutil.rmtree(place, ignore_errors=True)
    if package.in_venv:
        # Its scripts name the directory they were made in, so it is made in its place; the program comes last.
        run(sys.executable, "-m", "venv", str(place / "venv"), cwd=new, end=end)
        python = str(place / "venv/bin/python")
        run(
            python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *package.install, cwd=new, end=end
        )
        new.rmdir()
        return
    words = ("--no-audit", "--no-fund", "--no-package-lock", *package.install)
    npm("install", "--prefix", str(new), *words, cwd=new, end=end)
    if package.packed:
        unpack(package, new, end)
    if package.compressed:
        decompress(new / package.compressed, end)
    new.rename(place)


def decompress(file: Path, end: float) -> None:
    """Node can, and Python's own library cannot."""
    tool = shutil.which("node")
    if tool is None:
        raise NotInstalledError("there is no node, which unpacks the program")
    code = "const fs=require('fs'),[,from,to]=process.argv;fs.writeFileSync(to,require('zlib').brotliDecompressSync(fs.readFileSync(from)),{mode:0o755})"
    run(tool, "-e", code, str(file), str(file.with_suffix("")), cwd=file.parent, end=end)


def unpack(package: Package, place: Path, end: float) -> None:
    archive = npm("pack", package.packed, "--silent", cwd=place, end=end).strip().splitlines()[-1]
    target = place / "node_modules" / package.packed.rpartition("@")[0]
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-xzf", archive, "-C", target, "--strip-components=1"], cwd=place, check=True)
    (place / archive).unlink()


def npm(*words: str, cwd: Path, end: float) -> str:
    tool = shutil.which("npm")
    if tool is None:
        raise NotInstalledError("there is no npm, and the real agents come from there")
    return run(tool, *words, cwd=cwd, end=end)


def run(*words: str, cwd: Path, end: float) -> str:
    """A group of its own, so that what it started ends with it."""
    name = " ".join([os.path.basename(words[0]), *words[1:4]])
    with subprocess.Popen(
        words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as running:  # fmt: skip
        try:
            out, err = running.communicate(timeout=max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            raise NotInstalledError(f"{name} was not done in time") from None
    if running.returncode:
        said = " ".join(line.removeprefix("npm error ") for line in err.splitlines()[:4])
        raise NotInstalledError(f"{name}: {said[:300]}")
    return out


def resolve(text: str) -> str:
    """``claude-code@latest`` with the version of today."""
    found = wanted(text)
    for name, version in found.items():
        if version == "latest":
            found[name] = latest(next(one for one in PACKAGES.values() if full_name(one.name) == name))
    return " ".join(f"{name}@{version}" if version else name for name, version in found.items())


def needed() -> list[str]:
    return [name for name in PACKAGES if not WANTED or name == "node" or full_name(name) in WANTED]


def main(names: list[str]) -> int:
    if names[:1] == ["--resolve"]:
        sys.stdout.write(f"{resolve(' '.join(names[1:]))}\n")
        return 0
    failed = False
    for name in names:
        try:
            told = str(install(name))
        except NotInstalledError as error:
            told, failed = f"NOT INSTALLED: {error}", True
        sys.stdout.write(f"{name:8} {told}\n")
        sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or needed()))
