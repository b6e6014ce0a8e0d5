"""The keys of a policy's owner: Ed25519, each new one signed by the one before it."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_MARK, _LINK = "hookline-policy-key", "signed-by"
_SUCCESSION = b"hookline policy key 1\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySuccession:
    """``key`` is to be trusted by whoever trusts ``by``."""

    key: str
    by: str
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """In base64, with the links that lead to it, oldest first."""

    key: str
    links: tuple[KeySuccession, ...] = ()

    @property
    def short(self) -> str:
        """Enough for a person to compare."""
        return self.key[:12]

    def text(self) -> str:
        lines = [f"{_MARK} {self.key}", *(f"{_LINK} {one.key} {one.by} {one.signature}" for one in self.links)]
        return "\n".join(lines) + "\n"


def _parse_public_key(text: str, name: str = "the key") -> PublicKey:
    """Raises ConfigError."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    fits = bool(lines) and lines[0][:1] == [_MARK] and len(lines[0]) == 2 and _decode(lines[0][1], 32)
    links = [
        KeySuccession(key=one[1], by=one[2], signature=one[3]) for one in lines[1:] if len(one) == 4 and one[0] == _LINK
    ]
    if not fits or len(links) != len(lines) - 1:
        raise ConfigError(f"{name} is not a public key; to make one (NAME.pub): hookline policy keygen")
    return PublicKey(key=lines[0][1], links=tuple(links))


def read_public_key(path: str) -> PublicKey:
    try:
        with open(path, encoding="utf-8") as file:
            return _parse_public_key(file.read(1 << 16), path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def generate(path: str, previous: str = "") -> PublicKey:
    """Write the private key to ``path`` and the public one beside it; ``previous`` signs it. Raises UsageError."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    public_path = f"{path}.pub"
    if os.path.lexists(path) or os.path.lexists(public_path):
        raise UsageError(f"{path} or {public_path} is there already; a key is never overwritten")
    private = ed25519.Ed25519PrivateKey.generate()
    made = PublicKey(key=_public(private))
    if previous:
        old = _load_private(previous)
        before = read_public_key(f"{previous}.pub")
        link = KeySuccession(
            key=made.key, by=_public(old), signature=_encode(old.sign(_SUCCESSION + _decode(made.key, 32)))
        )
        made = PublicKey(key=made.key, links=(*before.links, link))
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)
    with open(public_path, "x", encoding="ascii") as file:
        file.write(made.text())
    return made


def _load_private(path: str) -> Ed25519PrivateKey:
    """Raises ConfigError."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    try:
        with open(path, "rb") as file:
            key = serialization.load_pem_private_key(file.read(1 << 16), None)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{path} is not a private key ({error}); to make one: hookline policy keygen") from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise ConfigError(f"{path} is no Ed25519 key; hookline policy keygen makes one")
    return key


def sign(path: str, data: bytes) -> tuple[PublicKey, str]:
    """The public key with its links, and the signature."""
    private = _load_private(path)
    beside = f"{path}.pub"
    public = read_public_key(beside) if os.path.exists(beside) else PublicKey(key=_public(private))
    if public.key != _public(private):
        raise ConfigError(f"{beside} is not the public key of {path}")
    return public, _encode(private.sign(data))


def verify(key: str, signature: str, data: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ed25519

    raw, signed = _decode(key, 32), _decode(signature, 64)
    if not raw or not signed:
        return False
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(raw).verify(signed, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def leads_to(trusted: str, key: str, links: Sequence[KeySuccession]) -> bool:
    """Whether the trusted key has signed ``key``, or one that signed it, and so on. Links are followed once, in order."""
    here = trusted
    for link in links:
        if here == key:
            break
        if link.by == here and verify(link.by, link.signature, _SUCCESSION + _decode(link.key, 32)):
            here = link.key
    return here == key


def _public(private: Ed25519PrivateKey) -> str:
    return _encode(private.public_key().public_bytes_raw())


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decode(text: str, size: int) -> bytes:
    """The bytes, or none if they are not that many."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return b""
    return data if len(data) == size else b""
