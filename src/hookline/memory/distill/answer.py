"""What a model answered, made safe: found in whatever surrounds it, checked, cut to size.

The text of a model is not to be believed: it says what a transcript made it say. Nothing of it becomes a path, a
heading or front matter; every field is a text of one line, unless it is the body of a learning.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Characters of an answer that are looked at, and places in it where an object may begin.
_LONGEST = 1 << 20
_PLACES = 200
#: Objects in objects that are looked into: what was asked for needs four.
_DEEPEST = 8
#: Entries of each kind, characters of a line and of a body, and tags.
MAX_ENTRIES, MAX_LINE, _MAX_BODY, _MAX_TAGS = 20, 500, 6000, 10

KINDS = ("decisions", "failures", "learnings", "handoff")
_FENCED = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)\n?[ \t]*```", re.DOTALL)
#: What a model thought aloud before it answered: it may try out answers there.
_THOUGHT = re.compile(r"\A[^{]*?<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
#: Where an object may begin: braces of code are mostly followed by something else.
_OPENING = re.compile(r'\{(?=\s*["}])')
_MARKS = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)]|\[[ xX]\])\s+")
#: What models call the text of a pending item, and what they call items that are not pending.
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
class Distilled:
    """What a session leaves behind. ``notes`` say what of the answer could not be used."""

    decisions: tuple[DecisionNote, ...] = ()
    failures: tuple[FailureNote, ...] = ()
    learnings: tuple[Learning, ...] = ()
    handoff: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class UnreadableAnswerError(ValueError):
    """There is no object in the answer that could be meant."""


def read_answer(text: str, clean: Callable[[str], str] = str) -> Distilled:
    """Bare, fenced or after a preface. Raises UnreadableError, and nothing else.

    ``clean`` takes secrets out, of each text in it: of the whole, it could take a quote or a brace with them.
    """
    found = _cleaned(_object_in(text[:_LONGEST].lstrip("\ufeff")), clean)
    notes: list[str] = []
    return Distilled(
        decisions=tuple(_decisions(found.get("decisions"), notes)),
        failures=tuple(_failures(found.get("failures"), notes)),
        learnings=tuple(_learnings(found.get("learnings"), notes)),
        handoff=tuple(_handoff(found.get("handoff"), notes)),
        notes=tuple(notes),
    )


# ── finding it ───────────────────────────────────────────────────────────────────────────────────────


def _object_in(text: str) -> dict[str, Any]:
    text = _THOUGHT.sub("", text)
    nothing = False
    for candidate in (text, *(fence[1] for fence in _FENCED.finditer(text))):
        value = _loads(candidate.strip())
        nothing = nothing or value == {}
        if (meant := _meant(value)) is not None:
            return meant
    # Inside prose an object must look like what was asked for: braces of code mean nothing.
    for value in _embedded(text):
        if (meant := _meant(value)) is not None:
            return meant
    # "Nothing" is an answer; an object that speaks of something else (an error, say) is none.
    if nothing:
        return {}
    raise UnreadableAnswerError("no JSON object with decisions, failures, learnings or handoff in the answer")


def _meant(value: Any) -> dict[str, Any] | None:
    """The object that was asked for: this one, or one in it."""
    for one in (value, *value.values()) if isinstance(value, dict) else ():
        if isinstance(one, dict) and any(kind in one for kind in KINDS):
            return one
    return None


def _embedded(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(strict=False)
    found = _OPENING.search(text)
    for _ in range(_PLACES):
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


def _cleaned(value: Any, clean: Callable[[str], str], levels: int = _DEEPEST) -> Any:
    if isinstance(value, str):
        return clean(value)
    if not isinstance(value, list | dict):
        return value
    if not levels:
        return None
    if isinstance(value, list):
        return [_cleaned(one, clean, levels - 1) for one in value]
    return {key: _cleaned(one, clean, levels - 1) for key, one in value.items()}


# ── checking it ──────────────────────────────────────────────────────────────────────────────────────


def _decisions(value: Any, notes: list[str]) -> Iterator[DecisionNote]:
    for item in _items(value, "decisions", "summary", notes):
        yield DecisionNote(
            summary=_one_line(item["summary"]), type=_one_line(item.get("type"), 60), context=_one_line(item.get("context")),
            alternatives=_texts(item.get("alternatives")), rationale=_one_line(item.get("rationale")),
            tags=_tags(item.get("tags")),
        )  # fmt: skip


def _failures(value: Any, notes: list[str]) -> Iterator[FailureNote]:
    for item in _items(value, "failures", "summary", notes):
        yield FailureNote(
            summary=_one_line(item["summary"]), type=_one_line(item.get("type"), 60), context=_one_line(item.get("context")),
            root_cause=_one_line(item.get("root_cause")), resolution=_one_line(item.get("resolution")),
            prevention=_one_line(item.get("prevention")), tags=_tags(item.get("tags")),
        )  # fmt: skip


def _learnings(value: Any, notes: list[str]) -> Iterator[Learning]:
    for item in _items(value, "learnings", "title", notes):
        said = item.get("learning") or item.get("content") or item.get("body")
        text = "\n".join(_texts(said)) if isinstance(said, list) else said
        yield Learning(
            title=_one_line(item["title"], 200), learning=note_body(text) or note_body(item["title"]), context=note_body(item.get("context")),
            scope=_one_line(item.get("scope"), 60), tags=_tags(item.get("tags")),
        )  # fmt: skip


def _handoff(value: Any, notes: list[str]) -> Iterator[str]:
    """A list of pending items, in whatever a model puts it: one text is a line each, lists in lists are one list."""
    told = [text for text in map(_one_line, _pending(value)) if text]
    if value and not told:
        notes.append("handoff is no list")
    if len(told) > MAX_ENTRIES:
        notes.append(f"{len(told) - MAX_ENTRIES} handoff items too many")
    for text in told[:MAX_ENTRIES]:
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
    """Of an object that holds lists, those lists; of one that is an item, what it says."""
    lists = [one for key, one in value.items() if isinstance(one, list | dict) and key.lower() not in _FINISHED]
    named = next((one for name in ("items", "pending") if isinstance(one := value.get(name), list)), None)
    texts = [one for one in value.values() if isinstance(one, str) and one.strip()]
    said = next((one for name in _ITEM if isinstance(one := value.get(name), str) and one.strip()), "")
    if named is not None:
        yield from _pending(named)
    elif said or texts:
        yield " ".join((said or max(texts, key=len)).split())
    else:
        yield from _pending(lists)


def _items(value: Any, kind: str, key: str, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Objects with something to say; a bare text is an entry too. What is neither is left out, and the rest stays."""
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
    """One line of text: no break, no control character, no half of a character."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    flat = " ".join(_printable(str(value)[: limit * 4]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def note_body(value: Any) -> str:
    """Several lines, none of which can be taken for a heading, a rule or front matter of ours."""
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


def _printable(text: str) -> str:
    """Without what cannot be seen or changes what is seen: control characters, direction marks, lone surrogates."""
    return "".join(
        char if char.isprintable() else " " if unicodedata.category(char) in {"Cc", "Zl", "Zp", "Zs"} else ""
        for char in text
    )
