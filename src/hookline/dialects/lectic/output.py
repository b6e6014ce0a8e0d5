"""Inline output: headers first, then text for the conversation, as an attachment or as a comment."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.core.result import Context, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.hook import Output

_HEADER = re.compile(r"LECTIC:([A-Za-z0-9_-]+)(?::(.*))?")

#: Headers that steer the turn; they are told for the whole firing as well.
_STEERING = ("final", "reset")


def split_headers(text: str) -> tuple[dict[str, str], str]:
    """``LECTIC:KEY[:VALUE]`` lines at the very beginning, and the rest without the one blank line after them."""
    headers: dict[str, str] = {}
    position = 0
    while position < len(text):
        end = text.find("\n", position)
        stop = len(text) if end < 0 else end
        line = text[position:stop]
        found = _HEADER.fullmatch(line)
        if found is None:
            if headers and not line.strip():
                position = min(stop + 1, len(text))
            break
        headers[found[1].lower()] = "true" if found[2] is None else found[2]
        position = min(stop + 1, len(text))
    return headers, text[position:]


def with_headers(headers: Mapping[str, str], text: str) -> str:
    """The way back. The blank line is there whenever it is needed to end the headers."""
    lines = [f"LECTIC:{key}\n" if value == "true" else f"LECTIC:{key}:{value}\n" for key, value in headers.items()]
    return "".join(lines) + ("\n" if lines else "") + text


def inline_reply(output: Output, stdout: str) -> Reply:
    """Nothing for blank output. A comment's headers are stripped and mean nothing."""
    if output.inject not in ("attachment", "comment") or not stdout.strip():
        return Reply()
    headers, text = split_headers(stdout)
    if output.inject == "comment":
        return Reply(context=(Context(text=text, placement="comment", label=output.label),))
    attributes = _attributes(output, headers)
    context = Context(
        text=text, placement="attachment", label=attributes.get("name", ""), attributes=MappingProxyType(attributes)
    )
    steering = {key: headers[key] for key in _STEERING if key in headers}
    return Reply(context=(context,), attributes=MappingProxyType(steering))


def _attributes(output: Output, headers: Mapping[str, str]) -> dict[str, str]:
    """The icon first, headers in the order printed, the name last; the hook's own icon and name win."""
    icon = output.icon or headers.get("icon", "")
    name = output.label or headers.get("name", "")
    rest = {key: value for key, value in headers.items() if key not in ("icon", "name")}
    return {**({"icon": icon} if icon else {}), **rest, **({"name": name} if name else {})}
