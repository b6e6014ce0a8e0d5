"""Which model an interlocutor speaks with."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.agent.lectic_config import Interlocutor
from hookline.agent.providers import choose
from hookline.llm.names import ModelError

KEYS = {"ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": "g", "OPENAI_API_KEY": "o", "OPENROUTER_API_KEY": "r"}


def person(**fields: Any) -> Interlocutor:
    return Interlocutor(name="Bot", prompt="", fields=fields)


@pytest.mark.parametrize(
    ("fields", "keys", "name"),
    [
        ({"provider": "anthropic"}, "ANTHROPIC", "anthropic:claude-sonnet-4-6"),
        ({"provider": "openai"}, "OPENAI", "openai-responses:gpt-5.4"),
        ({"provider": "openai/chat", "model": "m"}, "OPENAI", "openai:m"),
        ({"provider": "gemini"}, "GEMINI", "google:gemini-flash-latest"),
        ({"provider": "openrouter"}, "OPENROUTER", "openrouter:google/gemini-flash-latest"),
        ({"provider": "ollama"}, "", "ollama:llama3.2"),
        ({"provider": "script", "model": "s.json"}, "", "script:s.json"),
        ({"model": "script:s.json"}, "", "script:s.json"),
        ({}, "ANTHROPIC GEMINI OPENAI OPENROUTER", "anthropic:claude-sonnet-4-6"),
        ({}, "GEMINI OPENAI OPENROUTER", "google:gemini-flash-latest"),
        ({"model": "m"}, "OPENAI OPENROUTER", "openai:m"),
        ({"model": "gpt-4o"}, "ANTHROPIC OPENAI", "openai:gpt-4o"),
        ({"model": "haiku"}, "ANTHROPIC OPENAI", "anthropic:claude-haiku-5-5"),
    ],
)
def test_a_provider_and_a_model_become_one_name(fields: dict[str, str], keys: str, name: str) -> None:
    environ = {f"{key}_API_KEY": KEYS[f"{key}_API_KEY"] for key in keys.split()}
    assert choose(person(**fields), environ, {}).name == name


def test_the_command_line_and_an_account_of_ones_own_win() -> None:
    chosen = choose(person(provider="anthropic"), {"OPENAI_API_KEY": "theirs"}, {}, given="openai:m", account="mine")
    assert (chosen.name, chosen.model, chosen.environ["OPENAI_API_KEY"]) == ("openai:m", "m", "mine")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "Couldn't find a default provider.*ANTHROPIC_API_KEY"),
        ({"provider": "anthropic"}, "needs a key: set ANTHROPIC_API_KEY"),
        ({"provider": "nobody"}, "The provider for Bot wasn't recognized"),
        ({"provider": "codex"}, "cannot reach the provider 'codex'"),
    ],
)
def test_what_cannot_be_asked_says_what_to_do(fields: dict[str, str], told: str) -> None:
    with pytest.raises(ModelError, match=told):
        choose(person(**fields), {}, {})
