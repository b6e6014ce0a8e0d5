"""Refuse `git commit -m` whose subject is too long, empty or not of the wanted form."""

import json
import os
import re
import shlex
import sys

LONGEST = int(os.environ.get("COMMIT_SUBJECT_MAX", "72"))
FORM = os.environ.get("COMMIT_PATTERN", "")
FORBIDDEN = os.environ.get("COMMIT_FORBIDDEN", r"Co-Authored-By: .*(?:Claude|Codex|Copilot|Gemini)|Generated with")


def messages(command):
    try:
        words = shlex.split(command, posix=True)
    except ValueError:
        return []
    if not re.search(r"\bgit\b[^;&|]*\bcommit\b", command):
        return []
    found = []
    for number, word in enumerate(words):
        if re.fullmatch(r"-[a-zA-Z]*m", word) or word == "--message":
            found += words[number + 1 : number + 2]
        elif word.startswith("--message="):
            found.append(word.partition("=")[2])
    return found


def main():
    event = json.load(sys.stdin)
    found = messages(str((event.get("tool_input") or {}).get("command", "")))
    if not found or "$(" in found[0]:
        return
    subject, wrong = found[0].splitlines()[0] if found[0] else "", ""
    if not subject.strip():
        wrong = "it is empty"
    elif len(subject) > LONGEST:
        wrong = f"its subject has {len(subject)} characters, and {LONGEST} is the limit"
    elif subject.endswith("."):
        wrong = "its subject ends with a full stop"
    elif FORM and not re.search(FORM, subject):
        wrong = f"its subject does not match {FORM}"
    elif FORBIDDEN and re.search(FORBIDDEN, "\n".join(found), re.IGNORECASE):
        wrong = "it has a line that is not wanted: " + re.search(FORBIDDEN, "\n".join(found), re.IGNORECASE)[0]
    if wrong:
        print(f"The commit message is refused: {wrong}.", file=sys.stderr)
        sys.exit(2)


main()
