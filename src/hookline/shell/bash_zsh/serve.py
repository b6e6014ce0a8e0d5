"""The process beside a shell: answers its questions, and ends with it.

It leaves the shell's process group, so that Ctrl-C in the terminal only reaches the shell. It watches the shell's
process: children keep the pipe open too, so the end of the pipe does not show the end of the shell.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from hookline.core._dataclass import dataclass
from hookline.core.files import is_alive
from hookline.core.result import encode
from hookline.core.sanitize import lines
from hookline.shell.bash_zsh.service import ShellService
from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.engine_host import EngineHost, ShellOptions

#: A larger question is not from our script.
_MAX_QUESTION = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellQuestion:
    id: str
    name: str
    fields: Mapping[str, str]


class ProtocolError(Exception):
    """The input is not a question of our script, so nothing after it can be trusted."""


class QuestionReader:
    """Takes bytes as they arrive, and yields complete questions."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, more: bytes) -> Iterator[ShellQuestion]:
        self._rest += more
        while (question := self._next()) is not None:
            yield question
        if len(self._rest) > _MAX_QUESTION:
            raise ProtocolError(f"a question of more than {_MAX_QUESTION} bytes")

    def _next(self) -> ShellQuestion | None:
        head = self._rest.split(b"\0", 2)
        if len(head) < 3:
            return None
        if not head[1].isdigit() or len(head[1]) > 4:
            raise ProtocolError(f"a question with {head[1][:20]!r} fields")
        count = int(head[1])
        fields = head[2].split(b"\0", count)
        if len(fields) <= count:
            return None
        self._rest = fields.pop()
        name, *pairs = (field.decode("utf-8", "surrogateescape") for field in fields)
        values = dict(zip(pairs[::2], pairs[1::2], strict=False))
        return ShellQuestion(id=head[0].decode("ascii", "replace"), name=name, fields=values)


def encode_answer(question: str, values: Sequence[str]) -> bytes:
    """A NUL inside a value would end it, so it is removed."""
    fields = (question, str(len(values)), *(value.replace("\0", "") for value in values))
    return encode("".join(f"{field}\0" for field in fields))


#: Questions about whether something may run.
_GUARDED = frozenset({"line", "past", "spawn"})


def answer_question(service: ShellService, question: ShellQuestion) -> bytes:
    """A hook may have refused what then fails here, and a service that ends would switch all hooks off."""
    try:
        return encode_answer(question.id, service.answer(question))
    except Exception as error:
        failed = f"Problem: hookline failed: {type(error).__name__}: {lines(str(error))}"
        refusal = ["drop", failed, question.fields.get("text", "")]
        return encode_answer(question.id, refusal if question.name in _GUARDED else [])


#: Seconds between checks of the shell, on systems without pidfd.
_CHECK_INTERVAL = 2.0


def serve(shell: str, pid: int, options: ShellOptions, *, asks: int, answers: int, pushes: int = -1) -> int:
    """Runs until the shell ends. ``asks``, ``answers`` and ``pushes`` are open descriptors."""
    with suppress(OSError):  # already a session leader
        os.setsid()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    dispatcher = ShellDispatcher(EngineHost(options, os.environ), environ=lambda: os.environ)
    service = ShellService(dispatcher, shell, _pusher(pushes) if pushes >= 0 else None)
    last: Mapping[str, str] = {}
    try:
        last = _answer_all(service, pid, asks, answers)
    finally:
        service.ended(last.get("status", ""), last.get("reason", "killed"))
        dispatcher.close()
    return 0


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
                with suppress(OSError):  # the hooks of the shell's directory apply, unless it is gone
                    os.chdir(question.fields.get("cwd") or ".")
                _write(answers, answer_question(service, question))
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
            if watched in ready or (watched is None and not is_alive(pid)):
                return False

    return wait


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
