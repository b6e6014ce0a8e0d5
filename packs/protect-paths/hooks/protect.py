"""Refuse changes of protected paths, by any tool. Paths that cannot be read as words count as their text."""

import fnmatch
import json
import os
import re
import shlex
import sys

DEFAULT = ".env .env.* *.pem *.key id_rsa* id_ed25519* .git/** .github/workflows/** *.lock package-lock.json"
CHANGES = re.compile(
    r"(?:^|[;&|(\s])(?:rm|mv|cp|tee|dd|truncate|shred|sed\s+-i\S*|perl\s+-\S*i\S*|install|ln|chmod|chown|touch|unlink|rmdir|git\s+(?:rm|mv|checkout|restore|clean))\b|>"
)


def patterns():
    return os.environ.get("PROTECT_PATHS", DEFAULT).split()


def hit(path, cwd):
    whole = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    near = os.path.relpath(whole, cwd)
    parts = near.split("/")
    for pattern in patterns():
        base = pattern.removesuffix("/**")
        inner = ["/".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)]
        if base != pattern and any(fnmatch.fnmatch(one, base) for one in inner):
            return pattern
        if fnmatch.fnmatch(near, pattern) or fnmatch.fnmatch(os.path.basename(whole), pattern) or fnmatch.fnmatch(whole, os.path.expanduser(pattern)):
            return pattern
    return ""


def words(command):
    try:
        found = shlex.split(command, comments=False)
    except ValueError:
        found = command.split()
    return [part for word in found for part in re.split(r"[>=|;&()]+", word) if part]


def main():
    event = json.load(sys.stdin)
    given, cwd = event.get("tool_input") or {}, event.get("cwd") or os.getcwd()
    if event.get("tool_name") == "Bash":
        command = str(given.get("command", ""))
        paths = words(command) if CHANGES.search(command) else []
    else:
        paths = [str(given[key]) for key in ("file_path", "notebook_path", "path") if given.get(key)]
    for path in paths:
        if pattern := hit(path, cwd):
            print(f"{path} is protected ({pattern}); ask the person to change it.", file=sys.stderr)
            sys.exit(2)


main()
