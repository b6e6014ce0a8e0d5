"""A hook asks on one machine, a person on call answers on another: who counts, what never grants, what both record."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cli.conftest import Project
from tests.fleet.broker import Broker, needs_broker
from tests.patience import eventually

from hookline.core._dataclass import replace
from hookline.core.hook import Command, HookSpec, Origin
from hookline.core.paths import Paths
from hookline.core.settings import Settings
from hookline.engine.engine import Engine
from hookline.fleet import link
from hookline.fleet.connection import connection
from hookline.fleet.credentials import Credentials, sign, team_key
from hookline.fleet.join import Joined
from hookline.fleet.oncall import OnCall, on_call, read_answers, record_answer
from hookline.fleet.questions import carry_questions
from hookline.state import inbox, proof

pytestmark = needs_broker
#: Where an asker runs as a process of its own.
ASK = """
import sys, time
from hookline.state.inbox import ask
got = ask(sys.argv[1], {"hook": "h", "about": "git push", "data": {}}, time.monotonic() + float(sys.argv[2]), int(sys.argv[3]))
print("nobody" if got is None else f"{got.word} by {got.by}: {got.reason}", flush=True)
"""


class Machine:
    """A machine that has joined: its link in a thread, and hooks that ask."""

    def __init__(self, base: Path, credentials: Credentials) -> None:
        self.state = base / credentials.name / "state"
        folder = base / credentials.name / "config" / "fleet"
        for place in (self.state, folder):
            place.mkdir(parents=True)
        (folder / "machine.creds").write_text(credentials.text)
        self.joined = Joined(folder=str(folder), credentials=credentials)
        self.paths = Paths(
            config=str(folder.parent), state=str(self.state), data=str(base), machine=str(base / "nowhere")
        )
        self._wanted, self._thread = True, threading.Thread(target=self._run)
        self._thread.start()
        assert eventually(lambda: proof.team_key(str(self.state)))

    def _run(self) -> None:
        link.run(self.joined, self.paths, lambda: self._wanted, {"questions": carry_questions})

    def leave(self) -> None:
        self._wanted = False
        self._thread.join()

    def engine(self, kind: str = "inbox") -> Engine:
        spec = HookSpec(
            id="h", name="careful", dialect="native", event="PreToolUse", origin=Origin(file="/x"), extra={"ask": kind},
            action=Command(form="shell", text="""echo '{"effect": "ask", "reason": "is this yours?"}'"""),
        )  # fmt: skip
        return Engine(specs=(spec,), settings=Settings(state_dir=str(self.state)), environ={"PATH": os.environ["PATH"]})

    def ask(self, seconds: float = 60, kind: str = "inbox") -> Asked:
        return Asked(self.engine(kind), seconds)

    def process(self, seconds: float = 60, people: int = 0) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", ASK, str(self.state), str(seconds), str(people)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


class Asked(threading.Thread):
    def __init__(self, engine: Engine, seconds: float) -> None:
        super().__init__()
        self._engine, self._seconds = engine, seconds
        self.decision: Any = None
        self.start()

    def run(self) -> None:
        data = {"tool_name": "Bash", "tool_input": {"command": "git push token=ghp_0123456789abcdefghijABCDEFGHIJ012345"}, "session_id": "s"}  # fmt: skip
        with self._engine as engine:
            event = engine.event("PreToolUse", data, until=time.monotonic() + self._seconds)
            self.decision = engine.fire_event(event)

    def end(self) -> tuple[str, str]:
        self.join(90)
        return self.decision.effect, self.decision.reason


@pytest.fixture
def machine(broker: Broker, tmp_path: Path) -> Generator[Machine]:
    one = Machine(tmp_path, broker.issue("m1"))
    yield one
    one.leave()


def on_duty(credentials: Credentials, state: Path, work: Callable[[OnCall], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with on_call(credentials, str(state)) as people:
            return await work(people)

    return asyncio.run(run())


async def hears(people: OnCall) -> Any:
    for _ in range(1000):
        if found := people.waiting():
            return found[0]
        await asyncio.sleep(0.02)
    raise AssertionError("no question was heard")


def reply(word: str, reason: str = "") -> Callable[[OnCall], Awaitable[str]]:
    async def work(people: OnCall) -> str:
        return await people.answer((await hears(people)).id, word, reason)

    return work


def test_an_answer_from_afar_is_the_decision_and_both_sides_record_it(
    broker: Broker, machine: Machine, tmp_path: Path
) -> None:
    for name, word, effect, text in (
        ("alice", "allow", "allow", "alice allowed it: fine"),
        ("bob", "deny", "deny", "bob refused it: fine"),
    ):
        asked = machine.ask()
        result = on_duty(broker.issue(name, role="oncall"), tmp_path / name, reply(word, "fine"))
        assert result == f"m1 has taken it: {word}"
        assert asked.end() == (effect, text)
        (note,) = read_answers(str(tmp_path / name))
        assert (note["answer"], note["by"], note["reason"], note["result"]) == (word, name, "fine", result)


def test_a_question_shows_the_command_without_its_secrets(broker: Broker, machine: Machine, tmp_path: Path) -> None:
    asked = machine.ask()

    async def look(people: OnCall) -> Any:
        one = await hears(people)
        await people.answer(one.id, "deny", "")
        return one.to_json()

    shown = on_duty(broker.issue("alice", role="oncall"), tmp_path / "a", look)
    assert shown["about"].startswith("Bash git push")
    assert (shown["machine"], shown["hook"], shown["reason"]) == ("m1", "careful", "is this yours?")
    assert "ghp_" not in json.dumps(shown)
    assert not {"socket", "pid"} & set(shown)
    asked.end()


def test_the_first_answer_wins_and_the_others_see_it(broker: Broker, machine: Machine, tmp_path: Path) -> None:
    alice, bob = broker.issue("alice", role="oncall"), broker.issue("bob", role="oncall")
    asked = machine.ask()

    async def both() -> tuple[str, str]:
        async with on_call(alice, str(tmp_path / "a")) as one, on_call(bob, str(tmp_path / "b")) as two:
            name = (await hears(one)).id
            await hears(two)
            first = await one.answer(name, "deny", "no")
            for _ in range(1000):
                if two.find(name).settled:
                    break
                await asyncio.sleep(0.02)
            with pytest.raises(Exception, match="answered before: deny by alice: no"):
                await two.answer(name, "allow", "")
            return first, two.find(name).settled

    assert asyncio.run(both()) == ("m1 has taken it: deny", "deny")
    assert asked.end() == ("deny", "alice refused it: no")


def test_silence_until_the_deadline_refuses(broker: Broker, machine: Machine) -> None:
    effect, reason = machine.ask(0.5).end()
    assert (effect, "nobody answered in time" in reason) == ("deny", True)


def test_two_different_people_must_allow_what_is_critical(broker: Broker, machine: Machine, tmp_path: Path) -> None:
    alice, bob = broker.issue("alice", role="oncall"), broker.issue("bob", role="oncall")
    asked = machine.ask(kind="two")
    first = on_duty(alice, tmp_path / "a", reply("allow", "seen"))
    assert "somebody else must allow it too" in first
    assert "somebody else must allow it too" in on_duty(alice, tmp_path / "a", reply("allow", "again"))
    (question,) = inbox.questions(str(machine.state))
    assert not inbox.answer(str(machine.state), question["id"], "allow")
    assert asked.is_alive()
    assert on_duty(bob, tmp_path / "b", reply("allow")) == "m1 has taken it: allow"
    assert asked.end() == ("allow", "alice and bob allowed it: again")


def test_one_of_two_is_not_enough(broker: Broker, machine: Machine, tmp_path: Path) -> None:
    alice, bob = broker.issue("alice", role="oncall"), broker.issue("bob", role="oncall")
    asked = machine.ask(kind="two")
    on_duty(alice, tmp_path / "a", reply("allow"))
    on_duty(bob, tmp_path / "b", reply("deny", "no"))
    assert asked.end() == ("deny", "bob refused it: no")


def test_what_is_critical_is_refused_at_once_outside_a_fleet(tmp_path: Path) -> None:
    machine = object.__new__(Machine)
    machine.state = tmp_path
    effect, reason = machine.ask(kind="two").end()
    assert (effect, "in no fleet" in reason) == ("deny", True)


def _signed(credentials: Credentials, question: str, **more: Any) -> dict[str, str]:
    said = {"question": question, "answer": "allow", "reason": "", "by": credentials.name, "time": 0, **more}
    jwt, signature, text = sign(credentials, proof.SIGNED, said)
    return {"jwt": jwt, "text": text, "signature": signature}


def test_only_people_on_call_of_this_team_count(broker: Broker, machine: Machine) -> None:
    alice = broker.issue("alice", role="oncall")
    process = machine.process(8)
    (question,) = _until(lambda: list(inbox.questions(str(machine.state))))
    digest = proof.digest(proof.far_form(question))
    good = _signed(alice, digest)
    other = broker.issue("alice", role="oncall", team="other")
    forged = [
        _signed(broker.issue("m2"), digest),
        _signed(broker.issue("sink", role="sink"), digest),
        _signed(broker.admin(), digest),
        _signed(other, digest),
        _signed(alice, digest, by="bob"),
        _signed(alice, proof.digest("another question")),
        _signed(alice, digest, answer="always"),
        {**_signed(other, digest), "jwt": good["jwt"]},
        {**good, "text": good["text"].replace('"reason": ""', '"reason": "x"')},
        {**good, "jwt": ".".join([*other.text.splitlines()[1].split(".")[:2], good["jwt"].split(".")[2]])},
        {},
        {"jwt": 3, "text": None, "signature": []},
    ]
    assert [inbox.deliver(question, {"signed": one}) for one in forged] == ["refused"] * len(forged)
    assert process.communicate(timeout=60)[0] == "nobody\n"
    assert inbox.deliver(question, {"signed": good}) == ""  # too late


def test_a_machine_cannot_speak_to_the_one_that_asks(broker: Broker, machine: Machine) -> None:
    """Besides the signature: the broker lets a machine publish to no inbox, and listen to no question."""
    machine.ask(3)

    async def listen() -> list[Any]:
        heard: list[Any] = []

        async def hear(message: Any) -> None:
            heard.append(message)

        async with connection(broker.issue("m2")) as client:
            await client.subscribe("hookline.ask.>", cb=hear)
            await asyncio.sleep(2.5)
        return heard

    assert asyncio.run(listen()) == []


def test_a_machine_writes_no_terminal_codes_by_an_id(broker: Broker, tmp_path: Path) -> None:
    async def say(people: OnCall) -> list[str]:
        for name in ("19a0-\x1b[2J\x1b]0;x\x07", "19a0-" + "0" * 32):
            said = {"question": json.dumps({"id": name}), "left": 60}
            message = SimpleNamespace(subject=f"hookline.ask.m1.{name}", data=json.dumps(said).encode(), reply="r")
            await people._hear(message)
        return [one.id for one in people.waiting()]

    assert on_duty(broker.issue("alice", role="oncall"), tmp_path / "a", say) == ["19a0-" + "0" * 32]


def test_a_replayed_answer_fits_no_later_question(broker: Broker, machine: Machine) -> None:
    alice = broker.issue("alice", role="oncall")
    first = machine.process()
    (question,) = _until(lambda: list(inbox.questions(str(machine.state))))
    good = _signed(alice, proof.digest(proof.far_form(question)))
    assert inbox.deliver(question, {"signed": good}) == "taken"
    assert first.communicate(timeout=60)[0] == "allow by alice: \n"
    second = machine.process(3)
    (question,) = _until(lambda: list(inbox.questions(str(machine.state))))
    assert inbox.deliver(question, {"signed": good}) == "refused"
    assert second.communicate(timeout=60)[0] == "nobody\n"


def test_without_the_broker_the_local_inbox_works(broker: Broker, machine: Machine) -> None:
    broker.kill()
    asked = machine.ask()
    (question,) = _until(lambda: list(inbox.questions(str(machine.state))))
    assert inbox.answer(str(machine.state), question["id"], "allow")
    assert asked.end() == ("allow", "a person allowed it")


def test_a_question_survives_a_restart_of_the_broker(broker: Broker, machine: Machine, tmp_path: Path) -> None:
    asked = machine.ask()
    _until(lambda: list(inbox.questions(str(machine.state))))
    broker.kill()
    broker.start()
    assert on_duty(broker.issue("alice", role="oncall"), tmp_path / "a", reply("allow")) == "m1 has taken it: allow"
    assert asked.end()[0] == "allow"


def test_the_terminal_of_who_is_on_call(broker: Broker, machine: Machine, project: Project) -> None:
    creds = project.write("alice.creds", broker.issue("alice", role="oncall").text)
    os.chmod(creds, 0o644)
    open_to_all = project.run("fleet", "inbox", "--credentials", str(creds))
    assert (open_to_all.code, "chmod 600" in open_to_all.err) == (78, True)
    os.chmod(creds, 0o600)
    assert project.run("fleet", "inbox", "--credentials", str(creds)).out == "nothing waits\n"
    asked = machine.ask(120)
    _until(lambda: list(inbox.questions(str(machine.state))))
    (listed,) = json.loads(project.run("fleet", "inbox", "--credentials", str(creds), "--json").out)
    short = listed["id"][-8:]
    assert short in project.run("fleet", "inbox", "--credentials", str(creds)).out
    whole = project.run("fleet", "inbox", short, "--credentials", str(creds)).out
    assert "careful asks on m1" in whole
    assert "is this yours?" in whole
    assert '\n  "command": "git push' in whole
    done = project.run("fleet", "inbox", short, "--deny", "--reason", "not at night", "--credentials", str(creds))
    assert (done.code, done.out) == (0, "m1 has taken it: deny\n"), done.err
    assert asked.end() == ("deny", "alice refused it: not at night")
    assert "not at night" in project.run("fleet", "inbox", "--answered").out
    wrong = project.write("m9.creds", broker.issue("m9").text)
    assert "--role oncall" in project.run("fleet", "inbox", "--credentials", str(wrong)).err


@pytest.mark.parametrize("seed", range(int(os.environ.get("HOOKLINE_KILLS", "8"))))
def test_no_kill_ever_grants(broker: Broker, tmp_path: Path, seed: int) -> None:
    """Killed at a random moment: whoever asks, the link, the broker, or whoever answers. One person allows what two must:
    whatever comes twice, late or half, an allow would be wrong."""
    chance, victim = random.Random(seed), ("asker", "link", "broker", "answerer")[seed % 4]
    home, alice = tmp_path / "home", broker.issue("alice", role="oncall")
    creds, state = home / ".config/hookline/fleet/machine.creds", home / ".local/state/hookline"
    creds.parent.mkdir(parents=True)
    state.mkdir(parents=True)
    creds.write_text(broker.issue("m1").text)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    link_words = [sys.executable, "-m", "hookline", "fleet", "link"]
    linked = subprocess.Popen(link_words, env=environ, stderr=subprocess.DEVNULL)
    answerer = None
    try:
        assert eventually(lambda: proof.team_key(str(state)))
        process = subprocess.Popen([sys.executable, "-c", ASK, str(state), "5", "2"], stdout=subprocess.PIPE, text=True)
        answerer = subprocess.Popen([sys.executable, "-c", ANSWER, str(home)], stdin=subprocess.PIPE, text=True)
        assert answerer.stdin is not None
        answerer.stdin.write(alice.text)
        answerer.stdin.close()
        time.sleep(chance.uniform(0.2, 4.0))
        if victim == "broker":
            broker.kill()
            broker.start()
        else:
            pids = {"asker": process.pid, "link": linked.pid, "answerer": answerer.pid}
            os.kill(pids[victim], signal.SIGKILL)
        if victim == "link":
            linked.wait()
            linked = subprocess.Popen(link_words, env=environ, stderr=subprocess.DEVNULL)
        assert process.communicate(timeout=60)[0] in ({"", "nobody\n"} if victim == "asker" else {"nobody\n"})
    finally:
        for one in (linked, answerer):
            if one is not None:
                one.kill()
                one.wait()


def test_a_daemon_that_dies_in_between_never_grants(tmp_path: Path) -> None:
    """The agent's own command gets no answer from it, asks anew without it, and refuses in the end."""
    home, project = tmp_path / "home", tmp_path / "project"
    (home / ".config/hookline").mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    (home / ".config/hookline/hookline.toml").write_text(
        '[[hook]]\nname = "careful"\non = "PreToolUse"\nshell = \'echo "{\\"effect\\": \\"ask\\"}"\'\nask = "inbox"\n'
    )
    payload = {"session_id": "s", "cwd": str(project), "hook_event_name": "PreToolUse", "tool_name": "Bash",
               "tool_input": {"command": "git push"}, "tool_use_id": "u", "transcript_path": "/t"}  # fmt: skip
    runtime = tempfile.mkdtemp(prefix="hookline-")  # the path of a socket is short
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": runtime}
    words, state = [sys.executable, "-m", "hookline"], str(home / ".local/state/hookline")
    daemon = subprocess.Popen(
        [*words, "daemon", "run"], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert eventually(lambda: list(Path(runtime).rglob("daemon.sock")))
        asking = subprocess.Popen([*words, "hook", "--agent", "claude-code"], env=environ, cwd=project, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        assert asking.stdin is not None
        asking.stdin.write(json.dumps(payload))
        asking.stdin.close()
        asking.stdin = None
        (first,) = _until(lambda: list(inbox.questions(state)))
        daemon.kill()
        daemon.wait()
        assert first["pid"] == daemon.pid
        assert inbox.deliver(first, {"answer": "allow"}) == ""
        _until(lambda: [one for one in inbox.questions(state) if one["pid"] != daemon.pid])
        (again,) = [one for one in inbox.questions(state) if one["pid"] != daemon.pid]
        assert inbox.answer(state, again["id"], "deny", "no")
        out, _ = asking.communicate(timeout=60)
        assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    finally:
        daemon.kill()
        daemon.wait()
        subprocess.run(
            [*words, "daemon", "stop"], env=environ, capture_output=True, check=False
        )  # one that was started anew
        shutil.rmtree(runtime, ignore_errors=True)


ANSWER = """
import asyncio, sys
from hookline.core.errors import HooklineError
from hookline.fleet.credentials import parse_credentials
from hookline.fleet.questions import carry_questions
from hookline.fleet.oncall import on_call
async def main():
    async with on_call(parse_credentials(sys.stdin.read(), "x"), sys.argv[1]) as people:
        for _ in range(400):
            if found := people.waiting():
                return await people.answer(found[0].id, "allow", "")
            await asyncio.sleep(0.02)
try:
    asyncio.run(main())
except HooklineError:
    pass
"""


def test_a_webhook_only_notifies(tmp_path: Path) -> None:
    """Once, without secrets, and what it answers (a redirect, a yes) has no effect."""
    heard: list[tuple[str, str]] = []

    class Chat(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            heard.append((self.path, body))
            self.send_response(307)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Chat) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        machine = object.__new__(Machine)
        machine.state = tmp_path
        engine = machine.engine()
        settings = replace(engine.settings, webhook=f"http://127.0.0.1:{server.server_port}/hook?k=1")
        effect, _ = Asked(Engine(specs=engine.specs, settings=settings, environ={"PATH": os.environ["PATH"]}), 3).end()
        engine.close()
        assert eventually(lambda: heard)
        server.shutdown()
    assert effect == "deny"
    ((path, body),) = heard
    assert path == "/hook?k=1"
    assert "git push" in body
    assert "ghp_" not in body


def test_a_project_cannot_say_who_is_told(project: Project) -> None:
    table = '[inbox]\nwebhook = "https://evil.example.com/x"\n'
    project.write(".hookline/hookline.toml", table)
    assert "says who is told of a question, which a project may not" in str(project.run("check"))
    project.write("own.toml", '[inbox]\nwebhook = "http://chat.example.com/x"\n')
    assert "questions cannot be sent to this address" in str(project.run("check", "--config", "own.toml"))


def test_old_answers_make_room_for_new_ones(tmp_path: Path) -> None:
    notes = [{"id": str(n), "time": float(n), "about": "x" * 3000} for n in range(1000)]
    for note in notes:
        record_answer(str(tmp_path), note)
    assert (tmp_path / "answers.jsonl").stat().st_size <= 1 << 20
    kept = [one["id"] for one in read_answers(str(tmp_path))]
    assert len(kept) > 100
    assert kept == [note["id"] for note in notes[-len(kept) :]]


def test_the_team_is_in_the_credentials_of_its_members(broker: Broker) -> None:
    assert team_key(broker.issue("m1")) == team_key(broker.issue("alice", role="oncall"))
    assert team_key(broker.issue("m1", team="other")) != team_key(broker.admin())


def _until(condition: Callable[[], Any]) -> Any:
    found: list[Any] = []

    def look() -> bool:
        found[:] = [condition()]
        return bool(found[0])

    assert eventually(look)
    return found[0]
