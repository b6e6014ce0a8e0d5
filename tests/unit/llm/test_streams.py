"""The scripted model server streams as the real clients expect it, text and tool calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pydantic_ai
import pytest

from hookline.llm.client import open_client
from hookline.llm.scripted import ModelServer

MODELS = [
    "openai:gpt-4o-mini",
    "openai-responses:gpt-4o-mini",
    "anthropic:claude-haiku-5-5",
    "google:gemini-flash-latest",
]
TEXT = "The water has exactly the right temperature."


async def streamed(model: str, server: ModelServer) -> tuple[list[str], str, list[str]]:
    poured: list[str] = []

    def pour(cups: int) -> str:
        """Pour tea."""
        poured.append(f"{cups} cups")
        return f"poured {cups}"

    async with open_client(model, {}, server.environ()) as door:
        agent = pydantic_ai.Agent(door.model, tools=[pour])
        async with agent.run_stream("tea?") as result:
            pieces = [piece async for piece in result.stream_text(delta=True, debounce_by=None)]
            usage = result.usage
            return pieces, f"{usage.input_tokens}/{usage.output_tokens}", poured


@pytest.mark.parametrize("model", MODELS)
def test_a_tool_call_and_a_text_come_through_a_stream(model: str) -> None:
    script: list[dict[str, Any]] = [
        {"tool": {"name": "pour", "arguments": {"cups": 2}}, "usage": {"input": 5, "output": 1}},
        {"match": "poured 2", "text": TEXT, "usage": {"input": 6, "output": 2}},
    ]
    with ModelServer(script) as server:
        pieces, usage, poured = asyncio.run(streamed(model, server))
    assert "".join(pieces) == TEXT
    assert len(pieces) > 1
    assert (usage, poured) == ("11/3", ["2 cups"])
    assert all(request.body.get("stream") or "stream" in request.path for request in server.requests)
