"""Whatever stands at a path, reading it gives text or a problem, at once."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from hookline.config import files
from hookline.config.files import LARGEST, Unread, read_text


def finding(path: Path | str) -> str:
    found = read_text(str(path))
    assert isinstance(found, Unread), found
    return found.problem.finding


def test_text_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("größe = 1\n", encoding="utf-8")
    assert read_text(str(tmp_path / "a")) == "größe = 1\n"


def test_an_empty_file_is_empty_text(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert read_text(str(tmp_path / "a")) == ""


def test_a_byte_order_mark_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa = 1")
    assert read_text(str(tmp_path / "a")) == "a = 1"


@pytest.mark.parametrize("name", ["gone", "file/below"])
def test_a_missing_file_is_told_apart(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    found = read_text(str(tmp_path / name))
    assert isinstance(found, Unread)
    assert found.missing


def test_a_binary_file_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"ab\nc\0d")
    assert finding(tmp_path / "a") == "the file is binary (a NUL byte at offset 4, line 2)"


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_named(tmp_path: Path, mark: bytes) -> None:
    (tmp_path / "a").write_bytes(mark + b"a\0")
    assert "UTF-16" in finding(tmp_path / "a")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_wrong_encoding_is_told_with_the_first_bad_byte(tmp_path: Path, mark: bytes) -> None:
    (tmp_path / "a").write_bytes(mark + b"ok\nbad \xe9\n")
    assert f"at offset {7 + len(mark)}, line 2" in finding(tmp_path / "a")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(50 << 20)
    assert "too large" in finding(tmp_path / "a")


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * LARGEST)
    assert read_text(str(tmp_path / "a")) == "x" * LARGEST


def test_a_directory_is_named(tmp_path: Path) -> None:
    assert finding(tmp_path) == "this is a directory, not a file"


def test_a_fifo_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    assert finding(tmp_path / "a") == "this is a FIFO, not a file"


def test_a_socket_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("s")
        assert finding(tmp_path / "s") == "this is a socket, not a file"


def test_a_device_is_named() -> None:
    assert finding("/dev/zero") == "this is a device, not a file"


def test_links_in_a_circle_are_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert "circle" in finding(tmp_path / "a")


def test_an_unreadable_file_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").touch()

    def refused(path: str, flags: int) -> int:
        # Nothing is unreadable for root, who may be running this.
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "open", refused)
    assert finding(tmp_path / "a") == "cannot be read: Permission denied"


@pytest.mark.parametrize("path", ["a\0b", "\udcff\ud800", ""])
def test_a_path_that_is_none_is_a_problem(path: str) -> None:
    assert isinstance(read_text(path), Unread)


def test_a_file_that_changes_once_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    drain = files._drain
    calls: list[bytes] = []

    def changing(descriptor: int, largest: int) -> bytes:
        data = drain(descriptor, largest)
        if not calls:
            path.write_text("newer")
        calls.append(data)
        return data

    monkeypatch.setattr(files, "_drain", changing)
    assert read_text(str(path)) == "newer"


def test_a_file_that_never_rests_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_text("x")
    drain = files._drain

    def growing(descriptor: int, largest: int) -> bytes:
        data = drain(descriptor, largest)
        path.write_text("x" * (len(data) + 1))
        return data

    monkeypatch.setattr(files, "_drain", growing)
    assert "kept changing" in finding(path)
