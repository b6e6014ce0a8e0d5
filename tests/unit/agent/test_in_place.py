"""A file is either the old one or the new one, whole."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from hookline.agent.output import lock_conversation, rewrite, save_aside
from hookline.core.errors import DataError


def test_the_new_text_replaces_the_old_and_the_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "t.lec"
    path.write_text("old")
    path.chmod(0o604)
    rewrite(str(path), "new", before=b"old")
    assert (path.read_text(), path.stat().st_mode & 0o777, os.listdir(tmp_path)) == ("new", 0o604, ["t.lec"])


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
def test_a_step_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "t.lec"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(DataError, match="No space left"):
        rewrite(str(path), "new", before=b"old")
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["t.lec"])


def test_what_was_not_read_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "t.lec"
    path.write_text("newer")
    with pytest.raises(DataError, match="changed"):
        rewrite(str(path), "new", before=b"old")
    assert path.read_text() == "newer"


def test_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "t.lec"
    path.write_text("")
    with lock_conversation(str(path)), pytest.raises(DataError, match="another run"), lock_conversation(str(path)):
        pass
    with lock_conversation(str(path)):
        pass


def test_an_answer_without_a_place_is_kept_where_only_we_can_read_it(tmp_path: Path) -> None:
    kept = save_aside(str(tmp_path / "state"), "said")
    assert (Path(kept).read_text(), os.stat(kept).st_mode & 0o777) == ("said", 0o600)
    (tmp_path / "file").write_text("")
    assert save_aside(str(tmp_path / "file"), "said") == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_half_an_answer_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def full(**given: str) -> tuple[int, str]:
        path = os.path.join(given["dir"], "answer-x.lec")
        made.append(path)
        Path(path).touch()
        return os.open("/dev/full", os.O_WRONLY), path

    monkeypatch.setattr(tempfile, "mkstemp", full)
    assert save_aside(str(tmp_path), "said" * 5000) == ""
    assert [os.path.exists(path) for path in made] == [False]
