from __future__ import annotations

from pathlib import Path

import pytest

from hookline.runners import spawn
from hookline.runners.spawn import Capture


def test_what_is_under_the_cap_is_kept_and_touches_no_file(tmp_path):
    stream = Capture("stdout", 10, str(tmp_path / "state"))
    stream.feed(b"12345")
    stream.feed(b"67890")
    assert (stream.text(), stream.path, stream.notes()) == ("1234567890", "", ())
    assert not (tmp_path / "state").exists()


def test_what_is_over_the_cap_is_in_a_file_with_all_that_came_before(tmp_path):
    stream = Capture("stdout", 4, str(tmp_path))
    for part in (b"ab", b"cdef", b"gh"):
        stream.feed(part)
    stream.close()
    assert stream.text() == "abcd"
    assert Path(stream.path).read_bytes() == b"abcdefgh"


def test_a_character_that_the_cap_cuts_is_left_out(tmp_path):
    stream = Capture("stdout", 4, str(tmp_path))
    stream.feed("abcäö".encode())
    stream.close()
    assert stream.text() == "abc"


def test_a_character_that_is_cut_by_its_writer_is_replaced(tmp_path):
    stream = Capture("stdout", 40, str(tmp_path))
    stream.feed("abcä".encode()[:-1])
    assert stream.text() == "abc\ufffd"


def test_the_file_is_capped_too_and_the_note_counts_what_was_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr(spawn, "_SPILL_LIMIT", 10)
    stream = Capture("stdout", 4, str(tmp_path))
    for _ in range(5):
        stream.feed(b"12345")
    assert Path(stream.path).stat().st_size == 10
    (note,) = stream.notes()
    assert "was 25 bytes" in note
    assert "15 were dropped" in note


@pytest.mark.parametrize("state", ["/dev/null/x", "/proc/x"])
def test_a_disk_that_takes_nothing_costs_only_the_rest(state):
    stream = Capture("stderr", 4, state)
    stream.feed(b"123456")
    stream.feed(b"789")
    assert (stream.text(), stream.path) == ("1234", "")
    assert "cannot spill" in stream.notes()[0]
