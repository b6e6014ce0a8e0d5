"""From a model's name to its provider. Pure: no SDK, no environment but the one given.

A name is one of: a key of the ``[models]`` table; a short name of the built-in table; ``provider:name`` or
``provider/name``; a bare name that begins like those of a known provider; ``script:FILE`` for the scripted
model server.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from hookline.core._dataclass import dataclass
from hookline.core.errors import HooklineError

_Wire = Literal["chat", "responses", "anthropic", "google", "script"]


class ModelError(HooklineError):
    """A model cannot be used, or did not answer; the text says why and what to do."""


class MissingKeyError(ModelError):
    """No key for the model's provider is in the environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One row: the variables of its key and base URL, and its protocol."""

    name: str
    wire: _Wire
    #: Variables that may hold the key, best first; empty for a provider that needs none.
    keys: tuple[str, ...]
    base_url: str
    default_url: str | None = None
    #: The model to use when only the key is set and no model is named.
    usual: str = ""


PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        row.name: row
        for row in (
            Provider(name="anthropic", wire="anthropic", keys=("ANTHROPIC_API_KEY",), base_url="ANTHROPIC_BASE_URL", usual="claude-haiku-5-5"),
            Provider(name="openai", wire="chat", keys=("OPENAI_API_KEY",), base_url="OPENAI_BASE_URL", usual="gpt-4o-mini"),
            Provider(name="google", wire="google", keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"), base_url="GOOGLE_GEMINI_BASE_URL", usual="gemini-flash-latest"),
            Provider(name="openai-responses", wire="responses", keys=("OPENAI_API_KEY",), base_url="OPENAI_BASE_URL"),
            Provider(name="openrouter", wire="chat", keys=("OPENROUTER_API_KEY",), base_url="OPENROUTER_BASE_URL", default_url="https://openrouter.ai/api/v1"),
            Provider(name="groq", wire="chat", keys=("GROQ_API_KEY",), base_url="GROQ_BASE_URL", default_url="https://api.groq.com/openai/v1"),
            Provider(name="mistral", wire="chat", keys=("MISTRAL_API_KEY",), base_url="MISTRAL_BASE_URL", default_url="https://api.mistral.ai/v1"),
            Provider(name="deepseek", wire="chat", keys=("DEEPSEEK_API_KEY",), base_url="DEEPSEEK_BASE_URL", default_url="https://api.deepseek.com"),
            Provider(name="xai", wire="chat", keys=("XAI_API_KEY",), base_url="XAI_BASE_URL", default_url="https://api.x.ai/v1"),
            Provider(name="ollama", wire="chat", keys=(), base_url="OLLAMA_BASE_URL", default_url="http://localhost:11434/v1"),
            Provider(name="script", wire="script", keys=(), base_url=""),
        )
    }
)  # fmt: skip

PROVIDER_ALIASES: Mapping[str, str] = MappingProxyType(
    {"google-gla": "google", "gemini": "google", "openai-chat": "openai", "openai-compatible": "openai"}
)

#: Names that are common in examples and configurations.
SHORT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "haiku": "anthropic:claude-haiku-5-5",
        "sonnet": "anthropic:claude-sonnet-5-5",
        "opus": "anthropic:claude-opus-5-5",
        "gemini-flash": "google:gemini-flash-latest",
    }
)

_BY_FIRST_LETTERS = (
    ("claude-", "anthropic"), ("gpt-", "openai"), ("chatgpt-", "openai"), ("o1", "openai"), ("o3", "openai"),
    ("o4", "openai"), ("gemini-", "google"), ("grok-", "xai"), ("deepseek-", "deepseek"), ("mistral-", "mistral"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    provider: Provider
    name: str

    def __str__(self) -> str:
        return f"{self.provider.name}:{self.name}"


def resolve(name: str, table: Mapping[str, str], environ: Mapping[str, str]) -> ModelName:
    """The ``[models]`` table comes first, so that the user can redirect any name; raises ``ModelError``."""
    wanted = name.strip() or table.get("default", "")
    if not wanted:
        return _first_with_a_key(environ)
    seen: list[str] = []
    while wanted in table and wanted not in seen:
        seen.append(wanted)
        wanted = table[wanted]
    wanted = SHORT_NAMES.get(wanted, wanted)
    return _explicit(wanted) or _guessed(wanted, environ)


def _explicit(wanted: str) -> ModelName | None:
    for mark in (":", "/"):
        maker, found, rest = wanted.partition(mark)
        provider = PROVIDERS.get(PROVIDER_ALIASES.get(maker, maker))
        if found and rest and provider is not None:
            return ModelName(provider=provider, name=rest)
    return None


def _guessed(wanted: str, environ: Mapping[str, str]) -> ModelName:
    for letters, maker in _BY_FIRST_LETTERS:
        if wanted.startswith(letters):
            return ModelName(provider=PROVIDERS[maker], name=wanted)
    if environ.get("OPENAI_BASE_URL"):
        # A server of one's own has its own model names.
        return ModelName(provider=PROVIDERS["openai"], name=wanted)
    if "/" in wanted and environ.get("OPENROUTER_API_KEY"):
        return ModelName(provider=PROVIDERS["openrouter"], name=wanted)
    msg = f"unknown model {wanted!r}; write provider:name (providers: {', '.join(PROVIDERS)}), or give it a line in the [models] table"
    raise ModelError(msg)


def _first_with_a_key(environ: Mapping[str, str]) -> ModelName:
    for provider in PROVIDERS.values():
        if provider.usual and any(environ.get(key) for key in provider.keys):
            return ModelName(provider=provider, name=provider.usual)
    keys = ", ".join(key for provider in PROVIDERS.values() if provider.usual for key in provider.keys[:1])
    msg = f'no model is named and no key is in the environment; set one of {keys}, or write default = "provider:name" in the [models] table'
    raise MissingKeyError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAccess:
    """What a client needs: a key that must never be shown, and where to send it."""

    key: str
    base_url: str | None


def access(model: ModelName, environ: Mapping[str, str]) -> ProviderAccess:
    """The key and the base URL from the caller's environment; a custom server may need no key."""
    provider = model.provider
    base_url = environ.get(provider.base_url) or provider.default_url
    key = next((environ[name] for name in provider.keys if environ.get(name)), "")
    if key or not provider.keys or environ.get(provider.base_url):
        return ProviderAccess(key=key or "none", base_url=base_url)
    have = [name for row in PROVIDERS.values() for name in row.keys if environ.get(name)]
    other = (
        f"or point the name elsewhere in the [models] table (there is a key for {', '.join(dict.fromkeys(have))})"
        if have
        else "or name a model of another provider in the [models] table"
    )
    msg = f"the model {model} needs a key: set {' or '.join(provider.keys)} (or {provider.base_url} for a server of your own), {other}"
    raise MissingKeyError(msg)
