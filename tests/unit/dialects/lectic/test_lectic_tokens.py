"""One-line commands: words, quotes, variables, and what is left for a shell."""

from __future__ import annotations

import pytest

from hookline.dialects.lectic.tokens import expand_argv

ENV = {"X": "a b", "E": "", "HOME": "/home/me", "SHELL": "/bin/zsh"}


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("", ()),
        ("  \n ", ()),
        ("a  b\tc\n", ("a", "b", "c")),
        ("p \"$X\" '$X' $X ${X}z", ("p", "a b", "$X", "a b", "a bz")),
        ("\"\" ''", ("", "")),
        ('--text="a b" pre"q r"post', ("--text=a b", "preq rpost")),
        ("it's done", ("it's", "done")),
        ('say "unclosed words', ("say", '"unclosed', "words")),
        ("x$E $UNSET ${UNSET} ${UNSET:-d} $1 $$ $", ("x", "$UNSET", "${UNSET}", "${UNSET:-d}", "$1", "$$", "$")),
        ("~/a '~/b' x~/c ~ ~you/d", ("/home/me/a", "~/b", "x~/c", "~", "~you/d")),
        (r"\$X a\ b", (r"\a b", "a\\", "b")),
    ],
)
def test_words_are_split_before_variables_are_put_in(line: str, argv: tuple[str, ...]) -> None:
    assert expand_argv(line, ENV) == argv


@pytest.mark.parametrize(
    "line",
    [
        'sh -c "echo $X"',
        'bash -c "echo $X"',
        '/usr/bin/zsh -ec "echo $X"',
        'dash -e -u -c "echo $X"',
        'bash -euo pipefail -c "echo $X"',
        'bash --norc --rcfile f -c "echo $X"',
        'ksh93 -c -- "echo $X"',
        'env bash -c "echo $X"',
        'env -i A=1 /bin/bash -lc "echo $X"',
        'timeout 5 bash -c "echo $X"',
        '$SHELL -c "echo $X"',
        '"/opt/my tools/bash" -c "echo $X"',
        'busybox sh -c "echo $X"',
        'su nobody -c "echo $X"',
        'flock lock -c "echo $X"',
        'env -S "echo $X"',
    ],
)
def test_a_shells_code_is_left_for_the_shell(line: str) -> None:
    assert expand_argv(line, ENV)[-1] == "echo $X"


@pytest.mark.parametrize(
    "line", ['bash script.sh "$X"', 'bash -e script.sh -c "$X"', 'bash -c code "$X"', 'echo -c "$X"', 'rg -c "$X"']
)
def test_what_is_no_code_is_expanded(line: str) -> None:
    assert expand_argv(line, ENV)[-1] == "a b"


def test_an_expanded_value_is_not_expanded_again() -> None:
    assert expand_argv("echo $A", {"A": "$B", "B": "no"}) == ("echo", "$B")
