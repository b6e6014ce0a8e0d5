"""What goes over the wire in every dialect of this family: compact JSON, and a tool's output as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast


def compact(value: Any) -> bytes:
    """One line of JSON in UTF-8, as JavaScript writes it; half a character pair is escaped, never an error."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, tuple | set | frozenset):
        return list(cast("tuple[Any, ...]", value))
    return str(value)


def bash_launchers(source: str) -> list[tuple[str, ...]]:
    """Shell source under bash, and under sh where there is no bash."""
    return [(shell, "-c", source) for shell in ("/bin/bash", "/usr/bin/bash", "/bin/sh")]


def present(**fields: Any) -> dict[str, Any]:
    """What is not known is left out, never null."""
    return {name: value for name, value in fields.items() if value is not None}


def read_object(text: str) -> dict[str, Any] | None:
    """The one JSON object that the whole text is; None when it is anything else."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def output_text(output: Any) -> str:
    """A tool's output as the model reads it, whatever shape its agent gave it."""
    if isinstance(output, str):
        return output
    if output is None:
        return ""
    if isinstance(output, list):
        parts: list[Any] = output
        return "\n".join(output_text(part) for part in parts)
    if isinstance(output, Mapping):
        return _object_text(cast("Mapping[str, Any]", output))
    return compact(output).decode()


def _object_text(output: Mapping[str, Any]) -> str:
    if "stdout" in output:
        parts = (output_text(output["stdout"]), output_text(output.get("stderr")))
        return "\n".join(part for part in parts if part)
    for name in ("text", "content", "output"):
        if isinstance(output.get(name), str | list):
            return output_text(output[name])
    if isinstance(output.get("file"), Mapping) and isinstance(output["file"].get("content"), str):
        return str(output["file"]["content"])
    return compact(output).decode()
