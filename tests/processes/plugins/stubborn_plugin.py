#!/usr/bin/env python3
"""Ignores terminate, and SIGTERM too."""

import json
import signal
import time

from plugin_kit import listen, result, send, shake_hands

signal.signal(signal.SIGTERM, signal.SIG_IGN)
connection = listen()
file = connection.makefile("rb")
shake_hands(connection, file)
for line in file:
    message = json.loads(line)
    if message["type"] == "hook":
        send(connection, result(message, "allow"))
time.sleep(600)
