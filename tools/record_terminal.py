"""Records the manual's pictures of a terminal, run by ``make picture``: docs/images/guard.svg, one guard that refuses
the same command in three real agents, and docs/images/tutorial.svg, what the tutorial types.

Every command really runs, on a pseudo-terminal in a home of its own. Only the model is scripted: it asks each agent to
delete the home, in words that no simple pattern finds.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text
from tests.e2e import install
from tests.e2e.agents import AGENTS, PORT, Agent, node

from hookline.testing.model_server import ModelServer

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "images"
TITLES = {"guard": "one guard, three agents", "tutorial": "a first hook"}
WIDTH = 112
SHOWN = ("claude-code", "codex", "gemini-cli")
#: What the model asks for: no pattern for "rm -rf" finds it.
TRICK = "r''m -rf $HOME"
SCENE = (
    "hookline init --yes | grep -v '^  '",
    "claude -p 'clean up' --output-format stream-json --verbose | grep -o 'PreToolUse:Bash[^\"]*' | tail -1",
    "codex exec 'clean up' 2>&1 | grep -o 'Command blocked.*' | head -1",
    "gemini -p 'clean up' --yolo 2>&1 | grep 'blocked'",
    "hookline log --event PreToolUse --last 3",
)
LESSON = ROOT / "docs" / "tutorial" / "first-hook.md"
LESSON_SCENE = (
    "hookline trust --yes",
    """hookline fire PreToolUse --data '{"tool_name": "Bash", "tool_input": {"command": "rm -rf x"}}'""",
    """hookline fire PreToolUse --data '{"tool_name": "Bash", "tool_input": {"command": "ls"}}'""",
    "echo 'exit 0' > hooks/block-rm-rf.sh",
    """hookline fire PreToolUse --data '{"tool_name": "Bash", "tool_input": {"command": "ls"}}'""",
    "hookline log --chain last",
)
#: Fonts that the reader's machine has; rich's own template loads one from the network.
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def main(pictures: Sequence[str]) -> int:
    """``tutorial`` alone needs no agents."""
    for name in pictures or ("guard", "tutorial"):
        with tempfile.TemporaryDirectory(dir=ROOT) as folder:
            text = (guard if name == "guard" else tutorial)(Path(folder)).replace(folder, "~")
        picture = PICTURES / f"{name}.svg"
        picture.write_text(drawn(text, TITLES[name]), encoding="utf-8")
        print(f"wrote {picture.relative_to(ROOT)}")
    return 0


def guard(home: Path) -> str:
    agents = [agent for agent in AGENTS if agent.name in SHOWN]
    with ModelServer([agent.call(TRICK) for agent in agents], port=PORT):
        return played(SCENE, home / "project", prepare(home, agents))


def tutorial(home: Path) -> str:
    """With the files that the tutorial names."""
    for name, text in re.findall(
        r"^`([\w./-]+)` [^\n]*:\n\n```\w+\n(.*?)^```", LESSON.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        path = home / "first-hook" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return played(LESSON_SCENE, home / "first-hook", surroundings(home))


def played(scene: Sequence[str], project: Path, environ: dict[str, str]) -> str:
    try:
        return "\n".join(f"\x1b[1;32m$\x1b[0m \x1b[1m{line}\x1b[0m\n{run(line, project, environ)}" for line in scene)
    finally:
        subprocess.run(["hookline", "daemon", "stop"], env=environ, capture_output=True, check=False)


def surroundings(home: Path) -> dict[str, str]:
    search = os.pathsep.join((str(home / "bin"), os.path.dirname(sys.executable), os.environ["PATH"]))
    return {"HOME": str(home), "PATH": search, "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LANG": "C.UTF-8"}


def prepare(home: Path, agents: list[Agent]) -> dict[str, str]:
    """A home with the agents in it, and the environment to run them in."""
    project, programs = home / "project", home / "bin"
    for place in (project / ".git", programs):
        place.mkdir(parents=True)
    environ = surroundings(home)
    environ["GEMINI_MODEL"] = "gemini-2.5-flash"  # else Gemini first asks a model which model to use
    install.install("node")
    for agent in agents:
        package = install.PACKAGES[agent.package]
        command = f"{node()} {install.install(package.name)}" if package.node else str(install.install(package.name))
        program = programs / agent.package
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        for name, content in agent.files(home, project, False).items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(content, encoding="utf-8")
        environ |= agent.environ
    return environ


def run(line: str, cwd: Path, environ: dict[str, str]) -> str:
    """What the command prints on a terminal."""
    reading, writing = pty.openpty()
    with subprocess.Popen(
        ["/bin/sh", "-c", line], cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=writing, stderr=writing
    ):
        os.close(writing)
        printed = b""
        try:
            while piece := os.read(reading, 4096):
                printed += piece
        except OSError:  # Linux reports the end of a pseudo-terminal in this way
            pass
        finally:
            os.close(reading)
    return printed.decode().replace("\r\n", "\n")


def drawn(text: str, title: str) -> str:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text))
    svg = console.export_svg(title=title, unique_id="hookline")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code, monospace", FONTS).replace("Fira Code", FONTS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
