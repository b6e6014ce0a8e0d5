"""``hookline guard``: what a command would do, and how well a policy does on judged commands."""

from __future__ import annotations

import json
from typing import Any

ROWS = [
    {"command": "rm -rf /", "expect": "deny"},
    {"command": "git reset --hard", "expect": "pass"},
    {"command": "ls", "expect": "allow"},
    {"command": "make", "expect": "ask"},
]


def _corpus(project: Any) -> None:
    project.write("cases.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))


def test_a_person_sees_effects_and_what_each_policy_answers(project: Any) -> None:
    shown = project.run("guard", "explain", "r''m -rf /")
    assert shown.code == 0
    assert "critical" in shown.out
    assert "standard, strict: deny: files are deleted: /" in shown.out


def test_a_person_sees_what_hidden_words_come_to_and_no_grant_where_there_is_none(project: Any) -> None:
    shown = project.run("guard", "explain", "x=cm0gLXJmIC8K; base64 -d <<< $x | sh; rm -r build").out
    assert "what it comes to: rm -rf /" in shown
    assert "allow" not in shown


def test_a_program_reads_the_same_as_json(project: Any) -> None:
    found = project.run("guard", "explain", "git push --force", "--json").json
    assert (found["verdict"], found["safer"]) == ("ask", "git push --force-with-lease")
    assert [(one["kind"], one["harm"], one["answer"]) for one in found["effects"]] == [("git-remote", "high", "ask")]
    assert found["programs"] == [["git", "push", "--force"]]


def test_a_command_that_only_reads_is_said_to(project: Any) -> None:
    assert "It only reads" in project.run("guard", "explain", "ls -la").out


def test_a_score_has_exactly_the_fields_of_its_contract(project: Any) -> None:
    _corpus(project)
    found = project.run("guard", "score", "cases.jsonl", "--allow", "read-only", "--json").json
    assert found == {
        "cases": 4, "caught": 1, "missed": [], "asked": ["git reset --hard"], "false_alarms": [], "granted": 1, "granted_wrongly": [],
    }  # fmt: skip


def test_a_person_sees_the_rates_and_the_commands(project: Any) -> None:
    _corpus(project)
    shown = project.run("guard", "score", "cases.jsonl", "--policy", "strict").out
    assert "must be refused: refused" in shown
    assert "git reset --hard" in shown


def test_a_bad_file_is_named_with_its_line(project: Any) -> None:
    project.write("bad.jsonl", '{"command": "ls", "expect": "pass"}\n{"command": 7}\n')
    shown = project.run("guard", "score", "bad.jsonl")
    assert (shown.code, "bad.jsonl: line 2" in shown.err) == (65, True)
    assert project.run("guard", "score", "absent.jsonl").code == 65


def test_a_command_is_judged_as_where_it_is_typed_and_the_guards_are_named(project: Any) -> None:
    own = project.home / ".config/hookline/hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[guard]\npolicy = "watch"\n')
    project.write(".hookline/hookline.toml", '[guard]\n[[guard.rule]]\neffect = "delete"\nthen = "deny"\n')
    asked = ("guard", "explain", "rm -r build")
    told = project.run(*asked)
    assert f"In force here: watch in {own}\n" in told.out
    assert "not approved" in told.err
    assert project.run("trust", "--yes").code == 0
    told = project.run(*asked)
    assert "here: deny: files are deleted: build." in told.out
    assert f"In force here: watch in {own}, standard in {project.path}/.hookline/hookline.toml\n" in told.out
    found = project.run(*asked, "--json").json
    assert (found["verdict"], found["policy"], len(found["files"])) == ("deny", "watch, standard", 2)
    assert project.run(*asked, "--policy", "strict", "--json").json["verdict"] == "none"


def test_without_a_guard_an_explanation_says_so(project: Any) -> None:
    assert project.run("guard", "explain", "ls").out.endswith(
        "No guard is in force here. To set one up: hookline init\n"
    )
