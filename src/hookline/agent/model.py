"""One request to a model, streamed.

``open_model`` opens a model once for a whole run or session (a scripted server keeps its place in the script);
``ModelClient.converse`` is one request.

Every failure is a ``ModelError`` with a text for people; keys never appear in it. A consumer
that stops early must close the iterator (``contextlib.aclosing``), which ends the request.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from importlib import import_module
from typing import cast

from hookline.agent.message import Delta, Message, ToolSpec
from hookline.agent.wires.base import ModelSettings, Wire, WireReply, WireRequest
from hookline.core._dataclass import dataclass, field
from hookline.llm.client import start_scripted
from hookline.llm.http import Post, explain, stream_events
from hookline.llm.names import ModelError, ModelName, ProviderAccess, access, resolve

__all__ = ["ModelClient", "ModelError", "ModelSettings", "open_model"]

#: The protocol of a provider -> the module here that speaks it.
_WIRES = {"chat": "chat", "responses": "responses", "anthropic": "anthropic", "google": "gemini"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelClient:
    """An opened model. ``name`` is ``provider:model``, ``model`` the model's own name."""

    chosen: ModelName
    access: ProviderAccess = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)
    wire: Wire = field(repr=False)

    @property
    def name(self) -> str:
        return str(self.chosen)

    @property
    def model(self) -> str:
        return self.chosen.name

    @property
    def provider(self) -> str:
        """The provider that gets its own reasoning back."""
        return self.wire.PROVIDER

    async def converse(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        system: str = "",
        settings: ModelSettings | None = None,
    ) -> AsyncGenerator[Delta]:
        """One request, and no silent retries: the user sees what went wrong and asks again. Text and thoughts come as
        they are streamed; ``Done`` comes last and has the tool calls."""
        request = WireRequest(
            model=self.chosen.name, provider=self.chosen.provider.name, messages=messages, tools=tools, system=system,
            settings=settings or ModelSettings(),
        )  # fmt: skip
        url, headers, body = self.wire.call(request, self.access.base_url, self.access.key)
        reply = WireReply(provider=self.wire.PROVIDER)
        try:
            async with aclosing(
                stream_events(Post(url=url, headers=headers, body=body, environ=self.environ))
            ) as events:
                async for event in events:
                    for delta in self.wire.read(event, reply):
                        yield delta
            for delta in reply.conclude():
                yield delta
        except Exception as error:
            raise ModelError(explain(error, self.name, self.access.key)) from error


@asynccontextmanager
async def open_model(
    name: str, *, environ: Mapping[str, str], table: Mapping[str, str] | None = None
) -> AsyncGenerator[ModelClient]:
    """``name`` as ``hookline.llm.names`` reads it (``provider:model``, a short name, ``script:FILE``, "" for
    the first provider with a key); ``table`` is the ``[models]`` table."""
    chosen = resolve(name, table or {}, environ)
    async with AsyncExitStack() as stack:
        if chosen.provider.wire == "script":
            environ = {**environ, **start_scripted(stack, chosen.name)}
            chosen = resolve("openai:scripted", {}, environ)
        wire = import_module(f"hookline.agent.wires.{_WIRES[chosen.provider.wire]}")
        yield ModelClient(
            chosen=chosen, access=access(chosen, environ), environ=environ, wire=cast("Wire", wire)
        )  # fmt: skip
