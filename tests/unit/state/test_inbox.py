"""The folder of questions is read by the view, and by root's link for everybody: what somebody puts there harms nobody."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.state import inbox

NAME = "19a0-" + "0" * 32


def question(path: Path, **fields: object) -> None:
    good = {"id": NAME, "socket": str(path.parent), "deadline": time.time() + 600}
    path.write_text(json.dumps({**good, **fields}))


HOSTILE: dict[str, Callable[[Path], object]] = {
    "deeper than anything": lambda path: path.write_text("[" * 200_000),
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    "a link": lambda path: path.symlink_to("/dev/zero"),
    "no object": lambda path: path.write_text("[]"),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\0"),
    "terminal codes in its id": lambda path: question(path, id="19a0-\x1b[2J"),
    "another subject": lambda path: question(path, id="a.b.>"),
    "a number for an id": lambda path: question(path, id=7),
    "words for a deadline": lambda path: question(path, deadline="never"),
    "a descriptor for a socket": lambda path: question(path, socket=[1]),
}


@pytest.mark.parametrize("put", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_question_is_passed_over(tmp_path: Path, put: Callable[[Path], object]) -> None:
    folder = tmp_path / inbox.FOLDER
    folder.mkdir()
    put(folder / "0.json")
    question(folder / "1.json")
    assert [one["id"] for one in inbox.questions(str(tmp_path))] == [NAME]


def test_looking_again_and_again_keeps_nothing_open(tmp_path: Path) -> None:
    """The link looks five times a second."""
    (tmp_path / inbox.FOLDER / "0.json").mkdir(parents=True)
    handles = Path("/proc/self/fd")
    if not handles.exists():
        pytest.skip("needs /proc")

    def ours() -> list[Path]:
        return [one for one in handles.iterdir() if os.path.realpath(one).startswith(str(tmp_path.resolve()))]

    for _ in range(3):
        assert not list(inbox.questions(str(tmp_path)))
    assert not ours()
