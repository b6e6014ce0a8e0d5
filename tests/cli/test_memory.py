"""``hookline memory``, as a person and a program use it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.cli.conftest import Project
from tests.patience import eventually

VAULT = ".local/share/hookline/knowledge"


def add(project: Project, text: str, *more: str) -> dict[str, Any]:
    told: dict[str, Any] = project.run("memory", "add", text, "--json", *more).json
    return told


def notes(project: Project, folder: str) -> list[Path]:
    return sorted((project.home / VAULT / "memory").glob(f"*/{folder}/*.md"))


def test_what_is_added_is_found_shown_and_a_markdown_note(project: Project) -> None:
    entry = add(project, "Use SQLite for the queue", "--why", "one file", "--tag", "storage")
    assert (entry["kind"], entry["source"], entry["status"]) == ("decision", "person", "current")
    (note,) = notes(project, "decisions")
    assert "# Use SQLite for the queue" in note.read_text()
    hits = project.run("memory", "search", "sqlite queue", "--json").json["hits"]
    assert [(hit["id"], hit["path"]) for hit in hits] == [(entry["id"], str(note))]
    shown = project.run("memory", "show", entry["id"][:6])
    assert "one file" in shown.out
    assert str(note) in shown.out


def test_a_successor_is_linked_from_the_old_note_and_back(project: Project) -> None:
    old = add(project, "Use SQLite for the queue")
    new = project.run("memory", "supersede", old["id"], "Use", "files", "--why", "locks", "--json").json
    texts = {path.name.removesuffix(".md"): path.read_text() for path in notes(project, "decisions")}
    (first,) = (name for name in texts if "sqlite" in name)
    (second,) = (name for name in texts if "use-files" in name)
    assert f"[[{second}]]" in texts[first]
    assert f"[[{first}]]" in texts[second]
    assert project.run("memory", "show", old["id"], "--json").json["entries"][0]["successor"] == new["id"]
    assert [one["id"] for one in project.run("memory", "show", "--json").json["entries"]] == [new["id"]]


def test_every_edit_has_a_history(project: Project) -> None:
    entry = add(project, "Retry twice", "--kind", "failure")
    project.run("memory", "edit", entry["id"], "Retry three times")
    (note,) = notes(project, "failures")
    note.write_text(note.read_text().replace("Retry three times", "Retry four times"))
    project.run("memory", "pin", entry["id"])
    project.run("memory", "retire", entry["id"])
    changes = project.run("memory", "history", entry["id"], "--json").json["changes"]
    assert [one["op"] for one in changes] == ["add", "edit", "edit", "pin", "retire"]
    assert [one["data"].get("text") for one in changes[:3]] == ["Retry twice", "Retry three times", "Retry four times"]
    assert "Retry four times" in project.run("memory", "history", entry["id"]).out


def test_an_editor_changes_a_note_and_it_is_read_back(project: Project) -> None:
    entry = add(project, "Use tabs")
    editor = project.write("ed it.sh", '#!/bin/sh\nsed -i "s/Use tabs/Use spaces/" "$1"\n', mode=0o755)
    assert project.run("memory", "open", entry["id"], EDITOR=f"'{editor}'").code == 0
    assert project.run("memory", "show", entry["id"], "--json").json["entries"][0]["text"] == "Use spaces"
    assert project.run("memory", "open").out.strip() == str(project.home / VAULT)


def test_the_digest_tells_what_happened(project: Project) -> None:
    kept = add(project, "Use SQLite")
    done = add(project, "Write the docs", "--kind", "open")
    add(project, "Ask legal", "--kind", "open")
    project.run("memory", "close", done["id"])
    told = project.run("memory", "digest", "--since", "7d", "--json").json
    assert [one["id"] for one in told["decision"]] == [kept["id"]]
    assert [one["text"] for one in told["ended"]] == ["Write the docs"]
    assert [one["text"] for one in told["open"]] == ["Ask legal"]
    assert "still open" in project.run("memory", "digest").out


def test_review_lists_contradictions_rivals_and_what_grew_old(project: Project) -> None:
    assert project.run("memory", "review").code == 0
    one = add(project, "Sessions are stored in Redis")
    other = add(project, "Sessions are stored in cookies")
    (journal,) = (project.home / VAULT / "memory").glob("*/journal/*.jsonl")
    first = json.loads(journal.read_text().splitlines()[0])
    old = {**first, "id": "x", "entry": "aaaa11112222", "at": "2020-01-01T00:00:00.000Z"}
    old["data"] = {**first["data"], "kind": "open", "text": "Ask somebody"}
    edits = [
        {**first, "id": f"e{n}", "op": "edit", "number": 1, "machine": f"m{n}", "data": {"text": f"Redis {n}"}}
        for n in (1, 2)
    ]
    journal.with_name("2020-01-01-other.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in (old, *edits)))
    told = project.run("memory", "review", "--json")
    assert told.code == 1
    found = {finding["why"]: {entry["id"] for entry in finding["entries"]} for finding in told.json["findings"]}
    assert found["rivals"] == {one["id"]}
    assert found["old"] == {"aaaa11112222"}
    project.run("memory", "edit", one["id"], "Sessions are stored in Redis")
    found = {
        finding["why"]: {entry["id"] for entry in finding["entries"]}
        for finding in project.run("memory", "review", "--json").json["findings"]
    }
    assert found["alike"] == {one["id"], other["id"]}
    assert "rivals" not in found
    assert re.search(r"\(\d+ days old\)", project.run("memory", "show").out)


def test_review_lists_the_edits_of_two_machines_that_share_a_vault(tmp_path: Path) -> None:
    """By commands alone, and without a model that distils."""
    git(tmp_path, "init", "-q", "--bare", "vault.git")
    machines = [Project(tmp_path / name / "code", tmp_path / name / "home") for name in ("one", "two")]
    for machine in machines:
        vault, config = machine.home / VAULT, machine.home / ".config/hookline/hookline.toml"
        for folder in (machine.path, vault, config.parent):
            folder.mkdir(parents=True)
        git(machine.path, "init", "-q")
        git(machine.path, "remote", "add", "origin", "https://example.org/team/code.git")
        git(vault, "init", "-q", "-b", "main")
        git(vault, "remote", "add", "origin", str(tmp_path / "vault.git"))
        config.write_text('[knowledge]\ngit = true\n\n[hooks.session_start]\nscripts = ["context-inject"]\n')
    one, two = machines
    entry = add(one, "Indent with tabs")["id"]
    one.run("knowledge", "worker")
    two.run("fire", "SessionStart", "--data", '{"source": "startup"}', "--agent", "claude-code")
    assert eventually(lambda: two.run("memory", "show", entry).code == 0)
    one.run("memory", "edit", entry, "Indent with 8 spaces")
    two.run("memory", "edit", entry, "Indent with 4 spaces")
    for machine in (one, two, one):
        machine.run("knowledge", "worker")
    for machine in machines:
        told = machine.run("memory", "review", "--json")
        assert told.code == 1
        (finding,) = told.json["findings"]
        assert finding["why"] == "rivals"
        assert "8 spaces" in finding["text"]
        assert "4 spaces" in finding["text"]
    assert two.run("memory", "pin", entry).code == 0
    assert two.run("memory", "review").code == 0


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def test_a_person_says_why_an_entry_no_longer_counts(project: Project) -> None:
    entry = add(project, "Use SQLite")["id"]
    key = "ghp_" + "k" * 36
    assert project.run("memory", "retire", entry, "--why", f"two hosts {key}", "--json").json["status"] == "retired"
    told = project.run("memory", "history", entry).out
    assert "two hosts" in told
    assert key not in told


def test_an_editor_that_changes_nothing_or_does_not_start_says_so(project: Project) -> None:
    entry = add(project, "Use SQLite")["id"]
    assert "nothing changed" in project.run("memory", "open", entry, EDITOR="true").out
    assert "Use MySQL" in project.run("memory", "open", entry, EDITOR="sed -i.old s/SQLite/MySQL/").out
    broken = project.run("memory", "open", entry, EDITOR="/no/such/editor")
    assert broken.code == 64
    assert "set EDITOR" in broken.err
    assert "hookline memory search" in project.run("memory", "show", "zzzz").err


def test_secrets_are_not_remembered(project: Project) -> None:
    key = "ghp_" + "k" * 36
    add(project, f"The token is {key}")
    assert not any(key in path.read_text() for path in (project.home / VAULT).rglob("*") if path.is_file())


def test_wrong_input_says_what_to_type(project: Project) -> None:
    unknown = project.run("memory", "pin", "zzzz")
    assert (unknown.code, "hookline memory search TEXT" in unknown.err) == (64, True)
    assert project.run("memory", "show").code == 1
    entry = add(project, "Use SQLite")
    assert project.run("memory", "edit", entry["id"]).code == 64
    assert project.run("memory", "digest", "--since", "soon").code == 64
    project.run("memory", "retire", entry["id"])
    again = project.run("memory", "supersede", entry["id"], "Use files")
    assert (again.code, "retired already" in again.err) == (64, True)


def test_a_project_that_opted_out_has_no_memory(project: Project) -> None:
    config = project.home / ".config/hookline/hookline.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[knowledge]\nenabled = false\n")
    assert project.run("memory", "add", "Use SQLite").code == 1
    assert not (project.home / VAULT).exists()
