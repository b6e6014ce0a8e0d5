"""Programs that could not be started are told before their event comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hookline.core.hook import Command, Function, Plugin
from hookline.core.samples import hook_spec
from hookline.engine.lint import program_problems

PATH = {"PATH": "/usr/bin:/bin"}


def findings(tmp_path: Path, action: Any, **fields: Any) -> list[str]:
    found = program_problems([hook_spec("guard", action=action, **fields)], str(tmp_path), PATH)
    assert all(one.severity == "warning" for one in found)
    return [one.finding for one in found]


def argv(*words: str, base: str = "") -> Command:
    return Command(form="argv", argv=words, base=base)


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, argv("./gone.sh", base=str(tmp_path)))
    assert "'guard' cannot run: './gone.sh' does not exist" in finding
    (finding,) = findings(tmp_path, argv("no-such-program-anywhere"))
    assert "was not found in PATH" in finding
    (finding,) = findings(tmp_path, argv("/no/such/program"))
    assert "does not exist" in finding


def test_a_program_without_the_permission_is_told_with_the_command_that_gives_it(tmp_path: Path) -> None:
    script = tmp_path / "guard.sh"
    script.write_text("#!/bin/sh\n")
    (problem,) = program_problems([hook_spec("guard", action=argv("./guard.sh"))], str(tmp_path), PATH)
    assert problem.finding.endswith(f"{script} is not executable")
    assert problem.fix == f"run: chmod +x {script}"
    script.chmod(0o755)
    assert program_problems([hook_spec("guard", action=argv("./guard.sh"))], str(tmp_path), PATH) == []


def test_what_a_shell_is_given_and_what_is_off_is_left_alone(tmp_path: Path) -> None:
    assert findings(tmp_path, Command(form="shell", text="no-such-program-anywhere")) == []
    assert findings(tmp_path, argv("/no/such/program"), enabled=False) == []
    assert findings(tmp_path, argv("sh", "-c", "true")) == []


def test_plugins_are_programs_too_and_a_directory_is_none(tmp_path: Path) -> None:
    assert len(findings(tmp_path, Plugin(name="p", path="/no/such/plugin"))) == 1
    (finding,) = findings(tmp_path, argv("./"))
    assert "is not a file" in finding


def test_a_hook_of_several_events_is_told_once(tmp_path: Path) -> None:
    both = [hook_spec("guard", action=argv("/no/such"), event=event) for event in ("PreToolUse", "Stop")]
    assert len(program_problems(both, str(tmp_path), PATH)) == 1


def test_a_module_that_is_not_there_is_told_and_none_is_imported(tmp_path: Path) -> None:
    (tmp_path / "guards").mkdir()
    (tmp_path / "guards" / "loud.py").write_text("raise SystemExit('imported')\n")
    (finding,) = findings(tmp_path, Function(target="nomod:fn", base=str(tmp_path)))
    assert f"'guard' cannot run: there is no module 'nomod' in {tmp_path} or on Python's path" in finding
    assert len(findings(tmp_path, Function(target="guards.gone:fn", base=str(tmp_path)))) == 1
    assert len(findings(tmp_path, Function(target="json.gone:fn"))) == 1
    assert len(findings(tmp_path, Function(target="json.decoder.gone:fn"))) == 1
    for good in ("guards.loud:fn", "json:loads", "json.decoder:JSONDecoder", "sys:exit"):
        assert findings(tmp_path, Function(target=good, base=str(tmp_path))) == []
