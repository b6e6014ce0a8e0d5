"""Refuse work on protected branches: commits, merges, pushes, and edits if BRANCH_GUARD_EDITS is 1."""

import fnmatch
import json
import os
import re
import subprocess
import sys

PROTECTED = os.environ.get("BRANCH_GUARD", "main master release/*").split()
COMMITS = re.compile(r"\bgit\b[^;&|]*?\s(commit|merge|rebase|cherry-pick|revert|am|reset)\b")
PUSH = re.compile(r"\bgit\b[^;&|]*?\spush\b([^;&|]*)")


def branch(cwd):
    done = subprocess.run(["git", "-c", "core.fsmonitor=false", "symbolic-ref", "--short", "-q", "HEAD"], cwd=cwd, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def protected(name):
    return any(fnmatch.fnmatch(name, pattern) for pattern in PROTECTED)


def refuse(text):
    print(f"{text} Make a branch first: git switch -c NAME", file=sys.stderr)
    sys.exit(2)


def main():
    event = json.load(sys.stdin)
    cwd = event.get("cwd") or os.getcwd()
    here = branch(cwd) if os.path.isdir(cwd) else ""
    command = str((event.get("tool_input") or {}).get("command", ""))
    if event.get("tool_name") != "Bash":
        if os.environ.get("BRANCH_GUARD_EDITS") == "1" and here and protected(here):
            refuse(f"{here} is protected, so files are not edited on it.")
        return
    if (found := COMMITS.search(command)) and here and protected(here) and not re.search(r"\bgit\s+(?:switch|checkout)\s+-", command):
        refuse(f"{here} is protected: no {found[1]} on it.")
    if found := PUSH.search(command):
        named = [word.rpartition(":")[2].removeprefix("refs/heads/").lstrip("+") for word in found[1].split() if not word.startswith("-")][1:]
        for name in named or ([here] if here else []):
            if protected(here if name == "HEAD" else name):
                refuse(f"{name} is protected: no push to it.")


main()
