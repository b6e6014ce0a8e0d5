"""What approves or loosens is refused to a process with an agent above it; what only tightens or shows is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Project, Result

GUARD = "[[hook]]\nname = 'guard'\non = 'PreToolUse'\nshell = 'exit 2'\n"
REFUSED = "in a terminal of your own: hookline"

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="ancestors cannot be seen here")


@pytest.fixture
def deployed(project: Project) -> Project:
    project.write(".hookline/hookline.toml", GUARD)
    own = project.home / ".config" / "hookline"
    own.mkdir(parents=True)
    (own / "hookline.toml").write_text(GUARD.replace("guard", "own"))
    (project.home / ".claude").mkdir()
    assert project.run("deploy", "--agent", "claude").code == 0
    return project


def inside(project: Project, *words: str, agent: str = "claude", **environ: str) -> Result:
    """``hookline`` as a grandchild of a program of the agent's name, through a shell, as agents run commands."""
    program = project.home / "bin" / agent
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        f'#!{sys.executable}\nimport subprocess, sys\nsys.exit(subprocess.call(["sh", "-c", sys.argv[1]]))\n'
    )
    program.chmod(0o755)
    line = f"{sys.executable} -m hookline {' '.join(words)}; exit $?"
    done = subprocess.run(
        [str(program), line], cwd=project.path, capture_output=True, text=True, timeout=100, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home), "LANG": "C.UTF-8", **environ},
    )  # fmt: skip
    return Result(done.returncode, done.stdout, done.stderr)


#: Between the agent and hookline: more shells than anybody needs, and a process whose first thread has ended.
DEEP = """n=$1; shift; [ "$n" = 0 ] || { sh "$0" $((n - 1)) "$@"; exit $?; }; "$@"; exit $?"""
HEADLESS = """
import ctypes, os, subprocess, sys, threading

def work():
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z":
        pass
    os._exit(subprocess.call(sys.argv[1:]))

threading.Thread(target=work).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.mark.parametrize(
    ("program", "text", "more"), [("sh", DEEP, ("60",)), (sys.executable, HEADLESS, ())], ids=["deep", "headless"]
)
def test_an_agent_cannot_hide_behind_the_processes_between(
    deployed: Project, program: str, text: str, more: tuple[str, ...]
) -> None:
    between = deployed.home / "between"
    between.write_text(text)
    line = f"{program} {between} {' '.join(more)} {sys.executable} -m hookline hooks off own"
    result = inside(deployed, "--version;", line)
    assert (result.code, REFUSED in result.err) == (64, True), result


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode"])
@pytest.mark.parametrize(
    "words", [("trust", "--yes"), ("trust", "--revoke", "guard"), ("hooks", "off", "own"), ("undeploy",)]
)
def test_an_agent_cannot_loosen_what_guards_it(deployed: Project, words: tuple[str, ...], agent: str) -> None:
    settings = deployed.home / ".claude" / "settings.json"
    before = settings.read_bytes()
    result = inside(deployed, *words, agent=agent)
    assert result.code == 64
    assert f"{REFUSED} {' '.join(words)}" in result.err
    assert settings.read_bytes() == before
    assert json.loads(deployed.run("list", "--json").out)["hooks"][0]["trust"] in {"own", "unknown"}


@pytest.mark.parametrize(
    "words", [("undeploy",), ("deploy", "--agent", "claude"), ("init", "--yes", "--guard", "watch")]
)
def test_another_state_directory_does_not_free_a_registration(deployed: Project, words: tuple[str, ...]) -> None:
    settings = deployed.home / ".claude" / "settings.json"
    before = settings.read_bytes()
    result = inside(deployed, *words, XDG_STATE_HOME=f"{deployed.home}/other", XDG_CONFIG_HOME=f"{deployed.home}/none")
    assert (result.code in {1, 64}, settings.read_bytes()) == (True, before), result
    assert REFUSED in result.err


@pytest.mark.parametrize("words", [("trust", "--yes"), ("hooks", "off", "own"), ("undeploy",)])
def test_without_an_agent_above_no_terminal_is_needed(deployed: Project, words: tuple[str, ...]) -> None:
    assert deployed.run(*words).code == 0


def test_a_state_directory_without_registrations_is_free(project: Project) -> None:
    project.write(".hookline/hookline.toml", GUARD)
    assert inside(project, "trust", "--yes").code == 0


@pytest.mark.parametrize(
    "words", [("hooks", "on", "own"), ("trust", "--list"), ("deploy", "--agent", "claude"), ("check",)]
)
def test_what_tightens_or_shows_works_inside_an_agent(deployed: Project, words: tuple[str, ...]) -> None:
    assert inside(deployed, *words).code in {0, 1}


def test_a_deleted_manifest_frees_nothing(deployed: Project) -> None:
    (deployed.home / ".local/state/hookline/deployed.json").unlink()
    assert inside(deployed, "trust", "--yes").code == 64


def test_a_variable_counts_where_there_is_no_terminal(deployed: Project) -> None:
    assert deployed.run("trust", "--yes", CLAUDECODE="1").code == 64


def test_a_program_in_the_agents_package_is_the_agent(deployed: Project, tmp_path: Path) -> None:
    script = tmp_path / "node_modules" / "@google" / "gemini-cli" / "bundle" / "start.py"
    script.parent.mkdir(parents=True)
    script.write_text("import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))\n")
    done = subprocess.run(
        [sys.executable, str(script), sys.executable, "-m", "hookline", "trust", "--yes"],
        cwd=deployed.path, env={"PATH": os.environ["PATH"], "HOME": str(deployed.home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, REFUSED in done.stderr) == (64, True)


def test_our_own_agents_are_agents(deployed: Project, tmp_path: Path) -> None:
    program = tmp_path / "hookline"
    program.write_text("import subprocess, sys; sys.exit(subprocess.call(sys.argv[2:]))\n")
    done = subprocess.run(
        [sys.executable, str(program), "chat", sys.executable, "-m", "hookline", "trust", "--yes"],
        cwd=deployed.path, env={"PATH": os.environ["PATH"], "HOME": str(deployed.home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, REFUSED in done.stderr) == (64, True)


@pytest.mark.parametrize(
    "words", [("deploy", "--agent", "claude", "--events", "Stop"), ("deploy", "--agent", "codex", "--approve")]
)
def test_a_deployment_that_loosens_is_refused_inside_an_agent(deployed: Project, words: tuple[str, ...]) -> None:
    settings = deployed.home / ".claude" / "settings.json"
    before = settings.read_bytes()
    result = inside(deployed, *words)
    assert result.code != 0
    assert REFUSED in result.out + result.err
    assert settings.read_bytes() == before


@pytest.mark.parametrize("text", ["", GUARD.replace("exit 2", "exit 0")])
def test_an_agent_points_no_entry_to_another_directory(deployed: Project, text: str) -> None:
    settings = deployed.home / ".claude" / "settings.json"
    before = settings.read_bytes()
    other = deployed.home / "other" / "hookline" / "hookline.toml"
    other.parent.mkdir(parents=True)
    other.write_text(text)
    inside(deployed, "deploy", "--agent", "claude", XDG_CONFIG_HOME=str(deployed.home / "other"))
    assert settings.read_bytes() == before
