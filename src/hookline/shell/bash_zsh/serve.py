"""The process beside a shell: reads its questions, answers them, and ends with it.

It leaves the shell's process group, so that Ctrl-C in the terminal is for the shell alone, and it watches the shell
itself: its children hold the pipe open too, so the end of the pipe is no sign.
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

#: Seconds between looks at the shell, where the system cannot tell of its end.
_LOOK = 2.0


def serve(shell: str, pid: int, options: ShellOptions, *, asks: int, answers: int, pushes: int = -1) -> int:
    """Until the shell ends. ``asks``, ``answers`` and ``pushes`` are open descriptors."""
    _apart()
    dispatcher = ShellDispatcher(EngineHost(options, os.environ), environ=lambda: os.environ)
    service = ShellService(dispatcher, shell, _pusher(pushes) if pushes >= 0 else None)
    last: Mapping[str, str] = {}
    try:
        last = _answer_all(service, pid, asks, answers)
    finally:
        service.ended(last.get("status", ""), last.get("reason", "killed"))
        dispatcher.close()
    return 0


def _apart() -> None:
    with suppress(OSError):  # already the leader of a session: then it has a terminal of its own, or none
        os.setsid()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)


def _answer_all(service: ShellService, pid: int, asks: int, answers: int) -> Mapping[str, str]:
    """What the shell said of its end; nothing when it was not asked."""
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
                _go_there(question)
                _write(answers, encode_answer(question.id, service.answer(question)))
    except (ProtocolError, OSError):  # the shell sees the pipe end, and says that hooks are off
        return {}
    return {}


def _waiter(pid: int, asks: int) -> Callable[[], bool]:
    """Waits for a question; False when the shell is gone."""
    watched: int | None = None
    with suppress(AttributeError, OSError):
        watched = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(asks, select.POLLIN)
    if watched is not None:
        poll.register(watched, select.POLLIN)

    def wait() -> bool:
        while True:
            ready = {fd for fd, _ in poll.poll(None if watched is not None else _LOOK * 1000)}
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


def _go_there(question: ShellQuestion) -> None:
    """Hooks of a project count where the shell is."""
    with suppress(OSError):  # it may be gone, or closed to us; then we stay where we are
        os.chdir(question.fields.get("cwd") or ".")


def _pusher(descriptor: int) -> Callable[[Sequence[str]], None]:
    """For what comes when nobody asked: a late prompt. Hooks answer in threads of their own."""
    lock = threading.Lock()

    def push(values: Sequence[str]) -> None:
        with lock, suppress(OSError):
            _write(descriptor, encode_answer("push", values))

    return push


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
