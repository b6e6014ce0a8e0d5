"""A shell with hookline looks like one without it: both in tmux, side by side, on the same routes.

Half a minute of routes is in the gate; ``make shells-screens`` walks all of them, without a hook and with a guard, and
the habits and days also with programs that only observe.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from tests.patience import eventually
from tests.shell import routes_days as days
from tests.shell import routes_habits as habits
from tests.shell import routes_week as week
from tests.shell.house import BIN
from tests.shell.routes import BASH, COMMON, NEEDS, WATCHED, ZSH, Route
from tests.shell.tmux import Tmux

ALL = bool(os.environ.get("HOOKLINE_SCREENS"))
#: Walked in the gate.
SHORT = {
    "bash": {"no newline at the end", "last argument", "xtrace", "DEBUG trap", "PIPESTATUS", "PROMPT_COMMAND ends in ;", "not found", "paste of lines", "direnv-like"},
    "zsh": {"pipestatus", "exit trap in a subshell", "right prompt", "history search", "xtrace", "job control", "a new project", "add-zsh-hook", "both plugins"},
}  # fmt: skip
PLAIN = {"bash": "PS1='@@ '\n", "zsh": "PROMPT='@@ '\nunsetopt prompt_cr prompt_sp\n"}
_KEY = re.compile(r"<([A-Z][A-Za-z-]*)>")


def routes(shell: str) -> list[Route]:
    bash, zsh = (*BASH, *week.BASH, *habits.BASH, *days.BASH), (*ZSH, *week.ZSH, *habits.ZSH, *days.ZSH)
    every = [*COMMON, *week.COMMON, *habits.COMMON, *days.COMMON, *(bash if shell == "bash" else zsh)]
    return every if ALL else [route for route in every if route[0] in SHORT[shell]]


#: What is hooked -> the file that says so, and its text.
HOOKED = {
    "idle": (".config/hookline/hookline.toml", ""),
    "guard": (".config/hookline/hookline.toml", '[guard]\npolicy = "standard"\n'),
    "observer": (".lash/config", "[hooks]\n" + "".join(f"{event} = observe:/bin/true\n" for event in habits.OBSERVED)),
}
_OBSERVED = {route[0] for each in (habits, days) for route in (*each.COMMON, *each.BASH, *each.ZSH)}
WALKS = [
    pytest.param(shell, route, hooked, id=name)
    for shell in ("bash", "zsh")
    for hooked in (HOOKED if ALL else ("idle",))
    for route in routes(shell)
    if (name := f"{shell}-{hooked}-{route[0]}") not in habits.SEEN | days.SEEN
    and (hooked == "idle" or (hooked == "guard" and route[0] not in WATCHED | week.WATCHED) or route[0] in _OBSERVED)
]


def _runs(pid: str) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "RD"
    return False


class Screen:
    """One shell in a window of its own tmux server."""

    def __init__(self, root: Path, shell: str, rc: str, last: str = "") -> None:
        self.root = root
        self.before = ""
        self.home = root / "home"
        self.work = root / "work"
        self.home.mkdir(parents=True, exist_ok=True)
        self.work.mkdir()
        (self.home / ".inputrc").write_text("set enable-bracketed-paste off\nset bell-style none\n")
        (self.home / "last.sh").write_text(last)
        (self.home / f".{shell}rc").write_text(f"{rc}. ~/last.sh\n")
        words = ["bash", "--rcfile", str(self.home / ".bashrc"), "-i"] if shell == "bash" else ["zsh", "-i"]
        environ = {
            "HOME": str(self.home), "PATH": f"{BIN}:{os.environ['PATH']}", "TERM": "xterm-256color", "LANG": "C.UTF-8",
            "HOOKLINE_DAEMON": "off", "LESS": "-R", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        settings = [f"{name}={value}" for name, value in environ.items()]
        # How the shell ended is a line like any other: tmux's own report comes late, or not at all.
        ended = ["sh", "-c", '"$@"; echo "ended $? @@"; cat', "sh"]
        self.tmux = Tmux(root, (78, 30), self.work, [*ended, "env", "-i", *settings, *words])

    def text(self) -> str:
        """The screen, with what differs between two homes and two processes left out."""
        shown = self.tmux.screen().replace(str(self.root), "ROOT")
        # Which job is the current one when another ends just then is a race of the shell with itself.
        shown = re.sub(r"(?m)^(\[\d\])[+-](?=  Terminated)", r"\1 ", shown)
        return re.sub(r"\b\d{4,8}\b|(?<=^\[\d\] )\d+$", "NUMBER", shown, flags=re.MULTILINE)

    def settle(self, before: str, seconds: float = 20) -> str:
        """Until the prompt is back, or the screen rests; a program may wait for a key without a prompt."""
        until, last, same = time.monotonic() + seconds, "", 0
        while time.monotonic() < until:
            shown = self.text()
            same = same + 1 if shown == last and not (same and self.is_busy()) else 0
            last = shown
            at_prompt = shown.endswith("@@")
            if shown != before and same >= (2 if at_prompt else 12):
                return shown
            time.sleep(0.025)
        return last

    def is_busy(self) -> bool:
        """Whether a process of the window, or the helper, would go on if the machine let it."""
        found = self.tmux("display-message", "-p", "#{pane_pid}").split()
        for pid in found:  # grows
            with contextlib.suppress(OSError):
                found += Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        helpers = (room.read_text().strip() for room in self.home.glob(".local/state/hookline/shell/*/ready"))
        return any(_runs(pid) for pid in (*found, *helpers))

    def press(self, step: str) -> None:
        self.before = self.text()
        kind, _, rest = step.partition(":")
        if kind == "PASTE":
            self.tmux("set-buffer", rest)
            self.tmux("paste-buffer", "-p")
            return
        if kind == "RESIZE":
            self.tmux("resize-window", "-x", rest)
            return
        parts = _KEY.split(step)
        for index, part in enumerate(parts):
            if part and index % 2:
                if part != "Nothing":
                    self.tmux("send-keys", part)
            elif part:  # a semicolon at the end would separate commands of tmux
                self.tmux("send-keys", "-l", f"{part[:-1]}\\;" if part.endswith(";") else part)
        if not (step.startswith("<") and step.endswith(">")) and "<Nothing>" not in step and "<Enter>" not in step:
            self.tmux("send-keys", "Enter")

    def close(self) -> None:
        self.tmux.close()


@functools.cache
def hooked_lines(shell: str) -> str:
    """What ``hookline shell-init`` prints, with HOME in it."""
    with tempfile.TemporaryDirectory() as home:
        environ = {"HOME": home, "PATH": os.environ["PATH"], "HOOKLINE_DAEMON": "off"}
        words = [str(BIN / "hookline"), "shell-init", shell]
        done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True)
        return done.stdout.replace(home, "$HOME")


def open_pair(root: Path, shell: str, rc: str, hooked: str) -> tuple[Screen, Screen]:
    for program in (shell, "tmux"):
        if shutil.which(program) is None:
            pytest.skip(f"SKIPPED LOUDLY: {program} is not installed, so no screens are compared; try: make shells")
    name, text = HOOKED[hooked]
    config = root / "hook" / "home" / name
    config.parent.mkdir(parents=True)
    config.write_text(text)
    bare = Screen(root / "bare", shell, PLAIN[shell] + rc)
    hook = Screen(root / "hook", shell, PLAIN[shell] + rc, hooked_lines(shell))
    return bare, hook


def wait_for_helper(hook: Screen) -> None:
    until = time.monotonic() + 30
    while not list(hook.home.glob(".local/state/hookline/shell/*/ready")):
        assert time.monotonic() < until, f"the helper never was ready:\n{hook.text()}"
        time.sleep(0.02)


@pytest.mark.parametrize(("shell", "route", "hooked"), WALKS)
def test_the_screen_is_the_one_without_hookline(tmp_path: Path, shell: str, route: Route, hooked: str) -> None:
    name, rc, steps = route
    place = {**NEEDS, **week.NEEDS, **days.NEEDS}.get(name, "/")
    if not os.path.exists(place):
        pytest.skip(f"SKIPPED LOUDLY: {place} is not installed; try: make shells")
    bare, hook = open_pair(tmp_path, shell, rc, hooked)
    try:
        wait_for_helper(hook)
        for screen in (bare, hook):
            screen.settle("")
        for step in steps:
            for screen in (bare, hook):
                screen.press(step)
            for screen in (bare, hook):
                screen.settle(screen.before)
            eventually(lambda: hook.text() == bare.text(), 5)
        assert hook.text() == bare.text()
    finally:
        bare.close()
        hook.close()
