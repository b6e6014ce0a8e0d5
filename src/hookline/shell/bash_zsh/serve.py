"""The process beside a shell: answers its questions, and ends with it.

It leaves the shell's process group, so that Ctrl-C in the terminal only reaches the shell.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from hookline.core._dataclass import dataclass
from hookline.core.files import is_alive
from hookline.core.result import encode
from hookline.core.sanitize import lines
from hookline.shell.bash_zsh.room import Room
from hookline.shell.bash_zsh.service import ShellService
from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.engine_host import EngineHost, ShellOptions, current_directory

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
_GUARDED = frozenset({"line", "run", "spawn"})
#: Messages that the shell waits for nothing after.
_UNANSWERED = frozenset({"after", "ahead"})


def answer_question(service: ShellService, question: ShellQuestion) -> bytes:
    """A hook may have refused what then fails here, and a service that ends would switch all hooks off."""
    try:
        return encode_answer(question.id, service.answer(question))
    except (Exception, KeyboardInterrupt) as error:
        failed = f"Problem: hookline failed: {type(error).__name__}: {lines(str(error))}"
        refusal = ["drop", failed, question.fields.get("text", "")]
        return encode_answer(question.id, refusal if question.name in _GUARDED else [])


#: Seconds between checks of the shell and of files, where the kernel does not report them.
_CHECK_INTERVAL = 1.0
#: Seconds that the shell waits at most for the thread that writes records.
_SWITCH_INTERVAL = 0.0005
#: Seconds that the end of a shell waits for a hook that hangs.
_LAST_WAIT = 4.0


class _ShellServer:
    """Runs until the shell ends or another process takes over."""

    def __init__(self, shell: str, pid: int, room: Room, options: ShellOptions) -> None:
        self._room = room
        self._pid = pid
        self._push = shell == "zsh"
        self._lock = threading.Lock()
        self._busy = self._ended = self._ending = False
        #: Where the shell was at its last question: to ask the system for every event would cost time.
        self._here = current_directory()
        host = EngineHost(options, os.environ, lambda: self._here)
        self._dispatcher = ShellDispatcher(host, environ=lambda: os.environ, pid=pid)
        self._service = ShellService(self._dispatcher, shell, self.push if self._push else None)
        self._service.on_needs, self._service.on_change = self._room.learn, self._room.forget
        self._service.on_doubt = self._room.doubt
        self._questions = QuestionReader()

    def run(self) -> None:
        last: Mapping[str, str] = {}
        try:
            self._service.connect(self._pid)
            self._service.answer(ShellQuestion(id="", name="needs", fields={"cwd": current_directory()}))
            self._room.open()
            if self._push:
                self.push(["changed"])
            threading.Thread(target=self._watch_shell, daemon=True).start()
            last = self._answer_all()
        except KeyboardInterrupt:
            self._ending = True
            last = self._last_words()
        finally:
            self._end(last)

    def _last_words(self) -> Mapping[str, str]:
        """The shell has ended; what it said before may not be read yet."""
        poll = select.poll()
        poll.register(self._room.asks, select.POLLIN)
        while poll.poll(0):
            with suppress(ProtocolError):
                for question in self._questions.feed(os.read(self._room.asks, 65536)):
                    if question.name == "bye":
                        return question.fields
        return {}

    def _end(self, last: Mapping[str, str]) -> None:
        self._ending = True
        timer = threading.Timer(_LAST_WAIT, self._kill)
        timer.daemon = True
        timer.start()
        with suppress(KeyboardInterrupt):
            reason = last.get("reason") or self._room.replaced_because() or "killed"
            self._service.ended(last.get("status", ""), reason)
        with suppress(KeyboardInterrupt):
            self._dispatcher.close()
        self._room.close()

    def _kill(self) -> None:
        """Nobody is left to wait for a hook that still hangs."""
        self._room.close()
        for child in _children():
            with suppress(OSError):
                os.killpg(os.getpgid(child), signal.SIGKILL)
        os._exit(0)

    def interrupt(self, number: int, _frame: object) -> None:
        """Ctrl-C while a hook is asked ends that hook; SIGTERM ends us."""
        if number == signal.SIGTERM:
            self._ended = True
        if not self._ending and (self._busy or number == signal.SIGTERM):
            raise KeyboardInterrupt

    def push(self, values: Sequence[str]) -> None:
        """Late prompts come from other threads."""
        with self._lock, suppress(OSError):
            _write(1, encode_answer("push", values))

    def _answer_all(self) -> Mapping[str, str]:
        """The fields of the shell's last message; empty if it ended without one."""
        poll = select.poll()
        poll.register(self._room.asks, select.POLLIN)
        if self._room.watch >= 0:
            poll.register(self._room.watch, select.POLLIN)
        while not self._ended:
            wait = partial(poll.poll, 60_000 if self._room.covered else _CHECK_INTERVAL * 1000)
            ready = {fd for fd, _ in self._dispatcher.rest(wait)}  # records are written now, not beside an answer
            if self._room.asks in ready:
                last = self._answer(os.read(self._room.asks, 65536))
                if last is not None:
                    return last
            if self._room.changed() and self._push:
                self.push(["changed"])
            elif not ready and not self._room.covered:
                self._room.forget()
                if self._push and not self._dispatcher.is_current:
                    self.push(["changed"])
        return {}

    def _answer(self, more: bytes) -> Mapping[str, str] | None:
        for question in self._questions.feed(more):
            if question.name == "bye":
                return question.fields
            with suppress(OSError):  # the hooks of the shell's directory apply, unless it is gone
                os.chdir(question.fields.get("cwd") or ".")
            self._here = current_directory()
            self._busy = True
            try:
                answer = answer_question(self._service, question)
            finally:
                self._busy = False
            if self._ended:
                return {}
            if question.name not in _UNANSWERED:
                _write(self._room.answers, answer)
        return None

    def _watch_shell(self) -> None:
        """From a thread of its own: the other one may wait for a hook."""
        _wait_for_end(self._pid)
        self._ended = True
        os.kill(os.getpid(), signal.SIGTERM)


def serve(shell: str, pid: int, room: str, options: ShellOptions, *, reason: str) -> int:
    with suppress(OSError):  # already a session leader
        os.setsid()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    server = _ShellServer(shell, pid, Room(room, pid, reason), options)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.interrupt)
    server.run()
    return 0


def _wait_for_end(pid: int) -> None:
    """Children keep the pipes open too, so the end of a pipe does not show the end of the shell."""
    watched: int | None = None
    with suppress(AttributeError, OSError):
        watched = os.pidfd_open(pid)
    if watched is not None:
        select.select([watched], [], [])
        return
    while is_alive(pid):
        time.sleep(_CHECK_INTERVAL)


def _children() -> Iterator[int]:
    """Only Linux lists them; elsewhere a hook's own deadline ends it."""
    with suppress(OSError):
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
                yield from (int(word) for word in file.read().split())


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
