"""Where a prompt comes from: a file, an alias, a text, or a comma-separated chain of these."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

from hookline.core._dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    name: str
    event: str
    #: session_start is a moment inside the first prompt, before pre_turn.
    rank: int = 0
    once: bool = False
    #: A silent hook would only delay the answer here: it is skipped.
    silent: bool = True
    placement: Literal["context", "reply", "session"] = "context"
    #: A silent hook here is nothing that the person should wait for.
    background: bool = False
    #: ``hook_<key>`` in the snapshot -> (field of the event's data, what it is when missing).
    extras: tuple[tuple[str, str, str], ...] = ()
    #: The turns that have just been recorded when the phase happens: (role, field of the data).
    recorded: tuple[tuple[str, str], ...] = ()


PHASES: Mapping[str, Phase] = MappingProxyType(
    {
        row.name: row
        for row in (
            Phase(
                name="session_start", event="UserPromptSubmit", rank=-1, once=True, silent=False,
                extras=(("input_text", "prompt", ""),), recorded=(("user", "prompt"),),
            ),
            Phase(
                name="pre_turn", event="UserPromptSubmit", silent=False,
                extras=(("input_text", "prompt", ""),), recorded=(("user", "prompt"),),
            ),
            Phase(
                name="post_turn", event="Stop", placement="reply", background=True,
                extras=(("last_display", "assistant_message", ""), ("last_sanitized", "assistant_message", "")),
                recorded=(("user", "user_message"), ("assistant", "assistant_message")),
            ),
            Phase(name="session_end", event="SessionEnd", placement="session", extras=(("reason", "reason", "exit"),)),
        )
    }
)  # fmt: skip


#: No blanks, and either an extension of a text file or the beginning of a path.
_PATH_LIKE = re.compile(r"(?:[~./][^\s]*/[^\s]+|[^\s]+\.(?:md|txt|prompt|j2|jinja|tmpl))", re.IGNORECASE)

_DEEPEST_ALIAS = 5
_LONGEST_NAME = 300


class MissingPromptError(Exception):
    """It looks like a path and does not exist, so it must not be used as the prompt itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSources:
    """Everything a prompt may be found in. ``folders`` are tried in order, each with its ``prompts`` inside."""

    folders: tuple[str, ...]
    home: str
    aliases: Mapping[str, str]
    read: Callable[[str], str | None]

    def text(self, source: str) -> str:
        """The whole value first: a sentence has commas, and only a chain of sources is a chain."""
        whole = self._found(source, 0)
        if whole is not None:
            return whole
        parts = [part.strip() for part in source.split(",") if part.strip()]
        if len(parts) > 1:
            found = [self._found(part, 0) for part in parts]
            if any(text is not None for text in found) or all(looks_like_a_path(part) for part in parts):
                return "\n\n".join(
                    self._text_itself(part) if text is None else text for part, text in zip(parts, found, strict=True)
                )
        return self._text_itself(source)

    def _found(self, source: str, depth: int) -> str | None:
        alias = self.aliases.get(source.lower())
        if alias is not None and depth < _DEEPEST_ALIAS:
            again = self._found(alias, depth + 1)
            return self._text_itself(alias) if again is None else again
        return self._file(source)

    def _file(self, source: str) -> str | None:
        if not source or len(source) > _LONGEST_NAME or "\n" in source or "\0" in source:
            return None
        for path in self._candidates(source):
            text = self.read(path)
            if text is not None:
                return text
        return None

    def _candidates(self, source: str) -> list[str]:
        """Absolute, or from each folder; as it stands, then with the endings that people leave out."""
        named = self.home + source[1:] if source.startswith("~/") else source
        if os.path.isabs(named):
            places = [named]
        else:
            places = [os.path.join(folder, *inside, named) for folder in self.folders for inside in ((), ("prompts",))]
        return [os.path.normpath(place + ending) for place in places for ending in ("", ".txt", ".md")]

    def _text_itself(self, source: str) -> str:
        if looks_like_a_path(source):
            raise MissingPromptError(source)
        return source


def looks_like_a_path(source: str) -> bool:
    return _PATH_LIKE.fullmatch(source) is not None
