"""Keep the head and the tail of a long output, and say where the whole of it is."""

import json
import os
import sys
import tempfile

MOST = int(os.environ.get("BIG_OUTPUT", "30000"))


def shorten(value, kept):
    if isinstance(value, str) and len(value) > MOST:
        with tempfile.NamedTemporaryFile("w", suffix=".txt", prefix="output-", dir=os.environ["CLAUDE_PLUGIN_DATA"], delete=False, encoding="utf-8") as file:
            file.write(value)
        kept.append(file.name)
        half = MOST // 2
        return f"{value[:half]}\n[… {len(value) - 2 * half} characters left out; the whole output is in {file.name} …]\n{value[-half:]}"
    if isinstance(value, dict):
        return {key: shorten(one, kept) for key, one in value.items()}
    return [shorten(one, kept) for one in value] if isinstance(value, list) else value


def tidy():
    """Only the latest outputs are kept."""
    folder = os.environ["CLAUDE_PLUGIN_DATA"]
    names = sorted((name for name in os.listdir(folder) if name.startswith("output-")), key=lambda name: os.stat(os.path.join(folder, name)).st_mtime)
    for name in names[:-50]:
        os.unlink(os.path.join(folder, name))


def main():
    event = json.load(sys.stdin)
    kept = []
    short = shorten(event.get("tool_response"), kept)
    if kept:
        print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": short}}))
        tidy()


main()
