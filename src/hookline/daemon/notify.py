"""Telling a service manager that the daemon listens, in the one word that systemd waits for (``Type=notify``)."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping


def notify_ready(environ: MutableMapping[str, str] = os.environ) -> None:
    """Said once, and to nobody else: what the daemon starts must not speak in its name."""
    address = environ.pop("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    name = "\0" + address[1:] if address.startswith("@") else address
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.connect(name)
        sock.sendall(b"READY=1")
