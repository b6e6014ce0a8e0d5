"""Policies on the broker: published by the team's owner for a group, and fetched by its machines.

Which policy counts is one value of the group: the ``stable`` one, a ``next`` one for some percent of the machines, and the
one ``before`` stable. It is not signed, and need not be: it only points at signed policies, and a machine never takes a
version below the highest it had. Who could forge it could keep a policy back (which ``status`` shows), not bring one in.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from nats.errors import NoRespondersError
from nats.js import JetStreamContext
from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError, NotFoundError

from hookline.core._dataclass import dataclass, replace
from hookline.core.errors import ConfigError, UsageError
from hookline.core.paths import Paths
from hookline.fleet.build import reseal
from hookline.fleet.bundle import read_bundle
from hookline.fleet.subjects import policy_bucket

_KEY, _LARGEST = "rollout", 128 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    version: int
    digest: str
    name: str

    @property
    def object(self) -> str:
        return f"{self.version}-{self.digest[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """``percent`` of the machines get ``next``, all others ``stable``."""

    stable: Published | None = None
    next: Published | None = None
    percent: int = 0
    before: Published | None = None

    def for_machine(self, machine: str) -> Published | None:
        """The same machines stay chosen while the percentage grows, and others are for the next policy."""
        if self.next is not None:
            drawn = int.from_bytes(hashlib.sha256(f"{self.next.digest}:{machine}".encode()).digest()[:4], "big") % 100
            if drawn < self.percent:
                return self.next
        return self.stable

    def highest(self) -> int:
        return max((one.version for one in (self.stable, self.next, self.before) if one), default=0)


def _parse_rollout(data: bytes) -> Rollout:
    """Raises ConfigError."""
    try:
        tree = json.loads(data)
        some = {key: _published(tree[key]) for key in ("stable", "next", "before")}
        return Rollout(**some, percent=int(tree["percent"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConfigError("the broker's word on which policy counts is damaged; hookline fleet publish again") from None


def _published(tree: Mapping[str, Any] | None) -> Published | None:
    if tree is None:
        return None
    return Published(version=int(tree["version"]), digest=str(tree["digest"]), name=str(tree["name"]))


# ── the owner ────────────────────────────────────────────────────────────────────────────────────────


async def _current(stream: JetStreamContext, group: str) -> tuple[Rollout, int]:
    """And its revision, for who changes it; 0 before the first."""
    bucket = await stream.key_value(policy_bucket(group))
    try:
        entry = await bucket.get(_KEY)
    except KeyNotFoundError:
        return Rollout(), 0
    return _parse_rollout(entry.value or b""), entry.revision or 0


async def read_rollout(stream: JetStreamContext, group: str) -> Rollout | None:
    """None where nothing is published."""
    try:
        found, _ = await _current(stream, group)
    except NotFoundError:
        return None
    return found if found.highest() else None


async def publish(stream: JetStreamContext, group: str, data: bytes, percent: int) -> Rollout:
    """A new policy, for so many percent of the group. Raises ConfigError and UsageError."""
    bundle = read_bundle(data)
    rollout, revision = await _current(stream, group)
    new = Published(version=bundle.manifest.version, digest=bundle.digest, name=bundle.manifest.name)
    if new.version <= rollout.highest():
        raise UsageError(
            f"{group} has version {rollout.highest()} already; machines take only a higher one: "
            f"hookline policy build --version {rollout.highest() + 1}"
        )
    await (await stream.object_store(policy_bucket(group))).put(new.object, data)
    kept = replace(rollout, next=new, percent=percent)
    return await _put(stream, group, _settled(kept), revision)


async def widen(stream: JetStreamContext, group: str, percent: int) -> Rollout:
    rollout, revision = await _current(stream, group)
    if rollout.next is None:
        raise UsageError(f"no policy is being rolled out to {group}; name the file of a new one")
    return await _put(stream, group, _settled(replace(rollout, percent=percent)), revision)


async def roll_back(stream: JetStreamContext, group: str, private_key: str, paths: Paths) -> Rollout:
    """What counted before, under a higher version, for everybody. Only who signs policies can do it."""
    rollout, _ = await _current(stream, group)
    back = rollout.stable if rollout.next is not None else rollout.before
    if back is None:
        raise UsageError(f"{group} has had no other policy before this one")
    old = await (await stream.object_store(policy_bucket(group))).get(back.object)
    built = reseal(old.data or b"", private_key, paths, rollout.highest() + 1)
    return await publish(stream, group, built.data, 100)


def _settled(rollout: Rollout) -> Rollout:
    if rollout.percent < 100:
        return rollout
    return Rollout(stable=rollout.next, before=rollout.stable)


async def _put(stream: JetStreamContext, group: str, rollout: Rollout, revision: int) -> Rollout:
    bucket = await stream.key_value(policy_bucket(group))
    data = json.dumps(asdict(rollout)).encode()
    try:
        await (bucket.update(_KEY, data, revision) if revision else bucket.create(_KEY, data))
    except KeyWrongLastSequenceError:
        raise ConfigError("somebody else has published for this group in the meantime; look, and try again") from None
    return rollout


# ── a machine ────────────────────────────────────────────────────────────────────────────────────────


async def fetch_rollout(stream: JetStreamContext, group: str) -> Rollout:
    """By direct requests alone (``subjects.permissions``). Raises ConfigError if nothing is published, and where nobody
    answers, which is the same for a bucket that is not there."""
    bucket = policy_bucket(group)
    try:
        found = await stream.get_last_msg(f"KV_{bucket}", f"$KV.{bucket}.{_KEY}", direct=True)
    except (NotFoundError, NoRespondersError, TimeoutError):
        raise ConfigError(
            f"the broker names no policy for group {group}: none is published, or too few of its servers run;"
            " its owner sees which: hookline fleet status"
        ) from None
    return _parse_rollout(found.data or b"")


async def fetch(stream: JetStreamContext, group: str, wanted: Published) -> bytes:
    """The bytes of a policy. Whether they are one, and whose, is for who takes them to check. Raises ConfigError."""
    bucket = policy_bucket(group)
    name = base64.urlsafe_b64encode(wanted.object.encode()).decode("ascii")
    parts, size, at = list[bytes](), 0, 1
    try:
        about = await stream.get_last_msg(f"OBJ_{bucket}", f"$O.{bucket}.M.{name}", direct=True)
        meta = json.loads(about.data or b"")
        chunks = f"$O.{bucket}.C.{meta['nuid']}"
        for _ in range(int(meta["chunks"])):
            part = await stream.get_msg(f"OBJ_{bucket}", seq=at, subject=chunks, next=True, direct=True)
            parts.append(part.data or b"")
            size, at = size + len(parts[-1]), (part.seq or 0) + 1
            if size > _LARGEST:
                break
    except (NotFoundError, ValueError, KeyError, TypeError):
        raise ConfigError(
            f"the policy {wanted.object} at the broker is incomplete; publish it again: hookline fleet publish"
        ) from None
    data = b"".join(parts)
    if read_bundle(data).digest != wanted.digest:
        raise ConfigError(f"the broker has another policy under the name {wanted.object}; nothing changed")
    return data
