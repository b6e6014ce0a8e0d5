"""The protocol between a shell's script and the process beside it: fields that end in NUL.

A question is ``id, count, name, field, value, …``; its answer is ``id, count, value, …``. Every question is answered, in
order, so a shell that stopped waiting can skip answers with an older id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: A larger question is not from our script.
_MAX_QUESTION = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellQuestion:
    id: str
    name: str
    fields: Mapping[str, str]


class ProtocolError(Exception):
    """The input is not a question of our script, so nothing after it can be trusted."""


class QuestionReader:
    """Takes bytes as they arrive, and yields complete questions."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, more: bytes) -> Iterator[ShellQuestion]:
        self._rest += more
        while (question := self._next()) is not None:
            yield question
        if len(self._rest) > _MAX_QUESTION:
            raise ProtocolError(f"a question of more than {_MAX_QUESTION} bytes")

    def _next(self) -> ShellQuestion | None:
        head = self._rest.split(b"\0", 2)
        if len(head) < 3:
            return None
        if not head[1].isdigit() or len(head[1]) > 4:
            raise ProtocolError(f"a question with {head[1][:20]!r} fields")
        count = int(head[1])
        fields = head[2].split(b"\0", count)
        if len(fields) <= count:
            return None
        self._rest = fields.pop()
        name, *pairs = (field.decode("utf-8", "surrogateescape") for field in fields)
        return ShellQuestion(id=head[0].decode("ascii", "replace"), name=name, fields=_paired(pairs))


def _paired(words: Sequence[str]) -> dict[str, str]:
    return dict(zip(words[::2], words[1::2], strict=False))


def encode_answer(question: str, values: Sequence[str]) -> bytes:
    """A NUL inside a value would end it, so it is removed."""
    fields = (question, str(len(values)), *(value.replace("\0", "") for value in values))
    return "".join(f"{field}\0" for field in fields).encode("utf-8", "surrogateescape")
