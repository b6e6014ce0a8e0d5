"""JavaScript's regular expressions mean the same in Python's words."""

from __future__ import annotations

import re

import pytest

from hookline.dialects.claude_family.matcher import python_regex


@pytest.mark.parametrize("text", ["Bash", "Edit|Write", "Notebook.*", ".*Edit", "mcp__.+", "", "a|"])
def test_what_reads_the_same_stays_as_it_is(text: str) -> None:
    assert python_regex(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[invalid",
        "(?i)bash",
        "(?P<x>a)",
        "(?#c)a",
        "(?>a)",
        "a++",
        "a*+",
        "**",
        "*Edit",
        "a)",
        "(a",
        "\\",
        "(?(1)a)",
        "a{2}{3}",
    ],
)
def test_what_javascript_refuses_is_no_expression(text: str) -> None:
    assert python_regex(text) is None


@pytest.mark.parametrize(
    ("text", "subject", "matches"),
    [
        ("^Bash$", "Bash", True),
        ("a$", "a\n", False),
        (r"\w+", "é", False),
        (r"\d", "٣", False),
        (r"[\d_]+", "1_2", True),
        ("[^]", "\n", True),
        ("a[]", "a", False),
        ("[[a]", "[", True),
        ("[a&&b]", "&", True),
        ("(?<tool>Ed)it\\k<tool>", "EditEd", True),
        ("a{,5}", "a{,5}", True),
        ("a{2,3}", "aaa", True),
        ("x{", "x{", True),
        (r"\Z", "Z", True),
        (r"\p", "p", True),
        (r"\cA", "\x01", True),
        (r"A\x42", "AB", True),
        ("a]", "a]", True),
        ("a}", "a}", True),
        ("(?:a|b)+?", "abab", True),
        ("(?<!x)a(?=b)b", "ab", True),
        (r"mcp__(?!evil)\w+__.*", "mcp__good__x", True),
        (r"mcp__(?!evil)\w+__.*", "mcp__evil__x", False),
    ],
)
def test_a_translated_expression_matches_what_it_matched(text: str, subject: str, matches: bool) -> None:
    translated = python_regex(text)
    assert translated is not None
    assert bool(re.fullmatch(translated, subject)) is matches
