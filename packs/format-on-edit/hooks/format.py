"""Run the formatter that the project itself has set up, on the file that was edited; without one, do nothing."""

import json
import os
import shutil
import subprocess
import sys


def above(path, *names):
    """The nearest folder above the file that has one of these; "" if none does."""
    place = os.path.dirname(path)
    while True:
        if any(os.path.exists(os.path.join(place, name)) for name in names):
            return place
        if os.path.dirname(place) == place or os.path.exists(os.path.join(place, ".git")):
            return ""
        place = os.path.dirname(place)


def mentions(folder, file, word):
    try:
        with open(os.path.join(folder, file), encoding="utf-8") as text:
            return word in text.read()
    except OSError:
        return False


def find(path):
    """The command that formats this file here."""
    end = os.path.splitext(path)[1]
    if own := os.environ.get("FORMAT_COMMAND"):
        return [*own.split(), path]
    if end == ".py":
        root = above(path, "pyproject.toml", "ruff.toml", ".ruff.toml")
        if root and (os.path.exists(f"{root}/ruff.toml") or os.path.exists(f"{root}/.ruff.toml") or mentions(root, "pyproject.toml", "[tool.ruff")):
            return ["ruff", "format", "--quiet", path]
        if root and mentions(root, "pyproject.toml", "[tool.black"):
            return ["black", "--quiet", path]
    if end in {".js", ".jsx", ".ts", ".tsx", ".css", ".scss", ".html", ".json", ".md", ".yaml", ".yml", ".vue"}:
        if above(path, "biome.json", "biome.jsonc"):
            return ["biome", "format", "--write", path]
        root = above(path, ".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.js", "prettier.config.js", "prettier.config.mjs")
        root = root or (above(path, "package.json") if mentions(above(path, "package.json"), "package.json", '"prettier"') else "")
        if root:
            return ["prettier", "--write", "--log-level=warn", path]
    simple = {".go": ["gofmt", "-w"], ".rs": ["rustfmt", "--edition", "2021"], ".tf": ["terraform", "fmt"], ".zig": ["zig", "fmt"]}
    return [*simple[end], path] if end in simple else []


def program(name, path):
    """The project's own copy, then the one on PATH."""
    for folder in ("node_modules/.bin", ".venv/bin", "venv/bin"):
        root = above(path, f"{folder}/{name}")
        if root:
            return os.path.join(root, folder, name)
    return shutil.which(name)


def main():
    event = json.load(sys.stdin)
    given = event.get("tool_input") or {}
    path = os.path.join(event.get("cwd") or os.getcwd(), str(given.get("file_path") or ""))
    words = find(path) if os.path.isfile(path) else []
    found = program(words[0], path) if words else None
    if not found:
        return
    done = subprocess.run([found, *words[1:]], cwd=os.path.dirname(path), capture_output=True, text=True, timeout=25, check=False)
    if done.returncode:
        note = (done.stderr or done.stdout).strip()[-1000:]
        print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": f"{words[0]} cannot format {path}: {note}"}}))


main()
