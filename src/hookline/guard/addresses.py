"""Addresses that an agent fetches: credentials in them, files of this machine, the cloud's own store of credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from hookline.guard.effects import Effect, Harm
from hookline.guard.pattern import lazy_pattern
from hookline.guard.sensitive import CREDENTIAL, SECRET_VARIABLE, secret_harm

_PRIVATE: Final = lazy_pattern(
    r"(?i)^(file:|ftp:)|//(localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[::1\]|metadata\.google)"
)
#: Where clouds hand out credentials to whoever asks from inside.
_METADATA: Final = lazy_pattern(
    r"(?i)//([^/@]*@)?(169\.254\.(169\.254|170\.2|170\.23)|metadata\.(google\.internal|goog|azure\.com)|\[fd00:ec2::254\]|100\.100\.100\.200)\.?(?=[:/?#]|$)"
)
_NUMBER: Final = lazy_pattern(r"(?i)//([^/@]*@)?(0x[0-9a-f]{8}|\d{8,10})(?=[:/?#]|$)")
_PRIVATE_KEY: Final = lazy_pattern(r"BEGIN [A-Z ]*PRIVATE KEY")
_LONG_QUERY = 400
#: Letters that are searched for a credential.
_LONGEST = 50_000
_ADDRESSES: Final = ("url", "urls", "uri", "endpoint", "href", "link", "address", "prompt", "query")
_BODIES: Final = ("body", "data", "params", "payload", "json")
#: A parameter that by its name is a secret, or a key; what stands for one in a manual is none.
_NAMED: Final = lazy_pattern(
    r"(?i)(?:^|[?&;#])[\w.-]*?(?:(passw(?:or)?d|pwd|secret|private_?key|credentials?)|(?:api|access|auth)[_-]?(?:key|token)|token|key)=(?!your|x{3}|example|test|<|\{|\$|%7b|%3c)[^&#\s]{8,}"
)
_PASSWORD: Final = lazy_pattern(r"^\w+://[^/\s:@]+:[^/\s@]{3,}@")
#: An address that was signed for one download is meant to be passed on.
_SIGNED: Final = lazy_pattern(r"(?i)[?&](X-Amz-Signature|X-Goog-Signature|sig|Signature)=")
_SETS_SECRET: Final = lazy_pattern(r"(?i)(token|secret|passw\w*|api_?key|access_?key|private_?key)\w*\s*[=:]\s*\S")
_ENCODED: Final = lazy_pattern(r"[A-Za-z0-9+/_-]{24,}={0,2}")


def address_effects(values: Mapping[str, Any], tool: str) -> Iterator[Effect]:
    """What a tool fetches, and what it hands over there."""
    for name in _ADDRESSES:
        found = values.get(name)
        for url in found if isinstance(found, list) else [found]:
            if isinstance(url, str):
                yield from _address(url, tool)
    if any(isinstance(values.get(name), str) for name in _ADDRESSES[:7]):
        for body in (values[name] for name in _BODIES if name in values):
            if leak := _leak(body if isinstance(body, str) else repr(body)):
                yield _effect(tool, "send", leak[0], str(values.get("url", "")), leak[1])
        if _PRIVATE_KEY.search(repr(values.get("headers"))[:_LONGEST]):  # a token there is meant for the other side
            yield _effect(tool, "send", "high", str(values.get("url", "")), "a private key leaves the machine")


def _effect(tool: str, kind: str, harm: Harm, what: str, why: str = "") -> Effect:
    return Effect(kind=kind, harm=harm, what=what[:200], where="network", why=why, cause=tool)


def _plain(text: str) -> str:
    """Without escapes, also those of escapes."""
    from urllib.parse import unquote_plus  # few calls need it

    for _ in range(3):
        text, before = unquote_plus(text), text
        if text == before:
            break
    return text


def _leak(text: str) -> tuple[Harm, str] | None:
    """A credential in what is sent: by its form, hidden in an encoding, or by the name of its parameter."""
    text = text[:_LONGEST]
    plain = _plain(text)
    if CREDENTIAL.search(plain):
        return "high", "a credential leaves the machine"
    if any(_tells(one[0]) for one in _ENCODED.finditer(plain)):
        return "high", "a credential leaves the machine in an encoding"
    if (found := _NAMED.search(text)) and not _SIGNED.search(text):
        named = "high" if found[1] else "medium"
        return cast("Harm", named), "a parameter that by its name is a secret leaves the machine"
    return ("medium", "a password leaves the machine") if _PASSWORD.search(text) else None


def _tells(text: str) -> bool:
    from base64 import b16decode, b64decode

    plain = text.rstrip("=")
    try:
        if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", plain):
            found = b16decode(plain, casefold=True)
        else:
            found = b64decode(plain + "=" * (-len(plain) % 4), b"-_" if set(text) & {"-", "_"} else None)
    except ValueError:
        return False
    decoded = found.decode("ascii", "replace")
    return "\ufffd" not in decoded and bool(CREDENTIAL.search(decoded) or _SETS_SECRET.search(decoded))


def _dotted(url: str) -> str:
    """An address of four numbers that is written as one."""
    found = _NUMBER.search(url)
    number = int(found[2], 0) if found and not found[2].startswith("00") else -1
    if found is None or not 0 <= number < 1 << 32:
        return url
    return f"//{'.'.join(str(number >> bits & 255) for bits in (24, 16, 8, 0))}{url[found.end() :]}"


def _address(url: str, tool: str) -> Iterator[Effect]:
    if found := re.match(r"(?i)file:(//(localhost)?)?", url):
        if secret_harm(_plain(url[found.end() :][:_LONGEST])):
            yield Effect(kind="secret", harm="high", what=url[:200], why="it holds credentials", cause=tool)
    elif _METADATA.search(_dotted(url[:_LONG_QUERY])):
        yield _effect(tool, "secret", "high", url, "the cloud hands out credentials there")
    elif _PRIVATE.search(url[:_LONG_QUERY]):
        yield _effect(tool, "send", "low", url)
    elif leak := _leak(url):
        yield _effect(tool, "send", leak[0], url, leak[1])
    elif "://" in url and len(url.partition("?")[2]) > _LONG_QUERY:
        yield _effect(tool, "send", "medium", url, "the address carries much data")
    if SECRET_VARIABLE.search(url[:_LONGEST]):
        yield _effect(tool, "send", "medium", url, "a variable that by its name is a secret leaves the machine")
