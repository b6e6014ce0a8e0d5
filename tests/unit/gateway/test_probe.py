"""A question of the doctor is answered once, and a variable alone means nothing."""

from __future__ import annotations

import os
from pathlib import Path

from hookline.gateway import probe


def test_a_question_is_taken_once_and_its_answer_is_read_once(tmp_path: Path) -> None:
    name = probe.ask(str(tmp_path))
    question = probe.take({probe.PROBE: name}, str(tmp_path))
    assert question
    assert probe.take({probe.PROBE: name}, str(tmp_path)) == ""
    probe.answer(question, {"event": "Stop"})
    assert probe.read_answer(str(tmp_path), name) == {"event": "Stop"}
    assert probe.read_answer(str(tmp_path), name) is None
    assert os.listdir(tmp_path / "probes") == []


def test_a_variable_without_its_file_asks_nothing(tmp_path: Path) -> None:
    for name in ("1", "a" * 32, "../" * 10 + "a", "A" * 32, ""):
        assert probe.take({probe.PROBE: name}, str(tmp_path)) == ""


def test_a_question_is_soon_too_old(tmp_path: Path) -> None:
    name = probe.ask(str(tmp_path))
    os.utime(tmp_path / "probes" / name, (0, 0))
    assert probe.take({probe.PROBE: name}, str(tmp_path)) == ""


def test_questions_whose_asker_is_gone_are_swept_away(tmp_path: Path) -> None:
    old = probe.ask(str(tmp_path))
    os.utime(tmp_path / "probes" / old, (0, 0))
    new = probe.ask(str(tmp_path))
    assert os.listdir(tmp_path / "probes") == [new]


def test_nobody_else_can_look_at_a_question(tmp_path: Path) -> None:
    name = probe.ask(str(tmp_path / "state"))
    folder = tmp_path / "state" / "probes"
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / name).stat().st_mode & 0o077 == 0
