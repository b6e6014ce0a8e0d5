"""A package adds an agent in under 60 lines: a row, a dialect, a transcript reader (docs/how-to/extend.md)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig

import pytest

PACKAGE = """
import json
import os

from hookline.core.agents import Agent
from hookline.dialects.base import Answer
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import FieldMap, field_names
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.reply_reader import Rules, read
from hookline.transcripts.message import TranscriptMessage
from hookline.transcripts.paths import files_in
from hookline.transcripts.reader import TranscriptReader

AGENT = Agent(
    name="orbit-code", title="Orbit", dialect="orbit", program="orbit", home=".orbit", reader="hookline_orbit:OrbitReader",
    files={"user": ".orbit/hooks.json", "project": ".orbit/hooks.json"}, tools={"Bash": "terminal"},
)
EVENTS = {"before_tool": "PreToolUse", "begin": "SessionStart", "done": "Stop"}


class Orbit(AgentDialect):
    name = "orbit"
    events = EVENTS
    system = HooksFormat(dialect="orbit", events=EVENTS, fields=frozenset({"type", "command", "timeout"}))
    words = FieldMap(dialect="orbit", events=EVENTS, fields={"PreToolUse": field_names("tool_name:tool tool_input:args")})

    def reply_in(self, spec, event, raw):
        return read(spec, event, raw, Rules())

    def reply_out(self, event, decision):
        if decision.effect == "allow":
            return Answer()
        return Answer(stdout=json.dumps({"refuse": decision.refusal_text}), lost=("ask",) if decision.effect == "ask" else ())


DIALECT = Orbit()


class OrbitReader(TranscriptReader):
    agent = "orbit-code"

    @staticmethod
    def claims(record):
        return "orbit" in record

    @staticmethod
    def sessions(directories, homes):
        return files_in("orbit-code", os.path.join(homes.home, ".orbit", "log"), ".jsonl")

    def messages(self, record):
        yield TranscriptMessage(role=record["orbit"], text=record["text"])
"""
ENTRY_POINTS = """
[hookline.agents]
orbit-code = hookline_orbit:AGENT

[hookline.dialects]
orbit = hookline_orbit:DIALECT
"""
GUARD = '[[hook]]\nname = "no-rm"\non = "PreToolUse"\nmatch = "Bash"\nshell = "echo not here >&2; exit 2"\n'
PAYLOAD = {"hook_event_name": "before_tool", "session_id": "s", "tool": "bash", "args": {"command": "rm x"}}


@pytest.fixture
def hookline(tmp_path):
    about = tmp_path / "site" / "hookline_orbit-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hookline-orbit\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (tmp_path / "site" / "hookline_orbit.py").write_text(PACKAGE, encoding="utf-8")
    (tmp_path / ".config" / "hookline").mkdir(parents=True)
    (tmp_path / ".config" / "hookline" / "hookline.toml").write_text(GUARD, encoding="utf-8")
    (tmp_path / "project").mkdir()
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path / "site"), "HOOKLINE_DAEMON": "off",
    }  # fmt: skip

    def run(*words: str, stdin: str = ""):
        command = [os.path.join(sysconfig.get_path("scripts"), "hookline"), *words]
        if words[0].endswith(".py"):
            command = [sys.executable, *words]
        done = subprocess.run(
            command, env=environ, cwd=tmp_path / "project", input=stdin, capture_output=True, text=True, timeout=200,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_it_takes_less_than_60_lines():
    assert len(PACKAGE.strip().splitlines()) < 60


def test_it_is_deployed(hookline, tmp_path):
    hookline("deploy", "--agent", "orbit", "--scope", "project")
    written = json.loads((tmp_path / "project" / ".orbit" / "hooks.json").read_text())["hooks"]
    assert written.keys() == {"before_tool", "begin"}
    assert "--agent orbit-code --event before_tool" in written["before_tool"][0]["hooks"][0]["command"]


@pytest.mark.parametrize("name", ["orbit-code", "orbit"])
def test_its_events_are_answered_in_its_own_form(hookline, name):
    answer = hookline("hook", "--agent", name, "--event", "before_tool", stdin=json.dumps(PAYLOAD))
    assert json.loads(answer) == {"refuse": "not here"}


def test_what_would_happen_is_explained(hookline):
    told = json.loads(hookline("explain", "PreToolUse", "--agent", "orbit-code", "--json"))
    assert "orbit-code" in json.dumps(told)
    assert "before_tool" in json.dumps(told)


def test_its_transcripts_are_found_and_read(hookline, tmp_path):
    log = tmp_path / ".orbit" / "log"
    log.mkdir(parents=True)
    (log / "a.jsonl").write_text('{"orbit": "user", "text": "hello"}\n', encoding="utf-8")
    script = tmp_path / "read.py"
    script.write_text(
        "import os\nfrom hookline.transcripts import Homes, detect, read, sessions_in\n"
        "homes = Homes(home=os.environ['HOME'], environ={}, claude='/none', chats='/none')\n"
        "for one in sessions_in(os.getcwd(), homes):\n"
        "    print(one.agent, detect(one.path), [message.text for message in read(one.path)])\n",
        encoding="utf-8",
    )
    assert hookline(str(script)) == "orbit-code orbit-code ['hello']\n"
