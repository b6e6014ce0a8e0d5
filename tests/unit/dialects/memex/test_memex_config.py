"""``[HOOKS]`` and ``[HOOK.name]``: what is read, what is refused, and what is written back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.config.syntax import parse_text
from hookline.core.hook import AgentRun, Command, Gates, HookSpec, Origin, Output
from hookline.core.problem import Problem
from hookline.dialects.base import Layer, Lookup, Parsed
from hookline.dialects.memex import DIALECT
from hookline.dialects.memex.config import normalize, quote

SEED = """\
[HOOKS]
session_start = daily_tasks
pre_turn = context_scout
post_turn = memory_scribe
session_end = session_debrief

[HOOK.daily_tasks]
model = gpt-4o-mini
prompt = prompts/hooks/daily_tasks.md
tools = youtrack,memory
steps = 1
mode = inject
enable = true

[HOOK.context_scout]
model = gpt-4o-mini
prompt = prompts/hooks/scout.md
tools = ragsearch,memory
steps = 1
mode = inject
enable = true

[HOOK.memory_scribe]
model = gpt-4o-mini
prompt = prompts/hooks/scribe.md
tools = memory
steps = 1
mode = silent
enable = true

[HOOK.session_debrief]
model = gpt-4o-mini
prompt = prompts/hooks/debrief.md
tools = memory
steps = 1
mode = inject
enable = true
"""

FILES = {
    f"/etc/memex/prompts/hooks/{name}.md": f"You are the {name}."
    for name in ("daily_tasks", "scout", "scribe", "debrief")
}


def read(*texts: str, files: dict[str, str] = FILES, cwd: str = "/project") -> Parsed:
    layers = []
    for text in texts:
        document = parse_text("/etc/memex/config.ini", text, "ini")
        layers.append(
            Layer(
                path="/etc/memex/config.ini",
                name="user",
                syntax="ini",
                text=text,
                tree=document.tree,
                line=document.line,
            )
        )
    return DIALECT.parse(layers, Lookup(cwd=cwd, home="/home/me", read=files.get))


def hook(options: str, phase: str = "pre_turn") -> Parsed:
    return read(f"[HOOKS]\n{phase} = x\n[HOOK.x]\n{options}")


def one(options: str, phase: str = "pre_turn") -> HookSpec:
    parsed = hook(options, phase)
    assert len(parsed.specs) == 1, parsed.problems
    return parsed.specs[0]


def findings(parsed: Parsed) -> list[str]:
    return [problem.finding for problem in parsed.problems]


def agent(spec: HookSpec) -> AgentRun:
    assert isinstance(spec.action, AgentRun)
    return spec.action


def test_the_documents_example_is_four_hooks_on_three_events() -> None:
    parsed = read(SEED)
    assert [(spec.name, spec.event, spec.native_event, spec.phase) for spec in parsed.specs] == [
        ("daily_tasks", "UserPromptSubmit", "session_start", -1),
        ("context_scout", "UserPromptSubmit", "pre_turn", 0),
        ("memory_scribe", "Stop", "post_turn", 0),
        ("session_debrief", "SessionEnd", "session_end", 0),
    ]
    assert [spec.output.inject for spec in parsed.specs] == ["context", "context", "none", "session"]
    assert parsed.specs[1].action == AgentRun(
        prompt="You are the scout.", model="gpt-4o-mini", tools=("ragsearch", "memory"), steps=1
    )
    assert findings(parsed) == ["hookline has no tool 'youtrack'"]
    assert parsed.problems[0].line == 10


def test_session_start_is_claimed_once_on_a_typed_turn_before_its_other_gates() -> None:
    gates = one("when_min_turn = 2", "session_start").gates
    assert gates == Gates(min_turn=2, needs_turn=True, once_per_session=True, typed_only=True, claim_first=True)


def test_the_documents_external_example_keeps_its_command_as_words() -> None:
    spec = one(
        "mode = silent\nrunner = external\nexternal_cmd = python main.py agent --steps 1 --json --from-stdin --no-hooks",
        "post_turn",
    )
    assert agent(spec).runner == "external"
    assert agent(spec).command == ("python", "main.py", "agent", "--steps", "1", "--json", "--from-stdin", "--no-hooks")


def test_a_list_keeps_its_order_and_its_repetitions_and_every_entry_is_its_own() -> None:
    parsed = read("[HOOKS]\npre_turn = b, a,,b\n[HOOK.a]\n[HOOK.b]\n")
    assert [spec.name for spec in parsed.specs] == ["b", "a", "b"]
    assert len({spec.id for spec in parsed.specs}) == 3


def test_a_name_without_a_section_is_a_problem_and_the_others_run() -> None:
    parsed = read("[HOOKS]\npre_turn = ghost, real\n[HOOK.real]\n")
    assert [spec.name for spec in parsed.specs] == ["real"]
    assert (parsed.problems[0].finding, parsed.problems[0].line) == ("there is no section [HOOK.ghost]", 2)
    assert parsed.problems[0].severity == "error"


def test_a_later_layer_overrides_single_options() -> None:
    parsed = read("[HOOKS]\npre_turn = x\n[HOOK.x]\nmodel = a\nsteps = 2\n", "[HOOK.x]\nmodel = b\n")
    assert (agent(parsed.specs[0]).model, agent(parsed.specs[0]).steps) == ("b", 2)


@pytest.mark.parametrize("told", ["false", "no", "No", "0", "off", "none", "disabled", '"off"'])
def test_these_words_turn_a_hook_off(told: str) -> None:
    assert not one(f"enable = {told}").enabled


@pytest.mark.parametrize("told", ["true", "yes", "1", "on", ""])
def test_these_words_leave_it_on(told: str) -> None:
    assert one(f"enable = {told}").enabled
    assert hook(f"enable = {told}").problems == ()


def test_a_word_that_is_neither_is_said() -> None:
    assert findings(hook("enable = perhaps")) == ["'perhaps' is neither yes nor no"]


@pytest.mark.parametrize("phase", ["session_start", "pre_turn"])
def test_a_silent_hook_is_skipped_before_the_answer(phase: str) -> None:
    assert hook("mode = silent", phase) == Parsed()


def test_rewrite_acts_as_inject_and_an_unknown_mode_too_but_is_said() -> None:
    assert one("mode = rewrite").output.inject == "context"
    assert one("mode = loud").output.inject == "context"
    assert findings(hook("mode = loud")) == ["unknown mode 'loud'"]


@pytest.mark.parametrize(("told", "steps"), [("3", 3), ("0", 1), ("-2", 1), ("1.5", 1), ("many", 1), ("true", 1)])
def test_steps_are_a_whole_number_above_zero_or_one(told: str, steps: int) -> None:
    assert agent(one(f"steps = {told}")).steps == steps


@pytest.mark.parametrize(
    ("told", "parts"),
    [
        ("profile,location", ("profile", "location")),
        ('"profile, location"', ("profile", "location")),
        ("[a, b]", ("a", "b")),
        ("42", ("42",)),
        ("yes", ("yes",)),
        (" , ", ()),
    ],
)
def test_message_contains_is_a_list_of_texts_whatever_they_look_like(told: str, parts: tuple[str, ...]) -> None:
    assert one(f"when_message_contains = {told}").gates.message_contains == parts


def test_gates_need_a_user_turn_and_without_gates_nothing_is_needed() -> None:
    assert one("when_every_n_turns = 3").gates == Gates(every_n_turns=3, needs_turn=True)
    assert one("when_role = User").gates == Gates(role="user", needs_turn=True)
    assert one("when_every_n_turns = 0").gates == Gates()


def test_labels_and_prefixes_lose_their_quotes_and_keep_their_blanks() -> None:
    output = one('label = "My Hook"\nprefix = "P: "').output
    assert output == Output(inject="context", label="My Hook", prefix="P: \n")
    assert one("prefix = 42").output.prefix == "42\n"
    assert one("label = 42").output.label == "hook:x"


def test_timeouts_have_a_default_and_may_be_written() -> None:
    assert one("").timeout == 120
    assert [one(f"timeout = {told}").timeout for told in ("5", "500ms", "2m", "soon", "0")] == [5, 0.5, 120, 120, 120]


def test_an_unknown_key_is_said_but_not_one_that_comes_from_the_defaults() -> None:
    parsed = read("[DEFAULT]\ntemperature = 1\n[HOOKS]\npre_turn = x\n[HOOK.x]\ntemprature = 1\ntemperature = 2\n")
    assert findings(parsed) == ["unknown key 'temprature'"]


def test_a_phase_that_nobody_knows_is_said_and_the_others_run() -> None:
    parsed = read("[HOOKS]\npre_trun = h\npost_turn = h\n[HOOK.h]\nprompt = x\n")
    assert findings(parsed) == ["there is no phase 'pre_trun'; its hooks never run"]
    assert [spec.native_event for spec in parsed.specs] == ["post_turn"]


def test_the_model_falls_back_to_the_agents_and_then_to_the_default() -> None:
    text = "[DEFAULT]\ndefault_model = d\n[HOOKS]\npre_turn = x\n[HOOK.x]\n"
    assert agent(read(text).specs[0]).model == "d"
    assert agent(read(text + "[AGENT]\ndefault_model = a\n").specs[0]).model == "a"


def test_tools_are_the_hooks_list_without_what_is_blocked() -> None:
    blocked = "[AGENT]\nblocked_tools = cmd\n"
    assert agent(read(f"[HOOKS]\npre_turn = x\n[HOOK.x]\ntools = memory,cmd\n{blocked}").specs[0]).tools == ("memory",)
    assert agent(one("")).tools is None
    assert [agent(one(f"tools = {told}")).tools for told in ("None", "__none__", "[memory]")] == [(), (), ("memory",)]


def test_quotes_that_are_not_closed_are_a_problem_and_the_hook_does_not_run() -> None:
    parsed = hook("runner = external\nexternal_cmd = sh -c 'oops")
    assert parsed.specs == ()
    assert [problem.severity for problem in parsed.problems] == ["error"]


# ── prompts ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "place",
    ["/etc/memex/hooks/a.md", "/etc/memex/prompts/hooks/a.md", "/project/hooks/a.md", "/project/prompts/hooks/a.md"],
)
@pytest.mark.parametrize("named", ["hooks/a.md", "hooks/a"])
def test_a_prompt_file_is_found_from_the_configuration_and_then_from_the_working_directory(
    place: str, named: str
) -> None:
    parsed = read(f"[HOOKS]\npre_turn = x\n[HOOK.x]\nprompt = {named}\n", files={place: "found"})
    assert agent(parsed.specs[0]).prompt == "found"


def test_the_configurations_own_directory_wins() -> None:
    files = {"/etc/memex/a.md": "near", "/project/a.md": "far"}
    assert agent(read("[HOOKS]\npre_turn = x\n[HOOK.x]\nprompt = a.md\n", files=files).specs[0]).prompt == "near"


@pytest.mark.parametrize("named", ["prompts/hooks/gone.md", "gone.txt", "./gone/x", "~/gone.md", "/gone/x"])
def test_what_looks_like_a_path_and_is_not_there_is_a_problem_and_never_the_prompt(named: str) -> None:
    parsed = hook(f"prompt = {named}")
    assert parsed.specs == ()
    assert "there is no prompt file" in parsed.problems[0].finding
    assert parsed.problems[0].line == 4


def test_a_hook_that_is_off_only_warns_about_its_prompt() -> None:
    assert [problem.severity for problem in hook("enable = no\nprompt = gone.md").problems] == ["warning"]


@pytest.mark.parametrize("text", ["Summarise this, then stop.", "Say hello", "Choose red and/or blue, please", "word"])
def test_a_text_is_the_prompt_itself_commas_and_all(text: str) -> None:
    assert agent(one(f"prompt = {text}")).prompt == text


def test_an_alias_names_a_text_or_a_file() -> None:
    text = (
        "[PROMPTS]\nscout = prompts/hooks/scout.md\nshort = Be brief.\n[HOOKS]\npre_turn = x\n[HOOK.x]\nprompt = {}\n"
    )
    assert agent(read(text.format("Scout")).specs[0]).prompt == "You are the scout."
    assert agent(read(text.format("scout, short")).specs[0]).prompt == "You are the scout.\n\nBe brief."


# ── values and the way back ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("  x ", "x"),
        ("~/a", "/home/me/a"),
        ('{"a": 1}', {"a": 1}),
        ("[a, b]", ["a", "b"]),
        ("42", 42),
        ("Yes", True),
        ("'no'", "no"),
        ("{", "{"),
    ],
)
def test_the_normaliser(text: str, value: Any) -> None:
    assert normalize(text, "/home/me") == value


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=30)
)
@settings(max_examples=100)
def test_a_text_that_was_written_is_read_back(text: str) -> None:
    document = parse_text("x", f"[S]\nk = {quote(text)}\n", "ini")
    value = document.tree["S"]["k"]
    assert normalize(value, "/home/me") == text


def anonymous(specs: tuple[HookSpec, ...]) -> list[HookSpec]:
    return [replace(spec, id="", origin=Origin(file="")) for spec in specs]


EVERYTHING = """\
[HOOKS]
session_start = a
pre_turn = b,a,b
post_turn = c
session_end = c,d

[HOOK.a]
prompt = Look at 100%% of it,
    and then
    decide.
label = "A: "
prefix = ### Hook output
when_message_contains = profile,42
when_every_n_turns = 3

[HOOK.b]
enable = off
prompt = prompts/hooks/scout.md
mode = rewrite
steps = 4
tools = None
timeout = 2.5

[HOOK.c]
mode = silent
runner = external
external_cmd = python 'my agent.py' --json
when_min_turn = 2
when_role = user

[HOOK.d]
model = haiku
"""


@pytest.mark.parametrize("text", [SEED, EVERYTHING])
def test_what_is_written_is_read_back(text: str) -> None:
    specs = read(text).specs
    rendered = DIALECT.render(specs)
    assert rendered.losses == ()
    assert anonymous(read(rendered.text).specs) == anonymous(specs)


def test_what_memex_cannot_say_is_a_loss_with_an_address() -> None:
    command = HookSpec(
        id="1", name="lint", dialect="letta", event="PreToolUse", origin=Origin(file="s.json", line=7, pointer="$.hooks"),
        action=Command(form="argv", argv=("lint",)),
    )  # fmt: skip
    wrong_event = replace(command, action=AgentRun(prompt="x"))
    gated = replace(one("prompt = x"), gates=Gates(debounce=5.0), on_failure="deny")
    rendered = DIALECT.render([command, wrong_event, gated])
    assert rendered.losses == (
        Problem(file="s.json", line=7, pointer="$.hooks", finding="lint: memex hooks are agents, not a command", fix="keep it where it is"),
        Problem(file="s.json", line=7, pointer="$.hooks", finding="lint: memex has no phase for PreToolUse", fix="keep it where it is"),
        Problem(
            file="/etc/memex/config.ini", line=3, pointer="$.HOOK.x", severity="warning",
            finding="x: other when conditions, on_failure: not supported by memex", fix="it is left out",
        ),
    )  # fmt: skip
    assert rendered.text == "[HOOKS]\npre_turn = x\n\n[HOOK.x]\nprompt = x\n"


def test_its_own_place_is_the_users_configuration() -> None:
    places = DIALECT.places("/p", "/home/me", {"XDG_CONFIG_HOME": "/x"})
    assert [place.path for place in places] == ["/x/iptic-memex/config.ini"]


@given(
    st.dictionaries(
        st.text(max_size=8), st.dictionaries(st.text(max_size=8), st.text(max_size=12), max_size=3), max_size=4
    )
)
@settings(max_examples=60)
def test_no_file_makes_it_raise(tree: dict[str, dict[str, str]]) -> None:
    tree["HOOKS"] = {"pre_turn": "x,y"}
    tree["HOOK.x"] = next(iter(tree.values()))
    layer = Layer(path="c.ini", name="user", syntax="ini", text="", tree=tree)
    DIALECT.parse([layer], Lookup())
