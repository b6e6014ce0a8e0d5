"""What is a command and what is a prompt; what a terminal is shown."""

from __future__ import annotations

import pytest

pytest.importorskip("prompt_toolkit")

from hookline.agent.chat.commands import parse_command
from hookline.agent.chat.screen import printable


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/help", ("help", "")),
        (" /model  openai:x ", ("model", "openai:x")),
        ("/nonsense", ("nonsense", "")),
        ("hello /help", None),
        ("/home/me/file what is it?", None),
        ("/", None),
        ("//", None),
    ],
)
def test_a_path_is_no_command(line: str, command: tuple[str, str] | None) -> None:
    assert parse_command(line) == command


def test_text_cannot_talk_to_the_terminal() -> None:
    assert printable("a\x1b[2J\tb\nc\x07é") == "a·[2J\tb\nc·é"
