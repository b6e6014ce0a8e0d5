"""What the person wrote, as it is sent, and what directives make of it."""

from __future__ import annotations

import pytest

from hookline.agent.conversation.directives import DirectiveContext, expand_directives, remove_comments, text_to_send


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        ("\nHi\n", "\n\nHi"),
        ("A\n\n\n\nB\n", "\n\nA\n\nB"),
        ("```\na\n\n\nb\n```", "\n\n```\na\n\n\nb\n```"),
        ("\n\n", ""),
    ],
)
def test_blocks_are_one_blank_line_apart(raw: str, sent: str) -> None:
    assert text_to_send(raw) == sent


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        ("Hi <!-- secret -->", "Hi "),
        ("Alpha <!-- x --> Beta", "Alpha  Beta"),
        ("`<!-- code -->` stays", "`<!-- code -->` stays"),
        ("```\n<!-- code -->\n```\n", "```\n<!-- code -->\n```\n"),
        ("&lt;!-- x --&gt;", "&lt;!-- x --&gt;"),
        ("<!--\nmany\n\nlines\n-->\nrest", "\nrest"),
    ],
)
def test_comments_go_and_code_keeps_them(raw: str, left: str) -> None:
    assert remove_comments(raw) == left


def around(*, last: bool = True) -> DirectiveContext:
    return DirectiveContext(environ={"HOME": "/home/me"}, command=lambda line: f"<{line}>", last=last)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (":env[HOME]/x", "/home/me/x"),
        ("see :cmd[ls -l] now", "see <ls -l> now"),
        (":verbatim[:env[HOME]]", ":env[HOME]"),
        ("`:env[HOME]` and \\:env[HOME]", "`:env[HOME]` and \\:env[HOME]"),
        ("```\n:cmd[rm]\n```", "```\n:cmd[rm]\n```"),
        ("a:env[HOME] http://x:env[HOME] ::env[HOME]", "a:env[HOME] http://x:env[HOME] ::env[HOME]"),
        (":unknown[x] :env[HOME", ":unknown[x] :env[HOME"),
        ("a:b :attach[x]{icon=y}!", "a:b !"),
        (":once[:env[HOME]]:discard[:cmd[x]]", "/home/me"),
    ],
)
def test_directives_become_text(raw: str, text: str) -> None:
    assert expand_directives(raw, around())[0] == text


def test_directives_ask_for_more_than_text() -> None:
    _, effects = expand_directives(":ask[A] :aside[B] :reset[] :attach[one :env[HOME]] :attach[two]", around())
    assert (effects.ask, effects.aside, effects.reset) == ("A", "B", True)
    assert effects.attachments == [("one /home/me", {}), ("two", {})]


def test_some_of_them_only_in_the_last_message() -> None:
    text, effects = expand_directives(":ask[A] :aside[B] :attach[one] :once[x]", around(last=False))
    assert (text.strip(), effects.ask, effects.aside, effects.attachments) == ("", "A", "", [])
