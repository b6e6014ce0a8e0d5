"""bash and zsh in a real terminal: lines are watched, changed and refused; keys, prefixes and prompts are hooked."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest
from tests.patience import eventually
from tests.shell.house import BIN, House, deny, modify
from tests.shell.terminal import PROMPT, Terminal

from hookline.core._dataclass import replace
from hookline.core.hook import Command, HookSpec, Origin
from hookline.shell.bash_zsh.line_text import (
    bodies,
    commands,
    expand_commands,
    in_background,
    is_plain,
    only_defines,
    writes_around,
)
from hookline.shell.bash_zsh.script import for_bash, for_zsh
from hookline.shell.bash_zsh.serve import ProtocolError, QuestionReader, encode_answer
from hookline.shell.bash_zsh.service import answer_timeout

Open = Callable[..., Terminal]

RC = {"bash": f"PS1='{PROMPT} '\n", "zsh": f"PROMPT='{PROMPT} '\nunsetopt prompt_cr prompt_sp\n"}


@pytest.fixture(params=["bash", "zsh"])
def guest(request: pytest.FixtureRequest, house: House) -> Iterator[Callable[..., Terminal]]:
    """Opens this shell with hookline in its rc file."""
    shell: str = request.param
    for program in (shell, "tmux"):
        if shutil.which(program) is None:
            pytest.skip(f"SKIPPED LOUDLY: {program} is not installed, so {shell} is not tested; try: make shells")
    opened: list[Terminal] = []

    def open_one(rc: str = "") -> Terminal:
        line = f'eval "$({BIN / "hookline"} shell-init {shell})"\n'
        (house.home / f".{shell}rc").write_text(RC[shell] + rc + line)
        words = ["bash", "--rcfile", str(house.home / ".bashrc"), "-i"] if shell == "bash" else ["zsh", "-i"]
        opened.append(Terminal(house, argv=words))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def test_a_line_is_told_before_it_runs_and_after(house: House, guest: Open) -> None:
    house.listen()
    terminal = guest().ready()
    terminal.line("echo one | cat; false").ready()
    assert terminal.hears("input.pre_execute")["text"] == "echo one | cat; false"
    assert terminal.hears("input.submit")["text"] == "echo one | cat; false"
    told = terminal.hears("pipeline.pre_execute")
    assert [one["command"] for one in told["commands"]] == ["echo", "cat", "false"]
    after = terminal.hears("pipeline.post_execute")
    assert after["exit_code"] == 1
    assert after["pipeline_id"] == told["pipeline_id"]
    assert after["duration_ms"] >= 0
    assert terminal.hears("session.connect")["interactive"] is True


def test_a_line_is_told_once_whatever_its_text_is(house: House, guest: Open) -> None:
    """bash sends the text ahead as its history prints it, and then the text itself."""
    house.listen("pipeline.pre_execute")
    terminal = guest().ready()
    texts = [": 42  * two  blanks ", ": grün 日本", "2>&1 : 7 8", ": 'open\n  1  still open'", ":  *"]
    for text in texts:
        terminal.type(text.partition("\n")[0]).keys("Enter")
        for rest in text.split("\n")[1:]:
            terminal.wait(lambda: terminal.last() == ">" or terminal.last().endswith("quote>"))
            terminal.type(rest).keys("Enter")
        terminal.ready()
    terminal.hears("pipeline.pre_execute", len(texts))
    assert [one["text"].rstrip() for one in house.told("pipeline.pre_execute")] == [text.rstrip() for text in texts]


def test_a_refused_line_is_not_run_and_the_reason_is_shown(house: House, guest: Open) -> None:
    house.listen("pipeline.pre_execute").answers.append(deny("pipeline.pre_execute", "not here", text="touch made"))
    terminal = guest().ready()
    terminal.line("touch made")
    terminal.shows("Problem: not here")
    terminal.line("touch other").ready()
    assert not (house.work / "made").exists()
    assert (house.work / "other").exists()
    refused = [one for one in house.log() if one["event"] == "pipeline.pre_execute" and one["effect"] == "deny"]
    assert len(refused) == 1


def test_the_guard_of_hookline_toml_refuses_a_line(house: House, guest: Open) -> None:
    file = house.home / ".config" / "hookline" / "hookline.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('[guard]\npolicy = "standard"\n')
    kept = house.home / "kept"
    kept.write_text("x")
    terminal = guest().ready()
    terminal.line("r''m -rf $HOME")
    terminal.shows("files are deleted")
    terminal.line("touch other").ready()
    assert (kept.exists(), (house.work / "other").exists()) == (True, True)


@pytest.mark.parametrize("surroundings", ["TERM=dumb", "--ignore-signal=PIPE"])
def test_bash_shows_nothing_of_ours_on_a_poor_terminal_and_under_a_strange_parent(
    house: House, surroundings: str
) -> None:
    """Without the means to clear a line each one was shown twice; where SIGPIPE is ignored, bash complained of pipes."""
    house.listen("pipeline.pre_execute").answers.append(deny("pipeline.pre_execute", "not here", text="touch made"))
    terminal = _bash(house, surroundings)
    try:
        terminal.ready().line("echo one; echo two").ready()
        assert terminal.screen() == f"{PROMPT} echo one; echo two\none\ntwo\n{PROMPT}"
        terminal.line("touch made")
        terminal.shows("Problem: not here")
        assert not (house.work / "made").exists()
    finally:
        terminal.close()


def _bash(house: House, surroundings: str = "", rc: str = "") -> Terminal:
    if shutil.which("tmux") is None:
        pytest.skip("SKIPPED LOUDLY: tmux is not installed; try: make shells")
    (house.home / ".bashrc").write_text(f'{RC["bash"]}{rc}\neval "$({BIN / "hookline"} shell-init bash)"\n')
    return Terminal(house, argv=["env", surroundings or "A=", "bash", "--rcfile", str(house.home / ".bashrc"), "-i"])


@pytest.mark.parametrize(
    "rc", ["shopt -u cmdhist", "shopt -u promptvars", "shopt -u cmdhist promptvars", "unset HISTCMD", "HISTSIZE=0"]
)
def test_a_command_over_lines_is_judged_however_bash_keeps_it(house: House, rc: str) -> None:
    """Where the history has it line by line, it was taken for something that the prompt runs."""
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no touching", command="touch"))
    terminal = _bash(house, rc=rc)
    try:
        terminal.ready()
        for line in ("for i in 1", "do", "touch made", "done"):
            terminal.line(line)
        terminal.shows("Problem: no touching")
        terminal.ready().line("echo done").shows("\ndone")
        assert terminal.screen().count("Problem: ") == 1
        assert not (house.work / "made").exists()
        assert "_hl_" not in terminal.screen()
    finally:
        terminal.close()


@pytest.mark.parametrize(
    "rc",
    [
        "PS0='$((1/0))'",
        "PS0='${x?no}'",
        "PS0='${x'",
        "readonly PS0=x",
        "readonly PS1",
        "last=readonly",
    ],
)
def test_a_line_is_judged_whatever_ps0_and_the_prompts_are(house: House, rc: str) -> None:
    """Where PS0 did not expand or could not be set, every line ran unasked."""
    house.listen("pipeline.pre_execute").answers.append(deny("pipeline.pre_execute", "not here", text="touch made"))
    terminal = _bash(house, rc=rc)
    try:
        terminal.ready().line("${last-:} PROMPT_COMMAND; echo fir''st").shows("first")
        terminal.line("touch made").shows("Problem: not here")
        terminal.line("echo oth''er").shows("other")
        assert not (house.work / "made").exists()
        assert terminal.hears("pipeline.pre_execute", text="echo oth''er")
    finally:
        terminal.close()


def test_bash_reads_further_lines_and_reports_jobs_while_enter_is_hooked(house: House) -> None:
    """In a quote that was still open each Enter was a syntax error, and the end of a job was never reported."""
    house.listen("input.submit")
    terminal = _bash(house)
    try:
        terminal.ready().line("sleep 0.1 &").ready()
        terminal.type("echo 'one").keys("Enter")
        terminal.wait(lambda: terminal.last() == ">")
        terminal.line("two'").shows("\ntwo")
        assert "syntax error" not in terminal.screen()
        # bash tells it before a prompt: another is needed where the job outlived this line. Each is waited for, since
        # a burst of them would push the report off the screen.
        for number in range(100):
            if "Done" in terminal.screen():
                break
            terminal.line(f"echo {number} more").shows(f"\n{number} more")
        assert "Done" in terminal.screen()
    finally:
        terminal.close()


def _serving(pid: int) -> int:
    """How many processes of ours serve this shell."""
    done = subprocess.run(
        ["pgrep", "-fc", f"shell-init .* --serve {pid}( |$)"], capture_output=True, text=True, check=False
    )
    return int(done.stdout)


def test_a_shell_that_takes_the_place_of_another_has_one_process_beside_it(house: House, guest: Open) -> None:
    """``exec`` and sourcing the rc file again: the shell keeps its number, so its old helper would wait for its end."""
    house.listen("session.connect", "session.disconnect", "pipeline.pre_execute")
    terminal = guest().ready()
    pid = terminal.hears("session.connect")["pid"]
    shell = "zsh" if (house.home / ".zshrc").exists() else "bash"
    terminal.line("exec bash --rcfile ~/.bashrc -i" if shell == "bash" else "exec zsh -i")
    assert terminal.hears("session.disconnect")["reason"] == "exec"
    assert terminal.hears("session.connect", 2)["pid"] == pid
    terminal.wait(lambda: _serving(pid) == 1)
    terminal.ready().line(f". ~/.{shell}rc")
    assert terminal.hears("session.disconnect", 2)["reason"] == "restart"
    terminal.hears("session.connect", 3)
    terminal.wait(lambda: _serving(pid) == 1)
    terminal.ready().line("echo still heard").ready()
    terminal.hears("pipeline.pre_execute", text="echo still heard")


def test_a_line_that_is_refused_at_enter_stays_to_be_mended(house: House, guest: Open) -> None:
    house.listen("input.pre_execute").answers.append(deny("input.pre_execute", "a typo", text="tuch made"))
    terminal = guest().ready()
    terminal.line("tuch made")
    terminal.shows("Problem: a typo")
    terminal.wait(lambda: terminal.last() == f"{PROMPT} tuch made")
    terminal.keys("C-a").type("true #")
    terminal.keys("Enter").ready()
    assert terminal.hears("input.pre_execute", 2)["text"] == "true #tuch made"


@pytest.mark.parametrize("guest", ["zsh"], indirect=True)
def test_a_line_that_another_widget_runs_is_refused_too(house: House, guest: Open) -> None:
    house.listen("input.pre_execute").answers.append(deny("input.pre_execute", "no touching", text="touch made"))
    terminal = guest("own() { zle .accept-line }; zle -N own; bindkey '^M' own\n").ready()
    terminal.line("touch made").shows("Problem: no touching")
    terminal.ready().line("touch other").ready()
    assert [path.name for path in house.work.iterdir()] == ["other"]
    assert [one["text"] for one in house.told("input.pre_execute")] == ["touch made", "touch other"]


@pytest.mark.parametrize("guest", ["zsh"], indirect=True)
def test_a_widget_that_ends_the_line_by_itself_is_asked_about(house: House, guest: Open) -> None:
    house.listen("input.submit").answers.append(modify("input.submit", {"text": "touch changed"}, text="touch made"))
    terminal = guest("own() { BUFFER='touch made'; zle accept-line }; zle -N own; bindkey '^T' own\n").ready()
    terminal.keys("C-t").shows("touch changed")
    terminal.wait(lambda: [path.name for path in house.work.iterdir()] == ["changed"])


def test_a_hook_may_put_another_line_into_the_editor_at_enter(house: House, guest: Open) -> None:
    """So a model's command stands there to be looked at, and what was asked for is not run."""
    house.listen("input.pre_execute").answers.append(
        deny("input.pre_execute", "", text="> list files", data={"prefill": "touch meant", "edit": True})
    )
    terminal = guest().ready()
    terminal.line("> list files")
    terminal.wait(lambda: terminal.last() == f"{PROMPT} touch meant")
    assert list(house.work.iterdir()) == []
    terminal.keys("Enter").ready()
    assert [path.name for path in house.work.iterdir()] == ["meant"]


def test_a_line_that_a_hook_changed_is_run_as_changed(house: House, guest: Open) -> None:
    house.listen("input.submit").answers.append(modify("input.submit", {"text": "touch after"}, text="touch before"))
    guest().ready().line("touch before").ready()
    assert [path.name for path in house.work.iterdir()] == ["after"]


def test_a_change_the_shell_cannot_make_is_a_refusal(house: House, guest: Open) -> None:
    changed = {"commands": [{"command": "touch", "args": ["other"], "redirects": []}]}
    house.listen("pipeline.pre_execute").answers.append(modify("pipeline.pre_execute", changed))
    terminal = guest().ready()
    terminal.line("touch made")
    terminal.shows("cannot do, so it was not run")
    assert list(house.work.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        "{ true; touch made; }",
        "f() { touch made; }; f",
        "(true; touch made)",
        "true && touch made",
        "eval 'touch made'",
    ],
)
def test_a_command_inside_a_line_is_refused(house: House, guest: Open, line: str) -> None:
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no touching", command="touch"))
    terminal = guest().ready()
    terminal.line(line)
    terminal.shows("Problem: no touching")
    assert not (house.work / "made").exists()


def test_what_history_puts_in_is_what_is_judged(house: House, guest: Open) -> None:
    """And the line before is still the line before."""
    house.listen("pipeline.pre_execute").answers.append(deny("pipeline.pre_execute", "not here", text="touch made"))
    terminal = guest().ready()
    terminal.line("echo made").ready()
    terminal.line("touch !$").shows("Problem: not here")
    terminal.line("echo first").ready()
    terminal.line("!!").ready()
    terminal.hears("pipeline.pre_execute", count=2, text="echo first")
    assert not (house.work / "made").exists()


def test_a_line_that_goes_on_is_judged_as_a_whole(house: House, guest: Open) -> None:
    house.listen("pipeline.pre_execute", "pipeline.post_execute").answers += [
        deny("pipeline.pre_execute", "not here", text=text) for text in ("tou\\\nch made", "touch made")
    ]
    terminal = guest().ready()
    terminal.line("for i in a b; do")
    terminal.line("touch $i")
    terminal.line("done").ready()
    after = terminal.hears("pipeline.post_execute")
    # bash gives it as its history joins it.
    assert after["text"].replace("do\n", "do ").replace("\n", "; ") == "for i in a b; do touch $i; done"
    assert {one["pipeline_id"] for one in house.told("pipeline.pre_execute")} == {after["pipeline_id"]}
    terminal.line("tou\\")
    terminal.line("ch made").shows("Problem: not here")
    terminal.ready().line("echo on").ready()
    assert terminal.hears("pipeline.post_execute", 2)["text"] == "echo on"
    assert {path.name for path in house.work.iterdir()} == {"a", "b"}


#: What people set in their rc files, and a line that each of them would break.
OPTIONS = {
    "set -u": "set -u", "errors": "set -o pipefail; set -o noclobber", "IFS": "IFS=,0123456789",
    "nullglob": "shopt -s nullglob 2>/dev/null || setopt null_glob", "failglob": "shopt -s failglob 2>/dev/null || setopt nomatch",
    "strange": 'if [ -n "$BASH_VERSION" ]; then set -o posix; else setopt ksh_arrays sh_word_split no_unset glob_subst; fi',
}  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS)
def test_options_of_the_shell_let_nothing_through(house: House, guest: Open, options: str) -> None:
    house.listen("process.pre_spawn", "pipeline.post_execute", "prompt.render").answers.append(
        deny("process.pre_spawn", "no touching", command="touch")
    )
    terminal = guest(f"{OPTIONS[options]}\n").ready()
    terminal.line("a=1 touch made").shows("Problem: no touching")
    terminal.line("command touch made; false").ready()
    ended = 126 if (house.home / ".zshrc").exists() else 1  # zsh ends the whole line
    assert terminal.hears("pipeline.post_execute", 2)["exit_code"] == ended
    assert not (house.work / "made").exists()
    assert "_hookline" not in terminal.screen()


def test_jobs_in_the_background_ask_without_stopping(house: House, guest: Open) -> None:
    house.listen("process.pre_spawn")
    terminal = guest().ready()
    terminal.line("(true; touch one) & (true; touch two) & wait").ready()
    terminal.wait(lambda: {path.name for path in house.work.iterdir()} == {"one", "two"})


def test_a_line_can_be_broken_off_and_the_next_is_heard(house: House, guest: Open) -> None:
    house.listen("pipeline.post_execute")
    terminal = guest().ready()
    terminal.line("echo started; sleep 300").shows("\nstarted")
    terminal.keys("C-c").ready()
    terminal.line("echo later").ready()
    terminal.hears("pipeline.post_execute", 2)
    assert [one["exit_code"] for one in house.told("pipeline.post_execute")] == [130, 0]


def test_a_command_that_is_not_there_is_an_error_that_hooks_may_explain(house: House, guest: Open) -> None:
    house.listen("error.dispatch").answers.append(modify("error.dispatch", {"suggest": ["git status", "go status"]}))
    terminal = guest().ready()
    terminal.line("gti status")
    terminal.shows("Suggestion: did you mean git status or go status?")
    assert terminal.hears("error.dispatch")["expr"] == "gti status"


#: What tmux presses, and what the document calls it.
PRESSES = {
    "C-t": "ctrl+t", "BTab": "shift+tab", "C-Left": "ctrl+left", "C-Right": "ctrl+right", "Space": " ", "?": "?",
    "Home": "home", "End": "end", "DC": "delete", "BSpace": "backspace", "Left": "left", "Right": "right", "a": "a",
    "Up": "up", "Down": "down", "Tab": "tab", "C-w": "ctrl+w", "Enter": "enter",
}  # fmt: skip


def test_a_hooked_key_travels_and_can_change_the_line(house: House, guest: Open) -> None:
    house.hook_config = [{"event": "input.key", "keys": list(PRESSES.values()), "mode": "blocking"}]
    house.answers = [modify("input.key", {"buffer": f"echo {name}"}, key=key) for name, key in PRESSES.items()]
    terminal = guest().ready()
    for press in PRESSES:
        terminal.keys(press)
        terminal.wait(lambda press=press: terminal.last() == f"{PROMPT} echo {press}")  # type: ignore[misc]
    assert [one["key"] for one in house.told("input.key")] == list(PRESSES.values())


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_a_key_that_nobody_refuses_does_what_it_did(
    house: House, guest: Open, locale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    house.hook_config = [{"event": "input.key", "keys": ["left", "x", "ctrl+a"], "mode": "blocking"}]
    terminal = guest().ready()
    terminal.type("echo ab")
    terminal.wait(lambda: terminal.last().endswith("echo ab"))
    terminal.keys("Left").type("x")
    terminal.wait(lambda: terminal.last() == f"{PROMPT} echo axb")
    assert [one["key"] for one in house.told("input.key")] == ["left", "x"]


@pytest.mark.parametrize("edit", [True, False])
def test_a_prefix_opens_a_line(house: House, guest: Open, edit: bool) -> None:
    house.listen("input.prefix", "input.submit").answers.append(
        deny("input.prefix", data={"prefill": "echo asked", "edit": edit}, char=">")
    )
    terminal = guest().ready()
    terminal.type(">")
    if edit:
        terminal.wait(lambda: terminal.last() == f"{PROMPT} echo asked")
        terminal.keys("Enter")
    assert terminal.hears("input.submit")["text"] == "echo asked"
    terminal.ready().line("echo 1 > file").ready()
    assert (house.work / "file").read_text() == "1\n"


def test_a_prompt_of_a_hook_is_drawn_and_never_run(house: House, guest: Open) -> None:
    text = "\x1b[32m$(touch ran) `touch ran` %d \\w>\x1b[0m "
    house.listen("prompt.render").answers.append(modify("prompt.render", {"prompt": text}))
    terminal = guest("setopt prompt_subst 2>/dev/null\n")
    terminal.wait(lambda: terminal.last() == "$(touch ran) `touch ran` %d \\w>")
    terminal.line("echo still").wait(lambda: "\nstill\n" in terminal.screen())
    assert not (house.work / "ran").exists()
    assert terminal.hears("prompt.render")["prompt"].strip() == PROMPT


def test_a_prompt_that_comes_late_is_drawn(house: House, guest: Open) -> None:
    house.listen("prompt.render", mode="async_apply").answers.append(
        modify("prompt.render", {"prompt": f"late {PROMPT} "}, delay=0.05)
    )
    terminal = guest()
    for prompts in range(1, 60):  # bash cannot draw it anew: what came too late is in the next one
        terminal.hears("prompt.render", prompts)
        terminal.wait(lambda: terminal.last().endswith(PROMPT))
        if eventually(lambda: terminal.last() == f"late {PROMPT}", 1):
            return
        terminal.keys("Enter")
    raise AssertionError(terminal.screen())


def test_the_mode_of_the_session_stands_in_the_prompt(house: House, guest: Open) -> None:
    house.listen("input.submit").answers.append(modify("input.submit", {"mode": "ai"}, text="true"))
    guest().ready().line("true").ready(f"[ai] {PROMPT}")


def test_without_its_process_a_shell_says_so_and_starts_it_again(house: House, guest: Open) -> None:
    house.listen("input.submit")
    terminal = guest().ready()
    os.kill(_beside(house), signal.SIGKILL)
    terminal.line("echo on").wait(lambda: re.search("(?m)^hookline: no answer: hooks are off", terminal.screen()))
    terminal.ready().line("hookline-restart").ready()
    terminal.line("echo again").ready()
    terminal.hears("input.submit", text="echo again")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_whose_hookline_is_gone_says_so_and_does_not_wait(shell: str, house: House) -> None:
    """It waited for its process at every prompt, and then ran without hooks, without a word."""
    if shutil.which(shell) is None:
        pytest.skip(f"SKIPPED LOUDLY: {shell} is not installed; try: make shells")
    text = house.shell("", argv=[str(BIN / "hookline"), "shell-init", shell]).out
    gone = house.root / "init"
    gone.write_text(re.sub(r"_hl_program=\([^)]*\)", "_hl_program=(/nonexistent/hookline)", text, count=1))
    words = [shell, "--norc" if shell == "bash" else "-f", "-i"]
    typed = f". {gone}\necho room:${{_hl_room-none}}\nexit\n"
    done = subprocess.run(
        words, input=typed, env=house.environ(), capture_output=True, text=True, check=False, start_new_session=True
    )
    assert "/nonexistent/hookline is gone" in done.stderr
    assert "room:none" in done.stdout.splitlines()


def test_a_restricted_bash_says_that_it_has_no_hooks(house: House) -> None:
    """It may not redirect, so every question would be an error on the screen."""
    rc = house.root / "init"
    rc.write_text(house.shell("", argv=[str(BIN / "hookline"), "shell-init", "bash"]).out)
    done = subprocess.run(
        ["bash", "--rcfile", str(rc), "-r", "-i"], input="echo room:${_hl_room-none}\nexit\n", env=house.environ(),
        capture_output=True, text=True, check=False, start_new_session=True,
    )  # fmt: skip
    assert "hookline: a restricted shell cannot ask hooks" in done.stderr
    assert "cannot redirect output" not in done.stderr
    assert "room:none" in done.stdout.splitlines()


def test_zsh_takes_no_variable_from_the_person(house: House) -> None:
    """The module zsh/datetime makes a read-only variable of a name that is free without it."""
    house.listen("pipeline.post_execute")
    (house.home / ".zshrc").write_text(f'{RC["zsh"]}eval "$({BIN / "hookline"} shell-init zsh)"\n')
    if shutil.which("zsh") is None or shutil.which("tmux") is None:
        pytest.skip("SKIPPED LOUDLY: zsh or tmux is not installed; try: make shells")
    terminal = Terminal(house, argv=["zsh", "-i"])
    try:
        terminal.ready().line("unset EPOCHREALTIME; EPOCHREALTIME=x").ready()
        assert terminal.hears("pipeline.post_execute")["duration_ms"] >= 0
        assert "read-only" not in terminal.screen()
    finally:
        terminal.close()


def test_zsh_does_not_wait_for_a_process_that_never_started() -> None:
    """The end of its pipe was read again and again until an answer was overdue: no key was taken meanwhile."""
    if shutil.which("zsh") is None:
        pytest.skip("SKIPPED LOUDLY: zsh is not installed; try: make shells")
    script = files("hookline.shell.bash_zsh").joinpath("hookline.zsh")
    text = f"source {script}; _hl_timeout=99999; exec {{fd}}< <(:); _hookline_answered $fd push; print ended $?"
    done = subprocess.run(["zsh", "-fc", text], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "ended 1\n"


@pytest.mark.parametrize("guest", ["zsh"], indirect=True)
def test_a_process_that_cannot_start_for_want_of_room_starts_elsewhere(house: House, guest: Open) -> None:
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no touching", command="touch"))
    terminal = guest(f"export TMPDIR={house.root}\n").ready()
    terminal.line("_hl_home=/proc/none _hl_timeout=1; hookline-restart").ready()
    terminal.line("print $(( 6 * 7 ))").shows("the helper process did not start")
    terminal.ready().line("hookline-restart").ready()
    terminal.line("touch made").shows("Problem: no touching")
    assert not list(house.work.iterdir())


def test_where_a_hook_must_be_heard_nothing_runs_without_the_process(house: House, guest: Open) -> None:
    own = house.home / ".config" / "hookline"
    own.mkdir(parents=True)
    hook = '[[hook]]\nname = "guard"\non = "input.submit"\nrun = "true"\non_failure = "deny"\n'
    (own / "hookline.toml").write_text(hook)
    terminal = guest().ready()
    terminal.line("touch before").ready()
    os.kill(_beside(house), signal.SIGKILL)
    terminal.line("touch made").shows("so nothing is run")
    (house.work / "before").write_text("precious")
    terminal.ready().line("{ echo x; } > before").ready()
    assert {path.name: path.read_text() for path in house.work.iterdir()} == {"before": "precious"}
    terminal.line("hookline-restart").ready().line("touch after").ready()
    assert (house.work / "after").exists(), terminal.screen()


def test_the_process_ends_with_its_shell(house: House, guest: Open) -> None:
    house.listen("session.disconnect")
    terminal = guest().ready()
    process = _beside(house)
    terminal.line("(sleep 60 &); exit 3")
    terminal.wait(lambda: not Path(f"/proc/{process}").exists())
    assert terminal.hears("session.disconnect") == {"reason": "exit", "exit_code": 3}


@pytest.mark.parametrize(("end", "reason"), [("C-d", "eof"), ("", "killed")])
def test_how_a_shell_ended_is_told(house: House, guest: Open, end: str, reason: str) -> None:
    house.listen("session.disconnect", "session.connect")
    terminal = guest().ready()
    if end:
        terminal.keys(end)
    else:
        os.kill(terminal.hears("session.connect")["pid"], signal.SIGKILL)
    assert terminal.hears("session.disconnect")["reason"] == reason


def test_a_prompt_that_others_make_each_time_is_the_one_that_hooks_get(house: House, guest: Open) -> None:
    house.listen("prompt.render").answers.append(
        modify("prompt.render", {"prompt": f"hooked {PROMPT} "}, prompt=f"[1] {PROMPT} ")
    )
    terminal = guest(
        f'star() {{ PS1="[$?] {PROMPT} "; }}\n'
        'if [ -n "$BASH_VERSION" ]; then PROMPT_COMMAND=star; else precmd_functions+=(star); fi\n'
    ).ready(f"[0] {PROMPT}")
    terminal.line("false").ready(f"hooked {PROMPT}")


def test_who_was_at_the_prompt_and_the_traps_before_us_is_still_heard(house: House, guest: Open) -> None:
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no", command="touch"))
    terminal = guest(
        "if [ -n \"$BASH_VERSION\" ]; then PROMPT_COMMAND='echo prompted >> log'; trap 'echo trapped >> log; false' DEBUG; "
        "trap 'echo ended >> log' EXIT; else eval 'precmd() { echo prompted >> log; echo trapped >> log }; "
        "zshexit() { echo ended >> log }'; fi\n"
    ).ready()
    (house.work / "log").unlink()
    terminal.line("true").ready()
    terminal.line("touch made").shows("Problem: no")
    terminal.line("exit")
    terminal.wait(lambda: "ended" in (house.work / "log").read_text())
    assert {"prompted", "trapped"} <= set((house.work / "log").read_text().split())


#: A line with a refused ``cp`` in it, and what it then shows.
REFUSED = {
    "cp a b && echo RAN; echo list:$?": "list:126",
    "cp a b || echo or:$?": "or:126",
    "if cp a b; then echo RAN; else echo if:$?; fi": "if:126",
    "while cp a b; do echo RAN; done; echo while:$?": "while:0",
    "cp a b | cat; echo pipe:${PIPESTATUS[0]-}${pipestatus[1]-}": "pipe:126",
    "(cp a b; echo sub:$?)": "sub:126",
    "x=$(cp a b; echo $?); echo inner:$x": "inner:126",
    "! cp a b; echo not:$?": "not:0",
    "eval 'cp a b'; echo eval:$?": "eval:126",
    "f() { cp a b; echo function:$?; }": "",
    "f": "function:126",
    "function g { cp a b; echo word:$?; }; g": "word:126",
    "cat < <(cp a b; echo from:$?)": "from:126",
    "for i in 1 2; do cp $i b; echo for$i:$?; done": "for2:126",
    "coproc cp a b; wait $!; echo coproc:$?": "coproc:126",
    "alias c=cp": "",
    "c a b; echo alias:$?": "alias:126",
    "cp --help; echo once:$?; cp fine b; echo some:$?": "some:1",
    "cp fine b; cp fine b; cp a b; echo again:$?": "again:126",
    "for i in fine a; do cp $i b; done; echo each:$?": "each:126",
    'IFS=,0126; cp fine b; cp a b; echo "comma:$?"': "comma:126",
}


def test_a_refused_command_fails_with_126_and_the_line_goes_on(house: House, guest: Open) -> None:
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no copies", command="cp"))
    house.answers.insert(
        0, {"event": "process.pre_spawn", "if": {"args": ["fine", "b"]}, "answer": {"action": "allow"}}
    )
    terminal = guest().ready()
    for line, shown in REFUSED.items():
        terminal.line(line).ready()
        assert shown in terminal.screen().splitlines() or not shown, terminal.screen()
        assert "RAN" not in terminal.screen().split("READY>")[-2].splitlines()[1:]
        terminal.keys("C-l").wait(lambda: terminal.screen() == "READY>")


#: Lines that would empty the file "kept" and make "after", if only the refused ``cp`` in them were left out.
OVERWRITING = (
    "cp a b > kept; touch after", "cp $(touch after) b", "{ cp a b; } > kept; touch after", "(cp a b) > kept",
    "if cp a b; then :; fi > kept", "while cp a b; do :; done > kept", "for i in 1; do cp a b; done > kept",
    "cp a b | cat > kept", "case x in x) cp a b;; esac > kept", "g() { cp a b; }", "g > kept", "{ cp a b; } > kept &",
    "cat <(cp a b > kept)", "cat < <(cp a b > kept)", "function f { cp a b; }; f > kept", 'echo "$(cp a b > kept)"', "echo `cp a b` > kept", "h() { cp a b; } > kept", "h",
)  # fmt: skip


@pytest.mark.parametrize("event", ["process.pre_spawn", "pipeline.pre_execute"])
def test_what_a_refused_command_would_overwrite_is_kept(house: House, guest: Open, event: str) -> None:
    """Shells open files before they look for a command, so the whole line ends."""
    house.listen(event)
    if event == "process.pre_spawn":
        house.answers.append(deny(event, "no copies", command="cp"))
    else:
        house.answers += [deny(event, "no copies", text=line) for line in OVERWRITING if "() {" not in line]
    (house.work / "kept").write_text("precious")
    terminal = guest().ready()
    for line in OVERWRITING:
        terminal.line(line)
        if "() {" in line:
            terminal.ready().keys("C-l").wait(lambda: terminal.screen() == PROMPT)
            continue
        terminal.shows("Problem: no copies")
        terminal.ready().line("echo status:$?").wait(lambda: re.search(r"(?m)^status:\d", terminal.screen()))
        ends = {"status:126", "status:1"} if "&" not in line else {"status:0", "status:1"}
        assert ends & set(terminal.screen().splitlines()), terminal.screen()
        terminal.ready().keys("C-l").wait(lambda: terminal.screen() == PROMPT)
        assert {path.name: path.read_text() for path in house.work.iterdir()} == {"kept": "precious"}, line


def test_a_refused_word_that_refusing_itself_needs_ends_the_line(house: House, guest: Open) -> None:
    """A function in its place called itself until the shell ended."""
    for word in ("builtin", "local", "return"):
        house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "not that", command=word))
    terminal = guest("f() { return 3; }; g() { local x=1; }\n").ready()
    for line in ("f; touch after", "g; touch after", "local x; touch after", "builtin -; touch after"):
        terminal.line(line).shows("Problem: not that")
        terminal.ready().keys("C-l").wait(lambda: terminal.screen() == PROMPT)
    assert list(house.work.iterdir()) == []


#: What of a person's own is called around our functions in zsh.
OWN = {
    "function": "preexec() { true }", "functions": "own() { true; print own }; preexec_functions+=(own)",
    "error": "preexec() { print $((1 + )) }", "late error": "own() { readonly x; x=1 }; preexec_functions+=(own)",
    "prompt error": "precmd() { print $((1 + )) }", "cleared": "own() { preexec_functions=() }; precmd_functions+=(own)",
    "trap after commands": "unsetopt debug_before_cmd", "trap": "trap true DEBUG",
}  # fmt: skip


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("guest", ["zsh"], indirect=True)
def test_a_refused_line_runs_for_nobody(house: House, guest: Open, own: str) -> None:
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no touching", command="touch"))
    terminal = guest(f"{OWN[own]}\n").ready()
    for number, line in enumerate(
        ("command touch made && touch on", "touch made && touch on", "export -p; command touch made")
    ):
        terminal.line(line).ready().line(f"print status $? {number}").shows(f"status 126 {number}")
        terminal.ready()
    assert not list(house.work.iterdir())


@pytest.mark.parametrize("guest", ["zsh"], indirect=True)
def test_hooks_stay_when_the_rc_file_is_read_again(house: House, guest: Open) -> None:
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no touching", command="touch"))
    terminal = guest("preexec_functions=() precmd_functions=(); setopt ksh_arrays\n").ready()
    terminal.line(". ~/.zshrc").ready()
    terminal.line("touch made").shows("Problem: no touching")
    assert not list(house.work.iterdir())


@pytest.mark.parametrize("guest", ["zsh"], indirect=True)
def test_what_zsh_runs_from_its_history_is_judged(house: House, guest: Open) -> None:
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no touching", command="touch"))
    terminal = guest().ready()
    terminal.line("touch made; true").ready()
    for number, line in enumerate(("r", "fc -e - made=other touch", "true && FCEDIT=true fc touch", "r touch")):
        terminal.line(line).ready().line(f"print here {number}").shows(f"\nhere {number}")
        terminal.ready()
    assert not list(house.work.iterdir())
    assert {"touch"} == {
        one["command"] for one in house.told("process.pre_spawn") if one["args"][:1] in (["made"], ["other"])
    }


@pytest.mark.parametrize("guest", ["zsh"], indirect=True)
def test_a_function_that_zsh_has_not_loaded_yet_is_judged(house: House, guest: Open) -> None:
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no touching", command="touch"))
    (house.home / "late").write_text("touch made\n")
    terminal = guest("fpath+=(~); autoload -Uz late\n").ready()
    terminal.line("functions late; late").shows("Problem: no touching")
    assert "builtin autoload" in terminal.ready().screen()
    assert not list(house.work.iterdir())


@pytest.mark.parametrize("guest", ["zsh"], indirect=True)
def test_a_refused_command_that_is_a_reserved_word_ends_the_line(house: House, guest: Open) -> None:
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no exports", command="export"))
    terminal = guest().ready()
    terminal.line("touch made; export SECRET=1").shows("Problem: no exports")
    terminal.ready().line("print $? ${SECRET-none}").shows("126 none")
    assert not list(house.work.iterdir())


def test_a_refused_line_does_not_set_off_a_trap_for_interrupts(house: House, guest: Open) -> None:
    lines = ("x=1; touch made", "{ echo x; } > kept")
    house.listen("pipeline.pre_execute").answers += [deny("pipeline.pre_execute", "not here", text=x) for x in lines]
    (house.work / "kept").write_text("precious")
    terminal = guest("trap 'echo interrupted' INT\n").ready()
    for line in lines:
        terminal.line(line).shows("\nProblem: not here")
        terminal.ready().line("echo status:$?").wait(lambda: re.search(r"(?m)^status:(1|126)$", terminal.screen()))
        terminal.ready().keys("C-l").wait(lambda: terminal.screen() == PROMPT)
    terminal.line("kill -INT $$").wait(lambda: "\ninterrupted\n" in terminal.screen())
    assert terminal.ready().screen().count("interrupted") == 1
    assert {path.name: path.read_text() for path in house.work.iterdir()} == {"kept": "precious"}


def test_a_refused_line_fails_with_126(house: House, guest: Open) -> None:
    house.listen("pipeline.pre_execute").answers.append(deny("pipeline.pre_execute", "not here", text="touch made"))
    terminal = guest().ready()
    terminal.line("touch made").shows("Problem: not here")
    terminal.ready().line("echo status:$?").ready()
    assert "\nstatus:126\n" in terminal.screen()
    assert list(house.work.iterdir()) == []


HANG = '[[hook]]\nname = "hang"\non = "pipeline.pre_execute"\nrun = "./hang.sh"\n'


def _hanging(house: House) -> Path:
    """A hook that hangs at the word "hang"; the file with its number."""
    own = house.home / ".config" / "hookline"
    own.mkdir(parents=True)
    (own / "hookline.toml").write_text(HANG)
    (own / "hang.sh").write_text(f"#!/bin/sh\ngrep -q hang || exit 0\necho $$ > {house.root}/hung\nexec sleep 300\n")
    (own / "hang.sh").chmod(0o755)
    return house.root / "hung"


def _gone(file: Path) -> bool:
    return not Path(f"/proc/{file.read_text().strip()}").exists()


def test_ctrl_c_ends_a_hook_that_hangs(house: House, guest: Open) -> None:
    hung = _hanging(house)
    terminal = guest().ready()
    terminal.line("touch hang")
    terminal.wait(lambda: hung.exists() and hung.read_text().strip())
    terminal.keys("C-c").wait(lambda: terminal.last().endswith(PROMPT))
    terminal.line("touch on")
    terminal.wait((house.work / "on").exists)
    terminal.wait(partial(_gone, hung))
    assert [path.name for path in house.work.iterdir()] == ["on"]


def test_what_is_wrong_with_the_hooks_is_shown_at_the_start(house: House, guest: Open) -> None:
    """It went to nobody, and a guard in a file that could not be read was missing in silence."""
    file = house.home / ".config" / "hookline" / "hookline.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[[[ broken")
    terminal = guest()
    terminal.wait(lambda: PROMPT in terminal.screen())
    terminal.keys("Enter").wait(lambda: terminal.screen().count("not TOML") == 1)
    terminal.keys("Enter", "Enter").ready()
    assert terminal.screen().count("not TOML") == 1


@pytest.mark.parametrize("guest", ["zsh"], indirect=True)
def test_ctrl_c_ends_a_hook_whoever_traps_it(house: House, guest: Open) -> None:
    hung = _hanging(house)
    terminal = guest("TRAPINT() { print trapped; return 0 }\n").ready()
    terminal.line("touch hang")
    terminal.wait(lambda: hung.exists() and hung.read_text().strip())
    terminal.keys("C-c").wait(lambda: terminal.last().endswith(PROMPT))
    terminal.line("kill -INT $$; touch on").shows("\ntrapped")
    terminal.wait((house.work / "on").exists)
    terminal.wait(partial(_gone, hung))
    assert [path.name for path in house.work.iterdir()] == ["on"]


def test_ctrl_backslash_does_not_take_the_turn_to_ask_with_it(house: House) -> None:
    """bash asks in a subshell, and the next line waited for the turn that it had."""
    hung = _hanging(house)
    terminal = _bash(house)
    try:
        terminal.ready().line("touch hang").wait(lambda: hung.exists() and hung.read_text().strip())
        terminal.keys("C-\\").shows("^\\")
        terminal.keys("C-c").wait(lambda: terminal.last().endswith(PROMPT))
        terminal.line("touch on").wait((house.work / "on").exists)
        assert [path.name for path in house.work.iterdir()] == ["on"]
    finally:
        terminal.close()


@pytest.mark.parametrize("rc", ["", "trap : DEBUG"])
def test_what_fc_and_the_key_for_an_editor_run_is_judged_in_bash(house: House, rc: str) -> None:
    """It is read without a prompt: the line that was judged is only "fc", or none."""
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no touching", args=["made"]))
    terminal = _bash(house, rc=f"export EDITOR=true FCEDIT='sed -i s/fine/made/'\n{rc}\n")
    try:
        terminal.ready().type("touch made && touch after").keys("C-x", "C-e")
        terminal.shows("Problem: no touching")
        terminal.ready().line("touch fine").ready().line("fc -1")
        terminal.wait(lambda: terminal.screen().count("Problem: no touching") == 2)
        terminal.ready().line("touch fine").ready()
        assert [path.name for path in house.work.iterdir()] == ["fine"]
    finally:
        terminal.close()


def test_bash_judges_lines_where_it_cannot_write_files(house: House) -> None:
    """It judged an empty text, or that of the line before."""
    house.listen("process.pre_spawn").answers.append(deny("process.pre_spawn", "no touching", args=["made"]))
    terminal = _bash(house, rc="make() { touch made; }\n")
    try:
        terminal.ready().line("touch made").shows("Problem: no touching")
        shutil.rmtree(house.home / ".local" / "state" / "hookline" / "shell")
        for line in ("touch made; echo one:$?", "make; echo two:$?"):
            terminal.ready().line(line).shows(f"\n{line[-6:-3]}:126")
        assert not (house.work / "made").exists()
    finally:
        terminal.close()


def test_a_hook_that_hangs_ends_with_the_terminal(house: House, guest: Open) -> None:
    hung = _hanging(house)
    terminal = guest().ready()
    terminal.line("touch hang")
    terminal.wait(lambda: hung.exists() and hung.read_text().strip())
    terminal.close()
    terminal.wait(partial(_gone, hung))


def test_hooks_that_come_later_count_from_the_next_line_on(house: House, guest: Open) -> None:
    terminal = guest().ready()
    terminal.line("touch before").ready()
    own = house.home / ".config" / "hookline"
    own.mkdir(parents=True)
    (own / "no.sh").write_text("#!/bin/sh\ngrep -q 'touch after' && exit 2 || exit 0\n")
    (own / "no.sh").chmod(0o755)
    (own / "hookline.toml").write_text('[[hook]]\nname = "no"\non = "pipeline.pre_execute"\nrun = "./no.sh"\n')
    terminal.wait(lambda: not list(house.home.glob(".local/state/hookline/shell/*/idle/*")))
    terminal.line("true").ready()
    terminal.line("touch after").shows("hook no refused it")
    (own / "hookline.toml").write_text("")
    terminal.ready().line("true").ready()
    terminal.line("touch after").wait((house.work / "after").exists)


def test_the_history_is_searched_beside_a_hooked_prefix(house: House, guest: Open) -> None:
    house.listen("input.prefix", "pipeline.pre_execute")
    terminal = guest().ready()
    terminal.line("echo needle-1").ready()
    terminal.line("echo other").ready()
    terminal.keys("C-r").type("needle-")
    terminal.wait(lambda: terminal.screen().count("echo needle-1") == 2)
    terminal.keys("Enter")
    terminal.hears("pipeline.pre_execute", count=2, text="echo needle-1")


def test_an_own_handler_of_missing_commands_is_kept(house: House, guest: Open) -> None:
    house.listen("error.dispatch")
    own = "command_not_found_handle() { echo mine $1; return 99; }; command_not_found_handler() { echo mine $1; return 99; }\n"
    terminal = guest(own).ready()
    terminal.line("nosuch; echo $?").ready()
    assert "\nmine nosuch\n99\n" in terminal.screen()
    assert terminal.hears("error.dispatch")["expr"] == "nosuch"


# ── without a terminal ────────────────────────────────────────────────────────────────────────────────────


def test_questions_may_come_in_pieces() -> None:
    questions = QuestionReader()
    whole = b"7.1\x003\0line\0text\0ls -l\0"
    found = [one for byte in whole for one in questions.feed(bytes([byte]))]
    assert [(one.id, one.name, dict(one.fields)) for one in found] == [("7.1", "line", {"text": "ls -l"})]


def test_what_is_no_question_ends_the_talk() -> None:
    with pytest.raises(ProtocolError):
        list(QuestionReader().feed(b"GET / HTTP/1.1\0x\0"))
    with pytest.raises(ProtocolError):
        list(QuestionReader().feed(b"x" * (1 << 21)))


def test_an_answer_holds_no_end_inside_its_values() -> None:
    assert encode_answer("1", ["a\0b", ""]) == b"1\x002\0ab\0\0"


def test_a_shell_waits_longer_than_its_hooks_may_take() -> None:
    origin = Origin(file="", line=0, pointer="", layer="user")
    action = Command(form="argv", argv=("true",))
    slow = HookSpec(
        id="a", name="a", dialect="native", event="input.submit", origin=origin, action=action, timeout=60, mode="sync"
    )
    later = replace(slow, event="pipeline.post_execute")
    assert (
        answer_timeout([])
        < 60
        < answer_timeout([slow, later])
        < 120
        < answer_timeout([slow, replace(slow, event="process.pre_spawn")])
    )


def test_a_text_is_read_as_commands() -> None:
    assert commands("a 'b c' | d >f && e; g &") == [
        {"command": "a", "args": ["b c"], "redirects": []},
        {"command": "d", "args": [], "redirects": [{"op": ">", "path": "f"}]},
        {"command": "e", "args": [], "redirects": []},
        {"command": "g", "args": [], "redirects": []},
    ]
    assert commands("2>log rm x >out 3<&- {fd}>y '4>'z 2 >&1") == [
        {
            "command": "rm", "args": ["x", "4>z", "2"],
            "redirects": [
                {"op": "2>", "path": "log"}, {"op": ">", "path": "out"}, {"op": "3<&", "path": "-"},
                {"op": "{fd}>", "path": "y"}, {"op": ">&", "path": "1"},
            ],
        }
    ]  # fmt: skip
    assert commands("echo 'open") == [{"command": "echo", "args": ["'open"], "redirects": []}]
    assert [one["command"] for one in commands("(a);(b)\nc | d 'e\nf'\ng")] == ["a", "b", "c", "d", "g"]
    assert in_background("a &")
    assert not in_background("a &&")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("X=1 Y='2 3' rm -r", ["rm", "-r"]),
        ("command rm -r", ["rm", "-r"]),
        ("command -p rm -r", ["rm", "-r"]),
        ("exec rm -r", ["rm", "-r"]),
        ("coproc rm -r", ["rm", "-r"]),
        ("coproc NAME { rm -r; }", ["rm", "-r"]),
        ("r\\\nm -r", ["rm", "-r"]),
        ("command -v rm", ["command", "-v", "rm"]),
        ("command -- rm -r", ["rm", "-r"]),
        ("- rm -r", ["rm", "-r"]),
        ("exec -a name rm -r", ["rm", "-r"]),
        ("a[0]=1 rm -r", ["rm", "-r"]),
        ("time -p rm -r", ["rm", "-r"]),
        ("true &&2>f rm -r", ["rm", "-r"]),
        ("function f { rm -r; }", ["rm", "-r"]),
        ("exec", ["exec"]),
    ],
)
def test_what_stands_before_a_command_does_not_hide_it(text: str, words: list[str]) -> None:
    found = commands(text)[-1]
    assert [found["command"], *found["args"]] == words


@pytest.mark.parametrize(
    ("text", "defines"),
    [("f() { rm x; }", True), ("function f { rm x; }", True), ("f() { rm x; }; f", False), ("f() { rm x; } > y", True), ("f() { a; } > $(b)", False), ("f () {\n{ a; }\n}", True), ("rm x", False)],
)  # fmt: skip
def test_a_definition_runs_nothing(text: str, defines: bool) -> None:
    assert only_defines(text) is defines


def test_aliases_eval_and_functions_are_followed() -> None:
    found = expand_commands("c a; eval 'mv b c'", {"c": "cp -v", "cp": "cp -i"})
    assert [(one["command"], one["args"]) for one in found] == [
        ("cp", ["-i", "-v", "a"]), ("eval", ["mv b c"]), ("mv", ["b", "c"]),
    ]  # fmt: skip
    inner = expand_commands(bodies("f () \n{ \n    rm x;\n    g\n}\n"), {})
    assert [one["command"] for one in inner] == ["rm", "g"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [("cp a $HOME", True), ("cp a && rm b", True), ("cp a > b", False), ("cp $(x)", False), ("x=1", False), ("while cp; do :; done", False)],
)  # fmt: skip
def test_only_a_list_of_plain_commands_can_be_replaced(text: str, plain: bool) -> None:
    assert is_plain(text) is plain


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("cat <(cp a) x >(rm b) y", ["cp", "rm", "cat"]),
        ("echo $(rm x) y", ["rm", "echo"]),
        ("a=(cp\nb $(rm x)) ls; declare -a c=(d)", ["rm", "ls", "declare"]),
        ("cat < <(cp a) x", ["cp", "cat"]),
        ("cat <<END\n$(cp a\nrm b)\nEND", ["cat", "cp", "rm"]),
        ('echo "it\'s $(rm "a b")" `ls`', ["echo", "rm", "ls"]),
        ("echo '$(rm x)' '`rm x`'", ["echo"]),
        ("x=$(case a in a) rm b;; esac) ls", ["case", "rm", "ls"]),
    ],
)
def test_commands_in_substitutions_are_found(text: str, names: list[str]) -> None:
    assert [one["command"] for one in commands(text)] == names


@pytest.mark.parametrize(
    ("text", "writes"),
    [
        ("{ a; } > f", True), ("(a) >> f", True), ("a | b > f", True), ("g > f", True), ("a > f", False), ("a $(b) > f", True),
        ("{ a; } 2>/dev/null", False), ("{ a; } < f", False), ("(a) 2>&1", False),
    ],
)  # fmt: skip
def test_a_redirection_may_be_for_several_commands(text: str, writes: bool) -> None:
    assert any(writes_around(one, "g () \n{ \n    a\n}\n") for one in expand_commands(text, {})) is writes


def test_the_text_of_a_here_document_is_no_command() -> None:
    text = "cat <<'END' >f; ls\nrm -rf /\nEND\ncat <<-X\n\trm\n\tX\ndf <<<END\npwd"
    assert [one["command"] for one in commands(text)] == ["cat", "ls", "cat", "df", "pwd"]


@pytest.mark.parametrize(
    "text",
    [
        "echo $((1<<2))\nrm x\necho 3", "echo 'use <<END'\nrm x\n:", "cat <<END\nit's $(rm x) \"\nEND\necho",
        "echo $'it\\'s'; rm x; :", "echo one # don't\nrm x # isn't\n:", 'echo ${x//"/}; rm x; :',
    ],
)  # fmt: skip
def test_nothing_that_looks_like_a_quote_or_a_document_hides_a_command(text: str) -> None:
    assert ("rm", "x") in [(one["command"], *one["args"][:1]) for one in commands(text)]


def test_what_stands_before_a_command_is_its_environment() -> None:
    assert [one["env"] for one in commands("A=1 B+=2 ls; C=3", with_env=True)] == [{"A": "1", "B": "2"}]


def test_a_prompt_keeps_its_colours_and_nothing_else() -> None:
    assert for_bash("\x1b[1mx\x1b[2J") == "\x01\x1b[1m\x02x·[2J"
    assert for_zsh("\x1b[1m5%") == "%{\x1b[1m%}5%%"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_what_is_printed_is_a_script_that_the_shell_can_read(shell: str, house: House) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"SKIPPED LOUDLY: {shell} is not installed; try: make shells")
    text = house.shell("", argv=[str(BIN / "hookline"), "shell-init", shell]).out
    assert subprocess.run([shell, "-n"], input=text, text=True, check=False, capture_output=True).stderr == ""
    assert subprocess.run([shell, "-c", text], check=False, capture_output=True).stdout == b""


def _beside(house: House) -> int:
    """The process beside the shell of this house."""
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
                around = (place / "environ").read_bytes()
            except OSError:
                continue
            if b"--serve" in words and f"HOME={house.home}".encode() in around:
                return int(place.name)
    raise AssertionError("there is no process beside the shell")
