"""A session, as far as distilling it needs: how much there was, how it ended, what was touched. In flat memory."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass
from hookline.memory.transcript import detect_agent, is_interactive, messages
from hookline.transcripts import about

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hookline.transcripts import About, Message

#: Messages at the end that are told to the model, and characters of one of them.
_MAX_MESSAGES, _MAX_MESSAGE = 20, 4000
#: Failed tool calls that are told beside them, and characters of what they said.
_MAX_FAILURES, _MAX_FAILURE = 10, 400
_FILES = 20
#: Characters of a text that are held until secrets are taken out. Far more than are told: where a text is cut, half a
#: secret may be left, which nobody would know for one.
MAX_RAW = 40_000

_PATHS = ("file_path", "path", "notebook_path", "absolute_path", "filePath")
_INSIGHT = re.compile(r"^[ \t>`]*★ Insight ─+`?[ \t]*\n(.*?)\n[ \t>`]*─{5,}`?[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """Texts in it have no secrets any more."""

    about: About
    #: A person sat there, as far as the agent's transcripts tell it.
    interactive: bool = True
    #: What people and the agent said, not counting what tools did.
    messages: int = 0
    user_chars: int = 0
    #: The last things said: who, and what.
    last: tuple[tuple[str, str], ...] = ()
    #: Tool calls that failed: the tool, and what came of it.
    failed: tuple[tuple[str, str], ...] = ()
    first_prompt: str = ""
    last_prompt: str = ""
    files: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()


def digest_transcript(path: str, agent: str, clean: Callable[[str], str]) -> Digest:
    """Read it to its end. Never raises: what cannot be read is a session in which nothing was said."""
    notes, agent = _Notes(clean), detect_agent(path, agent)
    known = about(path, agent)
    for message in messages(path, agent):
        notes.take(message)
    return Digest(
        about=known,
        interactive=is_interactive(known),
        messages=notes.messages,
        user_chars=notes.user_chars,
        last=tuple((role, _shorten(clean(text), _MAX_MESSAGE)) for role, text in notes.last),
        failed=tuple((tool, _shorten(clean(text), _MAX_FAILURE)) for tool, text in notes.failed),
        first_prompt=_shorten(clean(notes.first_prompt), _MAX_MESSAGE),
        last_prompt=_shorten(clean(notes.last_prompt), _MAX_MESSAGE),
        files=tuple(clean(file) for file in notes.files),
        insights=tuple(dict.fromkeys(notes.insights)),
    )


class _Notes:
    def __init__(self, clean: Callable[[str], str]) -> None:
        self.messages = self.user_chars = 0
        self.last: deque[tuple[str, str]] = deque(maxlen=_MAX_MESSAGES)
        self.failed: deque[tuple[str, str]] = deque(maxlen=_MAX_FAILURES)
        self.first_prompt = self.last_prompt = ""
        #: In the order in which they were last touched.
        self.files: dict[str, None] = {}
        self.insights: deque[str] = deque(maxlen=100)
        self._clean = clean

    def take(self, message: Message) -> None:
        if message.role == "tool_call":
            self._touched(message.input)
        elif message.role == "tool_result":
            if message.failed and message.text.strip():
                self.failed.append((message.tool, _shorten(message.text.strip(), MAX_RAW)))
        elif message.text.strip() and not message.synthetic:
            self._said(message.role, message.text.strip())

    def _said(self, role: str, text: str) -> None:
        self.messages += 1
        held = _shorten(text, MAX_RAW)
        self.last.append((role, held))
        if role == "user":
            self.user_chars += len(text)
            self.first_prompt = self.first_prompt or held
            self.last_prompt = held
        elif "★ Insight" in text:
            self.insights.extend(self._clean(found[1].strip()) for found in _INSIGHT.finditer(text) if found[1].strip())

    def _touched(self, given: Mapping[str, Any]) -> None:
        for file in file_paths(given):
            self.files.pop(file, None)
            self.files[file] = None
            if len(self.files) > _FILES:
                self.files.pop(next(iter(self.files)))


def file_paths(given: Mapping[str, Any]) -> Iterator[str]:
    for name in _PATHS:
        value = given.get(name)
        if isinstance(value, str) and value and len(value) < 4096 and value.isprintable():
            yield value


def _shorten(text: str, limit: int) -> str:
    """The beginning and the end of a text that is too long: what was asked stands at one of them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
