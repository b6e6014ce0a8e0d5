"""The side of who is on call: the questions of all machines of the team, and an answer with one's signature on it.

    async with on_call(credentials, state) as people:
        await people.settle_in()               # the machines say their questions every few seconds
        for one in people.waiting(): ...
        print(await people.answer(one.id, "deny", "not at night"))

``answers.jsonl`` in the state directory has what was answered here; the machine that asked records it too.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from hookline.core._dataclass import dataclass
from hookline.core.errors import ConfigError, DataError, HooklineError
from hookline.core.files import lock, replace_atomically
from hookline.core.paths import private_dir
from hookline.fleet.connection import close, connect
from hookline.fleet.credentials import Credentials, read_credentials, sign
from hookline.fleet.questions import BEAT
from hookline.state import proof

if TYPE_CHECKING:
    from nats.aio.client import Client

_T = TypeVar("_T")
_SUBJECT, _FILE = "hookline.ask.*.*", "answers.jsonl"
#: Questions that are kept in mind, and seconds for which a settled one stays visible, and for which a machine may take to confirm.
_MOST, _SHOWN, _CONFIRMED = 1000, 600.0, 10.0
#: Bytes of answers at most; then the newer half of them stays.
_KEPT = 1 << 20


@dataclass(slots=True, kw_only=True)
class Question:
    id: str
    machine: str
    #: As the machine said it; the answer is about exactly this text.
    text: str
    fields: Mapping[str, Any]
    until: float
    heard: float
    reply: str
    approved: tuple[str, ...] = ()
    #: "" while it waits, else allow, deny or gone; by whom and why.
    settled: str = ""
    by: tuple[str, ...] = ()
    reason: str = ""

    def waits(self) -> bool:
        now = time.monotonic()
        return not self.settled and now < self.until and now - self.heard < 4 * BEAT

    def to_json(self) -> dict[str, Any]:
        return {
            **self.fields, "id": self.id, "machine": self.machine, "left": max(0.0, self.until - time.monotonic()) if self.waits() else 0.0,
            "approved": list(self.approved), "settled": self.settled, "by": list(self.by), "settled_reason": self.reason,
        }  # fmt: skip


def oncall_credentials(path: str) -> Credentials:
    """Raises ConfigError: they answer for a person, so nobody else may read them."""
    if not os.path.exists(path):
        raise ConfigError(
            f"you are not on call: there is no {path}; the owner issues it (hookline fleet add NAME --role oncall), then:"
            f" install -D -m 600 NAME.creds {path}"
        )
    found = read_credentials(path)
    if found.role != proof.ROLE:
        raise ConfigError(
            f"{path} is for {found.role}; who answers needs their own: hookline fleet add NAME --role oncall"
        )
    if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise ConfigError(f"others can read {path}; chmod 600 {path}")
    return found


class OnCall:
    """Questions by id. ``changed`` is called after every change."""

    def __init__(self, client: Client, credentials: Credentials, state: str, changed: Callable[[], None]) -> None:
        self.client, self._credentials, self._state, self._changed = client, credentials, state, changed
        self.questions: dict[str, Question] = {}
        self._news = asyncio.Condition()

    @property
    def name(self) -> str:
        return self._credentials.name

    @property
    def connected(self) -> bool:
        return bool(self.client.is_connected)

    async def listen(self) -> None:
        await self.client.subscribe(_SUBJECT, cb=self._hear)
        await self.client.flush()

    async def settle_in(self) -> None:
        await asyncio.sleep(1.25 * BEAT)

    def waiting(self) -> list[Question]:
        return [one for one in self.questions.values() if one.waits()]

    def find(self, name: str) -> Question:
        """By the beginning of its id. Raises DataError."""
        found = [one for key, one in self.questions.items() if name and (key.startswith(name) or one.id.endswith(name))]
        if len(found) != 1:
            raise DataError(f"{'no question has' if not found else 'several questions have'} the id {name}; hookline fleet inbox lists what waits")  # fmt: skip
        return found[0]

    async def answer(self, name: str, word: str, reason: str) -> str:
        """What became of it, in words. Raises DataError if nobody waits for it."""
        one = self.find(name)
        if not one.waits():
            raise DataError(self._ended(one))
        said = {"question": proof.digest(one.text), "answer": word, "reason": reason.strip()[:1000], "by": self.name, "time": time.time()}  # fmt: skip
        about = {name: one.fields.get(name) for name in ("hook", "about")}
        note = {"id": one.id, "machine": one.machine, **about, **said}
        record_answer(self._state, {**note, "result": "sent"})
        jwt, signature, text = sign(self._credentials, proof.SIGNED, said)
        await self.client.publish(one.reply, json.dumps({"jwt": jwt, "text": text, "signature": signature}).encode())
        with suppress(asyncio.TimeoutError):
            async with asyncio.timeout(_CONFIRMED), self._news:
                await self._news.wait_for(lambda: one.settled or self.name in one.approved or not one.waits())
        result = self._result(one, word)
        record_answer(self._state, {**note, "result": result})
        return result

    def _result(self, one: Question, word: str) -> str:
        if one.settled == word and self.name in one.by:
            return f"{one.machine} has taken it: {word}"
        if one.settled:
            return self._ended(one)
        if self.name in one.approved:
            return f"{one.machine} has counted it; somebody else must allow it too"
        return f"{one.machine} did not confirm it; unless it does, the call is refused"

    def _ended(self, one: Question) -> str:
        if one.settled in {"allow", "deny"}:
            why = f": {one.reason}" if one.reason else ""
            return f"it was answered before: {one.settled} by {' and '.join(one.by)}{why}"
        return f"nobody on {one.machine} waits for this answer any more: it was answered there, or its time was over"

    async def _hear(self, message: Any) -> None:
        changed = False
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            # The broker holds that a machine speaks as itself: its name is in the subject.
            machine, name = message.subject.split(".")[2:4]
            said, key = json.loads(message.data), f"{name}@{machine}"
            one = self.questions.get(key)
            before = None if one is None else (one.settled, one.approved, one.waits())
            if "settled" in said:
                if one is not None and not one.settled:
                    one.settled, one.by = str(said["settled"]), tuple(map(str, said.get("by", ())))
                    one.reason = str(said.get("reason", ""))[:1000]
            elif one is None:
                self._forget()
                fields = json.loads(said["question"])
                if fields["id"] != name or not proof.is_name(name) or len(self.questions) >= _MOST:
                    return
                self.questions[key] = Question(
                    id=name, machine=machine, text=str(said["question"]), fields=fields, until=0, heard=0, reply=""
                )
            one = self.questions.get(key)
            if one is not None and "question" in said and said["question"] == one.text:
                one.until, one.heard = time.monotonic() + min(float(said["left"]), 3600.0), time.monotonic()
                one.reply, one.approved = str(message.reply), tuple(map(str, said.get("approved", ())))
            changed = one is not None and before != (one.settled, one.approved, one.waits())
        async with self._news:
            self._news.notify_all()
        if changed:  # not each time that it is said again: a page would be drawn anew under somebody's hands
            self._changed()

    def _forget(self) -> None:
        for key in [key for key, one in self.questions.items() if time.monotonic() - one.heard > _SHOWN]:
            del self.questions[key]


@asynccontextmanager
async def on_call(
    credentials: Credentials, state: str, *, stay: bool = False, changed: Callable[[], None] = lambda: None
) -> AsyncGenerator[OnCall]:
    client = await connect(credentials, stay=stay)
    try:
        people = OnCall(client, credentials, state, changed)
        await people.listen()
        yield people
    finally:
        await close(client)


class OnCallThread:
    """The same beside a program that has threads: the view."""

    def __init__(self, credentials: Credentials, state: str, changed: Callable[[], None]) -> None:
        self._given = credentials, state, changed
        self._loop = asyncio.new_event_loop()
        self._people: OnCall | None = None
        self.problem = "connecting"
        threading.Thread(target=self._run, name="hookline-on-call", daemon=True).start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._stay())

    async def _stay(self) -> None:
        credentials, state, changed = self._given
        while True:
            try:
                async with on_call(credentials, state, stay=True, changed=changed) as people:
                    self._people = people
                    while True:
                        self.problem = "" if people.connected else "the broker cannot be reached; trying again"
                        await asyncio.sleep(1)
            except HooklineError as error:
                self.problem = str(error)
            await asyncio.sleep(5)

    def questions(self) -> list[dict[str, Any]]:
        people = self._people
        return [one.to_json() for one in list(people.questions.values())] if people is not None else []

    def answer(self, name: str, word: str, reason: str) -> str:
        return self.call(lambda people: people.answer(name, word, reason))

    def call(self, work: Callable[[OnCall], Awaitable[_T]]) -> _T:
        people = self._people
        if people is None:
            raise ConfigError(self.problem)

        async def run() -> _T:
            return await work(people)

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(_CONFIRMED + 20)


def record_answer(state: str, note: Mapping[str, Any]) -> None:
    """The newest ones are kept."""
    path = os.path.join(private_dir(state), _FILE)
    line = json.dumps({**note, "at": time.time()}) + "\n"
    with lock(path):
        with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "ab+") as file:
            file.write(line.encode())
            file.seek(-min(file.tell(), _KEPT // 2), os.SEEK_END)
            newest = file.read()
        if os.path.getsize(path) > _KEPT:
            replace_atomically(path, newest.partition(b"\n")[2], mode=0o600)


def read_answers(state: str) -> list[dict[str, Any]]:
    """What was answered here, each with the last that was heard of it; the newest last."""
    found: dict[tuple[str, float], dict[str, Any]] = {}
    with suppress(FileNotFoundError), open(os.path.join(state, _FILE), encoding="utf-8") as file:
        for line in file:
            with suppress(ValueError):
                one = json.loads(line)
                found[one["id"], one["time"]] = one
    return list(found.values())
