"""Throw what nobody would send at one door, again and again, each time in a fork, and report what came back wrong.

Run as a program with a door, seconds, a number of attempts and a seed; the first limit ends it. Prints as JSON what ended with an exit code of ours that
means a bug, was killed, hung, or lost a deny, and ends with 1 if anything did; each is also told on stderr at once. The doors: an agent's payload, the journal,
a hook's reply, a configuration file.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hookline.cli import failsafe, main
from hookline.cli.commands import check, hook, list_hooks, log
from hookline.core.agents import AGENTS
from hookline.dialects import DIALECTS, dialect_named
from hookline.gateway import handler
from hookline.runners import command
from hookline.state.record import journal
from hookline.state.sessions import sqlite

#: Imported before the first fork, so that no attempt pays for them.
_NEEDED = (check, command, failsafe, handler, hook, journal, list_hooks, log, sqlite, [*map(dialect_named, DIALECTS)])
_TESTS = Path(__file__).parent.parent
#: Seconds until an attempt counts as hung.
_LONGEST = 60
_BUG = 3
DOORS: tuple[str, ...] = ("payload", "journal", "reply", "configuration")
_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1 << 70, 1e308, "", "\ud800", "\x00", "a" * 70_000, "../../etc", "/", "~", "$(id)", "é\u202e", [], {},
    [[[[[]]]]], {"a": {"b": {"c": []}}}, "deny", "allow", {"command": ["a"]}, "PreToolUse", float("nan"),
)  # fmt: skip


class Fuzzer:
    """One scratch home, and the attempts in it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.folder, self.home, self.project = folder, folder / "home", folder / "project"
        self.own = self.home / ".config" / "hookline"
        self.state = self.home / ".local" / "state" / "hookline"
        for one in (self.own, self.project):
            one.mkdir(parents=True)
        self.state.mkdir(parents=True, mode=0o700)
        self.reply = self.own / "reply"
        self.config = self.own / "hookline.toml"
        self._write_guard()
        os.chdir(self.project)
        os.environ.clear()
        os.environ.update(HOME=str(self.home), PATH="/usr/bin:/bin", LANG="C.UTF-8")
        self.payloads = _payloads()

    def _write_guard(self) -> None:
        guard = (
            f"[[hook]]\nname = 'guard'\non = 'PreToolUse'\nshell = 'cat {self.reply}; exit $(cat {self.reply}.code)'\n"
        )
        self.config.write_text(guard)
        self.reply.write_text('{"effect": "deny", "reason": "no"}')
        Path(f"{self.reply}.code").write_text("0")

    # ── the doors: each gives what went wrong, or "" ─────────────────────────────────────────────────

    def payload(self) -> str:
        agent, sent = self.random.choice(self.payloads)
        broken = self._bytes(self._mutated(sent))
        code, _ = self._run(["hook", "--agent", agent, "--cold"], broken)
        return f"exit {code} for {agent}: {broken[:2000]!r}" if _is_broken(code) else ""

    def journal(self) -> str:
        lines = [self._bytes(self._mutated([["x", 1.5, "s", 0, "a", "e", "n", "/", "deny"], [[0]]])) for _ in range(3)]
        (self.state / "hookline.db.journal").write_bytes(b"\n".join(lines) + b"\n")
        code, out = self._run(["hook", "--agent", "claude-code", "--cold"], _PRE_TOOL)
        if code != 0 or b'"deny"' not in out:
            return f"the deny was lost (exit {code}) after {lines!r}"
        code, _ = self._run(["log"], b"")
        return "" if code == 0 else f"log: exit {code} after {lines!r}"

    def reply_door(self) -> str:
        said = self._bytes(self._mutated(self.random.choice(_REPLIES)))
        exit_code = self.random.choice([0, 0, 0, 1, 2, 3, 255])
        self.reply.write_bytes(said)
        Path(f"{self.reply}.code").write_text(str(exit_code))
        agent = self.random.choice(_ASKING)
        code, out = self._run(["hook", "--agent", agent, "--event", _EVENT[agent], "--cold"], _PRE_TOOL)
        if _is_broken(code):
            return f"exit {code} of {agent} for a hook that printed {said[:2000]!r} and ended with {exit_code}"
        refused = code == 2 or b"deny" in out or b"block" in out
        return (
            ""
            if exit_code != 2 or refused
            else f"{agent}: exit 2 of a hook that printed {said[:2000]!r} did not refuse"
        )

    def configuration(self) -> str:
        text = bytearray(self.random.choice(_CONFIGS).encode())
        for _ in range(self.random.randrange(1, 8)):
            at = self.random.randrange(len(text) + 1)
            text[at : at + self.random.choice([0, 0, 1, 4])] = self.random.choice(_PIECES)
        self.config.write_bytes(bytes(text))
        for words in (["check"], ["list", "--json"], ["hook", "--agent", "claude-code", "--cold"]):
            code, _ = self._run(words, _PRE_TOOL)
            if _is_broken(code):
                return f"{words[0]}: exit {code} for {bytes(text)!r}"
        return ""

    # ── how ──────────────────────────────────────────────────────────────────────────────────────────

    def _mutated(self, tree: Any, depth: int = 0) -> Any:
        """The tree with odd values, missing and foreign keys, here and there."""
        roll = self.random.random()
        if roll < 0.12:
            return self.random.choice(_ODD)
        if isinstance(tree, dict):
            items = {key: self._mutated(value, depth + 1) for key, value in tree.items() if self.random.random() > 0.1}
            return {**items, str(self.random.choice(_ODD)): self.random.choice(_ODD)} if roll > 0.8 else items
        if isinstance(tree, list):
            return [self._mutated(value, depth + 1) for value in tree]
        return tree

    def _bytes(self, tree: Any) -> bytes:
        data = bytearray(json.dumps(tree, ensure_ascii=self.random.random() < 0.5).encode(errors="surrogatepass"))
        if self.random.random() < 0.25 and data:
            at = self.random.randrange(len(data))
            data[at : at + self.random.choice([0, 1, 9])] = self.random.choice(_PIECES)
        return bytes(data)

    def _run(self, words: list[str], stdin: bytes) -> tuple[int | None, bytes]:
        """Exit code and stdout; None for one that hung."""
        given, answer = self.folder / "stdin", self.folder / "stdout"
        given.write_bytes(stdin)
        child = os.fork()
        if child == 0:
            signal.alarm(_LONGEST)
            for number, path, flags in ((0, given, os.O_RDONLY), (1, answer, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
                os.dup2(os.open(path, flags, 0o600), number)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                code = main(words)
                sys.stdout.flush()
            except BaseException:
                code = _BUG
            os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return (None if status == -signal.SIGALRM else status), answer.read_bytes()


def _is_broken(code: int | None) -> bool:
    """A bug of ours, a signal, or no end at all."""
    return code is None or code == _BUG or code < 0


_PRE_TOOL = json.dumps(
    {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s",
     "toolName": "bash", "toolArgs": "{}", "sessionId": "s", "event_type": "PreToolUse",
     "input": {"tool": "bash"}, "output": {"args": {"command": "ls"}}}
).encode()  # fmt: skip
_EVENT = {
    name: {"gemini-cli": "BeforeTool", "copilot-cli": "preToolUse", "opencode": "tool.execute.before"}.get(
        name, "PreToolUse"
    )
    for name in AGENTS
}
#: The agents that would take this payload for a tool call; others have words of their own for one.
_UNNAMED = {key: value for key, value in json.loads(_PRE_TOOL).items() if key not in {"hook_event_name", "event_type"}}
_ASKING = [name for name in AGENTS if dialect_named(name).event_in(_EVENT[name], _UNNAMED, {}).event == "PreToolUse"]
_REPLIES: tuple[Any, ...] = (
    {"effect": "deny", "reason": "no", "data": {"tool_input": {"command": "x"}}, "context": "c", "message": "m"},
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "updatedInput": {"a": 1}}},
    {"decision": "block", "reason": "no", "continue": False, "stopReason": "s", "systemMessage": "m"},
    {"attributes": {"mode": "x", "final": "true"}}, "text", [], {},
)  # fmt: skip
_CONFIGS = (
    (
        "[[hook]]\nname = 'a'\non = 'PreToolUse'\nmatch = 'Bash'\nrun = ['true']\ntimeout = '5s'\non_failure = 'deny'\n"
        "when = { every_n_turns = 3, agent = ['codex'] }\n[record]\nredact = ['x+']\n"
    ),
    (
        "[[hook]]\nname = 'b'\non = ['PreToolUse', 'Stop']\nshell = 'exit 0'\nmatch = { 'tool_input.command' = 'rm .*' }\n"
        "[[source]]\ndialect = 'letta'\npath = 'x.json'\n[limits]\nstop_continuations = 3\n"
    ),
)
_PIECES = (
    b"\x00", b"\xff\xfe", b'"', b"'", b"[", b"]", b"{", b"}", b"[[hook]]\n", b"=", b"\n", b"\\", b"#", b"nan", b"1e999", b"'''",
    b"(?P<", b"(a+)+$", b"\xed\xa0\x80", "é".encode(), b"on", b"1979-05-27", b".", b"-1", b"\xef\xbb\xbf", b",", b":",
)  # fmt: skip


def _payloads() -> list[tuple[str, Any]]:
    found = []
    for name, row in AGENTS.items():
        for file in sorted((_TESTS / "payloads" / row.dialect).glob("*.json")):
            found.append((name, json.loads(file.read_text())))
    return found


def fuzz(door: str, seconds: float, attempts: int, seed: int) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp())
    try:
        fuzzer = Fuzzer(folder, seed)
        ways: tuple[Callable[[], str], ...] = (
            fuzzer.payload, fuzzer.journal, fuzzer.reply_door, fuzzer.configuration,
        )  # fmt: skip
        attempt = dict(zip(DOORS, ways, strict=True))[door]
        until, done, wrong = time.monotonic() + seconds, 0, list[str]()
        while done < attempts and time.monotonic() < until:
            done += 1
            if found := attempt():
                wrong.append(found)
                sys.stderr.write(f"{door}, attempt {done} of seed {seed}: {found}\n")
        return {"attempts": done, "wrong": wrong}
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


def main_of(words: list[str]) -> int:
    if len(words) != 4 or words[0] not in DOORS:
        sys.stderr.write(f"usage: fuzz_doors.py {'|'.join(DOORS)} SECONDS ATTEMPTS SEED\n")
        return 64
    result = fuzz(words[0], float(words[1]), int(words[2]), int(words[3]))
    sys.stdout.write(json.dumps(result) + "\n")
    return 1 if result["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main_of(sys.argv[1:]))
