from __future__ import annotations

import json
import time
from types import MappingProxyType

import pytest

from hookline.state.record.redact import Redactor


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("password=hunter2 next", "password=[redacted:secret] next"),
        ('{"api_key": "abc", "n": 1}', '{"api_key": [redacted:secret], "n": 1}'),
        (r"{\"password\": \"a\\\"b\", \"n\": 1}", r"{\"password\": [redacted:secret], \"n\": 1}"),
        ("AWS_SECRET_ACCESS_KEY=abc/def+ghi", "AWS_SECRET_ACCESS_KEY=[redacted:secret]"),
        ("curl -H 'Authorization: Bearer abc.def' x", "curl -H 'Authorization: [redacted:authorization]' x"),
        ("Bearer abcdefgh", "Bearer [redacted:authorization]"),
        ("Basic dXNlcjpwYXNz", "Basic [redacted:authorization]"),
        ("postgres://me:p%40ss@db/x", "postgres://me:[redacted:url]@db/x"),
        ("https://0123456789abcdef0123@github.com/x", "https://[redacted:url]@github.com/x"),
        (r'"\nsk-0123456789abcdef0123"', r'"\n[redacted:openai]"'),
        (r'"\u00e9sk-0123456789abcdef0123"', r'"\u00e9[redacted:openai]"'),
        ("SG." + "a1" * 11 + "." + "b2" * 21, "[redacted:sendgrid]"),
        ("run --token abc123 --fast", "run --token [redacted:secret] --fast"),
        (
            "export MAPS_KEY=abcd1234; PGPASS='a b' psql",
            "export MAPS_KEY=[redacted:secret]; PGPASS=[redacted:secret] psql",
        ),
        ("?access_token=abc&x=1", "?access_token=[redacted:secret]&x=1"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\nno end", "[redacted:private-key]"),
    ],
)
def test_a_secret_in_a_text_is_replaced_by_its_kind(text: str, clean: str) -> None:
    assert Redactor({}).text(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "a basic understanding of the task-force",
        "ssh://git@github.com/x and https://example.com/@user",
        "max_tokens: 4096, tokens=12",
        "the key of the piano; a keyboard; the author",
        "rm -rf /tmp/x && ls -la",
        "sort_key=name, BYPASS: 1 and compass=north",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor({}).text(text) == text


def test_counts_and_keyboard_keys_stay() -> None:
    value = {"tokens": {"input": 5, "total": 9}, "key": "ctrl-c", "max_tokens": 3, "keys": ["up"], "author": "me"}
    assert Redactor({}).value(value) == value


def test_a_value_of_a_secret_variable_is_found_anywhere_and_named_after_it() -> None:
    redactor = Redactor({"DEPLOY_KEY": "correct horse", "EDITOR": "nvim-nightly"})
    assert redactor.value(["x correct horse y", {"correct horse": 1}]) == [
        "x [redacted:DEPLOY_KEY] y",
        {"[redacted:DEPLOY_KEY]": 1},
    ]
    assert redactor.text("nvim-nightly") == "nvim-nightly"


@pytest.mark.parametrize(
    "name", ["GIT_AUTHOR_NAME", "SSH_AUTH_SOCK", "XAUTHORITY", "TOKENIZERS_PARALLELISM", "SECRET_FILE"]
)
def test_variables_that_only_sound_secret_are_left_alone(name: str) -> None:
    assert Redactor({name: "something"}).text("something") == "something"


def test_a_flag_hides_the_argument_after_it() -> None:
    assert Redactor({}).value(["mysql", "--password", "hunter2", "db"]) == [
        "mysql",
        "--password",
        "[redacted:secret]",
        "db",
    ]


def test_a_pair_of_name_and_value_is_an_assignment() -> None:
    assert Redactor({}).value({"name": "API_KEY", "value": "abc"}) == {"name": "API_KEY", "value": "[redacted:secret]"}


@pytest.mark.parametrize(
    ("words", "clean"),
    [
        (["curl", "-u", "me:s3cretword", "x"], ["curl", "-u", "me:[redacted:secret]", "x"]),
        (["sshpass", "-p", "s3cretword", "ssh", "h"], ["sshpass", "-p", "[redacted:secret]", "ssh", "h"]),
        (["X-Api-Key", "s3cretword"], ["X-Api-Key", "[redacted:secret]"]),
        (["git", "push", "-u", "origin"], ["git", "push", "-u", "origin"]),
    ],
)
def test_words_of_a_command_line_are_read_together(words: list[str], clean: list[str]) -> None:
    redactor = Redactor({})
    assert redactor.value({"argv": words}) == {"argv": clean}
    assert redactor.suspects(json.dumps({"argv": words})) is (words != clean)


def test_keys_that_become_the_same_are_kept_apart() -> None:
    clean = Redactor({}, ["k[0-9]"]).value({"k1": 1, "k2": 2})
    assert clean == {"[redacted:pattern]": 1, "[redacted:pattern] (2)": 2}


def test_mappings_tuples_bytes_and_objects_come_back_as_json() -> None:
    value = MappingProxyType({"a": (1, b"password=x"), 3: {"token"}})
    assert Redactor({}).value(value) == {"a": [1, "password=[redacted:secret]"], "3": ["token"]}


def test_a_bad_pattern_is_a_problem_and_a_good_one_works_beside_it() -> None:
    redactor = Redactor({}, ["(", "ACME-[0-9]+"])
    assert [problem.pointer for problem in redactor.problems] == ["$.record.redact[0]"]
    assert redactor.text("see ACME-42") == "see [redacted:pattern]"


def test_a_catastrophic_pattern_costs_the_text_but_not_the_time() -> None:
    began = time.monotonic()
    assert Redactor({}, ["(a|aa)+$"]).text("a" * 5000 + "b") == "[redacted:pattern took too long]"
    assert time.monotonic() - began < 30


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["a", "sk-", "token", "password=", '"password": "', "://a:", "basic ", "-----BEGIN ", "eyJ", "--token "]
)
def test_no_text_makes_redaction_slow(unit: str) -> None:
    text = (unit * 200_000)[:200_000]
    began = time.process_time()
    Redactor({}).text(text)
    assert time.process_time() - began < 3


def test_a_bottomless_value_is_cut_off() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    assert "nested too deeply" in str(Redactor({}).value(deep))


@pytest.mark.parametrize("token", ["rk_live_0000000000", "npm_" + "a1B2" * 9, "tfp_" + "a1B2" * 11])
def test_a_backslash_before_a_token_is_no_escape_that_hides_it(token: str) -> None:
    redactor = Redactor({})
    assert redactor.suspects(json.dumps(f"C:\\{token}"))
    assert token[5:] not in redactor.value(f"C:\\{token}")


def test_words_without_a_flag_are_no_command_line() -> None:
    """What the quick test clears must have nothing to redact."""
    words = ["x1y2z3basic", "basicx1y2z3"]
    assert (Redactor({}).suspects(json.dumps(words)), Redactor({}).value(words)) == (False, words)
