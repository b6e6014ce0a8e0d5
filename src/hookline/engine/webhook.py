"""Tell a chat that a hook asks. It only notifies: nothing that comes back is read, and nobody waits for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

#: Seconds for all of it, and characters of a text.
_PATIENCE, _LONGEST = 5.0, 600
#: What chats read as a link, a mention or markup stays text.
_PLAIN = str.maketrans({"<": "(", ">": ")", "@": "(at)", "`": "'"})


def notify(url: str, question: Mapping[str, Any]) -> None:
    """In a thread that ends with the process. ``question`` is redacted."""
    fields = {
        name: str(question.get(name, ""))[:_LONGEST].translate(_PLAIN) for name in ("hook", "agent", "about", "reason")
    }
    text = f"{fields['hook']} asks about a call of {fields['agent']}: {fields['about']}\n{fields['reason']}\nAnswer: hookline fleet inbox, or hookline web"
    body = json.dumps({"text": text, **fields}).encode()
    threading.Thread(target=_send, args=(url, body), name="hookline-webhook", daemon=True).start()


def _send(url: str, body: bytes) -> None:
    """One connection, straight to the host: no proxies, no redirects, no cookies."""
    from http.client import HTTPConnection, HTTPException, HTTPSConnection
    from urllib.parse import urlsplit

    place = urlsplit(url)
    with suppress(OSError, HTTPException, ValueError):
        kind = HTTPSConnection if place.scheme == "https" else HTTPConnection
        connection = kind(place.hostname or "", place.port, timeout=_PATIENCE)
        try:
            path = f"{place.path or '/'}{'?' + place.query if place.query else ''}"
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            connection.getresponse()  # a server may drop what nobody waits for
        finally:
            connection.close()
