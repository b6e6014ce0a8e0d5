"""The plugins that come with hookline: what they judge, as processes over their sockets, and in front of a person."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.shell.house import House
from tests.shell.terminal import PROMPT, Terminal

from hookline.dialects.lash.config import BUILTIN_PLUGINS, builtin_plugin
from hookline.shell.plugins.ask import extract_command
from hookline.shell.plugins.git_prompt import git_state, parse_status
from hookline.shell.plugins.typo_correct import nearest
from hookline.testing.plugins import check_plugin

HERE = Path(__file__).parent
Open = Callable[..., Terminal]


@pytest.mark.parametrize("name", sorted({*BUILTIN_PLUGINS} - {"guard"}))
def test_a_shipped_plugin_keeps_the_protocol(name: str) -> None:
    plugin = builtin_plugin(name, name)
    assert plugin is not None
    events: dict[str, list[dict[str, Any]]] = {
        "input.pre_execute": [{"text": "ls"}, {"text": "> "}, {"text": ""}],
        "error.dispatch": [{"code": 127, "expr": "", "step": ""}, {"code": 127, "expr": "gti x", "suggest": None}],
        "pipeline.pre_execute": [{"commands": []}, {"commands": [{"command": ""}]}],
        "process.pre_spawn": [{"command": "", "args": []}],
    }
    assert check_plugin([plugin.interpreter, plugin.path], events)["hook_config"]


def test_a_plugin_that_breaks_the_protocol_is_caught_by_the_kit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookline.testing.plugins._START", 1.0)
    for text, finding in [
        ("import time; time.sleep(60)", "no socket"),
        ("raise SystemExit(3)", "ended with 3"),
        (_plugin('say({"type": "hello"})'), "type 'hello'"),
        (_plugin('say({"type": "handshake_ok", "hooks": ["nonsense"]})'), "unknown event 'nonsense'"),
        (_plugin('say({"type": "handshake_ok", "hooks": ["input.submit"]})\n    say({})'), "answered with type None"),
    ]:
        plugin = tmp_path / "plugin.py"
        plugin.write_text(text)
        with pytest.raises(AssertionError, match=finding):
            check_plugin([sys.executable, str(plugin)])


def _plugin(answer: str) -> str:
    return (
        "import json, socket, sys\nserver = socket.socket(socket.AF_UNIX)\nserver.bind(sys.argv[1])\nserver.listen()\n"
        "link, _ = server.accept()\nsay = lambda m: link.sendall(json.dumps(m).encode() + b'\\n')\n"
        f"for line in link.makefile():\n    {answer}\n"
    )


@pytest.mark.parametrize(("program", "file"), [("perl", "counter.pl"), ("node", "counter.js")])
def test_a_plugin_in_another_language_needs_no_library(program: str, file: str, house: House) -> None:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"SKIPPED LOUDLY: {program} is not installed")
    check_plugin([found, str(HERE / "plugins" / file)], {"process.pre_spawn": [{"command": "true", "args": []}]})
    plugin = house.root / "plugin"
    plugin.write_text(f'#!/bin/sh\nexec "{found}" "{HERE / "plugins" / file}" "$1"\n')
    plugin.chmod(0o755)
    (house.lash / "plugins.conf").write_text(f"[plugins]\nother = {plugin}\n")
    assert "not twice" in _shell(house, "true\ntrue\necho on").stderr


# ── guard ────────────────────────────────────────────────────────────────────────────────────────────────


def test_with_the_guard_a_slip_removes_nothing(house: House) -> None:
    kept = house.work / "kept"
    kept.write_text("x")
    _use(house, "guard")
    alias = "aliases['wipe'] = 'rm -rf'\n"
    for line in ("rm -rf ~", "rm -rf $HOME", "rm -rf $PWD/*", f"{alias}wipe *", "bash -c 'r\"\"m -rf ~'"):
        done = _shell(house, line)
        assert done.returncode != 0
        assert "files are deleted" in done.stderr
    assert kept.exists()
    assert _shell(house, "rm -rf kept").returncode == 0
    assert not kept.exists()


def test_the_guard_of_hookline_toml_is_in_the_shell_too(house: House) -> None:
    file = house.home / ".config" / "hookline" / "hookline.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('[guard]\npolicy = "standard"\n')
    done = _shell(house, "rm -rf ~")
    assert (done.returncode != 0, "files are deleted" in done.stderr) == (True, True)
    assert _shell(house, "echo fine").stdout == "fine\n"


# ── typos and git ────────────────────────────────────────────────────────────────────────────────────────


def test_swapped_letters_come_before_likeness() -> None:
    assert nearest("gti", ["git", "gtf", "gtia", "zip"])[0] == "git"
    assert nearest("xyzzy", ["ls", "cat"]) == []


def test_a_typo_is_answered_with_what_was_meant(house: House) -> None:
    programs = house.root / "programs"
    programs.mkdir()
    (programs / "frobnicate").write_text("#!/bin/sh\n")
    (programs / "frobnicate").chmod(0o755)
    _use(house, "typo-correct")
    done = _shell(house, "forbnicate now", more={"PATH": f"{programs}:{house.environ()['PATH']}"})
    assert "did you mean frobnicate now" in done.stderr


def test_the_state_of_a_repository_is_read(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    assert git_state(str(tmp_path)) == ""
    git("init")
    (tmp_path / "one").write_text("1")
    assert git_state(str(tmp_path)) == "main ?1"
    git("add", "one")
    git("commit", "-m", "x")
    (tmp_path / "one").write_text("2")
    (tmp_path / "two").write_text("2")
    git("add", "two")
    assert git_state(str(tmp_path)) == "main +1 !1"
    git("checkout", "--detach")
    assert len(git_state(str(tmp_path)).split()[0]) == 7
    assert parse_status("# branch.head main\n# branch.ab +2 -3\nu UU x\n") == "main x1 ↑2 ↓3"


def test_git_is_in_the_prompt_when_it_has_spoken(house: House, terminal: Open) -> None:
    subprocess.run(["git", "init", "-q", "-b", "trunk"], cwd=house.work, check=True)
    shown = _opened(house, terminal, "git-prompt")
    shown.wait(lambda: shown.last() == f"(trunk) {PROMPT}")


# ── asking a model ───────────────────────────────────────────────────────────────────────────────────────


def test_a_models_answer_is_one_command() -> None:
    assert extract_command("```sh\n$ ls -la\n```\nThis lists files.") == "ls -la"
    assert extract_command("`pwd`") == "pwd"
    assert extract_command("\n \n") == ""


def test_a_model_is_asked_for_a_command_which_stands_in_the_line(house: House, terminal: Open) -> None:
    pytest.importorskip("pydantic_ai", reason="asking a model needs the models extra")
    script = house.root / "model.json"
    script.write_text(json.dumps([{"text": "```\ntouch asked-for\n```"}]))
    shown = _opened(house, terminal, "ask", more={"HOOKLINE_ASK_MODEL": f"script:{script}"})
    shown.keys(">")
    shown.wait(lambda: shown.last().endswith("> ") or shown.last().endswith(">"))
    shown.type("make me a file")
    shown.wait(lambda: "make me a file" in shown.last())
    shown.keys("Enter")
    shown.wait(lambda: shown.last().endswith("touch asked-for"))
    assert not (house.work / "asked-for").exists()
    shown.keys("Enter")
    shown.wait((house.work / "asked-for").exists)


def test_without_a_model_the_person_is_told_why(house: House, terminal: Open) -> None:
    shown = _opened(house, terminal, "ask", more={"HOOKLINE_ASK_MODEL": "openai:nothing"})
    shown.keys(">").type("anything")
    shown.wait(lambda: "anything" in shown.last())
    shown.keys("Enter")
    shown.wait(lambda: "no command: " in shown.screen())


def _use(house: House, *names: str) -> None:
    (house.lash / "plugins.conf").write_text("[plugins]\n" + "".join(f"{name} = builtin:{name}\n" for name in names))


def _shell(house: House, text: str, more: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).parent / "hookline"), "shell", "-c", text], cwd=house.work,
        env={**house.environ(), **(more or {})}, capture_output=True, text=True, timeout=200, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _opened(house: House, terminal: Open, plugin: str, more: dict[str, str] | None = None) -> Terminal:
    """A house writes its own plugins.conf when a terminal opens; this one is put there by the shell's rc file's side."""
    rc = house.root / "rc.xsh"
    rc.write_text(f"$PROMPT = '{PROMPT} '\n$XONSH_SHOW_TRACEBACK = False\n$XONSH_PROMPT_AUTO_SUGGEST = False\n")
    start = house.root / "start.sh"
    lines = [f"export {name}='{value}'" for name, value in (more or {}).items()]
    conf = f"printf '[plugins]\\n{plugin} = builtin:{plugin}\\n' > ~/.lash/plugins.conf"
    run = f"exec {Path(sys.executable).parent / 'hookline'} shell -- --rc {rc}"
    start.write_text("\n".join(["#!/bin/sh", *lines, conf, run, ""]))
    start.chmod(0o755)
    opened: Terminal = terminal(argv=[str(start)])
    if plugin != "git-prompt":
        opened.ready()
    return opened


@pytest.mark.parametrize("inside", [True, False])
def test_the_prompt_starts_no_program_that_a_repository_names(tmp_path: Path, inside: bool) -> None:
    """A repository can contain a bare one, whose configuration is a file like any other."""
    repository, marker = tmp_path / "work", tmp_path / "ran"
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main", "work"], ["-C", "work", "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    (repository / "a").write_text("a\n")
    (repository / ".gitattributes").write_text("* filter=evil\n")
    subprocess.run([*git, "add", "."], cwd=repository, check=True)
    folder = repository
    if inside:
        folder = tmp_path / "planted"
        (repository / ".git").rename(folder)
        subprocess.run(["git", "--git-dir", str(folder), "config", "core.worktree", str(repository)], check=True)
    program = f"touch '{marker}'; cat"
    config = folder if inside else folder / ".git"
    subprocess.run(["git", "config", "--file", str(config / "config"), "filter.evil.clean", program], check=True)
    (repository / "a").write_text("b\n")
    state = git_state(str(folder))
    assert (marker.exists(), state) == (False, "" if inside else "main")
