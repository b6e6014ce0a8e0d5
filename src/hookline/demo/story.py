"""The demo's events, as an agent and a shell would send them, and its session that remembers."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.event import Event, event_kind
from hookline.llm.scripted import ModelServer
from hookline.memory.context import hook_context
from hookline.memory.inject.context_inject import context_inject
from hookline.memory.notes.session_export import session_export
from hookline.memory.queue import worker
from hookline.memory.queue.enqueue import enqueue


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One event, and a sentence that explains it."""

    event: str
    data: Mapping[str, Any]
    about: str


def _bash(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}


STORY: tuple[_Step, ...] = (
    _Step(
        event="SessionStart",
        data={"source": "startup"},
        about="A session begins. A lazy-harness hook adds what the last session left behind.",
    ),
    _Step(
        event="UserPromptSubmit",
        data={"prompt": "run the tests, then clean up", "messages_length": 1},
        about="The user types. A Lectic hook adds the date, and a memex agent asks a model what may help.",
    ),
    _Step(
        event="PreToolUse",
        data=_bash("cat .env"),
        about="The agent tries to read a secret. A native hook denies it, and the hooks after it do not run.",
    ),
    _Step(
        event="PreToolUse",
        data=_bash("cat /etc/shadow"),
        about="A Lectic hook guards everything outside the project: its exit code 1 denies.",
    ),
    _Step(
        event="PreToolUse",
        data=_bash("rm -rf build"),
        about="Letta Code's example from its manual, unchanged: exit code 2 blocks.",
    ),
    _Step(
        event="PreToolUse", data=_bash("make test"), about="An ordinary command: every hook checks it, none objects."
    ),
    _Step(
        event="PostToolUse",
        data={**_bash("make test"), "tool_output": "ok " * 100},
        about="The output was long. A Python hook, inside hookline, asks for a summary.",
    ),
    _Step(
        event="process.pre_spawn",
        data={"command": "curl", "args": ["-k", "https://example.com"], "env": {}},
        about="A shell is about to start a process. A lash hook removes the unsafe option.",
    ),
    _Step(
        event="Stop",
        data={"stop_reason": "end_turn", "assistant_message": "Done."},
        about="The agent wants to stop. A Letta Code hook sends it back to work.",
    ),
    _Step(
        event="Stop", data={"stop_reason": "end_turn", "assistant_message": "Done, tested."}, about="Now it may stop."
    ),
)

#: What the model of the demo answers: it is scripted, so that no key is needed.
MODEL_SCRIPT = [{"text": "The test command of this project is: make test"}] * 4


_SESSION = "5f0c1a2e-demo"

#: The scripted model's summary of the session.
_DISTILLED = {
    "decisions": [{"summary": "The build cleans only build/", "rationale": "rm -rf is refused anyway"}],
    "failures": [{"summary": "make clean removed .env", "prevention": "list what is removed before removing it"}],
    "learnings": [],
    "handoff": ["make clean needs a test"],
}
_CONVERSATION = (
    ("user", "Please clean up after the tests, and leave everything that is not built by make where it is."),
    ("assistant", "I ran make clean. It removed .env as well: the pattern was too wide."),
    ("user", "Then mend the pattern, so that only build/ is cleaned; and write down what is still open."),
    ("assistant", "Done: clean removes build/ and nothing else. There is no test for it yet."),
)
_CONFIG = """[compound_loop]
enabled = true
min_user_chars = 100
backend = "openai-compatible"
backend_options = {{ base_url = "{url}" }}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chapter:
    """A sentence that explains, and the output to show."""

    about: str
    shown: str


def play_memory(folder: str, project: str, environ: Mapping[str, str]) -> Iterator[_Chapter]:
    """One session ends, a worker distils it, and the next session begins, in the demo's own home."""
    home = os.path.join(folder, "home")
    around = {name: value for name, value in environ.items() if not name.startswith(("XDG_", "HOOKLINE_", "LH_"))}
    around["HOME"] = home
    with ModelServer([{"text": f"Here it is:\n```json\n{json.dumps(_DISTILLED)}\n```"}]) as server:
        _write(os.path.join(home, ".config/hookline/hookline.toml"), _CONFIG.format(url=server.url))
        transcript = os.path.join(home, "transcripts", f"{_SESSION}.jsonl")
        _write(transcript, "".join(json.dumps(row) + "\n" for row in _transcript(project)))
        ended = _event("SessionEnd", "claude-code", project, around, transcript_path=transcript)
        yield _Chapter(
            about="A Claude Code session in which something went wrong ends. It is queued.", shown=_queued(ended)
        )
        report = worker.run(around, cwd=project)
        done = ", ".join(f"{count} {outcome}" for outcome, count in report.counts.items())
        yield _Chapter(about="A background worker asks a model what is worth keeping.", shown=f"{done}\n{_log(home)}")
    started = _event("SessionStart", "codex", project, around, source="startup")
    reply = context_inject(started)
    context = "\n".join(one.text for one in reply.context) if reply else ""
    yield _Chapter(about="Codex starts a session in the same project and gets it as context.", shown=context)


def _queued(event: Event) -> str:
    session_export(event)
    context = hook_context(event, "session-end")
    assert context is not None, "nobody has opted out"
    queued = enqueue(context, force=True, start=False)
    return f"queue/{queued.name}" if queued.name else f"not queued: {queued.skip_reason}"


def _event(name: str, agent: str, project: str, environ: Mapping[str, str], **data: str) -> Event:
    return Event(
        kind=event_kind(name), data=data, session=_SESSION if agent == "claude-code" else "next", agent=agent, cwd=project,
        environ=environ, time=time.time(),
    )  # fmt: skip


def _transcript(project: str) -> Iterator[dict[str, Any]]:
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    head = {"sessionId": _SESSION, "cwd": project, "gitBranch": "main", "version": "2.1.0", "timestamp": moment}
    yield {"type": "permission-mode", "permissionMode": "default", **head}
    for role, text in _CONVERSATION:
        yield {"type": role, **head, "message": {"role": role, "content": [{"type": "text", "text": text}]}}


def _log(home: str) -> str:
    with open(os.path.join(home, ".local/state/hookline/compound-loop.log"), encoding="utf-8") as file:
        return file.read().rstrip()


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
