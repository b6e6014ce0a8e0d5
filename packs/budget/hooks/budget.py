"""Count the calls, minutes and tokens of a session, and refuse every further call when the budget is used up."""

import fcntl
import json
import os
import sys
import time


def number(name):
    try:
        return float(os.environ.get(name, "0"))
    except ValueError:
        print(f"{name} is no number, so the budget cannot be kept.", file=sys.stderr)
        sys.exit(2)


def tokens(path):
    """Of the transcript, where it says so."""
    total = 0
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if '"usage"' in line:
                    try:
                        usage = json.loads(line).get("message", {}).get("usage", {})
                        total += int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))
                    except (ValueError, AttributeError, TypeError):
                        continue
    except OSError:
        return 0
    return total


def main():
    event = json.load(sys.stdin)
    calls, minutes, most = number("BUDGET_CALLS"), number("BUDGET_MINUTES"), number("BUDGET_TOKENS")
    if not (calls or minutes or most):
        calls = 200
    session = "".join(one for one in str(event.get("session_id") or "none") if one.isalnum() or one == "-")[:80]
    with open(os.path.join(os.environ["CLAUDE_PLUGIN_DATA"], f"{session}.json"), "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        try:
            state = json.loads(file.read())
        except ValueError:
            state = {"began": time.time(), "calls": 0}
        state["calls"] += 1
        file.seek(0)
        file.truncate()
        json.dump(state, file)
    passed = (time.time() - state["began"]) / 60
    used = tokens(str(event.get("transcript_path") or "")) if most else 0
    for limit, value, unit in ((calls, state["calls"] - 1, "tool calls"), (minutes, passed, "minutes"), (most, used, "tokens")):
        if limit and value >= limit:
            print(f"The budget of this session is used up: {limit:g} {unit}. Stop, and say what is done and what is left.", file=sys.stderr)
            sys.exit(2)


main()
