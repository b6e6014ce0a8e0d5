"""One JSON line for each event, with secrets removed and a chain of digests, so that a missing line shows."""

import fcntl
import hashlib
import json
import os
import re
import sys
import time

SECRET = re.compile(r"(?i)((?:token|secret|password|api[_-]?key|authorization)[\"']?\s*[:=]\s*[\"']?)[^\s\"',}]{6,}|\b(?:gh[pousr]_|sk-|xox[abprs]-|AKIA|glpat-)[\w-]{10,}")
LONGEST = 2000


def clean(value):
    if isinstance(value, str):
        text = SECRET.sub(lambda found: f"{found[1] or ''}[removed]", value)
        return text if len(text) <= LONGEST else f"{text[:LONGEST]} […]"
    if isinstance(value, dict):
        return {key: clean(one) for key, one in value.items()}
    return [clean(one) for one in value] if isinstance(value, list) else value


def main():
    event = json.load(sys.stdin)
    fields = ("session_id", "cwd", "prompt", "tool_name", "tool_input", "tool_response", "source", "reason")
    row = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "event": event.get("hook_event_name")}
    row |= {name: clean(event[name]) for name in fields if event.get(name) is not None}
    path = os.path.expanduser(os.environ.get("AUDIT_LOG") or os.path.join(os.environ["CLAUDE_PLUGIN_DATA"], "audit.jsonl"))
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 65536, 0))
        last = (file.read().splitlines() or [""])[-1]
        row["before"] = hashlib.sha256(last.encode()).hexdigest()[:16]
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


main()
