from __future__ import annotations

import pytest

from hookline.cli import main
from hookline.cli.parser import Parser


def test_what_a_newer_argparse_hands_to_a_command_of_a_command_is_taken(monkeypatch: pytest.MonkeyPatch):
    """From Python 3.14 on it says whether help is coloured."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    parser = Parser(prog="hookline x", description=None)
    parser.add_subparsers(dest="command").add_parser("y", description="Does y.")
    inner = Parser(prog="hookline x y", description="Does y.", color=parser.color)

    assert "\x1b" not in parser.format_help() + inner.format_help()
    assert parser.parse_args(["y"]).command == "y"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["log", "--last", "x"], "--last must be a whole number, not 'x'; see: hookline log --help"),
        (["guard", "report", "--days", "week"], "--days must be a number, not 'week'; see: hookline guard --help"),
    ],
)
def test_what_should_be_a_number_is_said_in_words(capsys: pytest.CaptureFixture[str], words: list[str], message: str):
    assert main(words) == 64
    assert capsys.readouterr().err == f"hookline: {message}\n"
