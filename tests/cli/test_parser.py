from __future__ import annotations

import pytest

from hookline.cli.parser import Parser


def test_what_a_newer_argparse_hands_to_a_command_of_a_command_is_taken(monkeypatch: pytest.MonkeyPatch):
    """From Python 3.14 on it says whether help is coloured."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    parser = Parser(prog="hookline x", description=None)
    parser.add_subparsers(dest="command").add_parser("y", description="Does y.")
    inner = Parser(prog="hookline x y", description="Does y.", color=parser.color)

    assert "\x1b" not in parser.format_help() + inner.format_help()
    assert parser.parse_args(["y"]).command == "y"
