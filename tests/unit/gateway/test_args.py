"""What is read without argparse is what argparse reads."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.cli import command_module, command_parser
from hookline.core.errors import HooklineError
from hookline.gateway.args import HOOK_SYNTAX, parse_plain

WORDS = st.sampled_from(
    [
        "--agent",
        "--event",
        "--config",
        "--deadline",
        "--on-failure",
        "--on-failure=deny",
        "--agent=codex",
        "--cold",
        "--dialect",
        "-x",
        "--",
        "claude-code",
        "deny",
        "Stop",
        "",
        "-",
        "--config=a.toml",
        "--age",
        "--registration",
        "--cold=1",
        "5",
    ]
)


@settings(max_examples=100, deadline=None)
@given(words=st.lists(WORDS, max_size=6))
def test_plain_words_mean_what_the_parser_says(words: list[str]):
    plain = parse_plain(words, HOOK_SYNTAX)
    if plain is None:
        return
    module = command_module("hook")
    try:
        parsed: Any = command_parser("hook", module).parse_args(words)
    except HooklineError as error:
        raise AssertionError((words, plain)) from error

    assert vars(plain) == vars(parsed)


def test_mistakes_and_questions_are_left_to_the_parser():
    for words in (["--help"], ["--agent"], [], ["--agent", "a", "b"], ["--agent", "a", "--on-failure", "x"]):
        assert parse_plain(words, HOOK_SYNTAX) is None
