"""A desktop notification, the terminal's bell, and a POST to an ntfy-compatible URL: what there is of them."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request


def text(event):
    where = os.path.basename(event.get("cwd") or os.getcwd())
    message = event.get("message") or ("is done" if event.get("hook_event_name") == "Stop" else "waits for you")
    return f"{where}: {message}"[:300]


def quietly(words):
    try:
        subprocess.run(words, timeout=5, check=False, capture_output=True)
    except (OSError, subprocess.TimeoutExpired):
        pass


def main():
    event = json.load(sys.stdin)
    if event.get("stop_hook_active"):
        return
    message = text(event)
    if os.environ.get("NOTIFY_DESKTOP", "1") != "0":
        if shutil.which("notify-send"):
            quietly(["notify-send", "--", "Agent", message])
        elif shutil.which("osascript"):
            quietly(["osascript", "-e", "on run argv", "-e", 'display notification (item 1 of argv) with title "Agent"', "-e", "end run", message])
    if os.environ.get("NOTIFY_BELL", "1") != "0":
        try:
            with open("/dev/tty", "w", encoding="utf-8") as terminal:
                terminal.write("\a")
        except OSError:
            pass
    if url := os.environ.get("NTFY_URL"):
        headers = {"Authorization": f"Bearer {os.environ['NTFY_TOKEN']}"} if os.environ.get("NTFY_TOKEN") else {}
        request = urllib.request.Request(url, data=message.encode(), headers=headers)
        urllib.request.urlopen(request, timeout=10).close()


main()
