#!/usr/bin/env python3
"""Answers the handshake with what stands in the file LIE names, then sleeps."""

import os
import time

from plugin_kit import listen

connection = listen()
connection.recv(4096)
with open(os.environ["LIE"], "rb") as file:
    connection.sendall(file.read() + b"\n")
time.sleep(600)
