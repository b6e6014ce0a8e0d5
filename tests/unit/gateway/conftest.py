"""An agent's request and the runtime that answers it, made of values: nothing is read from disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.recording import MemoryRecorder

from hookline import Engine
from hookline.core.hook import HookSpec
from hookline.core.loaded import Loaded, SourceFile
from hookline.core.paths import Directories, Paths
from hookline.core.problem import Problem
from hookline.engine.build import Runtime
from hookline.gateway.request import AgentRequest, HookArguments, parse_request
from hookline.state.disabled import Switches
from hookline.state.trust import Approval


class Gate:
    """``ask`` makes a request of Claude Code's, or of another agent's; ``runtime`` is what answers it."""

    def __init__(self, folder: Path) -> None:
        self.state = str(folder / "state")
        self.paths = Paths(config=str(folder / "config"), state=self.state, data=str(folder / "data"))
        self.recorder = MemoryRecorder()

    def ask(
        self,
        event: str = "PreToolUse",
        *,
        agent: str = "claude-code",
        environ: Mapping[str, str] | None = None,
        payload: Mapping[str, Any] | None = None,
        **arguments: Any,
    ) -> AgentRequest:
        sent = {
            "hook_event_name": event, "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"},
            "tool_use_id": "toolu_1", "cwd": "/work", **(payload or {}),
        }  # fmt: skip
        given = HookArguments(agent=agent, **arguments)
        return parse_request(
            given,
            json.dumps(sent).encode(),
            environ or {},
            "/elsewhere",
            lambda _cwd, _environ: (Directories(home="/home", paths=self.paths),),
        )

    def runtime(
        self,
        *specs: HookSpec,
        problems: Sequence[Problem] = (),
        sources: Sequence[SourceFile] = (),
        missing: Sequence[Approval] = (),
        **engine: Any,
    ) -> Runtime:
        return Runtime(
            engine=Engine(specs=specs, recorder=self.recorder, agent="claude-code", **engine),
            loaded=Loaded(specs=specs, problems=tuple(problems), sources=tuple(sources)),
            paths=self.paths, trust=None, verdicts={}, switches=Switches(f"{self.state}/off.json"),
            missing=tuple(missing),
        )  # fmt: skip


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)
