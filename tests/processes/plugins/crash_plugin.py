#!/usr/bin/env python3
"""Dies with exit 7 on its second request, without an answer."""

import os

from plugin_kit import result, send, serve

seen = []


def handle(connection, message):
    seen.append(message)
    if len(seen) == 2:
        os._exit(7)
    send(connection, result(message, data={"text": str(os.getpid())}))


serve(handle)
