"""Letta Code with its local backend: ``~/.letta/lc-local-backend/conversations/<name>/messages.jsonl``.

Other backends keep the conversation on a server, and there is no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import replace
from hookline.transcripts.coerce import Latest, Spent, count, rows, table, texts, words
from hookline.transcripts.message import Message, Tokens
from hookline.transcripts.reader import Reader, own_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookline.transcripts.message import About


class LettaReader(Reader):
    agent = "letta-code"

    def __init__(self) -> None:
        self._seen = Latest()
        self._spent = Spent()

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        if record.get("type") == "session":
            return "version" in record and "cwd" in record
        message = table(record.get("message"))
        return record.get("type") == "message" and "parentId" in record and "role" in message

    def messages(self, record: dict[str, Any]) -> Iterator[Message]:
        message, time = table(record.get("message")), words(record.get("timestamp"))
        if record.get("type") != "message":
            return
        role, content = message.get("role"), message.get("content")
        if role == "user":
            yield from self._user(content, time)
        elif role == "assistant":
            yield from self._model(message, time)
        elif role == "toolResult":
            yield Message(
                role="tool_result", text=texts(content), time=time, tool=words(message.get("toolName")),
                call=words(message.get("toolCallId")), failed=message.get("isError") is True,
            )  # fmt: skip

    def _user(self, content: Any, time: str) -> Iterator[Message]:
        parts = [content] if isinstance(content, str) else [words(part.get("text")) for part in rows(content)]
        text, synthetic = own_words(parts)
        if text:
            yield Message(role="user", text=text, time=time, synthetic=synthetic)

    def _model(self, message: dict[str, Any], time: str) -> Iterator[Message]:
        """A message is written again when the model goes on in it: what stood there before is not told twice."""
        name, found = words(message.get("id")), list[Message]()
        for part in rows(message.get("content")):
            text, call = words(part.get("text")), words(part.get("id"))
            if part.get("type") == "text" and text and self._seen.first(f"{name} text {text[:500]}"):
                found.append(Message(role="assistant", text=text, time=time))
            elif part.get("type") == "toolCall" and self._seen.first(f"{name} call {call}"):
                given = table(part.get("arguments"))
                found.append(Message(role="tool_call", time=time, tool=words(part.get("name")), call=call, input=given))
        if found:
            asked = f"{name} {message.get('timestamp')}"
            found[-1] = replace(found[-1], tokens=self._spent.new(asked, _tokens(table(message.get("usage")))))
        yield from found

    def about(self, record: dict[str, Any], known: About) -> About:
        """Whether a person sat there is not written down."""
        if known.session or record.get("type") != "session":
            return known
        return replace(
            known, session=words(record.get("id")), cwd=words(record.get("cwd")), started=words(record.get("timestamp"))
        )


def _tokens(usage: dict[str, Any]) -> Tokens | None:
    if not usage:
        return None
    cached = count(usage.get("cacheRead"))
    return Tokens(
        input=count(usage.get("input")) + count(usage.get("cacheWrite")) + cached,
        output=count(usage.get("output")),
        cached=cached,
    )
