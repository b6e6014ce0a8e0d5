"""Logs that do not grow. Numbers in names are those of lazy-harness's cases, as its document has them."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import TYPE_CHECKING

from hookline.memory import context

if TYPE_CHECKING:
    from pathlib import Path


def test_a_line_has_a_moment_a_name_and_a_message(tmp_path: Path) -> None:
    context.append_log(str(tmp_path / "state/hooks.log"), "session-export", "fired cwd=/x")
    moment, rest = (tmp_path / "state/hooks.log").read_text().split(" ", 1)
    assert datetime.fromisoformat(moment).utcoffset() is not None
    assert rest == "session-export: fired cwd=/x\n"
    assert (tmp_path / "state/hooks.log").stat().st_mode & 0o777 == 0o600


def test_43_over_a_hundred_kilobytes_the_last_five_hundred_lines_stay(tmp_path: Path) -> None:
    log = tmp_path / "hooks.log"
    log.write_text("".join(f"{n:0100}\n" for n in range(2300)))
    context.append_log(str(log), "session-export", "fired")
    lines = log.read_text().splitlines()
    assert len(lines) == 500
    assert lines[-1].endswith("session-export: fired")
    assert lines[-2] == f"{2299:0100}"


def test_a_smaller_log_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "hooks.log"
    log.write_text("x\n" * 5000)
    context.append_log(str(log), "x", "y")
    assert len(log.read_text().splitlines()) == 5001
    assert context.rotate_log(str(log)) is False


def test_a_message_is_one_line_and_not_without_end(tmp_path: Path) -> None:
    context.append_log(str(tmp_path / "log"), "x", "a\nb\u2028c\x1b[31m" + "d" * 10_000)
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert "x: a b c [31m" in line
    assert len(line) < 2100


def test_secrets_do_not_reach_it(tmp_path: Path) -> None:
    context.append_log(
        str(tmp_path / "log"), "x", "the secret", clean=lambda text: text.replace("secret", "[redacted]")
    )
    assert "secret" not in (tmp_path / "log").read_text()


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    context.append_log(str(tmp_path / "file/below/log"), "x", "y")
    assert context.rotate_log(str(tmp_path / "none")) is False


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("")
    (tmp_path / "log").symlink_to(tmp_path / "target")
    context.append_log(str(tmp_path / "log"), "x", "y")
    assert (tmp_path / "target").read_text() == ""


def test_lines_of_many_at_once_are_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "log")

    def write(name: str) -> None:
        for _ in range(50):
            context.append_log(path, name, "z" * 100)

    threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 400
    assert all(line.endswith(": " + "z" * 100) for line in lines)
