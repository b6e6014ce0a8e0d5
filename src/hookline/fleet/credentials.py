"""Identities on the broker: NKeys, the JWTs that they sign, and the ``.creds`` file that a machine or a person gets.

The file is the usual one of NATS, with a third part: where the broker is, and whose certificates count. So one file is all
that ``hookline fleet join`` needs.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, cast

from hookline.core._dataclass import dataclass
from hookline.core.errors import ConfigError
from hookline.fleet.subjects import ROLES, Role, permissions

_PREFIXES = {"operator": 14 << 3, "account": 0, "user": 20 << 3}
_JWT, _SEED, _BROKER = "NATS USER JWT", "USER NKEY SEED", "HOOKLINE BROKER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Who one is on which broker. ``text`` has the secret; it is never printed."""

    name: str
    role: Role
    group: str
    team: str
    servers: tuple[str, ...]
    #: The certificates that sign those of the broker, as PEM.
    authority: str
    text: str


def _nkeys() -> Any:
    """It has no types."""
    return import_module("nkeys")


def new_seed(kind: Literal["operator", "account", "user"]) -> str:
    return str(_nkeys().encode_seed(os.urandom(32), _PREFIXES[kind]), "ascii")


def public_key(seed: str) -> str:
    return str(_nkeys().from_seed(bytearray(seed.encode("ascii"))).public_key, "ascii")


def sign_claims(seed: str, subject: str, name: str, claims: Mapping[str, Any]) -> str:
    """A JWT as nats-server reads it: signed by ``seed`` about ``subject``."""
    body: dict[str, Any] = {"iat": int(time.time()), "iss": public_key(seed), "name": name, "sub": subject}
    body["nats"] = {**claims, "version": 2}
    body["jti"] = (
        base64.b32encode(hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()).decode().rstrip("=")
    )
    text = ".".join(_encode(json.dumps(one)) for one in ({"typ": "JWT", "alg": "ed25519-nkey"}, body))
    signature = _nkeys().from_seed(bytearray(seed.encode("ascii"))).sign(text.encode("ascii"))
    return f"{text}.{_encode(signature)}"


def issue(
    account_seed: str, broker: Mapping[str, Any], *, team: str, role: Role, name: str, group: str
) -> tuple[str, str]:
    """A new identity: its public key, and its ``.creds`` file. ``broker`` has ``servers`` and ``authority``."""
    seed = new_seed("user")
    tags = [f"role:{role}", f"group:{group}", f"team:{team}"]
    unlimited = {"subs": -1, "data": -1, "payload": -1}
    claims = {**permissions(role, name, group), **unlimited, "tags": tags, "type": "user"}
    jwt = sign_claims(account_seed, public_key(seed), name, claims)
    told = base64.b64encode(json.dumps(broker).encode()).decode("ascii")
    parts = {_JWT: jwt, _SEED: seed, _BROKER: told}
    return public_key(seed), "\n".join(
        f"-----BEGIN {mark}-----\n{text}\n------END {mark}------\n" for mark, text in parts.items()
    )


def team_key(credentials: Credentials) -> str:
    """The public key of the team's account, which signed these."""
    return str(_decode(_part(credentials.text, _JWT).split(".")[1])["iss"])


def sign(credentials: Credentials, context: bytes, said: Mapping[str, Any]) -> tuple[str, str, str]:
    """Words with one's signature on them: who one is (the JWT), the signature, and the text that it is on."""
    text = json.dumps(said)
    pair = _nkeys().from_seed(bytearray(_part(credentials.text, _SEED).encode("ascii")))
    return _part(credentials.text, _JWT), _encode(pair.sign(context + text.encode())), text


def parse_credentials(text: str, name: str) -> Credentials:
    """Raises ConfigError. Nothing here is checked by its signature: the broker does that."""
    try:
        parts = {mark: _part(text, mark) for mark in (_JWT, _SEED, _BROKER)}
        body = _decode(parts[_JWT].split(".")[1])
        broker = json.loads(base64.b64decode(parts[_BROKER], validate=True))
        tags = dict(str(one).split(":", 1) for one in body["nats"]["tags"])
        servers, authority = tuple(str(one) for one in broker["servers"]), str(broker["authority"])
        made = Credentials(
            name=str(body["name"]), role=cast("Role", tags["role"]), group=tags["group"], team=tags["team"],
            servers=servers, authority=authority, text=text,
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, binascii.Error):
        raise ConfigError(f"{name} holds no credentials of a fleet; hookline fleet add NAME makes them") from None
    if made.role not in ROLES or not made.servers:
        raise ConfigError(f"{name} is from another version of hookline; hookline fleet add NAME makes it anew")
    return made


def read_credentials(path: str) -> Credentials:
    try:
        with open(path, encoding="ascii") as file:
            return parse_credentials(file.read(1 << 18), path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _part(text: str, mark: str) -> str:
    lines = text.splitlines()
    return lines[lines.index(f"-----BEGIN {mark}-----") + 1].strip()


def _encode(data: str | bytes) -> str:
    raw = data.encode() if isinstance(data, str) else data
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def _decode(text: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
