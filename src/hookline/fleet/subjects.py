"""What is called how on the broker, and who may use it. Every team has an account of its own, so no name has a team in it.

A machine M of a group G publishes its records as ``hookline.record.M.SOURCE``, its state as key M of the bucket of machines, and
questions as ``hookline.ask.M.ID``; it reads the policy of G alone. Whoever is connected receives answers below an inbox of
its own, ``_INBOX.NAME``: nobody can listen to another's.

Who adds a subject adds it to ``permissions``, which every ``.creds`` file carries.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from hookline.core.errors import UsageError

#: machine: guarded by the policy; sink: reads all records; oncall: answers questions; admin: the team's owner.
Role: TypeAlias = Literal["machine", "sink", "oncall", "admin"]
ROLES: tuple[Role, ...] = ("machine", "sink", "oncall", "admin")

#: The stream of all records of a team, and the bucket with the state of every machine.
RECORDS, MACHINES = "HOOKLINE_RECORDS", "hookline_machines"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def require_name(name: str, what: str) -> str:
    """A name that is one part of a subject. Raises UsageError."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of a {what}: use a-z, 0-9, - and _, at most 63 characters")
    return name


def record_subject(machine: str, source: str = "*") -> str:
    """A source is whose records they are on that machine, ``u1000``: each is a sequence of its own."""
    return f"hookline.record.{machine}.{source}"


def ask_subject(machine: str, question: str) -> str:
    return f"hookline.ask.{machine}.{question}"


def policy_bucket(group: str) -> str:
    """Of the key-value store (which policy counts) and of the object store (the policies themselves)."""
    return f"hookline_policy_{group}"


def inbox(role: Role, name: str) -> str:
    return f"_INBOX.{role}_{name}"


def permissions(role: Role, name: str, group: str) -> dict[str, Any]:
    """The part of a user's JWT that says what may be published and received.

    A machine reads by direct requests alone: who may make a consumer chooses where it delivers to, and the server, not the
    machine, would then publish there.
    """
    own = [f"{inbox(role, name)}.>"]
    if role == "machine":
        bucket = policy_bucket(group)
        publish = [
            record_subject(name),
            f"$JS.API.DIRECT.GET.{RECORDS}.{record_subject(name)}",
            f"$KV.{MACHINES}.{name}",
            f"$JS.API.DIRECT.GET.KV_{bucket}.$KV.{bucket}.>",
            f"$JS.API.DIRECT.GET.OBJ_{bucket}",
            f"$JS.API.DIRECT.GET.OBJ_{bucket}.>",
            ask_subject(name, "*"),
        ]
        return {"pub": {"allow": publish}, "sub": {"allow": [*own, f"$KV.{bucket}.rollout"]}}
    api = [f"{one}.{RECORDS}" for one in ("STREAM.INFO", "CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE", "CONSUMER.INFO", "CONSUMER.MSG.NEXT")]  # fmt: skip
    records = [f"$JS.API.{one}" for one in api] + [f"$JS.API.{one}.>" for one in api] + [f"$JS.ACK.{RECORDS}.>"]
    if role == "sink":
        return {"pub": {"allow": records}, "sub": {"allow": own}}
    if role == "oncall":
        # A question carries an inbox of the machine as its reply subject; ``resp`` allows an answer there and nowhere else.
        read = [f"$JS.API.DIRECT.GET.KV_{MACHINES}.>", *records]
        return {"pub": {"allow": read}, "sub": {"allow": [*own, "hookline.ask.>"]}, "resp": {"max": 1, "ttl": _HOUR}}
    return {"pub": {}, "sub": {}}


_HOUR = 3600 * 10**9
