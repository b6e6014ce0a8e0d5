"""Who answered a question from afar: the words of the answer, signed by a person on call whom the team's key vouches for.

Whoever asks checks it alone, so neither the broker nor what carries the answer has to be believed. The answer names the
question by its digest, which has a random id in it: it fits no other question, and none that was asked before.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from hookline.core._dataclass import dataclass

#: Before what is signed. No text begins like this, so what a broker lets a client sign to know it is never an answer.
SIGNED = b"\xffhookline answer 1\0"
ROLE = "oncall"
#: The team's public key: the machine's, which root wrote, or else the person's own.
_MACHINE, _OWN = "/etc/hookline/fleet/team.key", "fleet-team.key"
#: What of a question is nobody's business elsewhere, and the characters that leave the machine at most.
_LOCAL, _MOST, _LONGEST = frozenset({"socket", "pid", "deadline", "asked"}), 100_000, 4000


#: The id of a question (``inbox.ask``), which is a part of a subject and stands in terminals.
_NAME = re.compile(r"[0-9a-f]{1,16}-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SignedAnswer:
    by: str
    word: str
    reason: str


def is_name(name: object) -> bool:
    """Whether this is the id of a question, and not what somebody wrote in its place."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def far_form(question: Mapping[str, Any]) -> str:
    """The question as it leaves the machine; the same text for the one who asks and the one who carries it."""
    kept = {name: value for name, value in question.items() if name not in _LOCAL}
    text = json.dumps(kept, sort_keys=True)
    if len(text) <= _MOST:
        return text
    short = json.dumps({**{name: _shortened(value) for name, value in kept.items()}, "cut": True}, sort_keys=True)
    return short if len(short) <= _MOST else json.dumps({**kept, "data": {}, "chain": [], "about": _shortened(kept.get("about")), "reason": _shortened(kept.get("reason")), "cut": True}, sort_keys=True)  # fmt: skip


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST:
        half = _LONGEST // 2
        return f"{value[:half]} [… {len(value) - 2 * half} characters are not shown …] {value[-half:]}"
    if isinstance(value, dict):
        return {name: _shortened(one) for name, one in value.items()}
    return [_shortened(one) for one in value] if isinstance(value, list) else value


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def key_places(state: str) -> tuple[str, str]:
    return _MACHINE, os.path.join(state, _OWN)


def team_key(state: str) -> str:
    """By which people on call are known here; "" where the machine is in no fleet."""
    for path in key_places(state):
        try:
            with open(path, encoding="ascii") as file:
                return file.read(200).strip()
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return ""  # one that cannot be read is no reason to believe another
    return ""


def check(signed: Any, team: str, question: str) -> _SignedAnswer | None:
    """None unless a person on call of this team signed these words about the question with this digest."""
    try:
        jwt, text = str(signed["jwt"]), str(signed["text"])
        head, body, signature = jwt.split(".")
        claims = json.loads(_decoded(body))
        tags = claims["nats"]["tags"]
        if not team or claims["iss"] != team or claims["nats"]["type"] != "user" or f"role:{ROLE}" not in tags:
            return None
        _verify(team, 0, _decoded(signature), f"{head}.{body}".encode("ascii"))
        _verify(str(claims["sub"]), 20 << 3, _decoded(str(signed["signature"])), SIGNED + text.encode())
        answer = json.loads(text)
        by, word, reason = answer["by"], answer["answer"], answer.get("reason", "")
        if answer["question"] != question or by != claims["name"] or word not in {"allow", "deny"}:
            return None
        return _SignedAnswer(by=str(by), word=str(word), reason=str(reason).strip()[:1000])
    except Exception:  # a forged one may be anything
        return None


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _verify(key: str, prefix: int, signature: bytes, data: bytes) -> None:
    """Raises whatever is wrong: a name that is no NKey of this kind, or another's signature."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    raw = base64.b32decode(key + "=" * (-len(key) % 8))
    if len(raw) != 35 or raw[0] != prefix:
        raise ValueError(key)
    Ed25519PublicKey.from_public_bytes(raw[1:33]).verify(signature, data)
