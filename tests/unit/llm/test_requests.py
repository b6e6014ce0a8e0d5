"""Requests of hooks to models."""

from __future__ import annotations

import asyncio

import pydantic_ai
import pytest

from hookline.llm.requests import AgentTask, run_agent_task
from hookline.llm.scripted import ModelServer


def test_the_library_prints_no_banner_on_a_persons_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pydantic_ai, "BANNER_ENABLED", True)
    with ModelServer([{"text": "yes"}]) as server:
        task = AgentTask(system="", text="really?", model="openai:m", environ=server.environ())
        assert asyncio.run(run_agent_task(task)).text == "yes"
    assert not pydantic_ai.BANNER_ENABLED
