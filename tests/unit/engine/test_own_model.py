"""A prompt hook of Letta Code's without a model asks the model of the agent that fired the event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.core.hook import OWN_MODEL, Prompt
from hookline.core.settings import Settings
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.letta import DIALECT
from hookline.llm.scripted import ModelServer

FILE = {"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "Is it done?"}]}]}}
CONVERSATION = "Y29udmVyc2F0aW9uOmNvbnYtMQ"  # conversation:conv-1


def asked(home: Path, data: dict[str, Any], **models: str) -> str:
    """The model that the hook asked."""
    specs = DIALECT.parse(
        [Layer(name="user", path="/settings.json", syntax="json", text="", tree=FILE)], Lookup()
    ).specs
    with ModelServer([{"json": {"ok": True}}]) as server:
        environ = {**server.environ(), "HOME": str(home)}
        engine = Engine(specs=specs, agent="letta-code", cwd=str(home), settings=Settings(models=models))
        decision = engine.fire_sync("Stop", data, environ=environ)
        assert [one.error for one in decision.outcomes] == [""]
    return str(server.requests[0].body["model"])


def transcript(home: Path, cwd: Path, model: str) -> None:
    folder = home / ".letta/lc-local-backend/conversations" / CONVERSATION
    folder.mkdir(parents=True)
    head = {"type": "session", "version": 3, "id": "conv-1", "cwd": str(cwd)}
    said = {"type": "message", "message": {"role": "assistant", "provider": "openai-compatible", "model": model}}
    (folder / "messages.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(said)}\n", encoding="utf-8")


def test_letta_s_prompt_without_a_model_is_for_the_agents_own() -> None:
    parsed = DIALECT.parse([Layer(name="user", path="/settings.json", syntax="json", text="", tree=FILE)], Lookup())
    assert parsed.specs[0].action == Prompt(text="Is it done?", model=OWN_MODEL)
    assert json.loads(DIALECT.render(parsed.specs).text) == FILE


@pytest.mark.slow
def test_the_model_that_the_event_names_is_asked(tmp_path: Path) -> None:
    assert asked(tmp_path, {"model": "gpt-9-large"}) == "gpt-9-large"


@pytest.mark.slow
def test_the_model_of_the_transcript_is_asked(tmp_path: Path) -> None:
    transcript(tmp_path, tmp_path, "from-the-transcript")
    assert asked(tmp_path, {"agent_id": "agent-1", "conversation_id": "conv-1"}) == "from-the-transcript"


@pytest.mark.slow
def test_an_event_without_any_id_is_about_the_newest_conversation_here(tmp_path: Path) -> None:
    transcript(tmp_path, tmp_path, "newest-here")
    assert asked(tmp_path, {}) == "newest-here"


@pytest.mark.slow
def test_a_model_that_cannot_be_reached_gives_way_to_the_default(tmp_path: Path) -> None:
    assert asked(tmp_path, {"model": "grok-4"}, default="openai:standby") == "standby"  # there is no key for it
    assert asked(tmp_path, {}, default="openai:standby") == "standby"


@pytest.mark.slow
def test_the_table_of_models_can_redirect_it(tmp_path: Path) -> None:
    assert asked(tmp_path, {"model": "gpt-9-large"}, agent="openai:elsewhere") == "elsewhere"
