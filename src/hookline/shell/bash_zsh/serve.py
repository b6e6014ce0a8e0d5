"""The process beside a shell: answers its questions, and ends with it.

It leaves the shell's process group, so that Ctrl-C in the terminal only reaches the shell. It watches the shell's
process: children keep the pipe open too, so the end of the pipe does not show the end of the shell.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.shell.bash_zsh.service import ShellService
from hookline.shell.bash_zsh.wire import ProtocolError, QuestionReader, encode_answer
from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.engine_host import EngineHost, ShellOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hookline.shell.bash_zsh.wire import ShellQuestion

#: Seconds between checks of the shell, on systems without pidfd.
_CHECK_INTERVAL = 2.0


def serve(shell: str, pid: int, options: ShellOptions, *, asks: int, answers: int, pushes: int = -1) -> int:
    """Runs until the shell ends. ``asks``, ``answers`` and ``pushes`` are open descriptors."""
    _detach()
    dispatcher = ShellDispatcher(EngineHost(options, os.environ), environ=lambda: os.environ)
    service = ShellService(dispatcher, shell, _pusher(pushes) if pushes >= 0 else None)
    last: Mapping[str, str] = {}
    try:
        last = _answer_all(service, pid, asks, answers)
    finally:
        service.ended(last.get("status", ""), last.get("reason", "killed"))
        dispatcher.close()
    return 0


def _detach() -> None:
    with suppress(OSError):  # already a session leader
        os.setsid()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)


def _answer_all(service: ShellService, pid: int, asks: int, answers: int) -> Mapping[str, str]:
    """The fields of the shell's last message; empty if it ended without one."""
    questions = QuestionReader()
    wait = _waiter(pid, asks)
    try:
        while wait():
            more = os.read(asks, 65536)
            if not more:
                break
            for question in questions.feed(more):
                if question.name == "bye":
                    return question.fields
                _follow_directory(question)
                _write(answers, encode_answer(question.id, service.answer(question)))
    except (ProtocolError, OSError):  # the shell sees the end of the pipe and reports that hooks are off
        return {}
    return {}


def _waiter(pid: int, asks: int) -> Callable[[], bool]:
    """Waits for a question; False when the shell has ended."""
    watched: int | None = None
    with suppress(AttributeError, OSError):
        watched = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(asks, select.POLLIN)
    if watched is not None:
        poll.register(watched, select.POLLIN)

    def wait() -> bool:
        while True:
            ready = {fd for fd, _ in poll.poll(None if watched is not None else _CHECK_INTERVAL * 1000)}
            if asks in ready:
                return True
            if watched in ready or (watched is None and not _alive(pid)):
                return False

    return wait


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _follow_directory(question: ShellQuestion) -> None:
    """The hooks of the shell's current project apply."""
    with suppress(OSError):  # it may be gone or not accessible
        os.chdir(question.fields.get("cwd") or ".")


def _pusher(descriptor: int) -> Callable[[Sequence[str]], None]:
    """Sends late prompts, which come from other threads."""
    lock = threading.Lock()

    def push(values: Sequence[str]) -> None:
        with lock, suppress(OSError):
            _write(descriptor, encode_answer("push", values))

    return push


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
