#!/usr/bin/env python3
"""Answers after as many seconds as it is told, so that answers come late."""

import time

from plugin_kit import result, send, serve


def handle(connection, message):
    time.sleep(message["data"].get("wait", 0))
    send(connection, result(message, data={"text": message["data"]["text"] + "!"}))


serve(handle)
