"""What the owner of a team does on the broker: make its streams where they are missing, and tell it who is revoked."""

from __future__ import annotations

import asyncio
import json

from nats.js import JetStreamContext, api
from nats.js.errors import NotFoundError

from hookline.core.errors import ConfigError
from hookline.fleet.authority import Authority, system_credentials
from hookline.fleet.connection import connection
from hookline.fleet.subjects import MACHINES, RECORDS, policy_bucket, record_subject

#: Days that records stay on the broker for sinks, and the most of one record.
_DAYS, _LARGEST = 30, 1 << 19
#: How long the broker recognizes a message by its id. Beyond that, the order of a source's own records does (``records``).
_WINDOW = 120
_CLAIMS = "$SYS.REQ.CLAIMS.UPDATE"
#: Seconds that servers have to answer.
_PATIENCE = 5.0


async def ensure_team(stream: JetStreamContext, replicas: int) -> None:
    if not await _exists(stream, RECORDS):
        await stream.add_stream(
            api.StreamConfig(
                name=RECORDS, subjects=[record_subject("*")], storage=api.StorageType.FILE, num_replicas=replicas,
                max_age=_DAYS * 86_400, max_msg_size=_LARGEST, duplicate_window=_WINDOW, allow_direct=True, deny_purge=True,
            )
        )  # fmt: skip
    await _ensure_bucket(stream, MACHINES, replicas)


async def ensure_group(stream: JetStreamContext, group: str, replicas: int) -> None:
    bucket = policy_bucket(group)
    await _ensure_bucket(stream, bucket, replicas)
    if not await _exists(stream, f"OBJ_{bucket}"):
        await stream.create_object_store(bucket, replicas=replicas)


async def _ensure_bucket(stream: JetStreamContext, bucket: str, replicas: int) -> None:
    if not await _exists(stream, f"KV_{bucket}"):
        await stream.create_key_value(bucket=bucket, replicas=replicas, direct=True, max_value_size=1 << 16)


async def _exists(stream: JetStreamContext, name: str) -> bool:
    try:
        await stream.stream_info(name)
    except NotFoundError:
        return False
    return True


async def tell_servers(authority: Authority, team: str) -> int:
    """The account as it is now, signed by the operator, to every server; how many have taken it. Who is connected with what was revoked is cut off by them. Raises ConfigError."""
    taken, refused = set[str](), list[str]()
    async with connection(system_credentials(authority)) as client:
        inbox = client.new_inbox()
        answers = await client.subscribe(inbox)
        await client.publish(_CLAIMS, authority.account_jwt(team).encode("ascii"), reply=inbox)
        until = asyncio.get_running_loop().time() + _PATIENCE
        while len(taken) < len(authority.servers) and (left := until - asyncio.get_running_loop().time()) > 0:
            try:
                answer = json.loads((await answers.next_msg(timeout=left)).data)
            except TimeoutError:
                break
            if "error" in answer:
                refused.append(str(answer["error"].get("description", answer["error"])))
            else:
                taken.add(str(answer.get("server", {}).get("name")))
    if not taken:
        why = refused[0] if refused else "no server answered"
        raise ConfigError(f"the broker did not accept the revocation ({why}); run it again: hookline fleet revoke")
    return len(taken)
