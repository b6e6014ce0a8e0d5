"""What every plugin here shares: listen, shake hands, read lines. Standard library only, as a person would write it."""

import json
import socket
import sys

LISTENS = ["input.submit", "process.pre_spawn", "prompt.render"]


def listen():
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(sys.argv[1])
    server.listen(1)
    connection, _ = server.accept()
    return connection


def send(connection, message):
    connection.sendall(json.dumps(message).encode() + b"\n")


def shake_hands(connection, file, hooks=None, hook_config=None):
    assert json.loads(file.readline()) == {"type": "handshake", "version": "1.0"}
    names = LISTENS if hooks is None else hooks
    answer = {"type": "handshake_ok", "methods": [], "hooks": names, "completions": []}
    send(connection, {**answer, "hook_config": hook_config or []})


def serve(handle, hooks=None, hook_config=None):
    """``handle(connection, message)`` for every hook, until the other side says terminate or goes."""
    connection = listen()
    file = connection.makefile("rb")
    shake_hands(connection, file, hooks, hook_config)
    for line in file:
        message = json.loads(line)
        if message["type"] == "terminate":
            return
        handle(connection, message)


def result(message, action="modify", **more):
    return {"type": "hook_result", "id": message["id"], "action": action, **more}
