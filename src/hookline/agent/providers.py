"""Which model an interlocutor uses: Lectic's provider names as names of ``hookline.llm``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hookline.agent.lectic_config import Interlocutor
from hookline.llm.names import PROVIDERS, ModelError, Provider, access, resolve

#: Lectic's name -> our provider and its default model.
_KNOWN: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "anthropic": ("anthropic", "claude-sonnet-4-6"),
        "gemini": ("google", "gemini-flash-latest"),
        "openai/chat": ("openai", "gpt-5.4"),
        "openrouter": ("openrouter", "google/gemini-flash-latest"),
        "openai": ("openai-responses", "gpt-5.4"),
        "ollama": ("ollama", "llama3.2"),
        "script": ("script", ""),
    }
)
#: Names that Lectic knows and we cannot reach.
_BEYOND = frozenset({"anthropic/bedrock", "codex"})

#: Without a provider, the first of these that has a key is used.
_BY_KEY = ("anthropic", "gemini", "openai/chat", "openrouter")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """``name`` as ``open_model`` takes it; ``environ`` holds the interlocutor's own key, if it has one."""

    name: str
    model: str
    environ: Mapping[str, str]


def choose(
    person: Interlocutor, environ: Mapping[str, str], table: Mapping[str, str], *, given: str = "", account: str = ""
) -> _Chosen:
    """``given`` comes from the command line and wins. Raises ``ModelError`` for a model that cannot be used."""
    wanted = given or _wanted(person, environ, table)
    resolved = resolve(wanted, table, environ)
    around = {**environ, resolved.provider.keys[0]: account} if account and resolved.provider.keys else environ
    if resolved.provider.wire != "script":
        access(resolved, around)
    return _Chosen(name=str(resolved), model=resolved.name, environ=around)


def _wanted(person: Interlocutor, environ: Mapping[str, str], table: Mapping[str, str]) -> str:
    provider, model = person.text("provider"), person.text("model")
    if provider in _BEYOND:
        raise ModelError(f"hookline cannot reach the provider {provider!r}; use one of {', '.join(_KNOWN)}")
    if provider and provider not in _KNOWN and provider not in PROVIDERS:
        raise ModelError(f"The provider for {person.name} wasn't recognized.")
    if provider:
        ours, usual = _KNOWN.get(provider, (provider, ""))
        return f"{ours}:{model or usual}"
    if model in table or model.partition(":")[0] in PROVIDERS or _maker_is_ready(model, environ):
        return model
    for name in _BY_KEY:
        ours, usual = _KNOWN[name]
        row = PROVIDERS[ours]
        if _ready(row, environ):
            return f"{ours}:{model or usual}"
    if "default" in table:
        return table["default"]
    raise ModelError(
        "Couldn't find a default provider. You probably need to set an API key for your preferred provider: one of "
        f"{', '.join(PROVIDERS[_KNOWN[name][0]].keys[0] for name in _BY_KEY)}; or write provider: ollama for a local "
        "model, or --model provider:name"
    )


def _ready(row: Provider, environ: Mapping[str, str]) -> bool:
    return any(environ.get(key) for key in row.keys) or bool(environ.get(row.base_url))


def _maker_is_ready(model: str, environ: Mapping[str, str]) -> bool:
    """Whether the name says whose model it is, and there is a key for it."""
    try:
        return bool(model) and _ready(resolve(model, {}, {}).provider, environ)
    except ModelError:
        return False
