"""Which model a name means, and what is said when it cannot be had."""

from __future__ import annotations

import pytest

from hookline.llm.http import proxy_for
from hookline.llm.names import ModelError, access, resolve


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("haiku", "anthropic:claude-haiku-5-5"),
        ("gpt-4o-mini", "openai:gpt-4o-mini"),
        ("gemini-flash", "google:gemini-flash-latest"),
        ("claude-3-5-haiku-latest", "anthropic:claude-3-5-haiku-latest"),
        ("openai:my-model", "openai:my-model"),
        ("anthropic/claude-x", "anthropic:claude-x"),
        ("google-gla:gemini-x", "google:gemini-x"),
        ("openrouter/meta/llama", "openrouter:meta/llama"),
        ("script:/tmp/a.json", "script:/tmp/a.json"),
    ],
)
def test_a_name_means(name: str, meant: str) -> None:
    assert str(resolve(name, {}, {})) == meant


def test_the_table_of_the_settings_comes_first_and_may_point_on() -> None:
    table = {"haiku": "cheap", "cheap": "openai:gpt-4o-mini"}
    assert str(resolve("haiku", table, {})) == "openai:gpt-4o-mini"


def test_a_table_that_points_in_a_circle_ends() -> None:
    with pytest.raises(ModelError, match="unknown model"):
        resolve("a", {"a": "b", "b": "a"}, {})


def test_no_name_means_the_default_of_the_table_or_the_provider_whose_key_is_there() -> None:
    assert str(resolve("", {"default": "openai:x"}, {})) == "openai:x"
    assert str(resolve("", {}, {"GEMINI_API_KEY": "k"})) == "google:gemini-flash-latest"
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY"):
        resolve("", {}, {})


def test_a_server_of_ones_own_may_have_any_model_and_needs_no_key() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    model = resolve("qwen3:4b", {}, environ)
    assert str(model) == "openai:qwen3:4b"
    assert access(model, environ).base_url == "http://127.0.0.1:1/v1"


def test_a_missing_key_names_the_variable_and_the_alternatives() -> None:
    with pytest.raises(
        ModelError, match=r"set ANTHROPIC_API_KEY .*\[models\] table \(there is a key for OPENAI_API_KEY\)"
    ):
        access(resolve("haiku", {}, {}), {"OPENAI_API_KEY": "k"})


def test_a_proxy_is_used_as_the_environment_says_and_never_for_loopback() -> None:
    environ = {"HTTPS_PROXY": "http://proxy:1", "HTTP_PROXY": "http://proxy:2", "NO_PROXY": "inside.example"}
    urls = ("https://api.example", "http://127.0.0.1:8", "https://a.inside.example", "http://else.example")
    assert [proxy_for(url, environ) for url in urls] == ["http://proxy:1", None, None, "http://proxy:2"]
