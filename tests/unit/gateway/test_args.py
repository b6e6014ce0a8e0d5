"""What is read without argparse is what argparse reads."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.cli import BRIEF, command_module, command_parser
from hookline.cli.options import parse_declared
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


DECLARED = {
    "check": ["--json", "--dialect", "--config=a.toml"],
    "explain": ["PreToolUse", "--data", "--data={}", "--session", "--keys", "--json", "--agent"],
    "fire": ["Stop", "--data", "--json", "--agent=codex", "--dialect", "--config"],
    "list": ["--event", "--events", "--json", "--config", "--event=Stop"],
    "log": ["--last", "--last=3", "--effect", "--effect=deny", "--status", "failed", "--follow", "--json", "--hook"],
}
ANYWHERE = ["", "-", "--", "-x", "a", "deny", "7", "--help", "--jso", "--json=1"]


@settings(max_examples=100, deadline=None)
@given(data=st.data(), command=st.sampled_from(sorted(DECLARED)))
def test_what_a_command_declares_means_what_the_parser_says(data: st.DataObject, command: str):
    words = data.draw(st.lists(st.sampled_from([*DECLARED[command], *ANYWHERE]), max_size=6))
    module = command_module(command)
    plain = parse_declared(module.configure, words)
    if plain is not None:
        assert vars(plain) == vars(command_parser(command, module).parse_args(words))


def test_brief_commands_need_no_parser_for_plain_words():
    plain = {
        "check": [],
        "explain": ["Stop", "--json"],
        "fire": ["Stop"],
        "list": ["--json"],
        "log": ["--effect", "deny"],
    }
    assert plain.keys() == DECLARED.keys() == BRIEF - {"hook"}
    for command, words in plain.items():
        assert parse_declared(command_module(command).configure, words) is not None
