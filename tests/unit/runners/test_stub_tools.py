"""The program that stands in for lectic in hooks, and steps back where there is a real one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.core.result import Decision
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.runners.stub_tools import path_with_stubs

HOOK = "hooks:\n  - on: tool_use_pre\n    do: lectic editor approve --title x --timeout 1s\n"


def fire(folder: Path, path: str) -> Decision:
    (folder / "lectic.yaml").write_text(HOOK)
    environ = {"PATH": path, "HOME": str(folder)}
    assembly = load_runtime(
        Sources(cwd=folder, config=[folder / "lectic.yaml"], dialect="lectic", environ=environ), READ_ONLY
    )
    with assembly.engine as engine:
        return engine.fire_sync("PreToolUse", tool_name="Bash", tool_input={})


def test_a_hook_without_lectic_reaches_hookline(tmp_path: Path) -> None:
    decision = fire(tmp_path, "/usr/bin:/bin")
    assert decision.effect == "deny"
    assert "nobody" in decision.reason


def test_a_real_lectic_wins(tmp_path: Path) -> None:
    real = tmp_path / "bin" / "lectic"
    real.parent.mkdir()
    real.write_text('#!/bin/sh\necho "$@" >"$HOME/called"\n')
    real.chmod(0o755)
    assert fire(tmp_path, f"/usr/bin:/bin:{real.parent}").effect == "allow"
    assert (tmp_path / "called").read_text() == "editor approve --title x --timeout 1s\n"


def test_an_unknown_word_is_a_clear_error(tmp_path: Path) -> None:
    path = path_with_stubs("", ("lectic",), str(tmp_path / "state"))
    done = subprocess.run([f"{path}/lectic", "fly"], capture_output=True, text=True, check=False, env={"PATH": "/bin"})
    assert (done.returncode, "no program lectic-fly" in done.stderr) == (1, True)


def test_it_is_private_and_made_once(tmp_path: Path) -> None:
    path = path_with_stubs("/bin", ("lectic",), str(tmp_path / "state"))
    directory = path.rpartition(os.pathsep)[2]
    file = os.path.join(directory, "lectic")
    assert path == f"/bin{os.pathsep}{directory}"
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
    before = os.stat(file).st_ino
    path_with_stubs("/bin", ("lectic",), str(tmp_path / "state"))
    assert (os.stat(file).st_ino, os.listdir(directory)) == (before, ["lectic"])


def test_what_another_version_left_is_replaced(tmp_path: Path) -> None:
    directory = path_with_stubs("", ("lectic",), str(tmp_path / "state"))
    Path(directory, "lectic").write_text("#!/bin/sh\nexit 0\n")
    path_with_stubs("", ("lectic",), str(tmp_path / "state"))
    assert sys.executable in Path(directory, "lectic").read_text()


def test_where_it_cannot_be_made_the_path_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert path_with_stubs("/bin", ("lectic",), str(tmp_path / "file" / "state")) == "/bin"


@pytest.mark.parametrize("planted", ["hookline.py", "hookline/__main__.py"])
def test_nothing_of_the_working_directory_runs_in_our_name(tmp_path: Path, planted: str) -> None:
    file = tmp_path / planted
    file.parent.mkdir(exist_ok=True)
    file.write_text("open('PWNED', 'w'); raise SystemExit(0)")
    assert fire(tmp_path, "/usr/bin:/bin").effect == "deny"
    assert not (tmp_path / "PWNED").exists()
