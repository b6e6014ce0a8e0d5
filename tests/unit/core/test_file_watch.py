"""Whoever asks after a change is told of it, wherever on the way to the file it was made."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from hookline.core.file_watch import FileWatcher, WatchedFiles
from hookline.state.sessions.sqlite import ResidentSessions, StoredSessions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems are looked at the slow way")


@pytest.fixture
def news() -> Iterator[FileWatcher]:
    one = FileWatcher()
    yield one
    one.close()


def covered(news: FileWatcher, path: Path) -> int:
    if not news.cover([str(path)]):
        pytest.skip("this disk cannot be covered")
    return news.look()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "file").write_text("one")
    return folder / "file"


def _replaced(file: Path) -> None:
    file.with_name("new").write_text("two")
    file.with_name("new").replace(file)


def _cut(file: Path) -> None:
    os.truncate(file, 1)


def _written_elsewhere(file: Path) -> None:
    os.link(file, file.with_name("x"))
    file.with_name("x").write_text("")


def _hidden(file: Path) -> None:
    file.parent.parent.rename(file.parent.parent.with_name("elsewhere"))


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda file: file.write_text("two"),
    "cut": _cut,
    "replaced": _replaced,
    "removed": lambda file: file.unlink(),
    "given other rights": lambda file: file.chmod(0o600),
    "written under another name": _written_elsewhere,
    "hidden with its folder": _hidden,
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_change_is_told_at_once(news: FileWatcher, file: Path, how: str):
    before = covered(news, file)

    CHANGES[how](file)

    assert news.look() != before


def test_as_long_as_nothing_happens_the_number_stays(news: FileWatcher, file: Path):
    before = covered(news, file)

    (file.parent / "other").write_text("noise")
    (file.parent.parent / "more").mkdir()
    file.read_text()

    assert news.look() == before


def test_what_is_not_there_yet_is_told_when_it_comes(news: FileWatcher, tmp_path: Path):
    path = tmp_path / "x" / "y" / "file"
    for make in (path.parents[1].mkdir, path.parents[0].mkdir, lambda: path.write_text("")):
        before = covered(news, path)
        shape = news.shape
        make()
        assert news.look() != before
        assert news.shape != shape  # so it is covered anew, a step further


def test_links_are_followed_and_watched(news: FileWatcher, tmp_path: Path, file: Path):
    (tmp_path / "first").symlink_to("second")
    (tmp_path / "second").symlink_to(file.parent)
    path = tmp_path / "first" / "file"

    before = covered(news, path)
    file.write_text("two")
    written = news.look()
    (tmp_path / "second").unlink()

    assert before != written != news.look()


def test_a_folder_changes_with_what_is_in_it(news: FileWatcher, file: Path):
    before = covered(news, file.parent)

    (file.parent / "other").write_text("")

    assert news.look() != before


def test_a_disk_that_others_change_is_not_relied_on(news: FileWatcher):
    assert not news.cover(["/proc/self/status"])


def test_an_endless_link_is_no_trap(news: FileWatcher, tmp_path: Path):
    (tmp_path / "loop").symlink_to("loop")

    news.cover([str(tmp_path / "loop" / "x")])


def test_sessions_that_others_write_to_are_looked_up_again(tmp_path: Path):
    path = str(tmp_path / "state" / "sessions.db")
    turns = count()
    watched = WatchedFiles((path, f"{path}-wal"), lambda: next(turns))
    mine, theirs = ResidentSessions(path, moment=watched.moment), StoredSessions(path)
    for number in range(1, 4):
        for _ in range(3):
            mine.begin("s", "PreToolUse", typed=False)
        mine.tidy()

        theirs.settle("s", mode=f"plan {number}", continuations=None)
        theirs.begin("s", "UserPromptSubmit", typed=True, prompt="hello")

        facts = mine.begin("s", "PreToolUse", typed=False)
        assert (facts.mode, facts.turn) == (f"plan {number}", number)
        assert facts.generation == 4 * number
    mine.close()
    theirs.close()
    watched.close()
