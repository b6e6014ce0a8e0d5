#!/usr/bin/env python3
"""lazy-harness: a payload on stdin, an object on stdout, exit code 0, always."""

import json
import sys

json.load(sys.stdin)
context = "You are on branch demo; the last session left no handoff."
print(json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}}))
