"""Events of the line editor, from real key presses in a real terminal."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable

import pytest
from tests.shell.house import House, deny, modify
from tests.shell.terminal import PROMPT, Terminal, rc_file

Open = Callable[..., Terminal]
#: A command that goes on, and that no other test runs at the same time.
SLEEP = f"sleep 100.{os.getpid()}"


def test_a_typed_line_fires_its_events_in_the_order_of_the_document(house: House, terminal: Open) -> None:
    screen = terminal(house.listen()).ready()
    screen.line("/bin/echo one | cat > f").ready()
    told = [
        name
        for name, _ in house.heard()
        if name.startswith(("input.p", "input.s", "pipeline", "file", "process", "prompt"))
    ]
    start = told.index("input.pre_execute")
    assert told[start : start + 8] == [
        "input.pre_execute", "input.submit", "pipeline.pre_execute", "file.redirect",
        "process.pre_spawn", "process.post_spawn", "process.pre_spawn", "process.post_spawn",
    ]  # fmt: skip
    assert told[start + 8 : start + 12] == [
        "process.pre_exit", "process.pre_exit", "pipeline.post_execute", "prompt.render",
    ]  # fmt: skip


def test_a_refused_enter_leaves_the_line_in_the_editor(house: House, terminal: Open) -> None:
    house.answers = [deny("input.pre_execute", "think again", text="touch x")]
    screen = terminal(house.listen("input.pre_execute")).ready()
    screen.line("touch x").shows("Problem: think again")
    screen.wait(lambda: screen.last() == f"{PROMPT} touch x")
    assert not (house.work / "x").exists()
    screen.keys("C-u").ready().line("touch y").ready()
    assert (house.work / "y").exists()


def test_enter_can_send_another_line_than_was_typed(house: House, terminal: Open) -> None:
    house.answers = [modify("input.pre_execute", {"text": "echo longer-line"}, text="short")]
    screen = terminal(house.listen("input.pre_execute")).ready()
    screen.line("short").shows("longer-line")


def test_a_refused_line_is_dropped_with_its_reason(house: House, terminal: Open) -> None:
    house.answers = [deny("input.submit", "not in this house", text="touch x")]
    screen = terminal(house.listen("input.submit")).ready()
    screen.line("touch x").shows("Problem: not in this house")
    assert not (house.work / "x").exists()
    screen.ready().line("print('status', $LAST_RETURN_CODE)").shows("status 126")


def test_a_line_that_is_not_to_be_remembered_is_not(house: House, terminal: Open) -> None:
    house.answers = [modify("input.submit", {"history": False}, text="echo hidden")]
    screen = terminal(house.listen("input.submit")).ready()
    screen.line("echo hidden").ready().line("echo shown").ready()
    screen.line("print(len(__xonsh__.history.inps))")
    screen.shows("\n1\n")


def test_a_refused_command_shows_its_reason_and_the_shell_goes_on(house: House, terminal: Open) -> None:
    house.answers = [deny("process.pre_spawn", "too dangerous", command="rm")]
    (house.work / "x").touch()
    screen = terminal(house.listen("process.pre_spawn")).ready()
    screen.line("rm x").shows("Problem: too dangerous")
    screen.line("print('code', $LAST_RETURN_CODE)").shows("code 126")
    assert (house.work / "x").exists()


TMUX_KEYS = {
    **{f"ctrl+{letter}": f"C-{letter}" for letter in "abcdefgjklnopqrstuvwxyz"},
    "up": "Up", "down": "Down", "left": "Left", "right": "Right", "home": "Home", "end": "End", "enter": "Enter",
    "tab": "Tab", "backspace": "BSpace", "escape": "Escape", "delete": "DC", "shift+tab": "BTab",
    "ctrl+left": "C-Left", "ctrl+right": "C-Right", " ": "Space", ">": ">", "a": "a", "/": "/", "?": "?", "A": "A",
}  # fmt: skip


def test_every_name_of_the_key_table_is_heard_from_a_real_press(house: House, terminal: Open) -> None:
    house.hook_config = [{"event": "input.key", "mode": "blocking", "keys": [*TMUX_KEYS, "ctrl+i", "ctrl+m", "ctrl+h"]}]
    house.answers = [deny("input.key")]
    screen = terminal().ready()
    for name, key in TMUX_KEYS.items():
        screen.keys(key)
        screen.hears("input.key", key=name)
    assert [one["key"] for one in house.told("input.key")] == list(TMUX_KEYS)
    assert screen.ready().last() == PROMPT, "each of them was swallowed"


def test_only_hooked_keys_travel(house: House, terminal: Open) -> None:
    house.hook_config = [{"event": "input.key", "mode": "blocking", "keys": ["ctrl+t", "?"]}]
    screen = terminal().ready()
    screen.type("abc").keys("Left", "C-a", "C-e").type("?")
    screen.hears("input.key", key="?")
    assert house.told("input.key") == [{"key": "?", "buffer": "abc", "cursor": 3}]
    screen.wait(lambda: screen.last() == f"{PROMPT} abc?")


def test_a_hook_without_keys_hears_them_all(house: House, terminal: Open) -> None:
    screen = terminal(house.listen("input.key")).ready()
    screen.type("ab").keys("C-a")
    screen.hears("input.key", key="ctrl+a")
    assert [one["key"] for one in house.told("input.key")] == ["a", "b", "ctrl+a"]


def test_a_key_is_swallowed_substituted_or_rewrites_the_line(house: House, terminal: Open) -> None:
    house.hook_config = [{"event": "input.key", "mode": "blocking", "keys": ["x", "y", "ctrl+t"]}]
    house.answers = [
        deny("input.key", key="x"),
        modify("input.key", {"key": "z"}, key="y"),
        modify("input.key", {"buffer": "whole new", "cursor": 5}, key="ctrl+t"),
    ]
    screen = terminal().ready()
    screen.type("axy")
    screen.wait(lambda: screen.last() == f"{PROMPT} az")
    screen.keys("C-t").type("!")
    screen.wait(lambda: screen.last() == f"{PROMPT} whole! new")


@pytest.mark.parametrize(("event", "key"), [("key.tab", "Tab"), ("key.up", "Up"), ("key.down", "Down")])
def test_tab_up_and_down_have_events_of_their_own(house: House, terminal: Open, event: str, key: str) -> None:
    house.answers = [modify(event, {"buffer": "from the hook"}, buffer="ls"), deny(event, buffer="no")]
    screen = terminal(house.listen(event)).ready()
    screen.type("ls").keys(key)
    screen.wait(lambda: screen.last() == f"{PROMPT} from the hook")
    screen.keys("C-u").type("no").keys(key)
    screen.hears(event, buffer="no")
    screen.type("!")
    screen.wait(lambda: screen.last() == f"{PROMPT} no!")


def test_an_allowed_arrow_still_does_what_it_does(house: House, terminal: Open) -> None:
    screen = terminal(house.listen("key.up", "key.down")).ready()
    screen.line("echo before").ready()
    # The editor reads its history on the side: the first press may come before it has.
    screen.wait(lambda: screen.last() == f"{PROMPT} echo before" or (screen.keys("Up") and False))
    screen.keys("Down").ready()


def test_a_prefix_prefills_the_line_for_editing_and_sets_the_mode(house: House, terminal: Open) -> None:
    house.answers = [deny("input.prefix", data={"prefill": "ask ", "edit": True, "mode": "ai"}, char=">")]
    screen = terminal(house.listen("input.prefix")).ready()
    screen.type(">")
    screen.wait(lambda: screen.last() == f"[ai] {PROMPT} ask")
    screen.type("me > x").wait(lambda: screen.last() == f"[ai] {PROMPT} ask me > x")
    assert house.told("input.prefix") == [{"char": ">"}], "only on an empty line"


def test_a_prefill_without_edit_is_sent_at_once(house: House, terminal: Open) -> None:
    house.answers = [deny("input.prefix", data={"prefill": "echo at-once"}, char="!"), deny("input.prefix", char="#")]
    screen = terminal(house.listen("input.prefix", "input.pre_execute")).ready()
    screen.type("#").hears("input.prefix", char="#")
    screen.ready().type("!").shows("\nat-once")
    assert house.told("input.pre_execute") == [{"text": "echo at-once"}]


def test_a_mode_is_shown_until_it_is_cleared_and_is_told_to_hooks(house: House, terminal: Open) -> None:
    house.answers = [
        modify("input.submit", {"mode": "plan"}, text="echo on"),
        modify("input.submit", {"mode": ""}, text="echo off"),
    ]
    screen = terminal(house.listen("input.submit")).ready()
    screen.line("echo on").ready(f"[plan] {PROMPT}")
    screen.line("echo off").ready()


def test_the_prompt_is_what_a_hook_makes_of_it(house: House, terminal: Open) -> None:
    house.answers = [modify("prompt.render", {"prompt": "{cwd} from hook> ", "right": "RIGHT"})]
    screen = terminal(house.listen("prompt.render"))
    screen.shows("{cwd} from hook>")
    screen.shows("RIGHT")
    told = house.told("prompt.render")[0]
    assert (told["prompt"], told["cwd"], told["jobs"]) == (f"{PROMPT} ", str(house.work), 0)


def test_a_late_answer_redraws_the_prompt_while_the_person_types(house: House, terminal: Open) -> None:
    house.answers = [modify("prompt.render", {"prompt": "main> "}, delay=4)]
    screen = terminal(house.listen("prompt.render", mode="async_apply")).ready()
    screen.type("typed before")
    screen.wait(lambda: screen.last() == "main> typed before")


def test_a_prompt_of_a_hook_stays_where_xonsh_draws_its_own_piece_by_piece(house: House, terminal: Open) -> None:
    rc_file(house, f"$ENABLE_ASYNC_PROMPT = True\n$PROMPT = '{{curr_branch}}{{user}} {PROMPT} '")
    house.answers = [modify("prompt.render", {"prompt": "main> "}, delay=0.2)]
    screen = terminal(house.listen("prompt.render", mode="async_apply")).ready("main>")
    screen.line("echo again").shows("\nagain")
    screen.ready("main>")


def test_candidates_are_what_a_hook_makes_of_them(house: House, terminal: Open) -> None:
    house.answers = [
        modify("completion.request", {"candidates": [{"text": "zzz-only", "description": "why"}]}, line="echo zz"),
        deny("completion.request", line="echo fil"),
    ]
    (house.work / "file-one").touch()
    screen = terminal(house.listen("completion.request", "input.post_complete")).ready()
    screen.type("echo zz").keys("Tab")
    screen.wait(lambda: "echo zzz-only" in screen.last())
    assert screen.hears("input.post_complete")["chosen"] == "zzz-only"
    screen.keys("C-u").type("echo fil").keys("Tab")
    screen.hears("completion.request", line="echo fil")
    screen.type("!").wait(lambda: screen.last() == f"{PROMPT} echo fil!")
    screen.keys("C-u").type("echo file").keys("Tab")
    told = screen.hears("completion.request", line="echo file")
    assert (told["word"], [each["text"].strip() for each in told["candidates"]]) == ("file", ["file-one"])
    screen.wait(lambda: "echo file-one" in screen.last())


def test_late_candidates_are_added_to_the_list(house: House, terminal: Open) -> None:
    for name in ("kk-one", "kk-two"):
        (house.work / name).touch()
    house.answers = [modify("completion.request", {"candidates": [{"text": "kk-late"}]}, delay=0.7)]
    screen = terminal(house.listen("completion.request", mode="async_apply")).ready()
    screen.type("echo kk-").keys("Tab")
    screen.shows("kk-two")
    screen.shows("kk-late")


def test_a_hook_that_does_not_answer_freezes_no_key(house: House, terminal: Open) -> None:
    house.hook_config = [{"event": "input.key", "mode": "blocking", "keys": ["k"]}]
    house.answers = [{"event": "input.key", "answer": {"action": "deny"}, "delay": 90}]
    screen = terminal().ready()
    screen.type("akb")
    screen.wait(lambda: screen.last() == f"{PROMPT} akb", seconds=45)
    screen.keys("C-u").line("echo fine").shows("failed on input.key: timed out")


def test_jobs_move_and_can_be_held(house: House, terminal: Open) -> None:
    screen = terminal(house.listen("job.background", "job.foreground", "pipeline.post_execute")).ready()
    screen.line(SLEEP)
    screen.wait(lambda: screen.last().endswith(SLEEP))
    screen.wait(lambda: subprocess_named(SLEEP))
    screen.keys("C-z")
    assert screen.hears("job.background", cause="ctrl+z")["text"] == SLEEP
    screen.ready().line("bg")
    screen.hears("job.background", cause="bg")
    screen.ready().line("fg")
    assert screen.hears("job.foreground")["text"] == SLEEP
    screen.keys("C-c").ready()
    ended = screen.hears("pipeline.post_execute", text=SLEEP)
    assert ended["exit_code"] != 0


def test_a_job_that_must_not_come_back_stays_in_the_background(house: House, terminal: Open) -> None:
    house.answers = [deny("job.foreground", "let it work")]
    screen = terminal(house.listen("job.foreground")).ready()
    screen.line(f"{SLEEP}1 &").ready().line("fg").shows("Problem: let it work")
    screen.ready()


def test_a_refused_ctrl_z_lets_the_program_go_on(house: House, terminal: Open) -> None:
    house.answers = [deny("job.background", "finish first")]
    screen = terminal(house.listen("job.background")).ready()
    nap = f"sleep 4.{os.getpid()}"
    screen.line(f"sh -c '{nap}; echo finished'")
    screen.wait(lambda: subprocess_named(nap))
    screen.keys("C-z")
    screen.hears("job.background", cause="ctrl+z")
    screen.shows("Problem: finish first")
    screen.shows("\nfinished")


def in_the_pager(screen: Terminal) -> None:
    """xonsh itself gives a program the terminal a moment after its start; a program that is quicker ends at once."""
    for _ in range(20):
        screen.line("less /etc/passwd")
        screen.wait(lambda: screen.last().endswith((":", "(END)", PROMPT)))
        if not screen.last().endswith(PROMPT):
            return
        screen.keys("C-l").ready()
    raise AssertionError(screen.screen())


def test_a_full_screen_program_is_told_when_it_comes_and_when_it_goes(house: House, terminal: Open) -> None:
    screen = terminal(house.listen("display.mode_switch")).ready()
    for lines in ("cat /dev/null", "echo x | less > out"):
        screen.line(lines).ready()
    assert house.told("display.mode_switch") == [], "what writes lines does not take the screen"
    in_the_pager(screen)
    pid = screen.hears("display.mode_switch", to="tui", predicted=True)["pid"]
    screen.keys("q").ready()
    screen.hears("display.mode_switch", to="stream", pid=pid)


def test_what_another_program_starts_takes_the_screen_too_and_what_only_prints_does_not(
    house: House, terminal: Open
) -> None:
    screen = terminal(house.listen("display.mode_switch")).ready()
    screen.line("less --version").ready()
    assert house.told("display.mode_switch") == [], "less shows nothing but a line"
    screen.line("sh -c 'less /etc/passwd'").hears("display.mode_switch", to="tui", predicted=True)
    screen.keys("q").ready()
    screen.hears("display.mode_switch", to="stream")


def test_a_program_has_the_terminal_before_hooks_are_told_of_its_start(house: House, terminal: Open) -> None:
    house.answers = [modify("process.post_spawn", {}, delay=1.0, command="less")]
    screen = terminal(house.listen("process.post_spawn")).ready()
    in_the_pager(screen)
    screen.hears("process.post_spawn", command="less")
    screen.keys("q").ready()


def test_where_the_shell_sees_the_output_the_switch_is_seen(house: House, terminal: Open) -> None:
    rc_file(house, "$XONSH_CAPTURE_ALWAYS = True")
    program = house.root / "full"
    program.write_text("#!/bin/sh\nprintf '\\033[?1049hfull'\nsleep 0.7\nprintf '\\033[?1049l'\n")
    program.chmod(0o755)
    screen = terminal(house.listen("display.mode_switch")).ready()
    screen.line(str(program))
    assert "predicted" not in screen.hears("display.mode_switch", to="tui")
    screen.hears("display.mode_switch", to="stream")
    screen.ready().line("printf '\\033[?1049hquick\\033[?1049l'").hears("display.mode_switch", count=2, to="stream")
    assert [one["to"] for one in house.told("display.mode_switch")] == ["tui", "stream", "tui", "stream"]


def test_the_session_ends_with_its_reason(house: House, terminal: Open) -> None:
    screen = terminal(house.listen("session.connect", "session.disconnect")).ready()
    opened = screen.hears("session.connect")
    assert (opened["interactive"], str(opened["tty"]).startswith("/dev/")) == (True, True)
    screen.keys("C-d")
    assert screen.hears("session.disconnect")["reason"] == "eof"


@pytest.mark.parametrize(("signal", "reason"), [("TERM", "killed"), ("HUP", "hangup")])
def test_a_shell_that_is_ended_from_outside_tells_why(house: House, terminal: Open, signal: str, reason: str) -> None:
    screen = terminal(house.listen("session.connect", "session.disconnect")).ready()
    subprocess.run(["kill", f"-{signal}", str(screen.hears("session.connect")["pid"])], check=True)
    assert screen.hears("session.disconnect")["reason"] == reason


def test_an_error_at_the_prompt_is_amended_by_a_late_answer(house: House, terminal: Open) -> None:
    house.answers = [modify("error.dispatch", {"suggestion": "did you mean git?"}, delay=0.5, step="gti")]
    screen = terminal(house.listen("error.dispatch", mode="async_apply")).ready()
    screen.line("gti status").shows("command not found: 'gti'")
    screen.shows("Suggestion: did you mean git?")
    screen.ready()


def subprocess_named(line: str) -> bool:
    """A process of anybody's, so the line should be nobody else's."""
    return subprocess.run(["pgrep", "-f", f"^{re.escape(line)}$"], capture_output=True, check=False).returncode == 0


def test_a_line_that_is_not_for_the_history_does_not_come_back_with_up(house: House, terminal: Open) -> None:
    house.listen("input.submit").answers.append(modify("input.submit", {"history": False}, text="echo hidden"))
    screen = terminal().ready()
    screen.line("echo shown").ready()
    screen.line("echo hidden").ready()
    screen.keys("Up")
    screen.wait(lambda: screen.last() == f"{PROMPT} echo shown")


def test_what_is_chosen_from_the_menu_is_told(house: House, terminal: Open) -> None:
    for name in ("pick-one", "pick-two"):
        (house.work / name).touch()
    screen = terminal(house.listen("input.post_complete")).ready()
    screen.type("echo pick-").keys("Tab")
    screen.hears("input.post_complete", chosen=None)
    screen.keys("Tab")
    told = screen.hears("input.post_complete", chosen="pick-one ")
    assert [one["text"] for one in told["candidates"]] == ["pick-one ", "pick-two "]


def test_what_they_have_in_common_is_part_of_what_is_chosen(house: House, terminal: Open) -> None:
    for name in ("pick-one", "pick-other"):
        (house.work / name).touch()
    screen = terminal(house.listen("input.post_complete")).ready()
    screen.type("echo pick-").keys("Tab").shows("echo pick-o")
    screen.keys("Tab")
    assert screen.hears("input.post_complete", count=2)["chosen"] == "pick-one "


def test_a_hook_that_refuses_every_key_because_it_fails_lets_the_person_out(house: House, terminal: Open) -> None:
    folder = house.home / ".config" / "hookline"
    folder.mkdir(parents=True)
    (folder / "hookline.toml").write_text('[[hook]]\non = "input.key"\nshell = "exit 3"\non_failure = "deny"\n')
    screen = terminal(house.listen("session.disconnect")).ready()
    screen.keys("x").shows("failed on input.key")
    screen.ready().keys("C-d")
    assert screen.hears("session.disconnect")["reason"] == "eof"
