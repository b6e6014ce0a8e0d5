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
}

LOOKUP = Lookup(
    cwd="/work",
    home="/home/ada",
    find=lambda hook: f"/hooks/{hook}.py",
    builtins={"context-inject": "hookline.core.builtin_hooks.context_inject:main"},
)


def test_an_agent_without_hooks_of_its_own_is_understood_and_answered():
    check_events(dialect_named("opencode"))
    check_wire_face(dialect_named("opencode"), [])


@pytest.mark.parametrize("name", sorted({*DIALECTS} - {"opencode"}))
def test_a_dialect_does_what_every_dialect_must_do(name):
    check_dialect(dialect_named(name), FILES[name], LOOKUP)
