"""What distilling needs of a session: its size, its last messages, the files it touched. In constant memory."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.memory.notes.search import keyword_query
from hookline.memory.transcript import detect_agent, is_interactive, messages
from hookline.transcripts import About, TranscriptMessage, about

#: The last messages that the model gets, and characters of each.
_MAX_MESSAGES, _MAX_MESSAGE = 20, 4000
#: Failed tool calls that the model gets, and characters of each.
_MAX_FAILURES, _MAX_FAILURE = 10, 400
_MAX_FILES = 20
_MAX_WORDS = 50_000
#: Characters of a text that are kept until it is redacted. Far more than the model gets: cutting first could leave half
#: a secret, which would not be recognised.
MAX_RAW = 40_000

_PATHS = ("file_path", "path", "notebook_path", "absolute_path", "filePath")
_INSIGHT = re.compile(r"^[ \t>`]*★ Insight ─+`?[ \t]*\n(.*?)\n[ \t>`]*─{5,}`?[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """Its texts are redacted."""

    about: About
    #: Whether a person took part, as far as the agent's transcripts show.
    interactive: bool = True
    #: Messages of people and the agent, without tool calls.
    messages: int = 0
    user_chars: int = 0
    #: The last messages: role and text.
    last: tuple[tuple[str, str], ...] = ()
    #: Failed tool calls: the tool and its result.
    failed: tuple[tuple[str, str], ...] = ()
    first_prompt: str = ""
    last_prompt: str = ""
    files: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    #: The beginnings of all words of the conversation, to judge what it was about.
    words: frozenset[str] = frozenset()
    #: The same while nobody said or did anything more, whatever an agent adds to the file when it ends.
    state: str = ""


def digest_transcript(path: str, agent: str, clean: Callable[[str], str]) -> Digest:
    """Read the whole transcript. Never raises: one that cannot be read is an empty session."""
    found, agent = _Collector(clean), detect_agent(path, agent)
    known = about(path, agent)
    for message in messages(path, agent):
        found.add(message)
    return Digest(
        about=known,
        interactive=is_interactive(known),
        messages=found.messages,
        user_chars=found.user_chars,
        last=tuple((role, _shorten(clean(text), _MAX_MESSAGE)) for role, text in found.last),
        failed=tuple((tool, _shorten(clean(text), _MAX_FAILURE)) for tool, text in found.failed),
        first_prompt=_shorten(clean(found.first_prompt), _MAX_MESSAGE),
        last_prompt=_shorten(clean(found.last_prompt), _MAX_MESSAGE),
        files=tuple(clean(file) for file in found.files),
        insights=tuple(dict.fromkeys(found.insights)),
        words=frozenset(found.words),
        state=found.state.hexdigest(),
    )


class _Collector:
    def __init__(self, clean: Callable[[str], str]) -> None:
        self.messages = self.user_chars = 0
        self.last: deque[tuple[str, str]] = deque(maxlen=_MAX_MESSAGES)
        self.failed: deque[tuple[str, str]] = deque(maxlen=_MAX_FAILURES)
        self.first_prompt = self.last_prompt = ""
        #: In the order of the last use.
        self.files: dict[str, None] = {}
        self.insights: deque[str] = deque(maxlen=100)
        self.words: set[str] = set()
        self.state = blake2b(digest_size=8)
        self._clean = clean

    def add(self, message: TranscriptMessage) -> None:
        if not message.synthetic:
            said = f"{message.role}\0{message.text.strip()}\0{message.tool}\0{message.call}\0"
            self.state.update(said.encode("utf-8", "replace"))
        if message.role == "tool_call":
            self._add_files(message.input)
            self.words |= keywords(" ".join(file_paths(message.input)))
        elif message.role == "tool_result":
            if message.failed and message.text.strip():
                self.failed.append((message.tool, _shorten(message.text.strip(), MAX_RAW)))
        elif message.text.strip() and not message.synthetic:
            self._add_message(message.role, message.text.strip())

    def _add_message(self, role: str, text: str) -> None:
        self.messages += 1
        held = _shorten(text, MAX_RAW)
        if len(self.words) < _MAX_WORDS:
            self.words |= keywords(held)
        self.last.append((role, held))
        if role == "user":
            self.user_chars += len(text)
            self.first_prompt = self.first_prompt or held
            self.last_prompt = held
        elif "★ Insight" in text:
            self.insights.extend(self._clean(found[1].strip()) for found in _INSIGHT.finditer(text) if found[1].strip())

    def _add_files(self, given: Mapping[str, Any]) -> None:
        for file in file_paths(given):
            self.files.pop(file, None)
            self.files[file] = None
            if len(self.files) > _MAX_FILES:
                self.files.pop(next(iter(self.files)))


def keywords(text: str) -> set[str]:
    """The words that say what a text is about, by their first letters, like stems."""
    return {word[:5] for word in keyword_query([text], 10_000).words}


def file_paths(given: Mapping[str, Any]) -> Iterator[str]:
    for name in _PATHS:
        value = given.get(name)
        if isinstance(value, str) and value and len(value) < 4096 and value.isprintable():
            yield value


def _shorten(text: str, limit: int) -> str:
    """The beginning and the end of a text that is too long: the request is at one of them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
