#!/usr/bin/env python3
"""Answers every hook with ``allow``, or with what its text asks for: the plugin of the round-trip bench."""

from plugin_kit import result, send, serve


def handle(connection, message):
    data = message["data"]
    if "answer" in data:
        send(connection, {"type": "hook_result", "id": message["id"], **data["answer"]})
    else:
        send(connection, result(message, "allow"))


serve(handle)
