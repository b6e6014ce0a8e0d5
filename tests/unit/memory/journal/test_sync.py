"""Two machines share a vault through a git remote: nothing is lost, nothing is doubled, and nothing of it is run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hookline.core.errors import StateError
from hookline.memory.journal.files import Author, Journal
from hookline.memory.journal.model import Entry, State
from hookline.memory.journal.sync import sync
from hookline.memory.journal.views import refresh
from hookline.memory.layout import Places
from hookline.memory.project import Project

PROJECT = Project(name="shop", root="/x", key="example.org/shop", folder="shop-12345678")
MODEL = Author(source="distiller", agent="codex", session="s1")


class Machine:
    def __init__(self, folder: Path, remote: Path) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir(parents=True)
        self.environ = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        self.places = Places(
            root=str(self.vault), state=str(folder / "state"), sessions=str(self.vault / "sessions"),
            learnings=str(self.vault / "learnings"),
        )  # fmt: skip
        self.git("init", "-q", "-b", "main")
        self.git("remote", "add", "origin", str(remote))
        self.journal = Journal(self.places, PROJECT)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.vault, env=self.environ, check=True, capture_output=True, text=True
        )
        return done.stdout

    def learn(self, text: str, kind: str = "decision") -> Entry:
        entry = self.journal.add(kind, text, MODEL, details={"rationale": "it is simple"})  # type: ignore[arg-type]  # a kind
        refresh(self.places, self.journal, "shop")
        return entry

    def sync(self) -> str:
        return sync(self.places, self.environ)

    def sync_until_the_merge(self) -> None:
        """As if the process was killed before the merge was committed."""
        self.git("add", "memory/*/journal/*.jsonl", "memory/*/decisions/*.md")
        who = ("-c", "user.name=T", "-c", "user.email=t@example.org")
        self.git(*who, "commit", "-qm", "mine")
        self.git("fetch", "-q", "origin")
        (self.vault / ".git/hookline-merges").touch()
        options = ("--no-commit", "--no-ff", "--allow-unrelated-histories", "-X", "ours")
        self.git(*who, "merge", "-q", *options, "origin/main")

    def state(self) -> State:
        return self.journal.state()

    def texts(self) -> list[str]:
        return sorted(one.text for one in self.state().current())

    def note(self, words: str) -> Path:
        return next(one for one in self.vault.rglob("*.md") if words in one.read_text())


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Machine, Machine]:
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "remote")], check=True)
    return Machine(tmp_path / "a", tmp_path / "remote"), Machine(tmp_path / "b", tmp_path / "remote")


def meet(*machines: Machine) -> None:
    for machine in (*machines, *machines):
        machine.sync()


def test_a_day_offline_loses_and_doubles_nothing(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    one.learn("Keep sessions in Redis")
    one.learn("write the guide", "open")
    meet(one, two)
    assert two.texts() == ["Keep sessions in Redis", "write the guide"]
    # Both go on without knowing of each other.
    for machine, names in ((one, "abc"), (two, "xyz")):
        for name in names:
            machine.learn(f"Rule {name} of the day")
            machine.learn(f"Learned {name} today", "learning")
        machine.learn("Both found the same")
    (old,) = (entry for entry in two.state().current() if "Redis" in entry.text)
    two.journal.change("supersede", old, MODEL, by=two.learn("Keep sessions in Postgres").id)
    (item,) = one.state().current("open")
    one.journal.change("close", item, MODEL)
    meet(one, two)
    assert one.texts() == two.texts()
    assert one.texts().count("Both found the same") == 1
    assert len(one.texts()) == 6 + 6 + 1 + 1
    assert {entry.status for entry in one.state().entries.values() if "Redis" in entry.text} == {"superseded"}
    changes = {change.id for change in one.journal.changes() if change.machine}
    assert changes == {change.id for change in two.journal.changes() if change.machine}
    assert (
        "Keep sessions in Redis"
        not in (one.vault / "memory/shop-12345678/handoff.md")
        .parent.joinpath("decisions.jsonl")
        .read_text()
        .splitlines()[-1]
    )
    assert one.git("status", "--porcelain", "--untracked-files=no") == ""


def test_two_edits_of_one_note_both_stay(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    one.learn("Keep sessions in Redis")
    meet(one, two)
    for machine, text in ((one, "Keep sessions in Valkey"), (two, "Keep sessions in Redis 8")):
        note = machine.note("Keep sessions in Redis")
        note.write_text(note.read_text().replace("# Keep sessions in Redis", f"# {text}"))
    meet(one, two)
    for machine in pair:
        (entry,) = machine.state().current("decision")
        assert set(entry.rivals) == {"Keep sessions in Valkey", "Keep sessions in Redis 8"}
    assert one.note(f"# {one.texts()[0]}").read_text() == two.note(f"# {one.texts()[0]}").read_text()


def test_an_edit_that_was_committed_without_us_is_read_back(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    one.learn("Keep sessions in Redis")
    meet(one, two)
    note = two.note("Keep sessions in Redis")
    note.write_text(note.read_text().replace("# Keep sessions in Redis", "# Keep sessions in a file"))
    two.git("-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qam", "by hand")
    two.git("push", "-q", "origin", "main")
    one.journal.change("pin", one.state().current()[0], MODEL)
    meet(one)
    assert one.texts() == ["Keep sessions in a file"]


def test_sessions_and_secrets_of_the_state_stay_here(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    (one.vault / "sessions/2026-11").mkdir(parents=True)
    (one.vault / "sessions/2026-11/s.md").write_text("a whole conversation")
    one.learn("Keep sessions in Redis")
    meet(one, two)
    assert not (two.vault / "sessions").exists()
    files = one.git("ls-files").splitlines()
    assert all(name.endswith((".md", ".jsonl")) and "lock" not in name for name in files)


def test_nothing_that_the_repository_brings_is_run(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    one, two = pair
    proof = tmp_path / "proof"
    one.learn("Keep sessions in Redis")
    (one.vault / ".gitattributes").write_text("* filter=evil merge=evil\n")
    (one.vault / "link.md").symlink_to("/etc/passwd")
    one.git("add", ".gitattributes", "link.md")
    one.sync()
    for name in ("pre-commit", "post-merge", "post-checkout", "pre-push", "prepare-commit-msg"):
        hook = two.vault / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {proof}\n")
        hook.chmod(0o755)
    for key in ("filter.evil.smudge", "filter.evil.clean", "merge.evil.driver"):
        two.git("config", key, f"touch {proof}; cat")
    two.learn("Another thing")
    meet(two, one)
    assert not proof.exists()
    assert not (two.vault / "link.md").is_symlink()
    assert two.texts() == ["Another thing", "Keep sessions in Redis"]


def test_a_remote_that_is_gone_costs_no_commit(pair: tuple[Machine, Machine]) -> None:
    one, _two = pair
    one.learn("Keep sessions in Redis")
    one.git("remote", "set-url", "origin", "/nowhere/at/all")
    with pytest.raises(StateError, match=r"git fetch in .* failed: (?s:.*); try: git -C"):
        one.sync()
    assert "Remember what sessions taught" in one.git("log", "--format=%s")


def test_what_a_killed_process_left_holds_nothing_up(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    one.learn("Keep sessions in Redis")
    two.learn("Another thing")
    meet(one, two)
    one.learn("A third thing")
    one.sync()
    lock = two.vault / ".git/index.lock"
    lock.touch()
    os.utime(lock, (1_600_000_000, 1_600_000_000))
    two.sync()
    assert "A third thing" in two.texts()
    # Killed in the middle of a merge.
    one.learn("A fourth thing")
    one.sync()
    two.learn("A fifth thing")
    two.sync_until_the_merge()
    assert (two.vault / ".git/MERGE_HEAD").exists()
    meet(two, one)
    assert one.texts() == two.texts()
    assert len(one.texts()) == 5


def test_a_merge_of_a_person_is_left_to_them(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    one.learn("Keep sessions in Redis")
    two.learn("Another thing")
    meet(one)
    two.sync_until_the_merge()
    (two.vault / ".git/hookline-merges").unlink()
    with pytest.raises(StateError, match="a merge waits for a person"):
        two.sync()


def test_a_vault_that_is_no_repository_is_left_alone(tmp_path: Path) -> None:
    places = Places(root=str(tmp_path), state=str(tmp_path / "s"), sessions="", learnings=str(tmp_path / "l"))
    assert sync(places, {"PATH": os.environ["PATH"]}) == ""
    assert list(tmp_path.iterdir()) == []
