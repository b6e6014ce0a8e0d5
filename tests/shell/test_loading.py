"""How the hooks come into a shell: by command, by xontrib, refused where xonsh is not what it was; and how they change."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from tests.shell.house import BIN, House, deny, modify
from tests.shell.terminal import PROMPT, Terminal, rc_file

Open = Callable[..., Terminal]


def xonsh(house: House, *words: str) -> list[str]:
    return [str(BIN / "xonsh"), "--rc", str(rc_file(house, "xontrib load hookline")), *words]


def test_a_xontrib_brings_the_hooks_into_ones_own_xonsh(house: House) -> None:
    house.answers = [deny("process.pre_spawn", "not here", command="touch")]
    result = house.listen("process.pre_spawn", "session.connect").shell("", argv=xonsh(house, "-c", "touch x"))
    assert (result.code, (house.work / "x").exists()) == (126, False)
    assert "Problem: not here" in result.err
    assert house.told("session.connect")[0]["frontend"] == "xonsh"


def test_children_of_ones_own_xonsh_learn_how_they_are_shown(house: House) -> None:
    result = house.listen("process.pre_spawn").shell("", argv=xonsh(house, "-c", "sh -c 'echo $LASH_DISPLAY'"))
    assert result.out == "stream\n"
    assert house.told("process.pre_spawn")[0]["env"] == {"LASH_DISPLAY": "stream"}


def test_a_xontrib_brings_the_line_editors_events_too(house: House, terminal: Open) -> None:
    house.answers = [
        deny("input.prefix", data={"prefill": "echo from-prefix"}, char=">"),
        deny("variable.set", "kept", name="fixed"),
    ]
    house.listen("input.prefix", "prompt.render", "variable.set")
    screen = terminal(argv=xonsh(house, "-i")).ready()
    screen.type(">").shows("\nfrom-prefix")
    screen.line("fixed = 1").shows("Problem: kept")
    assert house.told("prompt.render")


def test_a_xontrib_can_be_loaded_at_an_open_prompt(house: House, terminal: Open) -> None:
    house.hook_config = [{"event": "input.key", "mode": "blocking", "keys": ["ctrl+t"]}, {"event": "variable.set"}]
    house.answers = [modify("input.key", {"buffer": "echo it-works"}, key="ctrl+t")]
    argv = [str(BIN / "xonsh"), "--rc", str(rc_file(house, "def older():\n    return later\n")), "-i"]
    screen = terminal(argv=argv).ready()
    screen.line("xontrib load hookline").ready()
    screen.keys("C-t").wait(lambda: screen.last() == f"{PROMPT} echo it-works")
    screen.keys("Enter").shows("\nit-works")
    screen.line("later = 'seen by an older function'").ready()
    screen.hears("variable.set", name="later")
    screen.line("print(older())").shows("\nseen by an older function")


def test_a_xonsh_that_lacks_a_wrap_point_is_refused_by_name(house: House) -> None:
    code = (
        "import sys, xonsh.procs.specs as specs, xonsh.procs.jobs as jobs\n"
        "del specs._redirect_streams\n"
        "jobs.resume_job = lambda other: None\n"
        "from hookline.cli import main\n"
        "sys.exit(main(['shell', '-c', 'touch x']))\n"
    )
    result = house.listen("file.redirect").shell("", argv=[sys.executable, "-c", code])
    assert (result.code, (house.work / "x").exists()) == (78, False)
    assert "xonsh.procs.specs:_redirect_streams is missing" in result.err
    assert "xonsh.procs.jobs:resume_job no longer takes args, wording" in result.err


def test_a_xontrib_that_cannot_wrap_says_so_and_fails_to_load(house: House) -> None:
    rc = rc_file(house, "import xonsh.procs.specs as specs\ndel specs._redirect_streams\nxontrib load hookline")
    argv = [str(BIN / "xonsh"), "--rc", str(rc), "-c", "echo ran"]
    result = house.listen("file.redirect").shell("", argv=argv)
    assert "Failed to load xontrib hookline" in result.err
    assert "xonsh.procs.specs:_redirect_streams is missing" in result.err


def test_importing_hookline_and_its_shell_imports_no_xonsh() -> None:
    code = "import sys, hookline, hookline.cli, hookline.shell.xonsh.start, xontrib.hookline\nprint('xonsh' in sys.modules, 'prompt_toolkit' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_a_change_of_lashs_files_counts_from_the_next_line_on(house: House, terminal: Open) -> None:
    screen = terminal(house.listen("input.submit")).ready()
    screen.line("echo first").ready()
    script = house.root / "no"
    script.write_text('#!/bin/sh\ncat >/dev/null\necho \'{"action": "deny", "reason": "new rule"}\'\n')
    script.chmod(0o755)
    (house.lash / "config").write_text(f"[hooks]\nprocess.pre_spawn = blocking:{script}\n")
    screen.line("touch x").shows("Problem: new rule")
    assert not (house.work / "x").exists()
    (house.lash / "config").write_text("")
    screen.line("touch x").ready()
    screen.wait((house.work / "x").exists)


def test_the_set_of_hooked_keys_follows_a_change(house: House, terminal: Open) -> None:
    house.hook_config = [{"event": "input.key", "mode": "blocking", "keys": ["ctrl+t"]}]
    house.answers = [
        modify("input.key", {"buffer": "T", "cursor": 1}, key="ctrl+t"),
        modify("input.key", {"buffer": "G"}, key="ctrl+g"),
    ]
    screen = terminal().ready()
    screen.keys("C-t").wait(lambda: screen.last() == f"{PROMPT} T")
    screen.keys("C-u")
    house.hook_config = [{"event": "input.key", "mode": "blocking", "keys": ["ctrl+g"]}]
    house.write()
    screen.ready().line("echo renewed").shows("\nrenewed")
    screen.ready().keys("C-g").wait(lambda: screen.last() == f"{PROMPT} G")
    screen.keys("C-u").ready().type("a").keys("C-t").type("b")
    screen.wait(lambda: screen.last() == f"{PROMPT} ab")
    assert [one["key"] for one in house.told("input.key")] == ["ctrl+t", "ctrl+g"]


def test_a_project_that_is_entered_brings_its_hooks_under_trust(house: House) -> None:
    project = house.work / "project"
    (project / ".hookline").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / ".hookline" / "hookline.toml").write_text(
        '[[hook]]\nname = "mine"\non = "process.pre_spawn"\nmatch = "touch"\nshell = \'echo project says no >&2; exit 2\'\n'
    )
    untrusted = house.shell("touch before\ncd project\ntouch inside")
    assert "not approved, so nothing of it has any effect; review it with: hookline trust" in untrusted.err
    assert (project / "inside").exists()
    subprocess.run(
        [BIN / "hookline", "trust", "--yes"], cwd=project, env=house.environ(), check=True, capture_output=True
    )
    trusted = house.shell("touch again\ncd project\ntouch more")
    assert trusted.code == 126
    assert "Problem: project says no" in trusted.err
    assert (house.work / "again").exists()
    assert not (project / "more").exists()


def test_a_plugin_keeps_running_when_the_shell_moves_to_another_project(house: House) -> None:
    for name in ("one", "two"):
        (house.work / name / ".git").mkdir(parents=True)
    house.listen("input.submit", "process.pre_spawn")
    house.shell("cd one && true && cd ../two && true")
    loads = [one for one in house.log() if one["event"] == "plugin.load"]
    assert len(loads) == 1
    assert len(house.told("process.pre_spawn")) == 4


def test_a_lash_hook_hears_an_agents_event_through_the_table(house: House) -> None:
    script = house.root / "guard"
    script.write_text('#!/bin/sh\ngrep -q rm && echo \'{"action": "deny", "reason": "lash says no"}\'\n')
    script.chmod(0o755)
    (house.lash / "config").write_text(f"[hooks]\nPreToolUse = blocking:{script}\n")
    config = house.home / ".config" / "hookline"
    config.mkdir(parents=True)
    (config / "hookline.toml").write_text('[[source]]\ndialect = "lash"\n')
    data = '{"tool_name": "Bash", "tool_input": {"command": "rm x"}}'
    result = house.shell("", argv=[str(BIN / "hookline"), "fire", "PreToolUse", "--data", data])
    assert (result.code, "lash says no" in result.out) == (1, True)


def test_a_lectic_hook_hears_the_shell_and_refuses(house: House) -> None:
    config = house.home / ".config" / "hookline"
    config.mkdir(parents=True)
    script = house.root / "guard"
    script.write_text('#!/bin/sh\necho "$SHELL_EVENT $SHELL_DATA" >&2\ncase "$SHELL_DATA" in *touch*) exit 1;; esac\n')
    script.chmod(0o755)
    (house.root / "lectic.yaml").write_text(f"hooks:\n  - on: process.pre_spawn\n    do: {script}\n")
    (config / "hookline.toml").write_text(f'[[source]]\ndialect = "lectic"\npath = "{house.root}/lectic.yaml"\n')
    assert house.shell("echo fine").out == "fine\n"
    result = house.shell("touch x")
    assert (result.code, (house.work / "x").exists()) == (126, False)
    assert f'Problem: Refused by hook "{script}": process.pre_spawn {{"command":"touch"' in result.err
