#!/usr/bin/env python3
"""The simplest plugin there can be: answers in order, without ids and without types."""

import time

from plugin_kit import send, serve


def handle(connection, message):
    time.sleep(message["data"].get("wait", 0))
    send(connection, {"action": "modify", "data": {"text": message["data"]["text"] + "?"}})


serve(handle)
