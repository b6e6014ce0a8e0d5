"""Removes secrets from what is about to be kept.

Values are redacted before they are serialised, keys too, so that no escape can hide a part of a secret. What
cannot be examined in time is dropped, not kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic

from hookline.core.fast_json import dumps, loads
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.problem import Problem
from hookline.core.typed import IO, Any
from hookline.state.record.find_secrets import Span, announces, find_secrets, flatten, words_in
from hookline.state.record.secret_patterns import HARMLESS_ENDS, HARMLESS_PARTS, KEY_NAMES, VARIABLE_PARTS

#: Seconds that one pattern of the user may take on one text.
_PATTERN_SECONDS = 0.05
#: Bytes of a file that are checked at once; a block without a secret is copied as it is.
_BLOCK = 1 << 20
#: Seconds for a hook's output that did not fit in memory, and how much of it is searched at once.
_FILE_SECONDS, _PIECE = 1.0, 1 << 19
#: Characters of all words of a command line that are looked at together, and what is between two of them in JSON.
_LONGEST_LINE, _ITEMS = 8192, lazy_pattern(r'",\s{0,40}"')
#: Containers deeper than this are no payload of an agent; what is below is dropped.
_DEPTH = 200


class Redactor:
    """Replaces secrets by ``[redacted:kind]``. Patterns that cannot be used are ``problems``, and do nothing."""

    def __init__(self, environ: Mapping[str, str], patterns: Sequence[str] = ()) -> None:
        self._secrets = _secrets(environ)
        self._words: Sequence[str] | None = None
        self.problems: tuple[Problem, ...] = ()
        self._patterns: tuple[Any, ...] = ()
        if patterns:
            self._patterns, self.problems = _compiled(patterns)

    def suspects(self, serialised: str) -> bool:
        """Whether this JSON (or plain) text may hold a secret; False is certain. The one cheap test."""
        if self._patterns or "\\uff" in serialised:
            return True
        for form in self._secrets:
            if form in serialised:
                return True
        if '"-' in serialised:  # a list of words, with a flag among them
            serialised += _ITEMS.sub(" ", serialised)
        return _may_announce(serialised.lower()) or bool(find_secrets(flatten(serialised), tuple(self._secrets)))

    def narrowed(self, serialised: str) -> Redactor:
        """One that only looks for what may be in this text: quicker on each of the many small parts of it."""
        narrow = Redactor({})
        narrow._secrets = self._secrets
        narrow._words = words_in(serialised.lower())
        narrow._patterns = self._patterns
        return narrow

    def text(self, text: str) -> str:
        """The text without secrets."""
        for form, name in self._secrets.items():
            if form in text:
                text = text.replace(form, f"[redacted:{name}]")
        if spans := find_secrets(flatten(text), tuple(self._secrets), self._words):
            text = _without(text, spans)
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
        if not all(isinstance(item, str) for item in items):
            return clean
        if len(items) == 2 and _is_secret_key(items[0]):  # a header
            return [clean[0], _hide(items[1])]
        return self._words_of_a_line(items, clean) if any(item.startswith("-") for item in items) else clean

    def _words_of_a_line(self, items: list[str], clean: list[str]) -> list[Any]:
        """Words of a command line may tell a secret only together. ``suspects`` joins the same lists."""
        line, start = " ".join(items), 0
        spans = find_secrets(flatten(line), (), self._words) if len(line) < _LONGEST_LINE else []
        for number, item in enumerate(items):
            inside = [
                (max(a - start, 0), b - start, kind) for a, b, kind in spans if a < start + len(item) and b > start
            ]
            if inside and clean[number] == item:
                clean[number] = _without(item, inside)
            start += len(item) + 1
        return clean


def copy_redacted(source: IO[bytes], target: IO[bytes], redactor: Redactor) -> None:
    """Line by line, in constant memory. A line without a secret stays the same to the byte. Raises OSError."""
    while lines := source.readlines(_BLOCK):
        block = b"".join(lines)
        if not redactor.suspects(block.decode("utf-8", "replace")):
            target.write(block)
        else:
            target.writelines(redact_line(line, redactor) for line in lines)


def redact_line(line: bytes, redactor: Redactor) -> bytes:
    """A line of JSON is redacted as the value that it is."""
    text = line.decode("utf-8", "replace")
    if not redactor.suspects(text):
        return line
    try:
        record = loads(text)
    except (ValueError, RecursionError):
        return redactor.text(text).encode("utf-8", "replace")
    clean = redactor.value(record)
    return line if clean == record else (dumps(clean, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def redact_file(path: str, redactor: Redactor) -> None:
    """In place. An agent may wait: what a second is too short for is dropped, and so is all after an endless line, because
    half a secret is none that could be found. A file that cannot be redacted is removed."""
    from io import BytesIO  # only an output that did not fit in memory is in a file

    from hookline.core.files import atomic_writer

    end = monotonic() + _FILE_SECONDS
    try:
        with open(path, "rb") as source, atomic_writer(path, durable=False) as target:
            while block := source.read(_PIECE):
                block += source.readline(_PIECE)
                if monotonic() > end or len(block) == 2 * _PIECE:
                    target.write(b"[hookline: the rest was too much to be searched for secrets, and is not kept]\n")
                    break
                copy_redacted(BytesIO(block), target, redactor)
    except OSError:
        with suppress(OSError):
            os.unlink(path)


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


def _without(text: str, spans: Sequence[Span]) -> str:
    """Each stretch of spans that overlap is named after the one that begins it, and there the longest."""
    kept: list[str] = []
    last = 0
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= last:
            kept += (text[last:start], f"[redacted:{kind}]")
        last = max(last, end)
    return "".join((*kept, text[last:]))


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
                once = dumps(bare, ensure_ascii=ascii_only)[1:-1]
                forms += [once, dumps(once, ensure_ascii=ascii_only)[1:-1], dumps(once)[1:-1]]
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


def _is_secret_key(name: str) -> bool:
    """Whether what stands under this key of an object is a secret."""
    lower = name.lower()
    return "cookie" in lower or "authorization" in lower or announces(lower)


#: One of these is in every JSON text with a key, a flag or a name that announces a secret.
_ANNOUNCING = ("passw", "passphrase", "passcode", "secret", "cred", "pwd", "cookie", "authorization")


def _may_announce(low: str) -> bool:
    """Counts of tokens are in most payloads: the letters that stay in their place keep any neighbouring word whole."""
    has = low.replace("tokens", "t s").__contains__
    if any(map(has, _ANNOUNCING)) or has("token"):
        return True
    return (has("key") and any(map(has, _KEY_MARKS))) or any(map(has, ('pass"', 'auth"', "pass'", "auth'")))


_KEY_MARKS = ("_key", "-key", ".key", *(name for name in KEY_NAMES if "_" not in name))


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
