"""The one way to the broker, for machines, sinks, people on call and the fleet's owner.

    async with connected(credentials) as client:            # a command: fails within seconds, with what to do
        await client.request(subject, data, timeout=5)
    stream = client.jetstream()

A process that stays calls ``connect(credentials, stay=True)``: the client reconnects by itself for as long as it lives, to
any server of the cluster, and ``client.is_connected`` tells. What is published meanwhile waits in a buffer of the client
and may be lost with it: count only what was acknowledged (a reply, or JetStream's). Nothing of this is imported where a
decision is made; only ``hookline.fleet`` imports ``nats``.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from nats.aio.client import Client, RawCredentials
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js.errors import NoStreamResponseError

from hookline.core.errors import ConfigError
from hookline.fleet.credentials import Credentials
from hookline.fleet.subjects import inbox

#: What may be raised by anything that is asked of a broker.
UNREACHABLE = (NatsError, OSError, asyncio.TimeoutError, ssl.SSLError)
#: Seconds for one attempt, and between two of a client that stays.
_PATIENCE, _PAUSE = 5, 1
_OWNER = "its owner sees which, and makes what is missing: hookline fleet status"
_OWN_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}


async def connect(credentials: Credentials, *, stay: bool = False) -> Client:
    """Raises ConfigError if no server takes us now."""
    context = ssl.create_default_context(cadata=credentials.authority or None)
    logging.getLogger("asyncio").setLevel(
        logging.ERROR
    )  # it warns about every TLS connection of this library that ends
    client, errors = Client(), list[Exception]()

    async def note(error: Exception) -> None:  # the library would log each
        errors[:] = [*errors, error][-9:]

    options: dict[str, Any] = {
        "name": f"hookline {credentials.role} {credentials.name}", "tls": context, "connect_timeout": _PATIENCE,
        "user_credentials": RawCredentials(credentials.text), "inbox_prefix": inbox(credentials.role, credentials.name),
        "reconnect_time_wait": _PAUSE, "max_reconnect_attempts": 1, "ping_interval": 20,
        "error_cb": note,
    }  # fmt: skip
    try:
        await asyncio.wait_for(
            client.connect(list(credentials.servers), **options), _PATIENCE * (1 + len(credentials.servers))
        )
    except UNREACHABLE as error:
        await close(client)
        # Why each server was no use says more than that none was left.
        raise ConfigError(explain(credentials, next(iter(errors), error))) from None
    # From now on without end: at first it would hide that we are refused.
    client.options["max_reconnect_attempts"] = -1 if stay else 1
    return client


async def close(client: Client) -> None:
    """The library waits without end for a connection that never came to be."""
    with suppress(*UNREACHABLE, AttributeError):  # asyncio raises it for a TLS connection that was cut
        await asyncio.wait_for(client.close(), 1)


@asynccontextmanager
async def connection(credentials: Credentials) -> AsyncGenerator[Client]:
    client = await connect(credentials)
    try:
        yield client
    except NoRespondersError:
        raise ConfigError("the broker has no such stream; hookline fleet publish makes what a team needs") from None
    except UNREACHABLE as error:
        raise ConfigError(explain(credentials, error)) from None
    finally:
        await close(client)


async def silent_servers(servers: Sequence[str]) -> list[str]:
    """Those of ``HOST:PORT`` that do not greet: gone, frozen, or out of reach from here."""

    async def greets(server: str) -> bool:
        host, _, port = server.rpartition(":")
        try:
            async with asyncio.timeout(_PATIENCE / 2):
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.close() if (greeting := await reader.read(4)) else None
                return greeting == b"INFO"
        except OSError:
            return False

    found = await asyncio.gather(*map(greets, servers))
    return [one for one, good in zip(servers, found, strict=True) if not good]


def explain(credentials: Credentials, error: BaseException) -> str:
    servers = ", ".join(credentials.servers)
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.errno in _OWN_DISK:
        return f"this machine cannot write what it must remember ({text}); make room there"
    if "authorization" in text.lower() or "expired" in text.lower():  # the server has no codes
        return (
            f"the broker ({servers}) refuses {credentials.name}: its credentials are revoked, expired, or of another fleet;"
            f" the owner issues new ones: hookline fleet revoke {credentials.name}, then add"
        )
    if isinstance(error, ssl.SSLError):
        return f"{servers} has no certificate of this fleet ({text}); its owner copies fleet/server there again"
    if isinstance(error, NoRespondersError | NoStreamResponseError):
        return (
            f"the broker ({servers}) takes nothing now: too few of its servers run, or its streams are gone; {_OWNER}"
        )
    if isinstance(error, NatsTimeoutError | asyncio.TimeoutError):
        text = "no answer in time"
    return f"the broker ({servers}) cannot be reached: {text}"
