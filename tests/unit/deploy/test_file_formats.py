"""Whatever an agent keeps its hooks in: ours go in once, and come out without a trace."""

from __future__ import annotations

import tomllib

import pytest
import yaml

from hookline.core.agents import AGENTS
from hookline.deploy.plan import FileFormat, own_entries, plan_file, unplan_file
from hookline.deploy.registration import EntryCaller, registrations

EVENTS = ("SessionStart", "PreToolUse", "PostToolUse", "Stop")
FILE_AGENTS = [agent for agent in AGENTS.values() if agent.form != "plugin"]

TEXTS = {
    ".toml": (
        '# mine\ndefault_model = "fake"\n\n[[hooks]]\nevent = "Stop"\ntype = "post_agent"\ncommand = "./done.sh"\n\n[models.fake]\nname = "x"\n',
        "a = 1",
        'default_model = "x" # no hooks yet\n[table]\nb = """\n[[hooks]]\n"""\n',
    ),
    ".yaml": (
        "# mine\nmodel:\n  provider: custom\n\nhooks:\n    # a guard\n    pre_tool_call:\n      - command: ./guard.sh\n        timeout: 5\nlast: 1\n",
        "model: x",
        "hooks:\nother: [1, 2]\n",
        '{"model": "x", "hooks": {}}\n',
    ),
    ".json": (
        '// mine\n{\n    "model": "x", /* y */\n    "z": [1,2,   3]\n}\n',
        "{}",
        '{"a": 1}\n',
    ),
}  # fmt: skip
CASES = [
    (agent.name, text)
    for agent in FILE_AGENTS
    for text in TEXTS["." + agent.files["user"].rpartition(".")[2]]
]  # fmt: skip


def wanted(name: str, program: str = "/opt/a b/hookline"):
    return registrations(AGENTS[name], EntryCaller(program=program, file="x"), EVENTS)


@pytest.mark.parametrize(("name", "text"), CASES)
def test_deploying_twice_changes_nothing_and_undeploying_gives_the_bytes_back(name: str, text: str) -> None:
    form, path = FileFormat.of(AGENTS[name]), AGENTS[name].files["user"]
    once = plan_file(path, text, wanted(name), form)
    assert (once.refused, once.changes) == ("", True)
    assert not plan_file(path, once.after, wanted(name), form).changes
    assert len(own_entries(once.after or "", path)) == len(wanted(name))
    back = unplan_file(path, once.after, text, form).after or ""
    assert back.rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize("agent", FILE_AGENTS, ids=lambda agent: agent.name)
def test_a_new_file_and_a_moved_program(agent) -> None:
    form, path = FileFormat.of(agent), agent.files["user"]
    made = plan_file(path, None, wanted(agent.name), form)
    moved = plan_file(path, made.after, wanted(agent.name, "/elsewhere/hookline"), form)
    assert "/opt/a b/" not in (moved.after or "")
    assert [one.event for one in own_entries(moved.after or "", path)] == [
        one.event for one in own_entries(made.after or "", path)
    ]
    assert not own_entries(unplan_file(path, moved.after, None, form).after or "\n", path)


def test_what_is_written_for_kimi_is_exactly_what_it_knows() -> None:
    made = plan_file("config.toml", None, wanted("kimi-code"), FileFormat.of(AGENTS["kimi-code"])).after or ""
    hooks = tomllib.loads(made)["hooks"]
    assert {key for hook in hooks for key in hook} == {"event", "command", "timeout"}
    assert all(1 <= hook["timeout"] <= 600 for hook in hooks)


def test_an_empty_list_of_hooks_makes_room() -> None:
    form = FileFormat.of(AGENTS["kimi-code"])
    after = plan_file("c.toml", "hooks = []\na = 1\n", wanted("kimi-code"), form).after or ""
    assert (len(tomllib.loads(after)["hooks"]), tomllib.loads(after)["a"]) == (len(wanted("kimi-code")), 1)


def test_an_entry_of_somebody_else_beside_ours_stays() -> None:
    form, text = FileFormat.of(AGENTS["hermes"]), TEXTS[".yaml"][0]
    after = plan_file("c.yaml", text, wanted("hermes"), form).after or ""
    there = yaml.safe_load(after)["hooks"]["pre_tool_call"]
    assert (len(there), there[-1]["command"]) == (2, "./guard.sh")


@pytest.mark.parametrize(
    ("name", "text"), [("kimi-code", "a = ["), ("hermes", "a: [1"), ("hermes", "hooks: [1]\n"), ("kiro", "{]")]
)
def test_a_file_that_cannot_be_edited_is_left_alone(name: str, text: str) -> None:
    one = plan_file(AGENTS[name].files["user"], text, wanted(name), FileFormat.of(AGENTS[name]))
    assert one.after == text
    assert "can be edited" in one.refused
