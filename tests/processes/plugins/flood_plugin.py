#!/usr/bin/env python3
"""Floods its streams and its socket with things nobody asked for, for as long as anybody reads."""

import sys
import threading

from plugin_kit import result, send, serve


def shout():
    while True:
        sys.stdout.write("x" * 65536)
        sys.stderr.write("y" * 65536)


def handle(connection, message):
    threading.Thread(target=shout, daemon=True).start()
    for number in range(20_000):
        send(connection, {"type": "message", "data": {"number": number}})
    send(connection, result(message, "allow"))


serve(handle)
