"""An engine is as good as what it was made of: files and variables are noticed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hookline.core.file_watch import UNSETTLED, are_unchanged, signatures
from hookline.core.watched_environ import WatchedEnviron

if TYPE_CHECKING:
    from pathlib import Path


def settled(path: Path) -> int:
    """Long enough after the last change for a signature to mean something."""
    time.sleep(2 * UNSETTLED / 1e9)
    assert path is not None
    return time.time_ns()


def test_only_variables_that_somebody_looked_at_matter():
    environ = WatchedEnviron({"A": "1", "B": "2"})
    assert environ.get("A") == "1"
    assert "C" not in environ

    assert environ.same_in({"A": "1", "B": "other"})
    assert not environ.same_in({"A": "2"})
    assert not environ.same_in({"A": "1", "C": "there now"})


def test_whoever_goes_through_all_variables_has_looked_at_all():
    environ = WatchedEnviron({"A": "1", "B": "2"})
    assert dict(environ) == {"A": "1", "B": "2"}

    assert environ.same_in({"A": "1", "B": "2"})
    assert not environ.same_in({"A": "1", "B": "3"})


def test_a_change_a_removal_and_an_appearance_are_seen(tmp_path: Path):
    there, gone, later = (tmp_path / name for name in ("there", "gone", "later"))
    there.write_text("one")
    gone.write_text("one")
    known = signatures({str(there), str(gone), str(later)}, settled(there))
    assert are_unchanged(known)

    for act in (lambda: there.write_text("two"), gone.unlink, lambda: later.write_text("new")):
        before = signatures({str(there), str(gone), str(later)}, settled(there))
        act()
        assert not are_unchanged(before)


def test_a_file_that_was_just_written_is_not_believed(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("one")

    assert not are_unchanged(signatures({str(file)}, time.time_ns()))
