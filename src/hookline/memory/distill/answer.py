"""Read a model's answer safely: find the JSON object in it, check it, cut it to size.

A model's text cannot be trusted: a transcript may contain instructions for it. None of it becomes a path, a heading or
front matter. Every field is one line, except the body of a learning.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hookline.core._dataclass import dataclass, fields

#: Characters of an answer that are read, and positions that are tried as the beginning of an object.
_MAX_ANSWER = 1 << 20
_MAX_POSITIONS = 200
#: Levels of nesting that are read: the expected shape needs four.
_MAX_DEPTH = 8
#: Limits: entries of each kind, characters of a line and of a body, tags.
MAX_ENTRIES, MAX_LINE, _MAX_BODY, _MAX_TAGS = 20, 500, 6000, 10

KINDS = ("decisions", "failures", "learnings", "handoff", "supersedes", "closes", "still_open", "duplicates")
_FENCED = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)\n?[ \t]*```", re.DOTALL)
#: Reasoning before the answer: it may contain drafts of answers.
_REASONING = re.compile(r"\A[^{]*?<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
#: Where an object may begin: braces in code are mostly followed by something else.
_OPENING = re.compile(r'\{(?=\s*["}])')
_MARKS = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)]|\[[ xX]\])\s+")
_NUMBER = re.compile(r"\s*(?:no\.?|entry|item)?\s*[#\[(]?(\d{1,4})\b", re.IGNORECASE)
#: Keys that models use for the number of a known entry, for the words that show a change, and for what replaces it.
_NUMBERS = ("number", "n", "old", "entry", "item", "id", "duplicate", "superseded")
_EVIDENCE = ("evidence", "quote", "because", "reason", "why")
_BY = ("by", "new", "successor", "of", "with")
#: Keys that models use for the text of a pending item, and for lists of finished items.
_ITEM = ("item", "task", "text", "summary", "description", "title", "todo", "action", "what", "pending", "next")
_FINISHED = frozenset({"done", "completed", "finished", "resolved"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionNote:
    summary: str
    type: str = ""
    context: str = ""
    alternatives: tuple[str, ...] = ()
    rationale: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureNote:
    summary: str
    type: str = ""
    context: str = ""
    root_cause: str = ""
    resolution: str = ""
    prevention: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    title: str
    learning: str
    context: str = ""
    scope: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A known entry by its number in the question. ``evidence``: words of the session that show it; ``by``: the summary or
    the number of what counts instead."""

    number: int
    evidence: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distilled:
    """The results of a session. ``notes`` list what could not be used."""

    decisions: tuple[DecisionNote, ...] = ()
    failures: tuple[FailureNote, ...] = ()
    learnings: tuple[Learning, ...] = ()
    handoff: tuple[str, ...] = ()
    supersedes: tuple[Mention, ...] = ()
    closes: tuple[Mention, ...] = ()
    still_open: tuple[Mention, ...] = ()
    duplicates: tuple[Mention, ...] = ()
    notes: tuple[str, ...] = ()


class UnreadableAnswerError(ValueError):
    """The answer contains no object of the expected shape."""


def read_answer(text: str, clean: Callable[[str], str] = str) -> Distilled:
    """The object may be bare, fenced or inside prose. Raises only UnreadableAnswerError.

    ``clean`` removes secrets from each text: applied to the whole, it could remove a quote or a brace too.
    """
    found = _cleaned(_object_in(text[:_MAX_ANSWER].lstrip("\ufeff")), clean)
    notes: list[str] = []
    return Distilled(
        decisions=tuple(_entries(DecisionNote, "decisions", found, notes)),
        failures=tuple(_entries(FailureNote, "failures", found, notes)),
        learnings=tuple(_learnings(found.get("learnings"), notes)),
        handoff=tuple(_handoff(found.get("handoff"), notes)),
        supersedes=(*_replaced(found), *_mentions(found.get("supersedes"))),
        closes=tuple(_mentions(found.get("closes"))),
        still_open=tuple(_mentions(found.get("still_open"))),
        duplicates=tuple(_mentions(found.get("duplicates"))),
        notes=tuple(notes),
    )


def _object_in(text: str) -> dict[str, Any]:
    text = _REASONING.sub("", text)
    nothing = False
    for candidate in (text, *(fence[1] for fence in _FENCED.finditer(text))):
        value = _loads(candidate.strip())
        nothing = nothing or value == {}
        if (found := _expected(value)) is not None:
            return found
    # Inside prose an object must have the expected keys: code has braces too.
    for value in _embedded(text):
        if (found := _expected(value)) is not None:
            return found
    # An empty object means "nothing"; an object with other keys (an error, say) is not an answer.
    if nothing:
        return {}
    raise UnreadableAnswerError("no JSON object with decisions, failures, learnings or handoff in the answer")


def _expected(value: Any) -> dict[str, Any] | None:
    """The object of the expected shape: this one, or one in it."""
    for one in (value, *value.values()) if isinstance(value, dict) else ():
        # An entry names what it supersedes too: one of an answer that was cut off is not the answer.
        if isinstance(one, dict) and any(kind in one for kind in KINDS) and one.keys().isdisjoint(("summary", "title")):
            return one
    return None


def _embedded(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(strict=False)
    found = _OPENING.search(text)
    for _ in range(_MAX_POSITIONS):
        if found is None:
            return
        try:
            value, end = decoder.raw_decode(text, found.start())
            yield value
        except (ValueError, RecursionError):
            end = found.end()
        found = _OPENING.search(text, end)


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _cleaned(value: Any, clean: Callable[[str], str], levels: int = _MAX_DEPTH) -> Any:
    if isinstance(value, str):
        return clean(value)
    if not isinstance(value, list | dict):
        return value
    if not levels:
        return None
    if isinstance(value, list):
        return [_cleaned(one, clean, levels - 1) for one in value]
    return {key: _cleaned(one, clean, levels - 1) for key, one in value.items()}


def _entries(kind: Any, name: str, found: Mapping[str, Any], notes: list[str]) -> Iterator[Any]:
    """Every field of an entry is one line, but for those in ``_FIELDS``."""
    for item in _items(found.get(name), name, "summary", notes):
        given = {slot.name: item.get(slot.name) for slot in fields(kind)}
        yield kind(**{key: _FIELDS[key](one) if key in _FIELDS else _one_line(one) for key, one in given.items()})


def _learnings(value: Any, notes: list[str]) -> Iterator[Learning]:
    for item in _items(value, "learnings", "title", notes):
        body = item.get("learning") or item.get("content") or item.get("body")
        text = "\n".join(_texts(body)) if isinstance(body, list) else body
        yield Learning(
            title=_one_line(item["title"], 200), learning=note_body(text) or note_body(item["title"]), context=note_body(item.get("context")),
            scope=_one_line(item.get("scope"), 60), tags=_tags(item.get("tags")),
        )  # fmt: skip


def _handoff(value: Any, notes: list[str]) -> Iterator[str]:
    """The pending items, in any shape a model uses: a text has one per line, nested lists count as one list."""
    texts = [text for text in map(_one_line, _pending(value)) if text]
    if value and not texts:
        notes.append("handoff is not a list")
    if len(texts) > MAX_ENTRIES:
        notes.append(f"{len(texts) - MAX_ENTRIES} handoff items too many")
    for text in texts[:MAX_ENTRIES]:
        if item := _MARKS.sub("", text):
            yield item


def _pending(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split("\n")
    elif isinstance(value, list):
        for one in value:
            yield from _pending(one)
    elif isinstance(value, dict):
        yield from _pending_in(value)


def _pending_in(value: dict[str, Any]) -> Iterator[str]:
    """The lists of an object that contains lists; the text of an object that is an item."""
    lists = [one for key, one in value.items() if isinstance(one, list | dict) and key.lower() not in _FINISHED]
    named = next((one for name in ("items", "pending") if isinstance(one := value.get(name), list)), None)
    texts = [one for one in value.values() if isinstance(one, str) and one.strip()]
    item = next((one for name in _ITEM if isinstance(one := value.get(name), str) and one.strip()), "")
    if named is not None:
        yield from _pending(named)
    elif item or texts:
        yield " ".join((item or max(texts, key=len)).split())
    else:
        yield from _pending(lists)


def _replaced(found: Mapping[str, Any]) -> Iterator[Mention]:
    """What new entries say that they supersede."""
    for kind, key in (("decisions", "summary"), ("failures", "summary"), ("learnings", "title")):
        for item in _items(found.get(kind), kind, key, []):
            for one in _mentions(item.get("supersedes")):
                yield Mention(number=one.number, evidence=one.evidence, by=_one_line(item[key]))


def _mentions(value: Any) -> Iterator[Mention]:
    """Numbers in any shape a model uses: 3, "#3", "[3] write the docs", {"number": 3, "evidence": "…"}, [3, 4]."""
    for item in value[:MAX_ENTRIES] if isinstance(value, list) else [value]:
        if isinstance(item, list):
            yield from (Mention(number=one.number, by=str(item[0])) for one in _mentions(item[1:]))
        elif isinstance(item, dict):
            named = next((number for key in _NUMBERS if (number := _number(item.get(key)))), 0)
            texts = [
                next((text for key in keys if (text := _one_line(item.get(key)))), "") for keys in (_EVIDENCE, _BY)
            ]
            if named:
                yield Mention(number=named, evidence=texts[0], by=texts[1])
        elif number := _number(item):
            yield Mention(number=number)


def _number(value: Any) -> int:
    found = _NUMBER.match(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    return int(found[1]) if found else 0


def _items(value: Any, kind: str, key: str, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Usable entries; a bare text is one too. Others are left out."""
    if value in (None, "", {}):
        return
    items = value if isinstance(value, list) else [value]
    if len(items) > MAX_ENTRIES:
        notes.append(f"{len(items) - MAX_ENTRIES} {kind} too many")
    for item in items[:MAX_ENTRIES]:
        entry = {key: item} if isinstance(item, str) else item
        if isinstance(entry, dict) and _one_line(entry.get(key)):
            yield entry
        else:
            notes.append(f"an entry of {kind} without {key}")


def _one_line(value: Any, limit: int = MAX_LINE) -> str:
    """One line of text, without line breaks, control characters and lone surrogates."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    flat = " ".join(_printable(str(value)[: limit * 4]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def note_body(value: Any) -> str:
    """Several lines, none of which looks like a heading, a rule or front matter."""
    if not isinstance(value, str):
        return _one_line(value, _MAX_BODY)
    lines = (_printable(one).rstrip() for one in value[:_MAX_BODY].replace("\r\n", "\n").split("\n"))
    return "\n".join(f"\\{one}" if re.match(r"#|---|===|\*\*\*", one) else one for one in lines).strip()


def _texts(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(text for item in items[:MAX_ENTRIES] if (text := _one_line(item)))


def _tags(value: Any) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(text for item in items[:_MAX_TAGS] if (text := _one_line(item, 50))))


_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "type": lambda value: _one_line(value, 60), "alternatives": _texts, "tags": _tags,
}  # fmt: skip


def _printable(text: str) -> str:
    """Without invisible characters: control characters, direction marks, lone surrogates."""
    return "".join(
        char if char.isprintable() else " " if unicodedata.category(char) in {"Cc", "Zl", "Zp", "Zs"} else ""
        for char in text
    )
