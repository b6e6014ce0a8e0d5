"""Law 5: secrets are redacted before anything is recorded, wherever in a payload they stand."""

from __future__ import annotations

import json
import string
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.state.record.redact import Redactor

ALNUM = string.ascii_letters + string.digits


def tail(low: int, high: int = 60, alphabet: str = ALNUM) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=low, max_size=high)


TOKENS = st.one_of(
    tail(20).map("sk-".__add__),
    tail(20).map("sk-ant-api03-".__add__),
    st.builds(str.__add__, st.sampled_from(["ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_"]), tail(22)),
    st.builds(str.__add__, st.sampled_from(["AKIA", "ASIA"]), tail(16, 16, string.ascii_uppercase + string.digits)),
    tail(35, 35).map("AIza".__add__),
    st.builds(str.__add__, st.sampled_from(["xoxb-", "xoxp-", "xapp-"]), tail(10)),
    st.builds(str.__add__, st.sampled_from(["sk_live_", "rk_live_", "sk_test_"]), tail(10)),
    st.builds("eyJ{}.eyJ{}.{}".format, tail(8), tail(8), tail(8)),
    tail(40).map("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----".format),
)
#: Text around a token that is itself no part of one.
AROUND = st.text(alphabet=" \n\t\"'\\{}[]:,=é\U0001f600.;", max_size=12)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8)


def planted(secret: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """JSON values that hold the secret somewhere: in a text, a key, an item, or JSON inside a text."""
    text = st.builds("{}{}{}".format, AROUND, secret, AROUND)
    return st.recursive(
        text,
        lambda inner: st.one_of(
            st.builds(lambda item, rest: [*rest, item], inner, st.lists(SCALARS, max_size=2)),
            st.builds(
                lambda key, item, rest: {**rest, key: item},
                st.text(max_size=6),
                inner,
                st.dictionaries(st.text(max_size=4), SCALARS, max_size=2),
            ),
            st.builds(lambda key: {key: 1}, text),
            st.builds(json.dumps, inner),
        ),
        max_leaves=4,
    )


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_no_token_survives_in_any_position(data: st.DataObject) -> None:
    secret = data.draw(TOKENS)
    core = secret[5:-1].strip("\n-") if "PRIVATE" not in secret else secret.split("\n")[1]
    value = data.draw(planted(st.just(secret)))
    redactor = Redactor({})
    assert redactor.suspects(json.dumps(value))
    assert core not in json.dumps(redactor.value(value))


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_no_value_of_a_secret_variable_survives_in_any_position(data: st.DataObject) -> None:
    secret = data.draw(
        st.text(alphabet=ALNUM + '"\\/+=é ', min_size=8, max_size=40).filter(lambda s: len(s.strip()) > 7)
    )
    name = data.draw(
        st.sampled_from(["API_KEY", "GH_TOKEN", "DB_PASSWORD", "client_secret", "MY_CREDENTIALS", "NPM_AUTH"])
    )
    value = data.draw(planted(st.just(secret)).filter(lambda value: nesting(value, secret.strip()) < 2))
    redactor = Redactor({name: secret, "HOME": "/home/u"})
    assert redactor.suspects(json.dumps(value))
    clean = "\n".join(texts(redactor.value(value)))
    assert secret.strip() not in clean.replace(f"[redacted:{name}]", "")


@given(
    key=st.sampled_from(
        ["password", "apiKey", "api_key", "X-Api-Key", "access_token", "Authorization", "client_secret"]
    ),
    secret=tail(6, 30),
    depth=st.integers(0, 4),
)
def test_what_stands_under_a_secret_key_is_gone(key: str, secret: str, depth: int) -> None:
    value: Any = secret
    for level in range(depth):
        value = [value] if level % 2 else {"inner": value}
    told = {"deep": [{key: value}]}
    redactor = Redactor({})
    assert redactor.suspects(json.dumps(told))
    assert secret not in json.dumps(redactor.value(told)).replace("redacted:secret", "")


JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
)


@given(value=JSON, patterns=st.lists(st.text(max_size=6), max_size=2))
@settings(max_examples=100, deadline=None)
def test_any_value_and_any_pattern_give_json(value: Any, patterns: list[str]) -> None:
    json.dumps(Redactor({}, patterns).value(value))


@given(
    words=st.lists(
        st.sampled_from(
            [
                "token",
                "tokens",
                "pass",
                "auth",
                "key",
                "api",
                "_",
                "-",
                "secret",
                "=",
                ":",
                '"',
                " ",
                "x1y2z3",
                "://",
                "@",
                "basic",
            ]
        ),
        max_size=12,
    )
)
@settings(max_examples=100, deadline=None)
def test_what_the_quick_test_clears_has_nothing_to_redact(words: list[str]) -> None:
    value = {"".join(words): ["".join(words), "".join(reversed(words))]}
    redactor = Redactor({})
    if not redactor.suspects(json.dumps(value)):
        assert redactor.value(value) == value


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *texts(item))]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


def nesting(value: Any, secret: str) -> int:
    """How many times a text that holds the secret was serialised; deeper than twice, its escapes are legion."""
    found = texts(value)
    if any(secret in text for text in found):
        return 0
    return 1 if any(json.dumps(secret)[1:-1] in text for text in found) else 2
