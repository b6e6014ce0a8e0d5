#!/usr/bin/env python3
"""Writes every event it sees to the file SEEN names, and sends a message of its own after each."""

import json
import os

from plugin_kit import send, serve


def handle(connection, message):
    with open(os.environ["SEEN"], "a", encoding="utf-8") as file:
        file.write(json.dumps(message["data"]) + "\n")
    send(connection, {"type": "message", "data": {"saw": message["data"]}})


serve(handle, hooks=[], hook_config=[{"event": "input.submit", "mode": "observe"}])
