"""Where a shell asks: what a hook wanted to check is not let through because something of ours failed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.engine_host import EngineHost, ShellOptions

SPAWN = {"argv": ["ls"], "cwd": "/"}
HOOK = '[[hook]]\nname = "h"\non = "{0}"\nshell = "{1}"\n'
REFUSES = HOOK.format("process.pre_spawn", "exit 2")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Callable[..., ShellDispatcher]]:
    """A dispatcher with one hook on spawns, or another one."""
    started: list[ShellDispatcher] = []

    def start(text: str = HOOK.format("process.pre_spawn", "true"), **environ: str) -> ShellDispatcher:
        file = tmp_path / "hooks.toml"
        file.write_text(text)
        surroundings: Mapping[str, str] = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], **environ}
        host = EngineHost(ShellOptions(config=(str(file),)), surroundings)
        started.append(ShellDispatcher(host, environ=lambda: surroundings))
        return started[-1]

    yield start
    for one in started:
        one.close()


def listening(dispatcher: ShellDispatcher) -> list[str]:
    shown: list[str] = []
    dispatcher.notify = shown.append
    return shown


def breaking(dispatcher: ShellDispatcher) -> None:
    def read_environ() -> Mapping[str, str]:
        raise OSError(28, "No space left on device")

    dispatcher._read_environ = read_environ


def test_an_error_of_ours_refuses_what_a_hook_wanted_to_check(shell: Callable[..., ShellDispatcher]) -> None:
    dispatcher = shell()
    shown = listening(dispatcher)
    breaking(dispatcher)
    answer = dispatcher.fire("process.pre_spawn", SPAWN)
    assert (answer.allowed, answer.owner, answer.data) == (False, "hookline", SPAWN)
    assert shown == [
        "hookline: hookline could not run the hooks of process.pre_spawn: OSError: [Errno 28] No space left on device"
    ]


def test_an_error_of_ours_lets_through_what_no_hook_can_refuse(shell: Callable[..., ShellDispatcher]) -> None:
    dispatcher = shell(HOOK.format("process.post_spawn", "true"))
    shown = listening(dispatcher)
    breaking(dispatcher)
    assert dispatcher.fire("process.post_spawn", {"pid": 1}).allowed
    assert len(shown) == 1


@pytest.mark.parametrize(("guarded", "allowed"), [("process.pre_spawn", False), ("process.post_spawn", True)])
def test_a_forked_copy_of_the_shell_refuses_what_it_cannot_ask_about(
    shell: Callable[..., ShellDispatcher], guarded: str, allowed: bool
) -> None:
    dispatcher = shell(HOOK.format(guarded, "true"))
    child = os.fork()
    if child == 0:
        try:
            os._exit(int(dispatcher.fire("process.pre_spawn", SPAWN).allowed))
        finally:
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == int(allowed)


def test_a_question_is_a_refusal_since_a_shell_cannot_ask(shell: Callable[..., ShellDispatcher]) -> None:
    ask = """[[hook]]\nname = "h"\non = "process.pre_spawn"\nshell = '''echo '{"effect": "ask"}' '''\n"""
    answer = shell(ask).fire("process.pre_spawn", SPAWN)
    assert (answer.allowed, answer.reason) == (False, "a hook wants to ask (the shell cannot ask)")
    assert answer.problem == "Problem: a hook wants to ask (the shell cannot ask)\nSuggestion: hook h refused it"


def test_a_run_that_a_failing_hook_aborts_names_the_hook(shell: Callable[..., ShellDispatcher]) -> None:
    answer = shell(HOOK.format("process.pre_spawn", "exit 3") + 'on_failure = "abort"\n').fire(
        "process.pre_spawn", SPAWN
    )
    assert (answer.allowed, answer.owner) == (False, "h")


def test_a_failure_is_shown_once_and_not_with_every_command(shell: Callable[..., ShellDispatcher]) -> None:
    dispatcher = shell(HOOK.format("process.pre_spawn", "exit 3"))
    shown = listening(dispatcher)
    assert [dispatcher.fire("process.pre_spawn", SPAWN).allowed for _ in range(3)] == [True] * 3
    assert len([line for line in shown if "the hook h failed on process.pre_spawn" in line]) == 1


def test_a_file_that_changes_is_read_before_the_next_line(
    shell: Callable[..., ShellDispatcher], tmp_path: Path
) -> None:
    dispatcher = shell()
    reloaded: list[bool] = []
    dispatcher.on_reload.append(lambda: reloaded.append(dispatcher.has_hooks("env.change")))
    (tmp_path / "hooks.toml").write_text(HOOK.format("env.change", "true"))
    dispatcher.fire("input.submit", {"text": "ls"})
    assert reloaded == [True]
    assert not dispatcher.has_hooks("process.pre_spawn")


@pytest.mark.parametrize("named", [True, False])
def test_hooks_of_ones_own_file_stay_while_it_has_errors(tmp_path: Path, named: bool) -> None:
    file = tmp_path / ".config/hookline/hookline.toml"
    file.parent.mkdir(parents=True)
    surroundings: Mapping[str, str] = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    file.write_text(REFUSES)
    host = EngineHost(ShellOptions(config=(str(file),) if named else ()), surroundings)
    dispatcher = ShellDispatcher(host, environ=lambda: surroundings)
    seen = []
    for text in (REFUSES, f"{REFUSES}[[hook", HOOK.format("process.pre_spawn", "true"), ""):
        file.write_text(text)
        dispatcher.refresh()
        seen.append((dispatcher.fire("process.pre_spawn", SPAWN).allowed, bool(host.problems)))
    dispatcher.close()
    assert seen == [(False, False), (False, True), (True, False), (True, False)]
