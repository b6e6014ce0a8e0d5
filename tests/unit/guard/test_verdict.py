"""Whatever is judged, there is a verdict, and never a grant by mistake."""

from __future__ import annotations

import json

import pytest

from hookline.guard import Policy, Surroundings, judge
from hookline.guard.policy import READY
from hookline.guard.score import score

AROUND = Surroundings(cwd="/work/app", home="/home/me")
READS = Policy(name="strict", allow_read_only=True)

BAD = {
    "unterminated quote": "rm -rf '/",
    "NUL": "rm -rf \0/",
    "lone surrogate": "echo \udcff",
    "1 MB of substitutions": "$(" * 500_000,
    "10,000 braces": "{" * 10_000,
    "nested shells": "sh -c '" * 500,
    "PowerShell": "Get-ChildItem | ForEach-Object { Remove-Item $_ }",
    "fish": "set -x A 1; and echo $A",
    "many programs": "true;" * 5_000 + "rm -rf /",
    "one long word": "a" * 99_000,
    "long code": 'python3 -c "' + "x=1;" * 10_000 + '"',
    "control characters": "\x1b[2J\x07\r\n\t",
    "nothing": "",
}


@pytest.mark.parametrize("command", BAD.values(), ids=BAD)
def test_bad_input_gets_a_verdict_and_no_grant(command: str) -> None:
    verdict = judge(command, policy=READS, around=AROUND)
    assert verdict.verdict != "allow"
    assert all(one.why or one.harm == "low" for one in verdict.effects)


@pytest.mark.parametrize(
    "part",
    ["awk '" + '|"a' * 1_600 + "';", "sed '" + "1e x;" * 950 + "';", "node -e '" + 'exec("a");' * 59 + "';"],
    ids=["awk", "sed", "node"],
)
def test_many_slow_texts_in_one_command_are_not_judged_to_their_end(part: str) -> None:
    verdict = judge(part * (99_000 // len(part)), around=AROUND)
    assert (verdict.verdict, "more than can be judged" in verdict.reason) == ("ask", True)


def test_what_is_too_long_is_asked_about_even_by_standard() -> None:
    verdict = judge("true " + "x" * 200_000 + "; rm -rf /", around=AROUND)
    assert verdict.verdict == "ask"
    assert "too long" in verdict.reason


def test_padding_does_not_hide_a_command() -> None:
    assert judge("true;" * 5_000 + "rm -rf /", around=AROUND).verdict in {"ask", "deny"}


def test_the_directory_and_the_last_word_are_those_of_the_line_not_of_the_process_that_judges():
    started = {"PWD": "/work/app", "_": "/home/me/.local/bin/hookline"}
    moved = Surroundings(cwd="/home/me", home="/home/me", environment=started)
    assert judge("rm -rf $PWD/*", around=moved).verdict == "deny"
    assert judge("touch a; mv $_ b", around=moved).verdict == "none"


def test_without_a_file_system_nothing_is_looked_at_and_with_one_links_are_followed() -> None:
    linked = Surroundings(
        cwd="/work/app", home="/home/me", resolve=lambda path: path.replace("/work/app/link", "/etc", 1)
    )
    command = "echo x > link/passwd"
    assert [judge(command, around=one).verdict for one in (AROUND, linked)] == ["none", "deny"]


def test_a_score_counts_what_the_contract_names() -> None:
    rows = [("rm -rf /", "deny"), ("true", "deny"), ("ls", "pass"), ("git reset --hard", "pass"), ("rm -rf ~", "pass")]
    rows += [("ls", "allow"), ("make", "allow"), ("cat x", "ask"), ("make", "ask")]
    lines = [json.dumps({"command": command, "expect": expect}) for command, expect in rows]
    result = score([*lines, "", "no case"], Policy(name="standard", allow_read_only=True))
    assert (result.cases, result.caught, result.missed, result.asked) == (9, 1, ["true"], ["git reset --hard"])
    assert (result.false_alarms, result.granted, result.granted_wrongly) == (["rm -rf ~"], 1, ["cat x"])
    assert len(result.problems) == 1


def test_the_ready_policies_are_the_three() -> None:
    assert set(READY) == {"watch", "standard", "strict"}


def test_a_long_list_of_words_does_not_hide_one() -> None:
    assert judge("rm " + "a " * 3_000 + "-rf /", around=AROUND).verdict == "ask"
