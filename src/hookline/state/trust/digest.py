"""Digests of files and of definitions."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from types import MappingProxyType

from hookline.core.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:  # Where hashlib looks when there is no OpenSSL; to load OpenSSL takes longer than a cold call's digests.
        from _sha2 import sha256
    except ImportError:
        from _sha256 import sha256  # before Python 3.12

from hookline.core._dataclass import fields, is_dataclass, replace
from hookline.core.builtin_hooks import BUILTINS
from hookline.core.files import note
from hookline.core.hook import DEFAULTED, HookSpec

#: mtime_ns, size, inode, ctime_ns, device: as long as they stand, the content stands. The change time cannot be set back.
Signature = tuple[int, int, int, int, int]

_CHUNK = 1 << 20
#: Nanoseconds within which a file may be written twice without a trace in its times, and how often that is waited for.
_UNSETTLED, _TRIES = 20_000_000, 4

#: What has another name now than when the first hooks were approved. An approval must not end with a rename of ours.
_APPROVED_AS: Mapping[str, str] = MappingProxyType(
    {
        "CostPolicy": "Thrift",
        "full across lines": "full",
        "search across lines": "full",
        BUILTINS["context-inject"]: "hookline.knowledge.context_inject:context_inject",
        BUILTINS["pre-compact"]: "hookline.knowledge.pre_compact:pre_compact",
        BUILTINS["session-export"]: "hookline.knowledge.session_export:session_export",
        BUILTINS["compound-loop"]: "hookline.knowledge.producer:compound_loop",
        BUILTINS["session-end"]: "hookline.knowledge.producer:session_end",
    }
)


def file_signature(path: str) -> Signature | None:
    """The signature of the file that ``path`` leads to; None when there is no regular file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if status.st_mode & 0o170000 != 0o100000:  # stat.S_ISREG, which costs as much as the rest
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns, status.st_dev


def _settled_signature(path: str) -> Signature | None:
    """The signature of a file that is read only after its times have settled: else it could change unnoticed."""
    for _ in range(_TRIES):
        signature = file_signature(path)
        age = time.time_ns() - signature[3] if signature is not None else -1
        if age < 0 or age > _UNSETTLED:
            return signature
        time.sleep((_UNSETTLED - age) / 1e9 + 0.001)
    return None


class Digests:
    """SHA-256 of files, read again only when their signature has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Signature, str]] = {}

    def of(self, path: str) -> str:
        """The digest, or "" when the file cannot be read."""
        return self.signed(path)[1]

    def signed(self, path: str) -> tuple[Signature | None, str]:
        """The digest with the signature that stands for it; None and "" when the file cannot be read."""
        note(path)
        known = self._known.get(path)
        if known is not None and known[0] == file_signature(path):
            return known
        before = _settled_signature(path)
        digest = "" if before is None else _sha256(path)
        if before is None or not digest or file_signature(path) != before:  # it changed while it was read
            return None, ""
        self._known[path] = (before, digest)
        return before, digest


def bytes_digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _sha256(path: str) -> str:
    digest = sha256()
    try:
        # Not blocking, in case somebody put a FIFO there since we looked.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        while chunk := os.read(handle, _CHUNK):
            digest.update(chunk)
    except OSError:
        return ""
    finally:
        os.close(handle)
    return digest.hexdigest()


def definition_digest(spec: HookSpec, roots: Mapping[str, str] = MappingProxyType({})) -> str:
    return sha256(definition_text(spec, roots)).hexdigest()


def definition_text(spec: HookSpec, roots: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """The same for the same hook wherever in its file it stands; different as soon as one word of it differs.

    ``roots`` are names of the project with the one that counts: the same hook in a worktree is the same hook.
    """
    if spec.extra.get("on_failure") == DEFAULTED:  # it was "ignore" when the first hooks were approved
        extra = {key: value for key, value in spec.extra.items() if key != "on_failure"}
        spec = replace(spec, on_failure="ignore", extra=extra)
    tree = {
        field.name: _canonical(getattr(spec, field.name), roots)
        for field in fields(spec)
        if field.name not in {"id", "origin", "below"} and not _came_later(field.name, getattr(spec, field.name))
    }
    return json.dumps(tree, sort_keys=True, separators=(",", ":")).encode()


def _came_later(name: str, value: Any) -> bool:
    """What most hooks do not say came later than the first approvals, and what was approved before stays approved."""
    return name in {"thrift", "same", "variables", "given"} and (value is None or value == "")


#: Written out in the call they would be put together each time, a tenth of what it takes to judge a hook.
_NUMBERS, _SETS, _LISTS = (bool, int, float), (set, frozenset), (list, tuple)


def _canonical(value: Any, roots: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _APPROVED_AS.get(value) or _renamed(value, roots)
    if value is None or isinstance(value, _NUMBERS):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        tree = {
            f.name: _canonical(getattr(value, f.name), roots)
            for f in fields(value)
            if f.compare and not _came_later(f.name, getattr(value, f.name))
        }
        name = type(value).__name__
        return {"": _APPROVED_AS.get(name, name), **tree}
    if isinstance(value, Mapping):
        return {str(key): _canonical(item, roots) for key, item in value.items()}
    if isinstance(value, _SETS):
        return sorted((_canonical(item, roots) for item in value), key=repr)
    if isinstance(value, _LISTS):
        return [_canonical(item, roots) for item in value]
    return repr(value)


def _renamed(value: str, roots: Mapping[str, str]) -> str:
    for root, name in roots.items():
        if f"{value}/".startswith(f"{root}/"):
            return name + value[len(root) :]
    return value
