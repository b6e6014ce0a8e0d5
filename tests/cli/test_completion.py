"""The completion scripts, in real shells: a line is typed, Tab is pressed, and what stands there then is read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import SUPPRESS
from pathlib import Path
from typing import Any

import pytest
from argcomplete.finders import CompletionFinder
from tests.cli.terminal import Terminal

from hookline.cli import COMMANDS, command_module, command_parser
from hookline.cli.complete import completion_parser

#: The line, and what Tab makes of it.
LINES = [
    ("hookline exp", "hookline explain "),
    ("lh exp", "lh explain "),
    ("hookline knowledge sea", "hookline knowledge search "),
    ("hookline knowledge search --ki", "hookline knowledge search --kind "),
    ("hookline knowledge search --kind dec", "hookline knowledge search --kind decision "),
    ("hookline daemon sta", "hookline daemon sta"),  # start and status
    ("hookline daemon star", "hookline daemon start "),
    ("hookline hooks ru", "hookline hooks run "),
    ("hookline hooks --dialect lash ru", "hookline hooks --dialect lash run "),
    ("hookline hooks run guard --ev", "hookline hooks run guard --event "),
    ("hookline hooks run keep", "hookline hooks run keep-out.sh "),
    ("hookline hooks off keep-out.sh --fo", "hookline hooks off keep-out.sh --for "),
    ("hookline log --hook=keep", "hookline log --hook=keep-out.sh "),
    ("lh trust --revoke keep", "lh trust --revoke keep-out.sh "),
    ("hookline hooks remove ", "hookline hooks remove keep-out.sh "),  # the other names mean something to a shell
    ("hookline hooks add keep", "hookline hooks add keep"),  # a new name
    ("hookline hooks add mine --to pr", "hookline hooks add mine --to project "),
    ("hookline deploy --agent cop", "hookline deploy --agent copilot-cli "),
    ("hookline explain Stop --agent=cop", "hookline explain Stop --agent=copilot-cli "),
    ("hookline fire PreToolU", "hookline fire PreToolUse "),
    ("hookline fire --json PreToolU", "hookline fire --json PreToolUse "),
    ("hookline fire --dialect lectic tool_use_pr", "hookline fire --dialect lectic tool_use_pre "),
    ("hookline fire --dialect=gemini BeforeToolS", "hookline fire --dialect=gemini BeforeToolSelection "),
    ("hookline list --events --dialect lec", "hookline list --events --dialect lectic "),
    ("hookline convert --from mem", "hookline convert --from memex "),
    ("hookline log --status tim", "hookline log --status timed-out "),
    ("hookline fire Stop --config 'a f", "hookline fire Stop --config 'a file.toml' "),
    ("hookline check a\\ f", "hookline check a\\ file.toml "),
    ("hookline help dae", "hookline help daemon "),
    ("hookline help fail-", "hookline help fail-closed "),
    ("hookline help how-to/fail-", "hookline help how-to/fail-closed "),
]

PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(scope="module", params=["bash", "zsh"])
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    program = shutil.which(request.param)
    if program is None:
        pytest.skip(f"{request.param} is not here; make shells installs it")
    place = tmp_path_factory.mktemp("completion")
    (place / "a file.toml").touch()
    _hooks_in(place)
    script = place / "script"
    script.write_text(_script(request.param))
    quiet = ["--norc", "--noprofile", "-i"] if request.param == "bash" else ["-f", "-i"]
    environ = {"PATH": PATH, "HOME": str(place), "LANG": "C.UTF-8", "PS1": "$ "}
    terminal = Terminal([program, *quiet], cwd=place, environ=environ)
    terminal.ready()
    # Lines are printed instead of run: Enter shows what the shell made of them.
    stop = "bind 'set enable-bracketed-paste off'\n" if request.param == "bash" else ""
    terminal.type(
        f"{stop}hookline() {{ printf '<%s>' hookline \"$@\"; echo; }}; lh() {{ printf '<%s>' lh \"$@\"; echo; }}\n"
    )
    terminal.type(f". '{script}'; echo all' 'set\n")
    terminal.wait_for("all set")
    yield terminal
    terminal.hang_up()
    terminal.ended()
    assert not (place / "taken").exists()


def _hooks_in(home: Path) -> None:
    """One with a name like any other, and names by which a stranger would have a shell do something."""
    names = ["keep-out.sh", "$(touch taken)", "`touch taken`", "a b", "*", "~", "--json", "{a,b}", "x;y", "x'y"]
    own = home / ".config" / "hookline" / "hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text("".join(f'[[hook]]\nname = "{name}"\non = "PreToolUse"\nshell = "touch taken"\n' for name in names))


def _script(shell: str) -> str:
    words = [sys.executable, "-m", "hookline", "completion", shell]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def _as_typed(line: str) -> str:
    """The words of a line, as the shell's own reader sees them."""
    script = f"set -- {line}; printf '<%s>' \"$@\""
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("typed", "becomes"), LINES)
def test_tab_completes(shell: Terminal, typed: str, becomes: str) -> None:
    shell.type(f"{typed}\t")
    shell.type("\x05 END\n")  # to the end of the line, whatever the cursor does
    shell.wait_for(_as_typed(f"{becomes} END"))


def test_names_of_hooks_are_told_without_running_anything(project: Any) -> None:
    _hooks_in(project.home)
    done = project.run("completion", "names")
    assert (done.code, done.out, done.err) == (0, "keep-out.sh\n", "")
    assert not (project.path / "taken").exists()
    assert not (project.home / ".local").exists()


def _completed(line: str) -> set[str]:
    *words, prefix = line.split(" ")
    finder = CompletionFinder(completion_parser(line), always_complete_options=False)
    return {one.strip() for one in finder._get_completions(words, prefix, "", None)}


def test_every_command_and_every_option_is_completed() -> None:
    assert set(COMMANDS) <= _completed("hookline ")
    for command in COMMANDS:
        parser = command_parser(command, command_module(command))
        shown = [action for action in parser._actions if action.help != SUPPRESS]
        options = {name for action in shown for name in action.option_strings if name.startswith("--")}
        assert options <= _completed(f"hookline {command} --"), command


def test_commands_within_commands_are_completed() -> None:
    assert {"search", "show", "forget"} <= _completed("hookline knowledge ")
    assert {"approve"} <= _completed("hookline editor a")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not here; make shells installs it")
@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("hookline exp", ["explain"]),
        ("hookline help fail-", ["fail-closed"]),
        ("hookline knowledge sea", ["search"]),
        ("lh deploy --agent cop", ["copilot-cli"]),
        ("hookline hooks run ", ["keep-out.sh"]),
        ("hookline log --hook ", ["keep-out.sh"]),
        ("hookline hooks run keep-out.sh --in", []),  # that is an option of hookline run
        ("hookline hooks add ", []),
    ],
)
def test_fish_completes(tmp_path: Path, line: str, answers: list[str]) -> None:
    _hooks_in(tmp_path)
    script = tmp_path / "script.fish"
    script.write_text(_script("fish"))
    ask = ["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"]
    environ = {"PATH": PATH, "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    told = subprocess.run(ask, capture_output=True, text=True, check=True, cwd=tmp_path, env=environ).stdout
    assert [one.split("\t")[0] for one in told.splitlines()] == answers
    assert not (tmp_path / "taken").exists()
