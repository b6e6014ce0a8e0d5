"""The demo's events, as an agent and a shell would send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core._dataclass import dataclass


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
