"""Each syntax gives its tree, the line of every pointer, and its errors as problems."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.config.syntax import Document, parse_text
from hookline.dialects.base import Syntax


def parsed(syntax: Syntax, text: str) -> Document:
    return parse_text("f", text, syntax)


def findings(syntax: Syntax, text: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.finding) for problem in parsed(syntax, text).problems]


def lines(syntax: Syntax, text: str, *pointers: str) -> list[int]:
    document = parsed(syntax, text)
    return [document.line(pointer) for pointer in pointers]


# ── TOML ─────────────────────────────────────────────────────────────────────────────────────────────

TOML = '''# first
a."b c".d = 1
[[hook]]
name = """x
"quoted" ""\\" """
"on" = ["a", # comment with ]
  "b]",
]
when = { n = 3, x = [1, {y = 2}] }
[hook.env]
A = 'it # is'
[[hook]]
name = \'\'\'
''two'\'\'\'
[[hook.sub]]
z = 1
[[hook.sub]]
z = 1979-05-27 07:32:00
[limits]
timeout = -1.5e3 # seconds
'''


def test_toml_knows_the_line_of_everything() -> None:
    expected = {
        "$": 1, "$.a": 2, "$.a.b c.d": 2, "$.hook": 3, "$.hook[0]": 3, "$.hook[0].name": 4, "$.hook[0].on": 6,
        "$.hook[0].on[0]": 6, "$.hook[0].on[1]": 7, "$.hook[0].when.x[1].y": 9, "$.hook[0].env": 10,
        "$.hook[0].env.A": 11, "$.hook[1]": 12, "$.hook[1].name": 13, "$.hook[1].sub[0].z": 16,
        "$.hook[1].sub[1].z": 18, "$.limits": 19, "$.limits.timeout": 20,
    }  # fmt: skip
    document = parsed("toml", TOML)
    assert document.tree["hook"][0]["when"] == {"n": 3, "x": [1, {"y": 2}]}
    assert {pointer: document.line(pointer) for pointer in expected} == expected


def test_what_has_no_line_has_that_of_its_holder() -> None:
    assert lines("toml", TOML, "$.hook[1].sub[1].gone[3].x", "$.limits.gone", "$.nothing", "") == [17, 19, 1, 1]


def test_carriage_returns_do_not_count_twice() -> None:
    assert lines("toml", "a = 1\r\nb = 2\r\n", "$.b") == [2]


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a = 1\nb = \n", 2, "Invalid value"),
        ("a = 1\na = 2\n", 2, "overwrite"),
        ("a = " + "[" * 5000, 0, "nested too deeply"),
        ("a = " + "9" * 5000, 0, "digits"),
        ("\n" + ".".join("a" * 100) + " = 1", 2, "more than 64 parts"),
        ("\n\na = [", 3, "Invalid value"),
        ('a = 1\nb = "c\n', 2, "a string has no closing quote"),
        ("a = 1\nb = 'c", 2, "a string has no closing quote"),
    ],
)
def test_bad_toml_is_a_problem_with_a_line(text: str, line: int, part: str) -> None:
    [(found, finding)] = findings("toml", text)
    assert (found, part in finding) == (line, True), finding


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────


def test_json_knows_the_line_of_everything() -> None:
    text = '{"a": {"b": [1, {"c\\u0041": 2},\n [[], {}], "}"],\n "d": null},\n\n "z": []}'
    pointers = ("$", "$.a", "$.a.b[0]", "$.a.b[1].cA", "$.a.b[2]", "$.a.b[2][1]", "$.a.b[3]", "$.a.d", "$.z")
    assert lines("json", text, *pointers) == [1, 1, 1, 1, 2, 2, 2, 3, 5]


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ('{"a":\n}', 2, "Expecting value in column 1"),
        ('{"a": 1,}', 1, "column"),
        ('{"a": NaN}', 0, "NaN"),
        ("[" * 100_000, 0, "nested too deeply"),
        ("1" * 5000, 0, "digits"),
        ("// comment\n{}", 1, "Expecting value"),
    ],
)
def test_json_is_read_strictly(text: str, line: int, part: str) -> None:
    [(found, finding)] = findings("json", text)
    assert (found, part in finding) == (line, True), finding


def test_a_key_written_twice_is_a_warning() -> None:
    document = parsed("json", '{"a": {"x": 1,\n"y": 2,\n"x": 3}}')
    assert document.tree == {"a": {"x": 3, "y": 2}}
    [problem] = document.problems
    assert (problem.line, problem.pointer, problem.severity) == (3, "$.a.x", "warning")


def test_an_empty_json_file_configures_nothing() -> None:
    document = parsed("json", " \n")
    assert document.tree == {}
    assert [problem.severity for problem in document.problems] == ["warning"]


# ── YAML ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"), ("off", "off"), ("yes", "yes"), ("No", "No"), ("y", "y"), ("true", True), ("False", False),
        ("~", None), ("null", None), ("", None), ("12", 12), ("-3", -3), ("007", 7), ("0x1F", 31), ("0o17", 15),
        ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), ("-.inf", float("-inf")), ("1_000", "1_000"), ("12:30:45", "12:30:45"),
        ("2001-01-01", "2001-01-01"), ("'12'", "12"), ('"true"', "true"), ("!!str 12", "12"), ("!!int '12'", 12),
        ("!custom x", "x"), ("|\n  a\n  b\n", "a\nb\n"), ("<<", "<<"), ("=", "="),
    ],
)  # fmt: skip
def test_yaml_words_mean_what_they_mean_today(text: str, value: Any) -> None:
    assert parsed("yaml", f"k: {text}").tree == {"k": value}


def test_yaml_keys_stay_as_written() -> None:
    assert parsed("yaml", "on: 1\nyes: 2\n1: 3\n<<: {a: 4}\n").tree == {"on": 1, "yes": 2, "1": 3, "<<": {"a": 4}}


def test_yaml_knows_the_line_of_everything() -> None:
    text = "hooks:\n  - on: [a,\n      b]\n    do: |\n      x\n  - &h {on: c}\n  - *h\nz: 1\n"
    pointers = (
        "$.hooks",
        "$.hooks[0]",
        "$.hooks[0].on",
        "$.hooks[0].on[1]",
        "$.hooks[0].do",
        "$.hooks[1].on",
        "$.hooks[2]",
        "$.z",
    )
    assert lines("yaml", text, *pointers) == [1, 2, 2, 3, 4, 6, 7, 8]


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "null"])
def test_yaml_that_says_nothing_configures_nothing(text: str) -> None:
    assert (parsed("yaml", text).tree, parsed("yaml", text).problems) == ({}, ())


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcde", "bcdef", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: b: c", 1, "not allowed"),
        ("a: 1\nb: [", 3, "flow"),
        ("a: &x [*x]", 1, "contains itself"),
        ("a: 1\nb: *gone", 2, "not defined"),
        (BOMB, 5, "more than 100000 values"),
        ("- " * 10_000, 1, "nested too deeply"),
        ("[" * 10_000, 1, "nested too deeply"),
        ("a: 1\n---\nb: 2", 2, "second document"),
        ("? [a]\n: b", 1, "key that is not text"),
        ("a: 1\nb: \x01", 2, "not allowed"),
        ("\tx", 1, "cannot start any token"),
    ],
)
def test_bad_yaml_is_a_problem_with_a_line(text: str, line: int, part: str) -> None:
    [(found, finding)] = findings("yaml", text)
    assert part in finding, finding
    assert found == line


def test_a_yaml_key_written_twice_is_a_problem_and_the_first_counts() -> None:
    document = parsed("yaml", "a: 1\nb: 2\na: {c: 3}\n")
    assert document.tree == {"a": 1, "b": 2}
    assert [(problem.line, problem.pointer) for problem in document.problems] == [(3, "$.a")]


# ── front matter ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("closing", ["---", "...", "--- "])
def test_front_matter_ends_at_the_first_closing_line(closing: str) -> None:
    document = parsed("lec", f"---\nmodel: x\nhooks:\n  - on: a\n{closing}\nbody: y\n---\n")
    assert document.tree == {"model": "x", "hooks": [{"on": "a"}]}
    assert document.line("$.hooks[0].on") == 4


@pytest.mark.parametrize("text", ["", "Hello", "\n---\na: 1\n---\n", "----\n"])
def test_a_conversation_without_front_matter_configures_nothing(text: str) -> None:
    assert parsed("lec", text).tree == {}
    assert not parsed("lec", text).problems


def test_front_matter_without_an_end_is_a_problem() -> None:
    assert findings("lec", "---\nmodel: x\n") == [(1, "the front matter is not closed")]


def test_an_error_in_front_matter_has_the_line_of_the_file() -> None:
    assert findings("lec", "---\na: 1\nb: [\n---\n")[0][0] == 4


# ── INI ──────────────────────────────────────────────────────────────────────────────────────────────

INI = """\
# comment
[Hooks]
Order = a, b ; not a comment
Text: first
  second

  third
half = 50%%
ref = %(order)s and %(shared)s
; comment
[DEFAULT]
Shared = common
"""


def test_ini_is_read_as_configparser_reads_it() -> None:
    import configparser

    theirs = configparser.ConfigParser()
    theirs.read_string(INI)
    ours = parsed("ini", INI).tree
    assert {**ours["DEFAULT"], **ours["Hooks"]} == dict(theirs["Hooks"])


def test_ini_knows_the_line_of_every_option() -> None:
    assert lines("ini", INI, "$.Hooks", "$.Hooks.order", "$.Hooks.text", "$.Hooks.ref", "$.DEFAULT.shared") == [
        2,
        3,
        4,
        9,
        12,
    ]


def test_a_bad_ini_line_costs_itself_only() -> None:
    text = "stray\n[A]\nx = 50%\nnonsense\ny = %(gone)s\nz = %(z)s\nx = 2\n= 3\n[A]\nlast = ok\n"
    document = parsed("ini", text)
    assert document.tree == {"A": {"x": "50%", "y": "%(gone)s", "z": "%(z)s", "last": "ok"}}
    assert sorted(problem.line for problem in document.problems) == [1, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("leaf", ["", "y"])
def test_references_cannot_grow_without_bound(leaf: str) -> None:
    text = "[A]\n" + "\n".join(f"x{i} = " + f"%(x{i + 1})s" * 50 for i in range(9)) + f"\nx9 = {leaf}"
    assert any("grow too large" in finding for _, finding in findings("ini", text))


# ── lash ─────────────────────────────────────────────────────────────────────────────────────────────


def test_lash_settings_stand_among_shell_statements() -> None:
    text = "PATH=/x\n[hooks]\nprocess.pre_spawn = ~/a, b # why\n# off = c\nprocess.pre_spawn=c#d\nif [ x ]; then\n[other]\na = b\n[settings]\n x = 1\n"
    document = parsed("lash", text)
    assert document.tree == {
        "hooks": [["process.pre_spawn", "~/a, b", 3], ["process.pre_spawn", "c#d", 5]],
        "settings": [["x", "1", 10]],
    }
    assert [document.line(pointer) for pointer in ("$.hooks", "$.hooks[1]", "$.settings.x")] == [2, 5, 10]


def test_a_lash_setting_without_its_key_or_its_equals_sign_is_a_problem_and_shell_source_is_none() -> None:
    text = "[hooks]\nprompt.render blocking:/a\n= observe:/b\ndeploy.sh now\nfn f() {\n}\n[plugins]\npowerline /bin/p # x\n\n# y\n"
    assert findings("lash", text) == [
        (2, "'prompt.render blocking:/a' is not a setting"),
        (3, "'= observe:/b' is not a setting"),
        (8, "'powerline /bin/p' is not a setting"),
    ]


def test_a_hook_of_lash_that_lost_its_equals_sign_is_told_however_its_event_is_spelt() -> None:
    text = "[hooks]\nblocking:/a\nproces.pre_spawn /b\npre_spawn blocking(timeout=1s):/c\nprocess pre_spawn = observe:/d\n./x.sh now\n"
    assert [line for line, _ in findings("lash", text)] == [2, 3, 4, 5]


def test_a_section_that_is_nearly_one_of_lashs_is_told() -> None:
    document = parsed("lash", "[hoks]\nprocess.pre_spawn = blocking:/a\n[alias]\nx = y\n[ -f ]\n[Plugin]\n")
    assert [(one.line, one.severity, one.fix) for one in document.problems] == [
        (1, "warning", "did you mean [hooks]?"),
        (6, "warning", "did you mean [plugins]?"),
    ]
