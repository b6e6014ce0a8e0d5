"""A policy as one file: a line that says what it is, a line with the signature, and an archive of all its files.

The same files give the same bytes: the archive is in order, without times, owners and compression.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.errors import ConfigError, PackError
from hookline.fleet import keys
from hookline.fleet.keys import KeySuccession, PublicKey
from hookline.fleet.manifest import Manifest, manifest_from
from hookline.packs.tree import Tree, TreeBuilder

_FIRST = b"hookline-policy 1\n"
_SIGNED = b"hookline policy 1\0"
_LARGEST, _LONGEST_HEADER = 128 << 20, 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """What a file says, checked against its own signature: whether its key is to be trusted is another question."""

    manifest: Manifest
    tree: Tree
    key: PublicKey
    data: bytes

    @property
    def digest(self) -> str:
        """Of the signed content: the same for the same policy, whoever signed it."""
        return hashlib.sha256(self.data[self.data.index(b"\n", len(_FIRST)) + 1 :]).hexdigest()


def pack_bundle(tree: Tree, private_key: str) -> bytes:
    """Raises ConfigError."""
    archive = _archive(tree)
    public, signature = keys.sign(private_key, _SIGNED + archive)
    header = json.dumps({**asdict(public), "signature": signature}, sort_keys=True)
    return _FIRST + header.encode("ascii") + b"\n" + archive


def read_bundle(data: bytes, name: str = "the policy") -> Bundle:
    """Raises ConfigError if it is no policy, or not as it was signed. Nothing unsigned is looked at besides the key."""
    if len(data) > _LARGEST or not data.startswith(_FIRST):
        raise ConfigError(f"{name} is not a policy; to make one: hookline policy build")
    end = data.find(b"\n", len(_FIRST), len(_FIRST) + _LONGEST_HEADER)
    try:
        header: Mapping[str, Any] = json.loads(data[len(_FIRST) : end]) if end > 0 else {}
        links = tuple(
            KeySuccession(key=str(one["key"]), by=str(one["by"]), signature=str(one["signature"]))
            for one in header["links"]
        )
        key, signature = PublicKey(key=str(header["key"]), links=links), str(header["signature"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConfigError(f"{name} is damaged: its second line is not a signature; fetch it again") from None
    archive = data[end + 1 :]
    if not keys.verify(key.key, signature, _SIGNED + archive):
        raise ConfigError(f"{name} is not as it was signed; fetch it again, and find out who changed it")
    tree = _unpack(archive, name)
    return Bundle(manifest=manifest_from(tree, name), tree=tree, key=key, data=data)


def require_trusted(bundle: Bundle, trusted: PublicKey, name: str = "the policy") -> None:
    """Raises ConfigError unless the trusted key, or one that it leads to, has signed the policy."""
    if not keys.leads_to(trusted.key, bundle.key.key, bundle.key.links):
        raise ConfigError(
            f"{name} is signed by {bundle.key.short}…, and this machine trusts {trusted.short}…; a new key must be signed by"
            " the old one: hookline policy keygen NEW --previous OLD"
        )


def _archive(tree: Tree) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, file in sorted(tree.items()):
            one = tarfile.TarInfo(path)
            one.size, one.mode = len(file.data), 0o755 if file.executable else 0o644
            archive.addfile(one, io.BytesIO(file.data))
    return out.getvalue()


def _unpack(archive: bytes, name: str) -> Tree:
    builder = TreeBuilder()
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as opened:
            for one in opened:
                content = opened.extractfile(one) if one.isreg() else None
                if content is None:
                    raise ConfigError(f"{name}: {one.name!r} is not a file")
                builder.add(one.name, content.read(), executable=bool(one.mode & 0o100))
        return builder.tree()
    except (tarfile.TarError, PackError, EOFError) as error:
        raise ConfigError(f"{name} is damaged: {error}") from None
