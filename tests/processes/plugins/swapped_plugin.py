#!/usr/bin/env python3
"""Waits for two requests and answers the second one first."""

from plugin_kit import result, send, serve

held = []


def handle(connection, message):
    held.append(message)
    if len(held) == 2:
        for each in (held.pop(), held.pop()):
            send(connection, result(each, data={"text": each["data"]["text"] * 2}))


serve(handle)
