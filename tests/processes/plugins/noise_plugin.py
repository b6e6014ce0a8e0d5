#!/usr/bin/env python3
"""Sends as many broken lines as it is told before it answers."""

from plugin_kit import result, send, serve

NOISE = {
    "text": b"this is no JSON\n",
    "list": b"[1]\n",
    "long": b"x" * (1 << 20) + b"x\n",
    "type": b'{"type":"gossip"}\n',
}


def handle(connection, message):
    connection.sendall(NOISE[message["data"]["kind"]] * message["data"]["times"])
    send(connection, result(message, "allow"))


serve(handle)
