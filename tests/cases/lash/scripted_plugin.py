"""A plugin that does what a case says: ``script.json`` beside its executable has its handshake and its answers.

Every answer may have a delay of its own and never holds up the next one. What it sees goes to ``calls``.
"""

import json
import socket
import sys
import threading


def main(script_path, calls_path, name):
    with open(script_path, encoding="utf-8") as file:
        script = json.load(file)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(sys.argv[1])
    server.listen(1)
    connection, _ = server.accept()
    lock = threading.Lock()
    asked: dict[object, int] = {}

    def send(message):
        with lock:
            connection.sendall(json.dumps(message).encode() + b"\n")

    for line in connection.makefile("rb"):
        message = json.loads(line)
        if message["type"] == "handshake":
            send(script["handshake"])
            continue
        if message["type"] == "terminate":
            return
        event = message["event"]
        number = asked[event] = asked.get(event, -1) + 1
        with open(calls_path, "a", encoding="utf-8") as file:
            file.write(json.dumps([name, event, message["data"], message.get("mode", "")]) + "\n")
        answers = script["answers"].get(event, [{"after_ms": 0, "reply": {"action": "allow"}}])
        answer = answers[min(number, len(answers) - 1)]
        reply = {"type": "hook_result", "id": message["id"], **answer["reply"]}
        if answer["after_ms"]:
            threading.Timer(answer["after_ms"] / 1000, send, [reply]).start()
        else:
            send(reply)
