"""From a model's name to an open client: the only module that knows the providers' clients."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass
from hookline.core.extras import install_command
from hookline.llm.http import certificates, proxy_for
from hookline.llm.names import ModelError, ModelName, ProviderAccess, access, resolve

if TYPE_CHECKING:
    from pydantic_ai.models import Model


def missing_client(error: ImportError) -> ModelError:
    return ModelError(f"asking a model needs more packages: {install_command('models')} ({error})")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenClient:
    """A model that is usable until the context ends."""

    model: Model
    name: str
    key: str


@asynccontextmanager
async def open_client(name: str, table: Mapping[str, str], environ: Mapping[str, str]) -> AsyncGenerator[OpenClient]:
    """The key, the base URL and the proxy come from ``environ``, never from our own process."""
    chosen = resolve(name, table, environ)
    async with AsyncExitStack() as stack:
        if chosen.provider.wire == "script":
            environ = {**environ, **start_scripted(stack, chosen.name)}
            chosen = resolve("openai:scripted", {}, environ)
        reach = access(chosen, environ)
        try:
            client = await stack.enter_async_context(_client(reach, environ))
            model = _model(chosen, reach, client)
        except ImportError as error:
            raise missing_client(error) from error
        yield OpenClient(model=model, name=str(chosen), key=reach.key)


def start_scripted(stack: AsyncExitStack, path: str) -> Mapping[str, str]:
    """The variables of a scripted server of our own, which ends with ``stack``."""
    from hookline.llm.scripted import ModelServer, ScriptError, read_script  # only when asked for

    try:
        return stack.enter_context(ModelServer(read_script(path))).environ()
    except ScriptError as error:
        raise ModelError(str(error)) from error


def _model(chosen: ModelName, reach: ProviderAccess, client: Any) -> Model:
    """Imports are inside, so that using one provider does not load another's client."""
    given: dict[str, Any] = {"api_key": reach.key, "base_url": reach.base_url, "http_client": client}
    match chosen.provider.wire:
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            given["base_url"] = reach.base_url or "https://api.anthropic.com"
            return AnthropicModel(chosen.name, provider=AnthropicProvider(**given))
        case "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            given["base_url"] = reach.base_url or "https://generativelanguage.googleapis.com"
            return GoogleModel(chosen.name, provider=GoogleProvider(**given))
        case "responses":
            from pydantic_ai.models.openai import OpenAIResponsesModel

            return OpenAIResponsesModel(chosen.name, provider=_openai(given))
        case "chat" | "script":
            from pydantic_ai.models.openai import OpenAIChatModel

            return OpenAIChatModel(chosen.name, provider=_openai(given))


def _openai(given: dict[str, Any]) -> Any:
    from pydantic_ai.providers.openai import OpenAIProvider

    # Set even when it is the default: the client would otherwise read our own process's environment.
    base_url: str = given["base_url"] or "https://api.openai.com/v1"
    return OpenAIProvider(base_url=base_url, api_key=given["api_key"], http_client=given["http_client"])


def _client(reach: ProviderAccess, environ: Mapping[str, str]) -> Any:
    """Without its own timeout: the hook's deadline is the only one."""
    import httpx2

    return httpx2.AsyncClient(
        timeout=None,  # the hook's deadline covers the whole call
        follow_redirects=False,  # a key must not follow to another host
        trust_env=False,
        proxy=proxy_for(reach.base_url or "https://", environ),
        verify=certificates(environ),
    )
