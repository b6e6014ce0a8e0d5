"""What is wrong with a registration is named, with the command that mends it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline.core._dataclass import replace
from hookline.core.agents import all_agents
from hookline.deploy.apply import DeployedFile, plan_deployment
from hookline.deploy.installed import find_other_registrations, find_registrations
from hookline.deploy.plugin import plugin_source
from hookline.deploy.registration import EntryCaller, registrations
from hookline.deploy.requirements import SCOPES
from hookline.deploy.status import RegistrationStatus, duplicate_registrations, registration_status

NEEDS = ("PreToolUse", "Stop")


@pytest.fixture
def program(tmp_path: Path) -> str:
    file = tmp_path / "bin" / "hookline"
    file.parent.mkdir()
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return str(file)


def put(agent: str, file: Path, program: str, needs: Any = NEEDS) -> Any:
    """What is planned for this file; written at once."""
    target = all_agents()[agent]
    caller = EntryCaller(program=program)
    wanted = plugin_source(target, caller, needs) if target.form == "plugin" else registrations(target, caller, needs)
    one = plan_deployment(str(file), target, wanted)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(one.after or "")
    return plan_deployment(str(file), target, wanted)


def again(agent: str, file: Path, program: str, needs: Any) -> Any:
    target = all_agents()[agent]
    caller = EntryCaller(program=program)
    wanted = plugin_source(target, caller, needs) if target.form == "plugin" else registrations(target, caller, needs)
    return plan_deployment(str(file), target, wanted)


FILES = {"claude-code": "settings.json", "copilot-cli": "hookline.json", "opencode": "hookline.js"}


@pytest.mark.parametrize("agent", FILES)
def test_nothing_is_said_of_what_is_as_it_should_be(agent: str, tmp_path: Path, program: str) -> None:
    one = registration_status(all_agents()[agent], "user", put(agent, tmp_path / FILES[agent], program))
    assert (one.state, one.findings, one.also) == ("deployed", (), ())
    assert len(one.events) == 2


@pytest.mark.parametrize("agent", FILES)
def test_an_old_entry_that_lets_the_call_go_on_is_told(agent: str, tmp_path: Path, program: str) -> None:
    file = tmp_path / FILES[agent]
    put(agent, file, program)
    old = (
        file.read_text()
        .replace("--on-failure deny", "--deadline 60")
        .replace('"tool.execute.before": true', '"tool.execute.before": [60, false]')
    )
    file.write_text(old)
    (missing,) = registration_status(all_agents()[agent], "user", again(agent, file, program, NEEDS)).findings
    assert "must not be skipped" in missing


def test_a_program_that_deploying_again_would_replace_is_told(tmp_path: Path, program: str) -> None:
    file = tmp_path / "settings.json"
    put("claude-code", file, program)
    (told,) = registration_status(
        all_agents()["claude-code"], "user", again("claude-code", file, str(tmp_path / "new" / "hookline"), NEEDS)
    ).findings
    assert "starts a program that hookline deploy replaces now" in told


def test_events_that_are_missing_or_needless_are_told(tmp_path: Path, program: str) -> None:
    file = tmp_path / "settings.json"
    put("claude-code", file, program, NEEDS[:1])
    (more,) = registration_status(
        all_agents()["claude-code"], "user", again("claude-code", file, program, NEEDS)
    ).findings
    assert "Stop is not registered" in more
    put("claude-code", file, program)
    (less,) = registration_status(
        all_agents()["claude-code"], "user", again("claude-code", file, program, NEEDS[:1])
    ).findings
    assert "Stop is registered, but no hook needs it" in less


def test_a_program_that_is_gone_is_told(tmp_path: Path, program: str) -> None:
    one = put("claude-code", tmp_path / "settings.json", program)
    Path(program).unlink()
    (finding,) = registration_status(all_agents()["claude-code"], "user", one).findings
    assert finding.startswith(f"{program} does not exist")


def kept(**fields: Any) -> DeployedFile:
    return replace(
        DeployedFile(agent="claude-code", scope="user", before=None, digest="", hookline=hookline.__version__), **fields
    )


def test_a_version_that_has_changed_is_told(tmp_path: Path, program: str) -> None:
    one, target = put("claude-code", tmp_path / "settings.json", program), all_agents()["claude-code"]
    assert registration_status(target, "user", one, kept(version="2.0.0"), "2.0.0").findings == ()
    assert registration_status(target, "user", one, kept(version="2.0.0"), "").findings == ()
    (theirs,) = registration_status(target, "user", one, kept(version="2.0.0"), "2.1.0").findings
    assert "was 2.0.0 when hookline was registered and is 2.1.0 now" in theirs
    (ours,) = registration_status(target, "user", one, kept(hookline="0.0.1")).findings
    assert "was registered by hookline 0.0.1" in ours


def test_what_somebody_else_has_taken_out_is_told(tmp_path: Path, program: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    target = all_agents()["claude-code"]
    assert registration_status(target, "user", again("claude-code", file, program, NEEDS)).findings == ()
    (finding,) = registration_status(target, "user", again("claude-code", file, program, NEEDS), kept()).findings
    assert "was removed from it" in finding


def test_hooks_inside_codex_own_configuration_are_seen(tmp_path: Path, program: str) -> None:
    line = f"{program} hook --agent codex --event PreToolUse"
    (tmp_path / "config.toml").write_text(
        'model = "x"\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\n'
        f'command = "{line}"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "./mine.sh"\n[hooks.state."k"]\nenabled = true\n'
    )
    file = tmp_path / "hooks.json"
    (found,) = find_other_registrations(all_agents()["codex"], str(file))
    assert (found.event, found.command) == ("PreToolUse", line)
    one = registration_status(all_agents()["codex"], "user", put("codex", file, program))
    assert one.also == (str(tmp_path / "config.toml"),)
    (twice,) = duplicate_registrations([one])
    assert "config.toml too: every event arrives twice" in twice


def test_every_file_in_copilots_directory_counts(tmp_path: Path, program: str) -> None:
    put("copilot-cli", tmp_path / "hooks" / "copy.json", program)
    (tmp_path / "hooks" / "broken.json").write_text("{")
    one = registration_status(
        all_agents()["copilot-cli"], "user", put("copilot-cli", tmp_path / "hooks" / "hookline.json", program)
    )
    assert one.also == (str(tmp_path / "hooks" / "copy.json"),)


def test_the_same_event_twice_in_one_file_is_told(tmp_path: Path, program: str) -> None:
    file = tmp_path / "settings.json"
    put("claude-code", file, program)
    text = file.read_text()
    entry = text[text.index("[", text.index('"Stop"')) + 1 : text.rindex("]")]
    file.write_text(text[: text.rindex("]")].rstrip() + "," + entry.rstrip() + "\n]" + text[text.rindex("]") + 1 :])
    assert len(find_registrations(str(file))) == 3
    findings = registration_status(
        all_agents()["claude-code"], "user", again("claude-code", file, program, NEEDS)
    ).findings
    assert any("Stop is registered twice in one file" in finding for finding in findings)


def test_lazy_harness_beside_us_is_told(tmp_path: Path, program: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "lh hook session-export"}]}]}}')
    (finding,) = registration_status(all_agents()["claude-code"], "user", put("claude-code", file, program)).findings
    assert "they run twice" in finding


def test_two_scopes_of_one_agent_are_told_with_the_way_out() -> None:
    both = [
        RegistrationStatus(agent="codex", scope=scope, path=f"/{scope}", state="deployed", events=("Stop",))
        for scope in SCOPES[:2]
    ]
    (line,) = duplicate_registrations(both)
    assert line.endswith("hookline undeploy --agent codex --scope project")
