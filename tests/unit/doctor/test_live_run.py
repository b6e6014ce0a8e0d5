"""The doctor's offline run: a registration as it is, but with the files of a temporary home."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.core.agents import AGENTS
from hookline.deploy.offline import RECIPES
from hookline.deploy.requirements import AgentFile
from hookline.doctor.live_run import _prepare_home

ENTRY = '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "LINE"}]}]}}'
LINE = "/opt/hookline hook --agent claude-code --event PreToolUse --registration user/claude-code --home /h/me --config-dir '/h/my files/hookline' --state-dir /h/me/.local/state/hookline"
PLUGIN = 'const DIRECTORIES = ["--home", "/h/me", "--state-dir", "/h/me/.local/state/hookline"]\n'


@pytest.mark.parametrize(("agent", "text"), [("claude-code", ENTRY.replace("LINE", LINE)), ("opencode", PLUGIN)])
def test_a_registration_is_run_with_the_files_of_the_temporary_home(tmp_path: Path, agent: str, text: str) -> None:
    mine = tmp_path / "mine"
    mine.write_text(text, encoding="utf-8")
    home = tmp_path / "home"
    row = AGENTS[agent]
    aim = AgentFile(agent=row, scope="user", path=str(mine))
    _prepare_home(aim, RECIPES[agent], str(home), str(tmp_path / "project"))
    copy = (home / row.files["user"]).read_text(encoding="utf-8")
    assert "/h/" not in copy
    assert f"{home}/.local/state/hookline" in copy
    assert ("/opt/hookline hook" in copy) == ("/opt/hookline" in text)
