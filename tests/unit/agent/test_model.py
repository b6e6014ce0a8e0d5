"""One request to a model, over the real protocols."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from hookline.agent.message import (
    AssistantMessage,
    Delta,
    Done,
    Message,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    UserMessage,
)
from hookline.agent.model import ModelError, ModelSettings, open_model
from hookline.llm.scripted import ModelServer

WIRES = ("openai:m", "openai-responses:m", "anthropic:m", "google:m")
LS = ToolSpec(
    name="ls",
    description="lists",
    parameters={"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]},
)
HELLO = UserMessage(parts=("Hello",))


def heard(model: str, messages: Sequence[Message], environ: Mapping[str, str]) -> list[Delta]:
    async def listen() -> list[Delta]:
        async with (
            open_model(model, environ=environ) as client,
            aclosing(client.converse(messages, (LS,), system="Be nice")) as deltas,
        ):
            return [delta async for delta in deltas]

    return asyncio.run(listen())


@pytest.mark.parametrize("wire", WIRES)
def test_text_comes_in_pieces_and_the_whole_reply_last(wire: str) -> None:
    step = {"text": "Let me look at it for you", "tool": {"name": "ls", "arguments": {"p": "."}}}
    with ModelServer([step]) as server:
        deltas = heard(wire, [HELLO], server.environ())
    texts = [delta.text for delta in deltas if isinstance(delta, Text)]
    assert (len(texts) > 1, "".join(texts)) == (True, step["text"])
    assert [delta.total for delta in deltas if isinstance(delta, Usage)] == [15]
    assert isinstance(deltas[-1], Done)
    assert deltas[-1].message.text == step["text"]
    calls = deltas[-1].message.tool_calls
    assert [(call.name, call.arguments) for call in calls] == [("ls", {"p": "."})]
    assert "Be nice" in server.requests[0].text


@pytest.mark.parametrize("wire", WIRES)
def test_results_follow_their_call_before_anything_else_is_said(wire: str) -> None:
    called = AssistantMessage(text="", tool_calls=(ToolCall(id="c1", name="ls", arguments={"p": "."}),))
    history: list[Message] = [
        HELLO,
        called,
        UserMessage(parts=("a hook's note",)),
        ToolResult(id="c1", name="ls", content="a b"),
    ]
    with ModelServer([{"text": "ok"}]) as server:
        heard(wire, history, server.environ())
    text = server.requests[0].text
    assert text.index("a b") < text.index("a hook's note")


@pytest.mark.parametrize("wire", WIRES)
def test_what_goes_wrong_is_one_error_for_people_without_the_key(wire: str) -> None:
    with ModelServer([{"error": {"status": 401, "message": "who are you, scripted-model-server?"}}]) as server:
        with pytest.raises(ModelError, match=r"API error \(401\) from .*: who are you, \*\*\*\?"):
            heard(wire, [HELLO], server.environ())
        assert len(server.requests) == 1


def test_a_missing_key_names_the_variable_and_the_alternatives() -> None:
    with pytest.raises(ModelError, match=r"ANTHROPIC_API_KEY.*\[models\]"):
        heard("anthropic:m", [HELLO], {"OPENAI_API_KEY": "x"})


def test_a_script_goes_on_from_request_to_request(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('[{"text": "one"}, {"text": "two"}]')

    async def talk() -> list[str]:
        async with open_model(f"script:{file}", environ={}) as voice:
            said: list[str] = []
            for _ in range(2):
                async for delta in voice.converse([HELLO], settings=ModelSettings(max_tokens=5, temperature=0.5)):
                    said += [delta.message.text] if isinstance(delta, Done) else []
            return said

    assert asyncio.run(talk()) == ["one", "two"]


def test_who_stops_listening_ends_the_request() -> None:
    async def listen(environ: Mapping[str, str]) -> None:
        async with (
            asyncio.timeout(20),
            open_model("openai:m", environ=environ) as client,
            aclosing(client.converse([HELLO])) as deltas,
        ):
            async for _ in deltas:
                break

    with ModelServer([{"text": "word " * 1000}]) as server:
        asyncio.run(listen(server.environ()))
