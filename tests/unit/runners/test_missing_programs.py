"""A program that is nowhere: what a person is told of it."""

from __future__ import annotations

from hookline.runners.programs import why_missing


def test_each_place_is_named_once_and_none_for_an_absolute_path() -> None:
    fix = "write the path of an existing program"
    assert why_missing("./guard.sh", "/bin", ("/p", "/p")) == ("'./guard.sh' does not exist (looked in /p)", fix)
    assert why_missing("./guard.sh", "/bin", ("/p", "/q")) == ("'./guard.sh' does not exist (looked in /p, /q)", fix)
    assert why_missing("/opt/guard", "/bin", ("/p", "/q")) == ("'/opt/guard' does not exist", fix)
