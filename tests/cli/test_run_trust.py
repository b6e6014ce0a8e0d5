"""A project's ``lectic.yaml`` and its hooks: approved once, by one command, they run from any directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conversation import HEAD, Stage, call

from hookline.cli import main
from hookline.llm.scripted import ModelServer

GUARD = HEAD + "  tools: [{exec: echo, name: say}]\nhooks:\n  - {on: tool_use_pre, do: local:./hooks/guard.sh}\n"


@pytest.fixture
def guarded(stage: Stage) -> Stage:
    (stage.place / "lectic.yaml").write_text(GUARD)
    (stage.place / "hooks").mkdir()
    (stage.place / "sub").mkdir()
    script = stage.place / "hooks" / "guard.sh"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    (stage.place / "t.lec").write_text("Hello\n")
    return stage


@pytest.mark.parametrize("approved_in", [".", "sub"])
@pytest.mark.parametrize("run_in", [".", "sub", ".."])
def test_an_approved_guard_refuses_from_any_directory(
    guarded: Stage, serve: Callable[..., ModelServer], approved_in: str, run_in: str
) -> None:
    guarded.monkeypatch.chdir(guarded.place / approved_in)
    assert main(["trust", "--yes"]) == 0
    guarded.monkeypatch.chdir(guarded.place / run_in)
    ran = guarded.run("-f", str(guarded.place / "t.lec"), server=serve(call("x"), {"text": "Done"}))
    assert (ran.code, "permission denied by hook" in ran.out, ran.err) == (0, True, "")


@pytest.mark.parametrize("run_in", [".", ".."])
def test_a_guard_that_was_never_approved_stops_the_run_and_names_the_command(
    guarded: Stage, serve: Callable[..., ModelServer], run_in: str
) -> None:
    guarded.monkeypatch.chdir(guarded.place / run_in)
    server = serve(call("x"))
    ran = guarded.run("-f", str(guarded.place / "t.lec"), server=server)
    assert (ran.code, server.requests) == (1, ())
    assert f"cd {guarded.place} && hookline trust" in ran.out


def test_trust_finds_the_files_of_every_dialect_and_says_what_each_is(guarded: Stage, tmp_path: Path) -> None:
    letta = guarded.place / ".letta"
    letta.mkdir()
    (letta / "settings.json").write_text(
        '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}}'
    )
    guarded.capsys.readouterr()
    assert main(["trust", "--yes"]) == 0
    out = guarded.capsys.readouterr().out
    assert f"lectic: {guarded.place}/lectic.yaml" in out
    assert f"letta: {guarded.place}/.letta/settings.json" in out
    assert "Approved 2 hooks. Approved 1 file besides hooks." in out
    assert main(["trust"]) == 0
    assert guarded.capsys.readouterr().out == "Nothing to approve: every hook here is trusted.\n"
