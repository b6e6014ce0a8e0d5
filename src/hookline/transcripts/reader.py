"""The base of every agent's transcript reader. It reads record by record, in constant memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from glob import escape, iglob
from itertools import islice
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.lines import file_size, line_start, records
from hookline.transcripts.message import (
    About,
    Latest,
    Tokens,
    TranscriptMessage,
    at,
    moment,
    rows,
    table,
    texts,
    words,
)
from hookline.transcripts.paths import Homes, SessionFile, agent_home, first_text, folder_names

#: Records at the beginning of a file that are searched for its agent and session.
SEARCHED = 400
#: Characters of a tool's input that are kept for its result.
_MOST_INPUT = 2000
#: Types of a message's parts.
_TEXTS = frozenset({"text", "input_text", "output_text"})
_CALLS = frozenset({"tool_use", "toolCall", "tool-call"})
_RESULTS = frozenset({"tool_result", "toolResult", "tool-result"})


class TranscriptReader:
    """Reads one transcript, once. No record makes it raise."""

    agent = ""
    #: The agent's directory below home, and the variable that moves it.
    home = ""
    home_variable = ""
    #: Where in it the transcripts are: ``{session}`` is the session's name, ``{folder}`` that of the directory it is for;
    #: without the latter, only the transcript names the directory.
    place = ""
    #: Fields of ``About`` -> where they stand in the record that begins a session, which has this type ("": any).
    head: Mapping[str, str] = MappingProxyType({})
    head_type = ""
    #: Between the texts of one message.
    between = "\n"
    #: A message is held back until the next record, which may have its tokens.
    holding = False

    def __init__(self) -> None:
        self._tools = Latest()

    # ── whose it is, and where it is ──

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        """Whether only this agent writes such a record."""
        return False

    @classmethod
    def owns(cls, path: str) -> bool:
        """Whether the file's name alone shows that it is this agent's."""
        return False

    @classmethod
    def locate(cls, data: Mapping[str, Any], home: str, environ: Mapping[str, str]) -> str:
        """The path of the transcript for an event that does not name it; "" if it is unknown."""
        session = cls.session_name(data)
        if "{session}" not in cls.place or not session or "/" in session or session.startswith("."):
            return ""
        folder = next(iter(cls.folders(first_text(data, "cwd"))))
        place = cls.place.replace("{session}", session).replace("{folder}", folder)
        return os.path.join(cls.directory(Homes(home=home, environ=environ)), place)

    @classmethod
    def sessions(cls, directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        """Sessions that may belong to one of these directories, which are names of the same one."""
        certain = "{folder}" in cls.place
        names = {name for one in directories for name in cls.folders(one)} if certain else {""}
        for name in names if cls.place else ():
            inside = cls.place.replace("{folder}", escape(name)).replace("{session}", "*")
            for path in iglob(os.path.join(escape(cls.directory(homes)), inside)):
                with suppress(OSError):
                    yield SessionFile(modified=os.stat(path).st_mtime, agent=cls.agent, path=path, certain=certain)

    @classmethod
    def directory(cls, homes: Homes) -> str:
        return agent_home(cls.home_variable, homes.environ, homes.home, cls.home)

    @staticmethod
    def folders(directory: str) -> Iterable[str]:
        """The names that the agent may give to the folder of a directory."""
        return folder_names(directory)

    @staticmethod
    def session_name(data: Mapping[str, Any]) -> str:
        return first_text(data, "session_id", "sessionId")

    @staticmethod
    def shell_failure(output: str) -> str | None:
        """The error, if the output of a shell command shows that it failed."""
        return None

    # ── records ──

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        raise NotImplementedError

    def rest(self) -> Iterator[TranscriptMessage]:
        """What was held back, at the end of the file."""
        return iter(())

    def early(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        """Results of tools that the agent records before the message about them."""
        return iter(())

    def describe(self, record: dict[str, Any], known: About) -> About:
        """``known``, and what this record adds to it."""
        if known.session or record.get("type", "") != (self.head_type or record.get("type", "")):
            return known
        found: dict[str, Any] = {
            name: (moment if name == "started" else words)(at(record, *path.split(".")))
            for name, path in self.head.items()
        }
        return replace(known, **found) if found.get("session") else known

    def complete(self, path: str, known: About) -> About:
        """``known``, and what the file's name or a file beside it adds."""
        return known

    # ── messages ──

    def part_messages(
        self, role: str, content: Any, time: str, spent: Tokens | None = None, *, synthetic: bool = False
    ) -> Iterator[TranscriptMessage]:
        """A message whose content is a list of parts, as several agents record it: texts, tool calls and their results."""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else rows(content)
        said = [text for part in parts if words(part, "type") in _TEXTS and (text := words(part, "text"))]
        found = [self._part_result(part, time) for part in parts if words(part, "type") in _RESULTS]
        if role == "user":
            found += user_messages(said, time, self.between, synthetic=synthetic)
        elif role == "assistant" and said:
            text = self.between.join(said)
            found.append(TranscriptMessage(role="assistant", text=text, time=time, synthetic=synthetic))
        for part in (one for one in parts if words(one, "type") in _CALLS):
            call, tool = words(part.get("id") or part.get("toolCallId")), part.get("name") or part.get("toolName")
            found.append(self.tool_call(call, tool, table(part, "input") or part.get("arguments"), time))
        if found and spent is not None:
            found[-1] = replace(found[-1], tokens=spent)
        yield from found

    def _part_result(self, part: dict[str, Any], time: str) -> TranscriptMessage:
        inner = rows(part, "content")
        failed = part.get("is_error") is True or any(one.get("success") is False for one in inner)
        text = texts(part, "content") or "\n".join(words(one, "result") for one in inner)
        call = words(part.get("tool_use_id") or part.get("toolCallId"))
        return self.tool_result(call, text, time, failed=failed, tool=words(part, "name"))

    def tool_call(self, call: str, tool: Any, given: Any, time: str) -> TranscriptMessage:
        """Tool and input are kept, the latter if it is small: most results have only the id of the call."""
        self._tools.put(call, (words(tool), given if len(str(given)) < _MOST_INPUT else {}))
        return TranscriptMessage(role="tool_call", time=time, tool=words(tool), call=call, input=table(given))

    def tool_result(self, call: str, text: str, time: str, *, failed: bool, tool: str = "") -> TranscriptMessage:
        known, given = self._tools.get(call, ("", {}))
        return TranscriptMessage(
            role="tool_result", text=text, time=time, call=call, tool=tool or known, input=table(given), failed=failed
        )

    # ── files ──

    def read(self, path: str, start: int) -> Iterator[tuple[int, TranscriptMessage]]:
        before = place = start
        for end, record in records(path, start):
            before, place = place, end
            for message in tuple(self.messages(record)):
                yield (before if self.holding else place), message
        for message in self.rest():
            yield place, message

    def tail(self, path: str, size: int) -> Iterator[tuple[int, TranscriptMessage]]:
        """From the last ``size`` bytes."""
        return self.read(path, line_start(path, file_size(path) - size))

    def about(self, path: str) -> About:
        known = About(agent=self.agent)
        for _end, record in islice(records(path, 0), SEARCHED):
            known = self.describe(record, known)
            if known.session and known.cwd and known.interactive is not None:
                break
        return self.complete(path, known)


#: The beginnings of texts that agents send in the person's name.
_SYNTHETIC = (
    "<system-reminder>", "<task-notification>", "<command-name>", "<command-message>", "<local-command-stdout>",
    "<local-command-stderr>", "<local-command-caveat>", "<bash-stdout>", "<bash-stderr>", "<stop-hook>",
    "<hook_prompt", "<hook_context>", "<environment_context>", "<user_instructions>", "<turn_aborted>",
    "<session_context>", "<permissions instructions>", "<subagent_notification>", "<user-prompt-submit-hook>",
    "Stop hook feedback:", "[Request interrupted by user", "# AGENTS.md instructions for ",
    "Caveat: The messages below were generated by the user while running local commands",
)  # fmt: skip


#: What agents put before the person's own text.
_BEFORE = re.compile(r"\s*<(hook_context|system-reminder|current_datetime|qwen:[\w-]+)>.*?</\1>\s*", re.DOTALL)


def user_messages(
    parts: Iterable[str], time: str, between: str = "\n", *, synthetic: bool = False
) -> Iterator[TranscriptMessage]:
    """One message, if the parts have any text."""
    text, nobody = own_words(parts, between)
    if text:
        yield TranscriptMessage(role="user", text=text, time=time, synthetic=nobody or synthetic)


def own_words(parts: Iterable[str], between: str = "\n") -> tuple[str, bool]:
    """The person's own text in the parts of a prompt; if there is none, all of it, and that it is synthetic."""
    texts = [part for part in parts if part.strip()]
    own = [text for text in map(_bare, texts) if text and not is_synthetic(text)]
    return (between.join(own), False) if own else (between.join(texts), True)


def _bare(text: str) -> str:
    place = 0
    while (found := _BEFORE.match(text, place)) is not None:
        place = found.end()
    return text[place:]


def is_synthetic(text: str) -> bool:
    """Whether the text shows that no person wrote it."""
    return text.lstrip().startswith(_SYNTHETIC)
