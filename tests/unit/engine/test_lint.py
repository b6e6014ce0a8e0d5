"""Programs that could not be started are told before their event comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.core.hook import Command, Function, Plugin
from hookline.core.samples import hook_spec
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.native import DIALECT
from hookline.engine.lint import program_problems
from hookline.engine.lint_matchers import find_changes_of_meaning

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


@pytest.mark.parametrize(
    "word", ["&&", "|", ";", "2>&1", ">", "~/guard.py", "$HOME/guard.py", "${CLAUDE_PROJECT_DIR}/x"]
)
def test_what_only_a_shell_understands_is_told_of_a_run(tmp_path: Path, word: str) -> None:
    (finding, *_) = findings(tmp_path, argv("true", word, "x"))
    assert f"{word!r} means something to a shell only" in finding


def test_words_that_a_program_may_be_given_are_left_alone(tmp_path: Path) -> None:
    assert findings(tmp_path, argv("grep", "-q", "a|b", "$x", "a;b", "--to=~/x")) == []


def test_a_program_at_home_is_told_with_the_way_to_write_it(tmp_path: Path) -> None:
    (problem,) = program_problems([hook_spec("guard", action=argv("~/guard.sh"))], str(tmp_path), PATH)
    assert problem.fix == 'write its full path, or shell = "…", where it is expanded'


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


def script(path: Path, text: bytes, *, mode: int = 0o755) -> Path:
    path.write_bytes(text)
    path.chmod(mode)
    return path


def test_a_script_that_the_system_cannot_start_is_told(tmp_path: Path) -> None:
    script(tmp_path / "crlf.sh", b"#!/bin/sh\r\nexit 2\r\n")
    (problem,) = program_problems([hook_spec("guard", action=argv("./crlf.sh"))], str(tmp_path), PATH)
    assert problem.finding.endswith("crlf.sh has lines that end with CRLF")
    assert problem.fix == f"save it with LF: sed -i 's/\\r$//' {tmp_path}/crlf.sh"
    script(tmp_path / "bare.py", b"import sys\n")
    (finding,) = findings(tmp_path, argv("./bare.py"))
    assert finding.endswith("bare.py has no '#!' line")
    script(tmp_path / "odd.py", b"#!/usr/bin/env python99\n")
    (finding,) = findings(tmp_path, argv("./odd.py"))
    assert finding.endswith("needs the interpreter 'python99', which is not there")
    script(tmp_path / "good.sh", b"#!/usr/bin/env -S sh -e\n")
    assert findings(tmp_path, argv("./good.sh")) == []


def test_the_script_of_an_interpreter_is_looked_for(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, argv("sh", "hooks/gone.sh"))
    assert finding.endswith(f"{tmp_path}/hooks/gone.sh does not exist")
    script(tmp_path / "crlf.sh", b"exit 2\r\n", mode=0o644)
    (finding,) = findings(tmp_path, argv("/bin/sh", "crlf.sh"))
    assert finding.endswith("has lines that end with CRLF")


def test_the_programs_of_other_systems_lines_are_looked_for(tmp_path: Path) -> None:
    def of_line(text: str) -> list[str]:
        return findings(tmp_path, Command(form="shell", text=text), dialect="claude")

    (finding,) = of_line('"$CLAUDE_PROJECT_DIR"/hooks/gone.sh --fast')
    assert f"'{tmp_path}/hooks/gone.sh' does not exist" in finding
    (finding,) = of_line("no-such-program-anywhere x | cat")
    assert "was not found in PATH" in finding
    (finding,) = of_line("python3 ./gone.py")
    assert finding.endswith("gone.py does not exist")
    script(tmp_path / "plain.sh", b"#!/bin/sh\n", mode=0o644)
    (finding,) = of_line("./plain.sh")
    assert finding.endswith("plain.sh is not executable")
    script(tmp_path / "bare.sh", b"exit 2\n")
    for harmless in (
        "./bare.sh",
        "cd x && echo ok",
        "[ -f x ] || exit 0",
        "f() { g; }; f",
        "$HOOK x",
        "jq -r .x 2>/dev/null",
    ):
        assert of_line(harmless) == [] or "jq" in harmless


def test_a_hook_whose_meaning_has_changed_is_named() -> None:
    tree = {
        "hook": [
            {"name": "old", "on": "PreToolUse", "run": "x", "match": {"tool_input.command": "rm .*"}},
            {
                "name": "said",
                "on": "PreToolUse",
                "run": "x",
                "on_failure": "deny",
                "match": {"tool_input.command": ".*rm.*"},
            },
            {"name": "text", "on": "PreToolUse", "run": "x", "inject": "context"},
            {"name": "late", "on": "PostToolUse", "run": "x"},
        ]
    }
    layer = Layer(path="/f.toml", name="user", syntax="toml", text="", tree=tree)
    found = find_changes_of_meaning(DIALECT.parse([layer], Lookup()).specs)
    assert [(one.severity, one.pointer) for one in found] == [
        ("note", "$.hook[0]"), ("note", "$.hook[0].match.tool_input.command"),
    ]  # fmt: skip
    assert ["earlier versions" in one.finding for one in found] == [True, True]
