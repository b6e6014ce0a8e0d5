"""The files of a new pack: a guard that works, a case that proves it, and what Claude Code's marketplaces want."""

from __future__ import annotations

import json
from typing import Any

_GUARD = """#!/bin/sh
# The event is JSON on stdin. Exit code 2 refuses the call, and stderr is the reason.
input=$(cat)
case $input in
  *"git push --force"*)
    echo "A force push rewrites what others have. Push without --force." >&2
    exit 2 ;;
esac
"""


def skeleton(name: str) -> dict[str, tuple[str, bool]]:
    """Path -> text and whether it is a program."""
    about = "Refuses git push --force."
    hook = {"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh"', "timeout": 10}
    refused = {
        "event": "PreToolUse",
        "data": {"tool_name": "Bash", "tool_input": {"command": "git push --force"}},
        "expect": {"effect": "deny", "reason": "force push"},
    }
    passes = {
        "event": "PreToolUse",
        "data": {"tool_name": "Bash", "tool_input": {"command": "git push"}},
        "expect": {"effect": "allow"},
    }
    readme = f"# {name}\n\n{about}\n\n```sh\nhookline add github:OWNER/{name}\n```\n\nIn Claude Code: `/plugin marketplace add OWNER/{name}`, then `/plugin install {name}@{name}`.\n"
    return {
        ".claude-plugin/plugin.json": (_text({"name": name, "version": "0.1.0", "description": about}), False),
        ".claude-plugin/marketplace.json": (_text({"name": name, "owner": {"name": "OWNER"}, "plugins": [{"name": name, "source": "./", "description": about}]}), False),
        "hooks/hooks.json": (_text({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}), False),
        "hooks/guard.sh": (_GUARD, True),
        "cases/refused.json": (_text(refused), False),
        "cases/passes.json": (_text(passes), False),
        "README.md": (readme, False),
    }  # fmt: skip


def _text(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"
