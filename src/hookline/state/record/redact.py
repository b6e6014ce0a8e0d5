"""Removes secrets from what is about to be kept.

Values are redacted before they are serialised, keys too, so that no escape can hide a part of a secret. What
cannot be examined in time is dropped, not kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from hookline.core.problem import Problem
from hookline.state.record.secret_patterns import (
    HARMLESS_ENDS,
    HARMLESS_PARTS,
    LONE_MARKS,
    MARK_PAIRS,
    MARK_ROOTS,
    MARKS_BY_ROOT,
    SECRET_KEYS,
    SECRET_WORDS,
    SHAPES,
    VARIABLE_PARTS,
    Shape,
)

#: Seconds that one pattern of the user may take on one text.
_PATTERN_SECONDS = 0.05
#: Containers deeper than this are no payload of an agent; what is below is dropped.
_DEPTH = 200


class Redactor:
    """Replaces secrets by ``[redacted:kind]``. Patterns that cannot be used are ``problems``, and do nothing."""

    def __init__(self, environ: Mapping[str, str], patterns: Sequence[str] = ()) -> None:
        self._secrets = _secrets(environ)
        self._shapes = SHAPES
        self.problems: tuple[Problem, ...] = ()
        self._patterns: tuple[Any, ...] = ()
        if patterns:
            self._patterns, self.problems = _compiled(patterns)

    def suspects(self, serialised: str) -> bool:
        """Whether this JSON (or plain) text may hold a secret; False is certain. The one cheap test."""
        if self._patterns:
            return True
        for form in self._secrets:
            if form in serialised:
                return True
        return _may_hold_secret(serialised)

    def narrowed(self, serialised: str) -> Redactor:
        """One that only looks for what may be in this text: quicker on each of the many small parts of it."""
        names = {name for form, name in self._secrets.items() if form in serialised}
        lower = serialised.lower()
        narrow = Redactor({})
        narrow._secrets = {form: name for form, name in self._secrets.items() if name in names}
        narrow._shapes = tuple(shape for shape in self._shapes if shape.may_be_in(lower))
        narrow._patterns = self._patterns
        return narrow

    def text(self, text: str) -> str:
        """The text without secrets."""
        for form, name in self._secrets.items():
            if form in text:
                text = text.replace(form, f"[redacted:{name}]")
        lower = text.lower()
        for shape in self._shapes:
            if shape.may_be_in(lower):
                text = _without(text, shape)
        for pattern in self._patterns:
            text = _without_pattern(text, pattern)
        return text

    def value(self, value: Any) -> Any:
        """The JSON value without secrets: in texts, in keys, under secret-looking keys, after secret-looking flags.

        What is not JSON comes back as text.
        """
        return self._value(value, _DEPTH)

    def _value(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if depth == 0:
            return "[dropped: nested too deeply]"
        if isinstance(value, Mapping):
            return self._mapping(value, depth - 1)
        if isinstance(value, list | tuple | set | frozenset):
            return self._list(list(value), depth - 1)
        return self.text(as_text(value))

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        named = value.get("name", value.get("key"))
        announced = isinstance(named, str) and "value" in value and _is_secret_key(named)
        for key, item in value.items():
            name = str(key)
            secret = _is_secret_key(name) or (announced and name == "value")
            clean[_free(clean, self.text(name))] = _hide(item, depth) if secret else self._value(item, depth)
        return clean

    def _list(self, items: list[Any], depth: int) -> list[Any]:
        clean: list[Any] = []
        secret_next = False
        for item in items:
            clean.append(_hide(item, depth) if secret_next else self._value(item, depth))
            flag = isinstance(item, str) and item.startswith("-") and "=" not in item
            secret_next = flag and not secret_next and _is_secret_key(item.lstrip("-"))
        return clean


def _hide(value: Any, depth: int = _DEPTH) -> Any:
    """The shape of a value that is secret as a whole; numbers stay, since counts often have such names."""
    if value is None or isinstance(value, bool | int | float) or value == "":
        return value
    if isinstance(value, Mapping) and depth:
        return {f"key {n}": _hide(item, depth - 1) for n, item in enumerate(value.values(), 1)}
    if isinstance(value, list | tuple) and depth:
        return [_hide(item, depth - 1) for item in value]
    return "[redacted:secret]"


def as_text(value: Any) -> str:
    """Text of something that is no JSON; a failing ``__str__`` is not our failure."""
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    try:
        return str(value)
    except Exception:
        return f"[{type(value).__name__}]"


def _compiled(patterns: Sequence[str], file: str = "") -> tuple[tuple[Any, ...], tuple[Problem, ...]]:
    """The patterns that can be used, and a problem for each that cannot."""
    import regex  # only a configuration with patterns needs it

    good: list[Any] = []
    problems: list[Problem] = []
    for index, pattern in enumerate(patterns):
        try:
            good.append(regex.compile(pattern))
        except (regex.error, TypeError, ValueError, OverflowError, RecursionError) as error:
            finding = f"{pattern!r} is not a regular expression ({error})"
            fix = "correct it; until then it redacts nothing"
            problems.append(Problem(file=file, pointer=f"$.record.redact[{index}]", finding=finding, fix=fix))
    return tuple(good), tuple(problems)


def _without(text: str, shape: Shape) -> str:
    # The re module keeps compiled expressions by itself, so this compiles once per process, on first need.
    return re.sub(shape.pattern, f"{shape.before}[redacted:{shape.kind}]{shape.after}", text, flags=shape.flags)


def _without_pattern(text: str, pattern: Any) -> str:
    try:
        return str(pattern.sub(lambda found: "[redacted:pattern]" if found[0] else "", text, timeout=_PATTERN_SECONDS))
    except TimeoutError:
        return "[redacted:pattern took too long]"


def _secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Each secret value with its variable's name, the longest first: as it is, and as JSON, JSON in JSON, and
    URLs write it."""
    found: dict[str, str] = {}
    for name, value in environ.items():
        if _is_secret_variable(name, value):
            bare = value.strip()
            forms = [bare, _quoted(bare)]
            for ascii_only in (True, False):
                once = json.dumps(bare, ensure_ascii=ascii_only)[1:-1]
                forms += [once, json.dumps(once, ensure_ascii=ascii_only)[1:-1], json.dumps(once)[1:-1]]
            for form in forms:
                found.setdefault(form, name)
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def _quoted(text: str) -> str:
    """As a URL writes it; the standard library's way costs an import that is worth a whole firing."""
    if text.isalnum() and text.isascii():
        return text
    plain = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in text.encode(errors="surrogateescape"))


def _free(used: Mapping[str, Any], key: str) -> str:
    """Two keys that became the same are kept apart."""
    if key not in used:
        return key
    return next(free for n in range(2, len(used) + 3) if (free := f"{key} ({n})") not in used)


@lru_cache(maxsize=2048)  # the keys of payloads are few, and come again with every event
def _is_secret_key(name: str) -> bool:
    """Whether what stands under this key of an object is a secret. ``tokens`` is a count, ``key`` a keyboard's."""
    lower = name.lower()
    if lower in SECRET_WORDS or any(part in lower for part in SECRET_KEYS):
        return True
    return lower.endswith("token") and not lower.endswith(("per_token", "per-token", "pertoken"))


def _may_hold_secret(text: str) -> bool:
    """Whether a text may hold one of our patterns; False is certain, and cheap to get.

    Counts of tokens are in most payloads: the letters that stay in their place keep any neighbouring mark whole.
    """
    lower = text.lower().replace("tokens", "t s")
    has = lower.__contains__
    if any(map(has, LONE_MARKS)):  # map and not a generator: this runs for every firing, and so it never leaves C
        return True
    for root in filter(has, MARK_ROOTS):
        if any(map(has, MARKS_BY_ROOT[root])):
            return True
    return any(has(also) and has(mark) for mark, also in MARK_PAIRS)


def _is_secret_variable(name: str, value: str) -> bool:
    """Whether the value of an environment variable is worth hiding wherever it turns up."""
    upper = name.upper()
    sounds_secret = (
        any(part in upper for part in VARIABLE_PARTS) or upper.endswith(("_PASS", "_PWD")) or upper == "PASS"
    )
    if not sounds_secret or len(value.strip()) < 6:
        return False
    if upper.endswith(HARMLESS_ENDS) or any(part in upper for part in HARMLESS_PARTS):
        return False
    return not (upper.endswith("TOKENS") and value.isdigit())
