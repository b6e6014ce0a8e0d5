"""Refuse prompts, files, commands and commits that carry a secret; redact it in what a tool gives to the model."""

import json
import os
import re
import subprocess
import sys

SHAPES = {
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}\b",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a Slack token": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "an API key": r"\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{24,}|\bAIza[0-9A-Za-z_-]{35}",
    "a Stripe key": r"\b[rs]k_live_[0-9a-zA-Z]{20,}",
    "an npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "a token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "a password in a URL": r"\b[a-z][a-z0-9+.-]*://[^\s:/@]{1,64}:[^\s:/@$<{*]{6,}@",
}
ALL = {name: re.compile(shape) for name, shape in SHAPES.items()}
if extra := os.environ.get("SECRETS_PATTERN"):
    ALL["a secret of yours"] = re.compile(extra)
COMMIT = re.compile(r"\bgit\b[^;&|]*?\s(?:commit|push)\b")


def find(text):
    return next((name for name, shape in ALL.items() if shape.search(text)), "")


def redact(value):
    if isinstance(value, str):
        for name, shape in ALL.items():
            value = shape.sub(f"[{name} was removed]", value)
        return value
    if isinstance(value, list):
        return [redact(one) for one in value]
    return {key: redact(one) for key, one in value.items()} if isinstance(value, dict) else value


def staged(cwd):
    words = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "diff", "--no-ext-diff", "--no-textconv", "-U0", "HEAD"]
    done = subprocess.run(words, cwd=cwd, capture_output=True, timeout=15, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()
    return "\n".join(line[1:] for line in lines if line.startswith("+") and not line.startswith("+++"))


def refuse(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def main():
    event = json.load(sys.stdin)
    kind, cwd = event.get("hook_event_name"), event.get("cwd") or os.getcwd()
    if kind == "UserPromptSubmit":
        if name := find(str(event.get("prompt", ""))):
            refuse(f"The prompt carries {name}; take it out before it is sent.")
        return
    if kind == "PostToolUse":
        answer = event.get("tool_response")
        if name := find(json.dumps(answer, ensure_ascii=False)):
            clean = redact(answer)
            out = {"hookEventName": "PostToolUse", "updatedToolOutput": clean, "additionalContext": f"{name} was in the output of this tool; do not repeat it."}
            print(json.dumps({"hookSpecificOutput": out}))
        return
    given = event.get("tool_input") or {}
    if name := find(json.dumps(given, ensure_ascii=False)):
        refuse(f"The call carries {name}; use a variable or a file that is not committed.")
    if event.get("tool_name") == "Bash" and COMMIT.search(str(given.get("command", ""))) and os.path.isdir(cwd):
        if name := find(staged(cwd)):
            refuse(f"The commit would carry {name}; take it out first (git diff HEAD shows it).")


main()
