"""Every fault on every agent, through the very command that ``hookline deploy`` writes, run as the agent runs it.

What a block looks like is each agent's own; that it says "failed", and not that a hook refused, is common to all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hookline.core.agents import all_agents
from hookline.daemon.protocol import ACCEPTED
from hookline.deploy.own_entry import entry_commands
from hookline.deploy.plan import own_entries
from hookline.deploy.registration import EntryCaller, registrations
from hookline.dialects.event_lookup import native_events
from hookline.state.own_guards import accept

PAYLOADS = Path(__file__).parent.parent / "payloads"
FILES = {
    "claude-code": "claude/PreToolUse.Bash.json", "codex": "codex/PreToolUse.Bash.json",
    "gemini-cli": "gemini/BeforeTool.json", "letta-code": "letta/PreToolUse.json",
    "qwen-code": "qwen/PreToolUse.json", "copilot-cli": "copilot/preToolUse.json",
    "opencode": "opencode/tool.execute.before.json",
}  # fmt: skip
GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\non_failure = "{policy}"\n{action}\n'
HANGS = """\
import re

def judge(event):
    re.match("(a+)+$", "a" * 60 + "b")  # a call of C that lets no other thread run
"""
#: What the hook is; the deadline that the registration is given, where the fault needs a short one.
HOOKS = {
    "missing": ('run = "/nowhere/guard"', None),
    "crash": ('shell = "kill -SEGV $$"', None),
    "junk": ("shell = '''echo \"{not json\"'''", None),
    "hang": ('shell = "sleep 300"\ntimeout = 0.3', None),
    "past the deadline": ('shell = "sleep 300"\ntimeout = 50', 2),
    "a hung call of C": ('python = "hangs:judge"\ntimeout = 50', 1),
}


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


class Deployed:
    """A home in which hookline was deployed for every agent, while a healthy guard with this policy was there."""

    def __init__(self, root: Path, policy: str) -> None:
        self.root, self.policy = root, policy
        self.home, self.project = root / "home", root / "project"
        self.config = self.home / ".config/hookline/hookline.toml"
        self.config.parent.mkdir(parents=True)
        self.project.mkdir()
        (self.project / ".git").mkdir()
        (root / "run").mkdir(mode=0o700)
        (self.config.parent / "hangs.py").write_text(HANGS)
        self.guard("run = 'true'")
        agents = [word for agent in all_agents() for word in ("--agent", agent)]
        self.hookline("deploy", *agents, "--scope", "user", "--door", "command")

    def guard(self, action: str) -> None:
        self.configure(GUARD.format(policy=self.policy, action=action))

    def configure(self, text: str) -> None:
        """As the person wants it: the guard that was deployed does not stay in force."""
        self.config.unlink(missing_ok=True)
        self.config.write_text(text)
        accept(str(self.home / ".local/state/hookline"), str(self.config))

    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.root / "run"),
            "HOOKLINE_DAEMON": "if running",  # and none is started
        }  # fmt: skip

    def hookline(self, *words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "hookline", *words],
            cwd=self.project, env=self.environ(), capture_output=True, text=True, check=True, timeout=200,
        ).stdout  # fmt: skip

    def command(self, agent: str) -> str:
        target = all_agents()[agent]
        text = (self.home / target.files["user"]).read_text()
        if target.form == "plugin":
            return text
        (one,) = [found for found in own_entries(text) if found.event == native_events(target)["PreToolUse"]]
        (line,) = entry_commands(one.value)
        return line

    def ask(self, agent: str, change: Callable[[str], str] = lambda line: line) -> Done:
        """Its own payload, in our project, to the command that it was given."""
        payload = json.loads((PAYLOADS / FILES[agent]).read_text())
        for name in ("cwd", "working_directory", "directory"):
            if name in payload:
                payload[name] = str(self.project)
        line = change(self.command(agent))
        if agent == "opencode":
            return self._plugin(line, payload)
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.project, env=self.environ(), input=json.dumps(payload), capture_output=True, text=True,
            check=False, timeout=200,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    def _plugin(self, text: str, payload: dict[str, Any]) -> Done:
        (self.root / "plugin.mjs").write_text(text)
        (self.root / "drive.mjs").write_text(
            'import { Hookline } from "./plugin.mjs"\n'
            f"const hooks = await Hookline({{ directory: {json.dumps(str(self.project))} }})\n"
            f"const [input, output] = [{json.dumps(payload['input'])}, {json.dumps(payload['output'])}]\n"
            'try { await hooks["tool.execute.before"](input, output); console.log("ran") }\n'
            "catch (error) { console.log(`threw: ${error.message}`) }\n"
        )
        done = subprocess.run(
            ["node", self.root / "drive.mjs"],
            env=self.environ(),
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def recorded(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.hookline("log", "--json", "--last", "0").splitlines()]


@pytest.fixture(scope="module", params=["deny", "ignore"])
def either(request: pytest.FixtureRequest) -> Iterator[Deployed]:
    yield from _deployed(request.param)


@pytest.fixture(scope="module")
def closed() -> Iterator[Deployed]:
    yield from _deployed("deny")


def _deployed(policy: str) -> Iterator[Deployed]:
    root = Path(tempfile.mkdtemp(prefix="hkf-", dir="/tmp"))  # short, because the name of a socket must be
    yield Deployed(root, policy)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(params=FILES)
def agent(request: pytest.FixtureRequest) -> str:
    if request.param == "opencode" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    return str(request.param)


def refusal(agent: str, done: Done) -> str:
    """The reason of a block in the agent's own form; "" where the call would go on."""
    if agent == "opencode":
        return done.out.partition("threw: ")[2]
    if agent == "letta-code":
        return done.err if done.code == 2 else ""
    if not done.out.strip():
        # Gemini and Copilot do not give the reason of an exit code to the model.
        return done.err if done.code == 2 and agent not in {"gemini-cli", "copilot-cli"} else ""
    if done.code != 0:
        return ""
    told: Mapping[str, Any] = json.loads(done.out)
    if agent == "gemini-cli":
        return str(told["reason"]) if told.get("decision") == "deny" else ""
    said = told if agent == "copilot-cli" else told.get("hookSpecificOutput", {})
    return str(said["permissionDecisionReason"]) if said.get("permissionDecision") == "deny" else ""


def sooner(seconds: int) -> Callable[[str], str]:
    """The same command with a nearer deadline."""

    def change(line: str) -> str:
        line = re.sub(r"( --registration \S+)", rf"\1 --deadline {seconds}", line)
        return re.sub(r"const LONGEST = \d+", f"const LONGEST = {seconds}", line)

    return change


def other_program(path: str) -> Callable[[str], str]:
    return lambda line: re.sub(r"/[^\s'\"]*/hookline(?= hook )|(?<=const PROGRAM = \")[^\"]*", path, line)


@pytest.mark.parametrize("fault", HOOKS)
def test_a_hook_that_fails_blocks_or_is_passed_over_as_it_says(either: Deployed, agent: str, fault: str) -> None:
    action, deadline = HOOKS[fault]
    either.guard(action)
    # A busy machine may need all of a near deadline to come to the hook: then it is asked again with a later one.
    for seconds in (deadline, 10, 40) if fault == "past the deadline" else (deadline,):
        began = time.monotonic()
        done = either.ask(agent, sooner(seconds) if seconds else lambda line: line)
        assert time.monotonic() - began < 45 + (seconds or 0)
        # Nothing of ours can run any more in a hung call of C: that is a failure of hookline, which always refuses.
        if either.policy == "deny" or fault == "a hung call of C":
            assert "failed" in refusal(agent, done), done
            return
        if seconds in {deadline, 10} and "no answer" in refusal(agent, done):
            continue
        assert refusal(agent, done) == "", done
        outcomes = either.recorded()[-1]["outcomes"]
        expected = ["timed-out" if "hang" in fault or seconds else "failed"]
        if [one["status"] for one in outcomes] == expected:
            return
    assert [one["status"] for one in outcomes] == expected


@pytest.mark.parametrize("end", [None, "exit 3", "exit 127", "kill -9 $$", "import"])
def test_a_hookline_that_is_broken_or_gone_blocks(closed: Deployed, agent: str, end: str | None) -> None:
    closed.guard("run = 'true'")
    program = closed.root / "broken" / "hookline"
    shutil.rmtree(program.parent, ignore_errors=True)
    program.parent.mkdir()
    if end == "import":
        program.write_text(f"#!{sys.executable}\nimport no_such_module\n")
    elif end is not None:
        program.write_text(f"#!/bin/sh\n{end}\n")
    if end is not None:
        program.chmod(0o755)
    done = closed.ask(agent, other_program(str(program)))
    assert "failed" in refusal(agent, done), done


def test_a_configuration_that_cannot_be_read_blocks(closed: Deployed, agent: str) -> None:
    closed.configure("[[hook]\n")
    assert "failed" in refusal(agent, closed.ask(agent))


def test_a_configuration_that_is_a_pipe_blocks(closed: Deployed, agent: str) -> None:
    closed.config.unlink(missing_ok=True)
    os.mkfifo(closed.config)
    try:
        assert "failed" in refusal(agent, closed.ask(agent))
    finally:
        closed.config.unlink()


@pytest.mark.parametrize("fault", ["crash", "gone"])
@pytest.mark.parametrize(
    ("agent", "event", "file"),
    [
        ("claude-code", "UserPromptSubmit", "claude/UserPromptSubmit.json"),
        ("claude-code", "PermissionRequest", "claude/PermissionRequest.Bash.json"),
        ("codex", "UserPromptSubmit", "codex/UserPromptSubmit.json"),
        ("codex", "PermissionRequest", "codex/PermissionRequest.Bash.json"),
        ("gemini-cli", "UserPromptSubmit", "gemini/BeforeAgent.json"),
        ("letta-code", "UserPromptSubmit", "letta/UserPromptSubmit.json"),
        ("letta-code", "PermissionRequest", "letta/PermissionRequest.json"),
        ("qwen-code", "UserPromptSubmit", "qwen/UserPromptSubmit.json"),
        ("copilot-cli", "UserPromptSubmit", "copilot/userPromptSubmitted.json"),
        ("copilot-cli", "PermissionRequest", "copilot/permissionRequest.json"),
    ],
)
def test_prompts_and_permissions_are_refused_too(
    closed: Deployed, agent: str, event: str, file: str, fault: str
) -> None:
    closed.configure(GUARD.format(policy="deny", action=HOOKS["crash"][0]).replace("PreToolUse", event))
    target = all_agents()[agent]
    program = "/nowhere/hookline" if fault == "gone" else str(Path(sys.executable).parent / "hookline")
    (one,) = registrations(target, EntryCaller(program=program), (event,))
    (line,) = entry_commands(one.entry)
    payload = {**json.loads((PAYLOADS / file).read_text()), "cwd": str(closed.project)}
    payload |= {"working_directory": str(closed.project)} if agent == "letta-code" else {}
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=closed.project, env=closed.environ(), input=json.dumps(payload),
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    if not done.stdout:
        assert (done.returncode, "failed" in done.stderr, agent in {"codex", "letta-code", "claude-code", "qwen-code"}) == (
            2, True, True,
        )  # fmt: skip
        assert event == "UserPromptSubmit" or agent == "letta-code"
        return
    told = json.loads(done.stdout)
    if event == "PermissionRequest" and agent != "copilot-cli":
        told = told["hookSpecificOutput"]["decision"]
    assert (done.returncode, told.get("behavior", told.get("decision"))) == (
        0, "deny" if event == "PermissionRequest" or agent == "gemini-cli" else "block",
    )  # fmt: skip
    assert "failed" in done.stdout


@pytest.mark.parametrize("state", ["dead", "hung", "hung after it was heard"])
def test_a_daemon_that_is_no_help_blocks_like_none(closed: Deployed, agent: str, state: str) -> None:
    closed.guard(HOOKS["crash"][0])
    with daemon(closed, state):
        done = closed.ask(agent, sooner(1 if state == "hung after it was heard" else 9))
    assert "failed" in refusal(agent, done), done


class daemon:  # noqa: N801  used like a function
    """Something that stands where the daemon should."""

    def __init__(self, where: Deployed, state: str) -> None:
        self.folder = where.root / "run" / "hookline"
        self.folder.mkdir(parents=True, exist_ok=True)
        (where.root / "run").chmod(0o700)
        self.path, self.state = self.folder / "daemon.sock", state
        self.clients: list[socket.socket] = []

    def __enter__(self) -> None:
        self.path.unlink(missing_ok=True)
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(self.path))
        if self.state == "dead":
            self.listening.close()
            return
        self.listening.listen(8)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            while True:
                client, _ = self.listening.accept()
                self.clients.append(client)
                if self.state == "hung after it was heard":
                    client.sendall(ACCEPTED)
        except OSError:
            return

    def __exit__(self, *_: object) -> None:
        if self.state != "dead":
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for client in self.clients:
            client.close()
        self.path.unlink()
