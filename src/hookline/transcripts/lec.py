"""Our own conversation documents (``.lec``): what you wrote, and one block of colons per answer.

Only as much of the format as a reader of messages needs; ``hookline.agent.conversation`` knows all of it. Times and
tokens are not recorded in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookline.transcripts.lines import LONGEST, lines
from hookline.transcripts.message import About, TranscriptMessage
from hookline.transcripts.reader import TranscriptReader

_OPENING = re.compile(r" {0,3}(:{3,})\s?([^\s:\[{].*?)\s*$")
_CLOSING = re.compile(r" {0,3}(:{3,})[ \t]*$")
_RECORD = re.compile(r" {0,3}<(tool-call|inline-attachment|thought-block)(?=[\s>])([^<>]*)>")
_ATTRIBUTE = re.compile(r'([A-Za-z0-9_:-]+)="([^"]*)"')
_ELEMENT = re.compile(r"<([A-Za-z][\w.-]*)[^<>]*>(.*?)</\1>", re.DOTALL)
_GUARDED = re.compile(r"^([ \t]*)\\(?=\\*(?::::|<tool-call|<inline-attachment|<thought-block|<!--))", re.MULTILINE)


class LecReader(TranscriptReader):
    """One reading of one document."""

    agent = "hookline"

    @classmethod
    def owns(cls, path: str) -> bool:
        return path.endswith(".lec")

    def tail(self, path: str, size: int) -> Iterator[tuple[int, TranscriptMessage]]:
        return self.read(path, 0)

    def about(self, path: str) -> About:
        return About(agent=self.agent)

    def read(self, path: str, start: int) -> Iterator[tuple[int, TranscriptMessage]]:
        """A prompt without an answer is yielded, and yielded again from the same place once it is answered."""
        place = start
        spoken: list[str] = []
        block: list[str] | None = None
        colons, held = 0, 0
        header = start == 0
        for number, line in enumerate(lines(path, start)):
            text = line.text.decode("utf-8", "replace").rstrip("\r")
            if header:
                header = text.lstrip("\ufeff") == "---" if number == 0 else text not in {"---", "..."}
                if header or number:
                    continue
            closing, opening = _CLOSING.match(text), _OPENING.match(text)
            if block is None and opening is not None:
                colons, block, held = len(opening[1]), [], 0
            elif block is not None and closing is not None and len(closing[1]) >= colons:
                yield from self._turn(spoken, block, place, line.end)
                place, spoken, block, held = line.end, [], None, 0
            elif held < LONGEST:
                held += len(text)
                (spoken if block is None else block).append(text)
        yield from self._turn(spoken, block or [], place, place)

    def _turn(
        self, spoken: list[str], block: list[str], before: int, after: int
    ) -> Iterator[tuple[int, TranscriptMessage]]:
        prompt = "\n".join(spoken).strip()
        found = [TranscriptMessage(role="user", text=prompt)] if prompt else []
        found += _segments(block)
        for number, message in enumerate(found, 1):
            yield after if number == len(found) else before, message


def _segments(block: list[str]) -> Iterator[TranscriptMessage]:
    prose: list[str] = []
    place = 0
    while place < len(block):
        opening = _RECORD.match(block[place])
        end = None if opening is None else _end(block, place, f"</{opening[1]}>")
        if opening is None or end is None:
            prose.append(block[place])
            place += 1
            continue
        yield from _prose(prose)
        prose = []
        yield from _record(opening[1], opening[2], "\n".join(block[place : end + 1])[opening.end() :])
        place = end + 1
    yield from _prose(prose)


def _end(block: list[str], start: int, closing: str) -> int | None:
    """A record holds no blank line."""
    for place in range(start, len(block)):
        if not block[place].strip():
            return None
        if block[place].rstrip().endswith(closing):
            return place
    return None


def _prose(found: list[str]) -> Iterator[TranscriptMessage]:
    text = _GUARDED.sub(r"\1", "\n".join(found)).strip()
    if text:
        yield TranscriptMessage(role="assistant", text=text)


def _record(kind: str, head: str, inner: str) -> Iterator[TranscriptMessage]:
    parts = dict(_ELEMENT.findall(inner))
    if kind == "inline-attachment":
        yield TranscriptMessage(role="user", text=_plain(parts.get("content", "")), synthetic=True)
    elif kind == "tool-call":
        attributes = dict(_ATTRIBUTE.findall(head))
        tool, call = attributes.get("with", ""), attributes.get("id", "")
        given = {name: _plain(value) for name, value in _ELEMENT.findall(parts.get("arguments", ""))}
        yield TranscriptMessage(role="tool_call", tool=tool, call=call, input=given)
        results = [_plain(value) for name, value in _ELEMENT.findall(parts.get("results", "")) if name == "result"]
        yield TranscriptMessage(
            role="tool_result", text="\n".join(results), tool=tool, call=call, input=given,
            failed=attributes.get("is-error") == "true",
        )  # fmt: skip


def _plain(text: str) -> str:
    """Without the bars and marks that separate free text from structure."""
    return text.removesuffix("\n").replace("\n\u2506", "\n").removeprefix("\n").replace("<\u2502", "<")
