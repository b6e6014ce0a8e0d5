"""Every rule finds its samples, nothing innocent is hit, and nothing is slow."""

from __future__ import annotations

import json
import random
import re
import time

import pytest
from tests.unit.state.record.secret_samples import ENCODED, GITLEAKS, INNOCENT, PLAIN, filled

from hookline.state.record.redact import Redactor
from hookline.state.record.secret_patterns import ASSIGNED, INSIDE, PHRASES, TOKENS

REDACTOR = Redactor({})
ROUNDS = 20


def survives(secret: str, clean: str) -> bool:
    """Whether eight characters of it in a row do."""
    kept = re.sub(r"\[redacted:[^\]]*\]", "\n", clean)
    return any(secret[at : at + 8] in kept for at in range(max(1, len(secret) - 7)))


def missed(samples: list[str]) -> list[str]:
    texts = [filled(sample, random.Random(f"{sample}{n}")) for sample in samples for n in range(ROUNDS)]
    return [text for text, secret in texts if survives(secret, REDACTOR.text(text))]


def shapes(rule: str) -> list[str]:
    samples = GITLEAKS[rule]
    return [samples] if isinstance(samples, str) else list(samples)


def test_99_of_100_secrets_of_the_published_rules_are_found() -> None:
    samples = [sample for rule in GITLEAKS for sample in shapes(rule)]
    assert len(missed(samples)) * 100 <= len(samples) * ROUNDS


@pytest.mark.parametrize("rule", GITLEAKS)
def test_a_published_rule_is_covered(rule: str) -> None:
    """Nine in ten: a few random values have no digit, and look like a word."""
    samples = shapes(rule)
    assert len(missed(samples)) * 10 <= len(samples) * ROUNDS


def test_99_of_100_secrets_in_commands_headers_and_files_are_found() -> None:
    assert len(PLAIN) >= 115
    assert len(missed(list(PLAIN))) * 100 <= len(PLAIN) * ROUNDS


@pytest.mark.parametrize("sample", PLAIN)
def test_a_secret_in_a_command_a_header_or_a_file_is_found(sample: str) -> None:
    assert len(missed([sample])) * 4 <= ROUNDS


@pytest.mark.parametrize("form", ENCODED)
def test_a_secret_that_is_encoded_or_split_is_found(form: str) -> None:
    secret = filled("«{A36}»", random.Random(form))[1]
    text, forbidden = ENCODED[form](secret)
    assert not survives(forbidden, REDACTOR.text(f"x {text} y"))


def test_the_value_of_a_secret_variable_is_found_encoded_and_split_too() -> None:
    secret = "correct-horse"
    redactor = Redactor({"DEPLOY_KEY": secret})
    for form in ("Y29ycmVjdC1ob3JzZQ==", "636f72726563742d686f727365", "correct%2Dhorse"):
        assert redactor.text(f"x {form} y") == "x [redacted:encoded] y"
    assert "horse" not in redactor.text('x "correct-" + "horse" y')


def test_at_least_a_hundred_innocent_texts_and_none_is_hit() -> None:
    assert len(INNOCENT) >= 100
    assert [text for text in INNOCENT if REDACTOR.text(text) != text] == []


def test_innocent_texts_in_an_object_are_not_hit() -> None:
    for text in INNOCENT:
        value = {"tool_input": {"command": text}, "cwd": "/work"}
        assert REDACTOR.value(value) == value


@pytest.mark.parametrize("sample", [*PLAIN[:40], *(shapes(rule)[0] for rule in list(GITLEAKS)[::5])])
def test_what_is_found_in_a_text_is_suspected_in_json(sample: str) -> None:
    for n in range(5):
        text, secret = filled(sample, random.Random(f"{sample}{n}"))
        if REDACTOR.text(text) != text:
            serialised = json.dumps({"tool_input": {"command": text}})
            assert REDACTOR.suspects(serialised)
            assert not survives(secret, json.dumps(REDACTOR.value({"command": json.dumps(text)})))


def test_every_rule_has_a_source_and_a_sample() -> None:
    rules = [*TOKENS, *INSIDE, *ASSIGNED, *((name, " ".join(words), *rest[:2]) for name, words, *rest in PHRASES)]
    assert all(rule[3] for rule in rules)
    assert len({rule[0] for rule in rules}) == len(rules)
    sources = [rule[3].partition(";")[0] for rule in rules if rule[3].startswith("gitleaks")]
    published = [
        name.removesuffix("*") for source in sources for name in re.findall(r"[a-z0-9]+(?:-[a-z0-9*]+)+", source)
    ]
    assert [name for name in published if not any(rule.startswith(name) for rule in GITLEAKS)] == []


@pytest.mark.parametrize("rule", [*TOKENS, *INSIDE], ids=lambda rule: rule[0])
def test_a_token_has_a_sample_that_only_its_rule_needs_to_match(rule: tuple[str, str, str, str]) -> None:
    samples = [*(sample for name in GITLEAKS for sample in shapes(name)), *PLAIN]
    texts = [filled(sample, random.Random(f"{sample}{n}"))[0] for sample in samples for n in range(3)]
    assert any(re.search(rule[2], text) for text in texts)


UNITS = (
    "a", "A1", "ghp_", "sk-", "token", "password=", '"password": "', "password: '", "://a:", "://a@", "basic ", "bearer a", "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----\\n", "eyJ", "eyJa.", "--token ", "curl -u a:", " -p", "docker login -p ", "%41", "\\x41", '"+"', '"" ', "a\\\n", "Cookie: a=",
    "authorization: ", "curl -U a ", "echo a ", "echo pass|", "sudo <<< a ", "passwd -b ", "twine -u a -p ", 'variable "key" {', "mnemonic: aaa ", "private-lines: 1 key", "api key ", "$1$", "net use a ", "net use /user:a ", "password for ", "key = ", "kind: secret\ndata:\n  a: b\n", "data:\n a\n", "telegram ", "sig=", "sessionid=", "Q~", "/", "+", "a/", "-", ".", "login a password ", "\\", '\\\\"',
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    """Not a measure of speed: what is worse than linear takes minutes here."""
    text = (unit * (1 << 18))[: 1 << 18]
    began = time.process_time()
    REDACTOR.text(text)
    assert time.process_time() - began < 30
