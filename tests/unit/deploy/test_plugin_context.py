"""OpenCode's plugin tells the model what hooks say beside the prompt: what the person typed stays what it was."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.e2e import install

from hookline.core.agents import all_agents
from hookline.deploy.plugin import plugin_source
from hookline.deploy.registration import EntryCaller

PART = {"type": "text", "text": "mend the roof", "id": "prt_1", "messageID": "msg_1", "sessionID": "ses_1"}


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart"])
def test_context_is_a_part_of_its_own_that_nobody_typed(tmp_path: Path, event: str) -> None:
    javascript = install.program("node") or shutil.which("node")
    if javascript is None:
        pytest.skip("there is no node")
    program = tmp_path / "hookline"
    program.write_text('#!/bin/sh\necho \'{"context": "NOTE"}\'\n')
    program.chmod(0o700)
    source = plugin_source(all_agents()["opencode"], EntryCaller(program=str(program)), (event,))
    (tmp_path / "plugin.mjs").write_text(source)
    (tmp_path / "drive.mjs").write_text(
        'import { Hookline } from "./plugin.mjs"\n'
        f"const hooks = await Hookline({{ directory: {json.dumps(str(tmp_path))} }})\n"
        f"const output = {{ message: {{}}, parts: [{json.dumps(PART)}] }}\n"
        'await hooks.event({ event: { type: "session.created", properties: { sessionID: "ses_1" } } })\n'
        'await hooks["chat.message"]({ sessionID: "ses_1" }, output)\n'
        "console.log(JSON.stringify(output.parts))\n"
    )
    around = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "XDG_RUNTIME_DIR": str(tmp_path),
        "HOOKLINE_DAEMON": "off",
    }
    done = subprocess.run(
        [javascript, tmp_path / "drive.mjs"], env=around, capture_output=True, text=True, check=True, timeout=30
    )
    typed, told = json.loads(done.stdout)
    assert typed == PART
    assert told == {**PART, "id": "prt_1h", "text": "NOTE", "synthetic": True}
