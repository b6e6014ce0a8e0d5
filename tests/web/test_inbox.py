"""A hook asks, a person answers in the view, and the agent that waits gets the answer at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.web.client import Client
from tests.web.conftest import Web, ask_daemon

from hookline.core.hook import Command, HookSpec, Origin
from hookline.core.settings import Settings
from hookline.engine.engine import Engine
from hookline.state import inbox


def engine(state: Path, reply: str = '{"effect": "ask", "reason": "is this yours?"}') -> Engine:
    spec = HookSpec(
        id="h", name="careful", dialect="native", event="PreToolUse", origin=Origin(file="/x"), extra={"ask": "inbox"},
        action=Command(form="shell", text=f"echo '{reply}'"),
    )  # fmt: skip
    return Engine(specs=(spec,), settings=Settings(state_dir=str(state)), environ={"PATH": os.environ["PATH"]})


def until(condition: Callable[[], Any], seconds: float = 20) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError("it did not happen")


class Fired(threading.Thread):
    def __init__(self, one: Engine, session: str = "s", wait: float = 30) -> None:
        super().__init__()
        self.engine, self.session, self.wait = one, session, wait
        self.decision: Any = None
        self.done = 0.0
        self.start()

    def run(self) -> None:
        data = {"tool_name": "Bash", "tool_input": {"command": "git push"}, "session_id": self.session}
        event = self.engine.event("PreToolUse", data, until=time.monotonic() + self.wait)
        self.decision = self.engine.fire_event(event)
        self.done = time.monotonic()


def test_an_answer_in_the_view_is_the_decision(web: Web) -> None:
    client = Client(web).enter().unlock()
    cases = [
        ("allow", "", "allow", "a person allowed it"), ("always", "", "allow", "a person allowed it"),
        ("deny", "not on a Friday", "deny", "a person refused it: not on a Friday"),
    ]  # fmt: skip
    with engine(web.state) as one:
        for word, reason, effect, text in cases:
            fired = Fired(one, f"session {word}")
            (question,) = until(lambda: client.get("/api/inbox").json["questions"])
            assert (question["hook"], question["about"], question["reason"]) == (
                "careful",
                "Bash git push",
                "is this yours?",
            )
            assert "socket" not in question
            sent = time.monotonic()
            answer = {"id": question["id"], "answer": word, "reason": reason}
            assert client.post("/api/inbox/answer", answer).status == 200
            fired.join(10)
            assert fired.done - sent < 5  # far above the tenth of a second that it takes, far below the deadline
            decision = fired.decision
            assert (decision.effect, decision.granted, decision.reason) == (effect, effect == "allow", text)
            assert client.get("/api/inbox").json["questions"] == []
        again, other = Fired(one, "session always"), Fired(one, "session allow", 1)
        again.join(10)
        other.join(10)
        assert (again.decision.effect, other.decision.effect) == ("allow", "deny")


def test_without_an_answer_the_call_is_refused(tmp_path: Path) -> None:
    with engine(tmp_path) as one:
        fired = Fired(one, wait=0.3)
        fired.join(10)
    assert fired.decision.effect == "deny"
    assert fired.decision.reason == "nobody answered in time; to answer: hookline web (it asked: is this yours?)"


def test_a_question_ends_with_whoever_asked_it(tmp_path: Path) -> None:
    code = f"from hookline.state.inbox import ask; import time; ask({str(tmp_path)!r}, {{'hook': 'h'}}, time.monotonic() + 60)"
    process = subprocess.Popen([sys.executable, "-c", code])
    (question,) = until(lambda: list(inbox.questions(str(tmp_path))))
    process.kill()
    process.wait()
    assert inbox.answer(str(tmp_path), question["id"], "allow") is False


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="ancestors cannot be seen here")
def test_an_agent_cannot_answer_itself(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text(
        f'#!{sys.executable}\nimport subprocess, sys\nsys.exit(subprocess.call(["sh", "-c", sys.argv[1]]))\n'
    )
    program.chmod(0o755)
    state = tmp_path / "state"
    with engine(state) as one:
        fired = Fired(one, wait=8)
        (question,) = until(lambda: list(inbox.questions(str(state))))
        script = tmp_path / "answer.py"
        script.write_text(
            f"from hookline.state.inbox import answer\nprint(answer({str(state)!r}, {question['id']!r}, 'allow'))\n"
        )
        done = subprocess.run(
            [str(program), f"{sys.executable} {script}; true"], capture_output=True, text=True, check=True
        )
        assert done.stdout == "False\n"
        assert inbox.answer(str(state), question["id"], "deny", "by hand")
        fired.join(20)
    assert fired.decision.reason == "a person refused it: by hand"


def test_the_question_of_a_configured_guard_reaches_the_inbox(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (home / ".config" / "hookline").mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    table = '[guard]\npolicy = "standard"\nask = "inbox"\n[[guard.rule]]\neffect = "git-remote"\nthen = "ask"\n'
    (home / ".config" / "hookline" / "hookline.toml").write_text(table)
    state = home / "state"
    payload = {
        "session_id": "s", "cwd": str(project), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "git push --force origin main"}, "tool_use_id": "u", "transcript_path": "/t",
    }  # fmt: skip
    words = [
        sys.executable,
        "-m",
        "hookline",
        "hook",
        "--agent",
        "claude-code",
        "--home",
        str(home),
        "--state-dir",
        str(state),
    ]
    process = subprocess.Popen(
        words, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "HOOKLINE_DAEMON": "off"},
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(json.dumps(payload))
    process.stdin.close()
    process.stdin = None
    (question,) = until(lambda: list(inbox.questions(str(state))))
    assert question["hook"] == "guard"
    assert inbox.answer(str(state), question["id"], "deny", "not today")
    answer = json.loads(process.communicate(timeout=30)[0])["hookSpecificOutput"]
    assert (answer["permissionDecision"], answer["permissionDecisionReason"]) == (
        "deny",
        "a person refused it: not today",
    )


def test_the_daemon_decides_for_others_while_a_question_waits(tmp_path: Path) -> None:
    home, project, place = tmp_path / "home", tmp_path / "project", tmp_path / "d"
    (home / ".config" / "hookline").mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    (home / ".config" / "hookline" / "hookline.toml").write_text(
        '[[hook]]\nname = "careful"\non = "PreToolUse"\nmatch = { "tool_input.command" = "git push" }\n'
        'shell = \'echo "{\\"effect\\": \\"ask\\"}"\'\nask = "inbox"\n'
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    state = home / ".local" / "state" / "hookline"

    def payload(command: str) -> dict[str, Any]:
        return {
            "session_id": "s", "cwd": str(project), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": command, "transcript_path": "/t",
        }  # fmt: skip

    daemon = subprocess.Popen(
        [sys.executable, "-m", "hookline", "daemon", "run", "--directory", str(place)], env=environ,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until((place / "daemon.sock").exists, 60)
        answers: list[str] = []
        asking = threading.Thread(
            target=lambda: answers.append(ask_daemon(place, payload("git push"), environ, project))
        )
        asking.start()
        (question,) = until(lambda: list(inbox.questions(str(state))), 60)
        for number in range(5):
            assert ask_daemon(place, payload(f"ls {number}"), environ, project) == ""
        assert answers == []
        assert inbox.answer(str(state), question["id"], "allow")
        asking.join(30)
        assert json.loads(answers[0])["hookSpecificOutput"]["permissionDecision"] == "allow"
    finally:
        daemon.terminate()
        daemon.wait(30)
