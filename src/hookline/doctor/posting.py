"""Events that an agent posts: whether somebody is there to hear them."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.deploy.installed import Entry

#: What the door says to whoever knows the word and does not post.
_KNOWN = 405


def unheard(posted: Sequence[Entry]) -> str:
    """Why what is posted is not heard; "" if it is."""
    for url in dict.fromkeys(entry.command for entry in posted):
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)
        try:
            connection.request("GET", parts.path)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            return f"nobody listens on {parts.netloc} ({error}), so hooks of what is posted there do not run"
        finally:
            connection.close()
        if status != _KNOWN:
            return f"whoever listens on {parts.netloc} does not take these events (status {status})"
    return ""
