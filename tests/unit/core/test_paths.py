"""A place that cannot be used is told in one sentence: which, why, and what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hookline.core.errors import StateError
from hookline.core.paths import private_dir, unusable, why_unusable


def refusal(path: Path) -> str:
    with pytest.raises(StateError) as caught:
        private_dir(str(path))
    return str(caught.value)


def test_a_file_in_the_way_is_named_and_is_to_be_moved(tmp_path):
    file = tmp_path / "state"
    file.touch()
    below = file / "hookline" / "run"
    assert refusal(below).startswith(
        f"{below} cannot be used: {file} is a file, not a directory; move it away, or set "
    )
    assert refusal(file).startswith(f"{file} cannot be used: it is a file, not a directory; move it away, or set ")


def test_a_link_that_leads_nowhere_is_called_one(tmp_path):
    link = tmp_path / "state"
    link.symlink_to(tmp_path / "unmounted")
    assert "it is a broken link, not a directory; move it away" in refusal(link)


@pytest.mark.parametrize("kind", ["file", "link", "below a file"])
def test_looking_finds_what_making_complains_of_and_makes_nothing(tmp_path, kind):
    place = tmp_path / "state"
    if kind == "link":
        place.symlink_to(tmp_path / "unmounted")
    else:
        place.touch()
    wanted = place / "hookline" if kind == "below a file" else place
    before = sorted(os.listdir(tmp_path))
    assert str(why_unusable(str(wanted))) == refusal(wanted)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_place_that_is_not_there_yet_can_be_used_and_is_not_made_by_looking(tmp_path):
    wanted = tmp_path / "a" / "b"
    assert why_unusable(str(wanted)) is None
    assert not wanted.parent.exists()
    assert why_unusable(private_dir(str(wanted))) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_user_is_refused_and_seen(tmp_path):
    place = tmp_path / "state"
    place.mkdir()
    os.chown(place, 65534, 65534)
    assert "it belongs to another user; set XDG_STATE_HOME" in refusal(place)
    assert str(why_unusable(str(place))) == refusal(place)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_directory_is_to_be_made_writable(tmp_path):
    tmp_path.chmod(0o500)
    wanted = tmp_path / "state"
    try:
        assert f"{tmp_path} cannot be written (Permission denied); make it writable, or set " in refusal(wanted)
        assert str(why_unusable(str(wanted))) == refusal(wanted)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("number", "mend"),
    [(errno.ENOSPC, "make room"), (errno.EDQUOT, "make room"), (errno.EROFS, "make it writable"), (errno.EIO, "see: ls -ld ")],
)  # fmt: skip
def test_every_trouble_has_a_next_step_of_its_own(tmp_path, number, mend):
    said = str(unusable(str(tmp_path), OSError(number, "x")))
    assert said.startswith(f"{tmp_path} cannot be used: {os.strerror(number)}; {mend}")
    assert said.endswith("set XDG_STATE_HOME (XDG_DATA_HOME for data) to a directory of your own")


def test_a_full_disk_is_seen_before_anything_is_written(tmp_path, monkeypatch):
    real = os.statvfs(tmp_path)
    full = os.statvfs_result((*real[:4], 0, *real[5:]))
    monkeypatch.setattr(os, "statvfs", lambda _path: full)
    assert "No space left on device; make room" in str(why_unusable(str(tmp_path)))
    uncounted = os.statvfs_result((*real[:2], 0, 0, 0, *real[5:]))
    monkeypatch.setattr(os, "statvfs", lambda _path: uncounted)
    assert why_unusable(str(tmp_path)) is None
