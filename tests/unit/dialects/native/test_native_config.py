"""``[[hook]]`` tables: what each field becomes, what overrides what, and what is said about mistakes."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from hookline.config.syntax import parse_text
from hookline.core.hook import (
    AgentRun,
    Command,
    FieldTest,
    Function,
    Gates,
    HookSpec,
    Http,
    Matcher,
    Origin,
    Output,
    Pattern,
    Plugin,
    Prompt,
)
from hookline.dialects.base import Layer, Lookup, Parsed
from hookline.dialects.native import DIALECT

FILES = {
    "machine": "/m/hookline.toml",
    "user": "/u/hookline.toml",
    "project": "/p/.hookline/hookline.toml",
    "local": "/p/.hookline/local.toml",
    "command line": "/x/hooks.toml",
}


def layer(text: str, name: str = "command line", path: str | None = None) -> Layer:
    file = path or FILES[name]
    document = parse_text(file, text, "toml")
    assert not document.problems, document.problems
    return Layer(path=file, name=name, syntax="toml", text=text, tree=document.tree, line=document.line)


def parse(*layers: Layer) -> Parsed:
    return DIALECT.parse(layers, Lookup(home="/home/me"))


def hook(fields: str, base: str = 'name = "a"\non = "PreToolUse"\n', action: str = 'run = "true"\n') -> HookSpec:
    parsed = parse(layer(f"[[hook]]\n{base}{action}{fields}\n"))
    assert not parsed.problems, [str(problem) for problem in parsed.problems]
    [spec] = parsed.specs
    return spec


def told(parsed: Parsed) -> list[tuple[str, int, str]]:
    return [(problem.severity, problem.line, problem.pointer) for problem in parsed.problems]


# ── one hook ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_example_of_the_manual_is_read_as_it_says() -> None:
    text = """
[[hook]]
name = "no-rm"
on = "PreToolUse"
match = "Bash"
run = "./hooks/block-rm-rf.sh --now 'two words'"
timeout = "5s"
on_failure = "deny"
when = { every_n_turns = 3, agent = ["codex"], message_contains = ["deploy"] }
"""
    parsed = parse(layer(text, "project"))
    assert parsed.problems == ()
    [spec] = parsed.specs
    assert spec == HookSpec(
        id=spec.id, name="no-rm", dialect="native", event="PreToolUse", native_event="PreToolUse",
        origin=Origin(file="/p/.hookline/hookline.toml", line=2, pointer="$.hook[0]", layer="project"),
        action=Command(form="argv", argv=("./hooks/block-rm-rf.sh", "--now", "two words"), base="/p/.hookline"),
        matcher=Matcher(subject=Pattern(style="full", text="Bash")),
        gates=Gates(every_n_turns=3, agent=("codex",), message_contains=("deploy",)),
        timeout=5.0, on_failure="deny",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ('run = ["a b", "$HOME"]', Command(form="argv", argv=("a b", "$HOME"), base="/x")),
        ('shell = "a | b"', Command(form="shell", text="a | b", base="/x")),
        ('script = "#!/bin/sh\\ntrue"', Command(form="script", text="#!/bin/sh\ntrue", base="/x")),
        ('python = "pkg.mod:name"', Function(target="pkg.mod:name", base="/x")),
        ('prompt = "ok? $ARGUMENTS"\nmodel = "haiku"', Prompt(text="ok? $ARGUMENTS", model="haiku")),
        ('agent = { prompt = "p", tools = [], steps = 3 }', AgentRun(prompt="p", tools=(), steps=3)),
        ('agent = { prompt = "p", runner = "external", command = "x --y" }', AgentRun(prompt="p", runner="external", command=("x", "--y"))),
        ('http = "https://h/x"', Http(url="https://h/x")),
        ('http = "http://127.0.0.1:8/x"', Http(url="http://127.0.0.1:8/x")),
        ('http = { url = "http://h", headers = { A = "$T" }, allow_insecure = true }', Http(url="http://h", headers=(("A", "$T"),), allow_insecure=True)),
        ('plugin = "plugins/guard"', Plugin(name="a", path="/x/plugins/guard")),
        ('plugin = "~/guard"', Plugin(name="a", path="/home/me/guard")),
    ],
)  # fmt: skip
def test_every_kind_of_action(line: str, action: object) -> None:
    assert hook("", action=line).action == action


@pytest.mark.parametrize(
    ("written", "seconds"),
    [('"500ms"', 0.5), ('"5s"', 5.0), ('"2m"', 120.0), ('"1.5 h"', 5400.0), ("7", 7.0), ("0.25", 0.25)],
)
def test_durations(written: str, seconds: float) -> None:
    assert hook(f"timeout = {written}").timeout == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("line", "matcher"),
    [
        ('match = ""', Matcher()),
        ('match = "*"', Matcher()),
        ('match = "Bash|Edit"', Matcher(subject=Pattern(style="full", text="Bash|Edit"))),
        ('match = { tool_name = "Bash" }', Matcher(subject=Pattern(style="full", text="Bash"))),
        ('match = { "tool_input.command" = "rm .*" }', Matcher(fields=(FieldTest(path="tool_input.command", pattern=Pattern(style="search across lines", text="rm .*")),))),
        ('match = { x = ["a", "b|c"] }', Matcher(fields=(FieldTest(path="x", pattern=Pattern(style="search across lines", text="(?:a)|(?:b|c)")),))),
        ("match = { x = true, y = 3 }", Matcher(fields=(FieldTest(path="x", equals=True), FieldTest(path="y", equals=3)))),
        (r"match = '\p{Lu}.*'", Matcher(subject=Pattern(style="full", text=r"\p{Lu}.*"))),
    ],
)  # fmt: skip
def test_matchers(line: str, matcher: Matcher) -> None:
    assert hook(line).matcher == matcher


def test_every_gate() -> None:
    line = (
        'when = { every_n_turns = 2, min_turn = 1, message_contains = "x", role = "user", agent = "codex", '
        'cwd = ["~/w/**"], once = true, debounce = "30s", max_per_minute = 4 }'
    )
    assert hook(line).gates == Gates(
        every_n_turns=2, min_turn=1, message_contains=("x",), role="user", agent=("codex",), cwd=("~/w/**",),
        once_per_session=True, debounce=30.0, max_per_minute=4,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "inject"), [("inject = true", "context"), ("inject = false", "none"), ('inject = "comment"', "comment")]
)
def test_what_becomes_of_the_output(line: str, inject: Any) -> None:
    spec = hook(f'{line}\nlabel = "l"\nprefix = "p"\nenv = {{ A = "x", N = 3, B = true }}')
    assert spec.output == Output(inject=inject, label="l", prefix="p")
    assert dict(spec.environ) == {"A": "x", "N": "3", "B": "true"}


def test_defaults_follow_the_event_and_the_action() -> None:
    parallel = hook("", base='name = "a"\non = "PostToolUse"\n')
    assert (parallel.flow, parallel.timeout, parallel.after_deny) == ("parallel", 60.0, "stop")
    assert hook("", action='prompt = "x"').timeout == 30.0
    assert hook('mode = "detached"').timeout is None


def test_one_spec_per_event_each_with_its_own_id() -> None:
    parsed = parse(layer('[[hook]]\non = ["Stop", "process.pre_spawn", "gemini:Odd", "Stop"]\nrun = "x"\n'))
    assert [spec.event for spec in parsed.specs] == ["Stop", "process.pre_spawn", "gemini:Odd"]
    assert len({spec.id for spec in parsed.specs}) == 3
    assert {spec.name for spec in parsed.specs} == {"hooks#1"}


def test_unnamed_hooks_stay_apart_and_are_never_overridden() -> None:
    table = '[[hook]]\non = "Stop"\nrun = "{}"\n'
    parsed = parse(
        layer(table.format("a") + table.format("b"), path="/one/hooks.toml"),
        layer(table.format("c"), path="/two/hooks.toml"),
    )
    assert [(spec.name, spec.action.argv) for spec in parsed.specs if isinstance(spec.action, Command)] == [
        ("hooks#1", ("a",)), ("hooks#2", ("b",)), ("hooks#1", ("c",)),
    ]  # fmt: skip
    assert len({spec.id for spec in parsed.specs}) == 3


# ── mistakes ─────────────────────────────────────────────────────────────────────────────────────────

GOOD = '[[hook]]\nname = "good"\non = "Stop"\nrun = "true"\n'


@pytest.mark.parametrize(
    "line",
    [
        "name = 3", 'name = ""', "on = 3", "on = []", "match = 3", 'match = "["', 'match = { x = "(" }', "match = { x = [] }",
        "match = { x = [1] }", 'timeout = "soon"', "timeout = 0", "timeout = -1", "timeout = true", "timeout = nan",
        'timeout = "5 parsecs"', 'on_failure = "explode"', "on_unsupported = 1", 'mode = "later"', 'order = "first"',
        "order = 1.5", 'flow = "up"', 'after_deny = "x"', 'when = "x"', "when = { every_n_turns = 0 }",
        'when = { debounce = "x" }', "when = { message_contains = [1] }", 'env = "x"', "env = { A = [] }", "label = 3",
        "prefix = []", 'inject = "everywhere"', 'enabled = "no"', "description = 4", "timeout = 1979-05-27",
    ],
)  # fmt: skip
def test_a_wrong_value_is_an_error_at_its_line_and_the_hook_does_not_load(line: str) -> None:
    base = "".join(
        f"{key} = {value}\n"
        for key, value in {"name": '"bad"', "on": '"PreToolUse"', "run": '"true"'}.items()
        if not line.startswith(f"{key} ")
    )
    parsed = parse(layer(f"{GOOD}[[hook]]\n{base}{line}\n{GOOD.replace('good', 'also')}"))
    assert [spec.name for spec in parsed.specs] == ["good", "also"]
    [problem] = parsed.problems
    assert (problem.severity, problem.line) == ("error", 6 + base.count("\n"))
    assert problem.pointer.startswith(f"$.hook[1].{line.split(' ', maxsplit=1)[0]}")
    assert problem.fix


@pytest.mark.parametrize(
    ("action", "part"),
    [
        ("", "does nothing"),
        ('run = "a"\nshell = "b"', "more than one action"),
        ("run = []", "command line"),
        ('run = ""', "command line"),
        ("run = 'a \"b'", "split"),
        ("run = [1]", "command line"),
        ('run = ["a\\u0000"]', "NUL"),
        *(
            (f"run = '{line}'", "which means something to a shell only")
            for line in ("echo no >&2; exit 2", "a | b", "a && b", "a 2>/dev/null", "a $(b)", "a `b`", "a &", "a; b")
        ),
        ('script = "echo"', "shebang"),
        ('python = "pkg.mod"', "not a function"),
        ('python = ".x:f"', "not a function"),
        ('python = "x:f g"', "not a function"),
        ('http = "ftp://x"', "http is not an http or https URL"),
        ('http = "http://example.org/x"', "plain http"),
        ('http = "http://[x"', "http is not a URL"),
        ("http = { headers = {} }", "http has no url"),
        ('http = { url = "https://x", method = "GET" }', "unknown key"),
        ('prompt = ""', "not empty"),
        ("agent = {}", "no prompt"),
        ('agent = { prompt = "x", steps = 0 }', "whole number"),
        ('agent = "x"', "table"),
        ('prompt = "x"\nmode = "detached"', "cannot be detached"),
        ('python = "a:b"\nmode = "detached"', "cannot be detached"),
    ],
)
def test_an_unusable_action_is_an_error_and_the_hook_does_not_load(action: str, part: str) -> None:
    parsed = parse(layer(f'[[hook]]\nname = "bad"\non = "Stop"\n{action}\n{GOOD}'))
    assert [spec.name for spec in parsed.specs] == ["good"]
    assert [(problem.severity, part in problem.finding) for problem in parsed.problems] == [("error", True)], (
        parsed.problems
    )


@pytest.mark.parametrize(
    "line", ["""run = 'curl "http://x/?a=1&b=2"'""", "run = 'curl http://x/?a=1&b=2;c'", """run = 'grep "a | b; c"'""", 'run = ["a", "|", "b;"]', "run = 'a -->x'"]
)  # fmt: skip
def test_what_no_shell_would_split_is_an_argument(line: str) -> None:
    assert hook("", action=f"{line}\n")


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        ("./x.py:f", 'write the module, not the file: "x:f"'),
        ("hooks/x.py: f", 'write the module, not the file: "hooks.x:f"'),
        ("/etc/x.py:f", 'write "package.module:function"; the module is looked for in the project, or beside your own file'),
    ],
)  # fmt: skip
def test_a_file_in_the_place_of_a_module_is_told_as_such(written: str, fix: str) -> None:
    (problem,) = parse(layer(f'[[hook]]\non = "Stop"\npython = "{written}"\n')).problems
    assert (problem.line, problem.pointer, problem.finding) == (3, "$.hook[0].python", f"not a function: {written!r}")
    assert problem.fix == fix


def test_an_unknown_event_costs_only_itself() -> None:
    parsed = parse(layer('[[hook]]\non = ["PreToolUse", "pretoolUs", "Zzz"]\nrun = "x"\n'))
    assert [spec.event for spec in parsed.specs] == ["PreToolUse"]
    assert [problem.fix for problem in parsed.problems] == [
        "did you mean 'PreToolUse'?",
        "for the events there are, type: hookline list --events",
    ]


def test_an_unknown_key_is_told_with_a_suggestion_and_the_hook_loads() -> None:
    parsed = parse(layer(f"{GOOD}tiemout = 3\n[hokk]\n"))
    assert [spec.name for spec in parsed.specs] == ["good"]
    assert [(p.severity, p.line, p.fix) for p in parsed.problems] == [
        ("warning", 6, "did you mean 'hook'?"),
        ("error", 5, "did you mean 'timeout'?"),
    ]


@pytest.mark.parametrize(
    "line",
    ['on_failure = "deny"', 'match = "x"', 'model = "haiku"'],
)
def test_what_is_probably_not_meant_is_a_warning(line: str) -> None:
    parsed = parse(layer(f'[[hook]]\nname = "a"\non = "RunEnd"\nrun = "x"\n{line}\n'))
    assert len(parsed.specs) == 1
    assert [(severity, at) for severity, at, _ in told(parsed)] == [("warning", 5)]
    assert parsed.specs[0].matcher == Matcher()


def test_a_secret_in_a_header_is_a_warning_that_does_not_repeat_it() -> None:
    parsed = parse(
        layer('[[hook]]\non = "Stop"\nhttp = { url = "https://x", headers = { Authorization = "Bearer tok123" } }\n')
    )
    assert [problem.severity for problem in parsed.problems] == ["warning"]
    assert "tok123" not in str(parsed.problems[0])


def test_a_name_written_twice_in_one_file_keeps_the_first() -> None:
    parsed = parse(layer(GOOD + GOOD.replace('"true"', '"false"')))
    assert [spec.action for spec in parsed.specs] == [Command(form="argv", argv=("true",), base="/x")]
    assert told(parsed) == [("error", 5, "$.hook[1]")]


@pytest.mark.parametrize("tree", [[], 3, "x", {"hook": 3}, {"hook": [3, None]}, {"hook": {"name": "x"}}])
def test_a_tree_of_the_wrong_shape_is_a_problem(tree: Any) -> None:
    parsed = parse(Layer(path="/x", name="user", syntax="toml", text="", tree=tree))
    assert parsed.specs == ()
    assert parsed.problems


# ── overriding ───────────────────────────────────────────────────────────────────────────────────────

GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "Bash"\nrun = "guard"\non_failure = "deny"\n'


def changed(fields: str, name: str = "project") -> Parsed:
    return parse(layer(GUARD, "user"), layer(f'[[hook]]\nname = "guard"\n{fields}\n', name))


def test_a_later_layer_overrides_field_by_field() -> None:
    [spec] = changed('timeout = "3s"').specs
    assert (spec.timeout, spec.on_failure, spec.matcher.subject.text) == (3.0, "deny", "Bash")
    assert spec.action == Command(form="argv", argv=("guard",), base="/u")
    assert spec.origin == Origin(file="/p/.hookline/hookline.toml", line=1, pointer="$.hook[0]", layer="project")


def test_a_new_action_replaces_the_old_one() -> None:
    [spec] = changed('shell = "x"').specs
    assert spec.action == Command(form="shell", text="x", base="/p/.hookline")


def test_an_overridden_hook_keeps_its_identity() -> None:
    assert changed("enabled = false").specs[0].id == parse(layer(GUARD, "user")).specs[0].id


@pytest.mark.parametrize("name", ["project", "local"])
def test_what_a_project_changes_keeps_what_the_person_wrote_below_it(name: str) -> None:
    [spec] = changed("enabled = false", name).specs
    assert not spec.enabled
    assert spec.below == parse(layer(GUARD, "user")).specs[0]


def test_what_a_person_changes_needs_nothing_below_it() -> None:
    parsed = parse(layer(GUARD, "machine"), layer('[[hook]]\nname = "guard"\nenabled = false\n', "user"))
    assert [spec.below for spec in parsed.specs] == [None]


def test_an_event_that_a_project_takes_away_stays_turned_off() -> None:
    specs = changed('on = "Stop"').specs
    assert [(spec.event, spec.enabled, spec.below is not None) for spec in specs] == [
        ("Stop", True, False),
        ("PreToolUse", False, True),
    ]


@pytest.mark.parametrize(
    "fields", ["timeout = 0", 'run = "a"\nshell = "b"', 'on = "Zzz"', 'on = "Stop"\nmode = 3', 'python = "x"']
)
def test_a_bad_change_is_left_out_as_a_whole(fields: str) -> None:
    parsed = changed(fields)
    assert parsed.specs == parse(layer(GUARD, "user")).specs
    assert {problem.severity for problem in parsed.problems} == {"error"}


@pytest.mark.parametrize(("fields", "severity"), [("enabled = false", "warning"), ('timeout = "3s"', "error")])
def test_a_change_of_a_hook_that_is_not_there_is_one_problem(fields: str, severity: str) -> None:
    parsed = parse(layer(f'[[hook]]\nname = "gone"\n{fields}\n', "local"))
    assert parsed.specs == ()
    assert told(parsed) == [(severity, 1, "$.hook[0]")]


def test_a_projects_default_timeout_does_not_reach_a_persons_hooks() -> None:
    hurried = (
        "[limits]\ntimeout = 0.001\n"
        '[[hook]]\nname = "own"\non = "Stop"\nrun = "x"\n[[hook]]\nname = "guard"\norder = 2\n'
    )
    parsed = parse(layer("[limits]\ntimeout = 9\n" + GUARD, "user"), layer(hurried, "project"))
    assert {spec.name: spec.timeout for spec in parsed.specs} == {"guard": 9.0, "own": 0.001}


# ── rendering ────────────────────────────────────────────────────────────────────────────────────────


def test_a_hook_on_several_events_is_one_table_again() -> None:
    parsed = parse(layer('[[hook]]\nname = "a"\non = ["Stop", "PreToolUse"]\nrun = "x"\nwhen = { once = true }\n'))
    rendered = DIALECT.render(parsed.specs)
    assert rendered.losses == ()
    assert tomllib.loads(rendered.text) == {
        "hook": [{"name": "a", "on": ["Stop", "PreToolUse"], "run": ["x"], "when": {"once_per_session": True}}]
    }


def test_what_cannot_be_said_is_a_loss() -> None:
    spec = HookSpec(
        id="", name="a", dialect="letta", event="Stop", origin=Origin(file="s.json", line=4), action=Prompt(text="x"), phase=1,
        gates=Gates(typed_only=True),
    )  # fmt: skip
    rendered = DIALECT.render([spec])
    assert len(rendered.losses) == 2
    assert {loss.line for loss in rendered.losses} == {4}


def test_the_fix_for_a_wrong_choice_names_every_choice_and_never_only_the_weakest() -> None:
    text = '[[hook]]\nname = "guard"\non = "PreToolUse"\nshell = "true"\non_failure = "block"\n'
    [problem] = DIALECT.parse([layer(text)], Lookup(home="/home/me")).problems
    assert problem.fix == 'write "ignore" or "deny" or "abort"'


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("[]", "an empty list"),
        ('["Stop", 3]', "a list with 3 in it"),
        ('["Stop", ""]', "a list with '' in it"),
    ],
)
def test_of_a_list_it_is_said_what_is_odd_about_it(written: str, found: str) -> None:
    (problem,) = parse(layer(f'[[hook]]\nname = "a"\non = {written}\nrun = "true"\n')).problems
    assert problem.finding == f"on must be text or a list of texts; got {found}"


@pytest.mark.parametrize(
    ("key", "meant"),
    [("event", "on"), ("Command", "run"), ("matcher", "match"), ("on_error", "on_failure"), ("disabled", "enabled")],
)
def test_a_key_of_another_system_is_told_by_its_name_here(key: str, meant: str) -> None:
    (problem,) = parse(layer(f'[[hook]]\nname = "a"\non = "Stop"\nrun = "true"\n{key} = "x"\n')).problems
    assert problem.fix == f"did you mean {meant!r}?"


@pytest.mark.parametrize("table", ['{ command = "rm" }', '{ file_path = "x" }', '{ not = { command = "rm" } }', "{}"])
def test_a_table_in_a_table_of_match_is_told_with_the_path_to_write(table: str) -> None:
    parsed = parse(layer(f'[[hook]]\non = "PreToolUse"\nmatch = {{ tool_input = {table} }}\nrun = "x"\n'))
    (problem,) = parsed.problems
    assert (parsed.specs, problem.severity) == ((), "error")
    assert "has a table for 'tool_input'" in problem.finding
    assert problem.fix.startswith('write "tool_input.')
