"""What a team and a group have on the broker: made by the team's owner, and left alone where it is there already."""

from __future__ import annotations

from nats.js import JetStreamContext, api
from nats.js.errors import NotFoundError

from hookline.fleet.subjects import MACHINES, RECORDS, policy_bucket, record_subject

#: Days that records stay on the broker for sinks, and the most of one record.
_DAYS, _LARGEST = 30, 1 << 19
#: How long the broker recognizes a message by its id. Beyond that, the order of a source's own records does (``records``).
_WINDOW = 120


async def ensure_team(stream: JetStreamContext, replicas: int) -> None:
    try:
        await stream.stream_info(RECORDS)
    except NotFoundError:
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
    try:
        await stream.stream_info(f"OBJ_{bucket}")
    except NotFoundError:
        await stream.create_object_store(bucket, replicas=replicas)


async def _ensure_bucket(stream: JetStreamContext, bucket: str, replicas: int) -> None:
    try:
        await stream.stream_info(f"KV_{bucket}")
    except NotFoundError:
        await stream.create_key_value(bucket=bucket, replicas=replicas, direct=True, max_value_size=1 << 16)
