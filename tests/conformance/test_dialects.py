"""Every dialect of the table does what every dialect must do."""

from __future__ import annotations

import json

import pytest

from hookline.dialects import DIALECTS, dialect_named
from hookline.dialects.base import Lookup
from hookline.testing import check_dialect
from hookline.testing.conformance import check_events, check_wire_face

_SETTINGS = json.dumps(
    {
        "hooks": {
            "PreToolUse": [
                {"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "./guard.sh --strict"}]},
                {"matcher": "*", "hooks": [{"type": "command", "command": "true"}]},
            ],
            "Stop": [{"hooks": [{"type": "command", "command": "./done.sh"}]}],
        }
    }
)

FILES = {
    "native": [
        '[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "Bash"\nrun = ["./guard", "--strict"]\ntimeout = 5\n',
        '[[hook]]\nname = "lint"\non = "PostToolUse"\nshell = "lint | tee log"\nmode = "background"\n',
        '[[hook]]\non = "Stop"\npython = "my.hooks:check"\non_failure = "deny"\nwhen = { min_turn = 2 }\n',
    ],
    "lectic": [
        "hooks:\n  - on: tool_use_pre\n    do: /bin/true\n",
        "hooks:\n  - name: note\n    on: [user_message, assistant_final]\n    inline: true\n    do: |\n      #!/bin/sh\n      echo hi\n",
    ],
    "letta": [_SETTINGS],
    "lazy": ['[hooks.session_start]\nscripts = ["context-inject"]\n'],
    "lash": ["[hooks]\nprocess.pre_spawn = blocking:/bin/true\ninput.submit = observe:/bin/cat, blocking:/bin/true\n"],
    "memex": ["[HOOKS]\npre_turn = note\n[HOOK.note]\nenabled = true\nmodel = haiku\nprompt = Say something short.\n"],
    "claude": [_SETTINGS],
    "codex": [_SETTINGS],
    "gemini": [_SETTINGS.replace("PreToolUse", "BeforeTool").replace("Stop", "AfterAgent")],
    "qwen": [_SETTINGS],
    "copilot": [
        '{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./guard.sh", "matcher": "bash|edit"}]}}',
        '{"hooks": {"Stop": [{"type": "command", "bash": "./done.sh", "timeoutSec": 5}]}}',
    ],
    "droid": [json.dumps(json.loads(_SETTINGS)["hooks"]), _SETTINGS],
    "kimi": ['[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash|Write"\ncommand = "./guard.sh"\ntimeout = 5\n'],
    "grok": [_SETTINGS],
    "hermes": ["hooks:\n  pre_tool_call:\n    - matcher: terminal\n      command: ./guard.sh\n      timeout: 5\n"],
    "deepagents": [_SETTINGS],
    "cursor": [
        '{"version": 1, "hooks": {"preToolUse": [{"command": "./guard.sh", "matcher": "Shell", "failClosed": true}]}}'
    ],
    "vscode": ['{"hooks": {"PreToolUse": [{"type": "command", "command": "./guard.sh", "timeout": 5}]}}'],
    "windsurf": ['{"hooks": {"pre_run_command": [{"command": "./guard.sh", "show_output": true}]}}'],
    "kiro": [
        """{"version": "v1", "hooks": [{"name": "g", "trigger": "PreToolUse", "matcher": "execute_bash",
        "action": {"type": "command", "command": "./guard.sh"}, "timeout": 5, "enabled": true}]}"""
    ],
    "antigravity": [
        """{"mine": {"enabled": true, "PreToolUse": [{"matcher": "run_command", "hooks": [{"type": "command", "command": "g"}]}],
        "Stop": [{"type": "command", "command": "done"}]}}"""
    ],
    "crush": ['{"hooks": {"PreToolUse": [{"name": "g", "matcher": "^bash$", "command": "./guard.sh", "timeout": 5}]}}'],
    "openhands": [_SETTINGS],
    "vibe": ['[[hooks]]\nname = "g"\ntype = "pre_tool"\nmatch = "bash"\ncommand = "./guard.sh"\nstrict = true\n'],
    "junie": [_SETTINGS],
}
#: Agents without hooks of their own.
PLUGINS = ("opencode", "pi", "cline", "amp")

LOOKUP = Lookup(
    cwd="/work",
    home="/home/ada",
    find=lambda hook: f"/hooks/{hook}.py",
    builtins={"context-inject": "hookline.core.builtin_hooks.context_inject:main"},
)


@pytest.mark.parametrize("name", PLUGINS)
def test_an_agent_without_hooks_of_its_own_is_understood_and_answered(name):
    check_events(dialect_named(name))
    check_wire_face(dialect_named(name), [])


@pytest.mark.parametrize("name", sorted({*DIALECTS} - {*PLUGINS}))
def test_a_dialect_does_what_every_dialect_must_do(name):
    check_dialect(dialect_named(name), FILES[name], LOOKUP)
