"""Where the native client comes from: out of the wheel, if it fits source and machine, else from a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.core.errors import StateError
from hookline.core.isolation import MAIN
from hookline.daemon.client import build
from hookline.daemon.client.build import answers, build_client, can_build, compile_program, compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C compiler")


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A client as a wheel brings it along, and no compiler."""
    path = tmp_path / "hookc"
    compile_program(str(path))
    monkeypatch.setattr(build, "SHIPPED", str(path))
    monkeypatch.setattr(build, "compiler", lambda: None)
    return path


def _environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


def test_a_client_that_came_along_needs_no_compiler(shipped: Path, tmp_path: Path):
    made = build_client(_environ(tmp_path))

    assert can_build()
    assert answers([made])
    text = Path(made).read_bytes()
    assert os.fsencode(sys.executable) + b"\0" in text
    assert os.fsencode(MAIN) + b"\0" in text
    assert b"hookline: python_path" not in text


def test_a_client_is_tried_also_where_temporary_files_have_long_paths(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    assert answers([build_client(_environ(tmp_path))])


@pytest.mark.skipif(os.path.exists("/usr/bin/codesign"), reason="it can be signed here")
def test_on_a_mac_a_client_that_cannot_be_signed_is_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")  # and no codesign is here
    with pytest.raises(StateError, match="cannot be signed"):
        build_client(_environ(tmp_path))


@pytest.mark.parametrize("deny", [True, False])
def test_a_client_whose_hookline_was_uninstalled_says_what_to_do(tmp_path: Path, deny: bool):
    """Python would only say that it cannot open a file."""
    made = build_client(_environ(tmp_path))
    Path(made).write_bytes(Path(made).read_bytes().replace(os.fsencode(MAIN), os.fsencode(MAIN)[:-1] + b"x"))
    words = [made, "hook", "--agent", "claude-code", *(["--on-failure", "deny"] if deny else [])]
    done = subprocess.run(words, input=b"{}", capture_output=True, env=_environ(tmp_path), timeout=60, check=False)
    assert done.returncode == (2 if deny else 75)
    assert b"no longer installed where it was. Install it again, then type hookline deploy" in done.stderr


def test_a_client_that_came_along_is_left_as_it_is(shipped: Path, tmp_path: Path):
    before = shipped.read_bytes()
    build_client(_environ(tmp_path))

    assert shipped.read_bytes() == before


def test_a_client_of_another_source_is_not_used(shipped: Path, tmp_path: Path):
    text = shipped.read_bytes()
    mark = text.index(b"hookline: source ") + len(b"hookline: source ")
    shipped.write_bytes(text[:mark] + b"0" * 32 + text[mark + 32 :])

    assert not can_build()
    with pytest.raises(StateError, match="there is no C compiler"):
        build_client(_environ(tmp_path))


def test_a_client_for_another_machine_is_not_used(shipped: Path, tmp_path: Path):
    text = bytearray(shipped.read_bytes())
    text[18:20] = b"\xf3\x00"  # ELF for RISC-V
    shipped.write_bytes(text)

    with pytest.raises(StateError, match="there is no C compiler"):
        build_client(_environ(tmp_path))


def test_a_path_that_does_not_fit_into_the_client_is_named(tmp_path: Path):
    long = "/" + "p" * 2000
    with pytest.raises(StateError, match="too long for the native client; use instead: hookline deploy --door command"):
        build.compile_client(str(tmp_path / "hookc"), python=long)
