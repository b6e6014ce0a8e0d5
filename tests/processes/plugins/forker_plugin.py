#!/usr/bin/env python3
"""Leaves a child that holds the connection, tells its pid, and dies of a signal on the next request."""

import os
import signal
import time

from plugin_kit import result, send, serve


def handle(connection, message):
    if message["data"]["text"] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    send(connection, result(message, data={"text": str(child)}))


serve(handle)
