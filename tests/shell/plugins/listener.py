#!/usr/bin/env python3
"""A plugin that hears what it is told to hear, writes it down, and answers by rules. Plain sockets, no library.

listener.py SOCKET      with LISTENER_FILES=directory: rules.json is read anew for every event
rules.json              {"hook_config": [...], "answers": [{"event", "if": {field: value}, "answer": {}, "delay": 0}]}
"""

import json
import os
import socket
import sys
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))


def rules():
    with open(os.path.join(FOLDER, "rules.json")) as file:
        return json.load(file)


def answer_to(message):
    for rule in rules().get("answers", []):
        wanted = rule.get("if", {})
        if rule["event"] == message["event"] and all(message["data"].get(k) == v for k, v in wanted.items()):
            return rule.get("answer", {"action": "allow"}), rule.get("delay", 0)
    return {"action": "allow"}, 0


def main():
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    server.listen(1)
    link, _ = server.accept()
    lines = link.makefile("r")
    log = open(os.path.join(FOLDER, "heard.jsonl"), "a", buffering=1)
    lock = threading.Lock()

    def send(value):
        with lock:
            link.sendall(json.dumps(value).encode() + b"\n")

    def later(message, answer, delay):
        time.sleep(delay)
        send({"type": "hook_result", "id": message["id"], **answer})

    for line in lines:
        message = json.loads(line)
        kind = message.get("type")
        if kind == "handshake":
            send(
                {
                    "type": "handshake_ok",
                    "methods": [],
                    "hooks": [],
                    "completions": [],
                    "hook_config": rules()["hook_config"],
                }
            )
        elif kind == "terminate":
            return
        elif kind == "hook":
            log.write(json.dumps({k: message.get(k) for k in ("event", "data", "mode", "session_id")}) + "\n")
            answer, delay = answer_to(message)
            threading.Thread(target=later, args=(message, answer, delay)).start() if delay else later(
                message, answer, 0
            )


main()
