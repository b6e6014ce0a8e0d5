"""A session from a database as lines of Claude Code's transcript format, which can be read again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hookline.transcripts.message import TranscriptMessage
from hookline.transcripts.reading import about, read


def as_lines(path: str, agent: str = "") -> Iterator[bytes]:
    """One line per message. Never raises: what cannot be read has no line."""
    known = about(path, agent)
    head = {"sessionId": known.session, "cwd": known.cwd, "version": known.version, "entrypoint": known.agent}
    for message in read(path, agent):
        record = {**head, "timestamp": message.time, **_record(message)}
        yield json.dumps(record, ensure_ascii=False, default=dict).encode("utf-8", "replace") + b"\n"


def _record(message: TranscriptMessage) -> dict[str, Any]:
    match message.role:
        case "tool_call":
            block = {"type": "tool_use", "id": message.call, "name": message.tool, "input": dict(message.input)}
            return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}
        case "tool_result":
            result = {"type": "tool_result", "tool_use_id": message.call, "content": message.text}
            content = [{**result, "is_error": message.failed}]
            return {"type": "user", "message": {"role": "user", "content": content}}
        case role:
            content = [{"type": "text", "text": message.text}]
            return {"type": role, "isMeta": message.synthetic, "message": {"role": role, "content": content}}
