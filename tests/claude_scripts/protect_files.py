#!/usr/bin/env python3
"""Keep the agent away from files that hold secrets or are generated."""
import json
import sys

PROTECTED = [".env", "package-lock.json", "/.git/"]

data = json.load(sys.stdin)
path = data.get("tool_input", {}).get("file_path", "")
for name in PROTECTED:
    if path.endswith("/" + name) or name in path:
        print(f"{path} is protected", file=sys.stderr)
        sys.exit(2)
sys.exit(0)
