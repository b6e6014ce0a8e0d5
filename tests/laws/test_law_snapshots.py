"""A snapshot saves time and decides nothing: whatever happens to it, or to what it was made of, the files decide."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.approvals import EVIL, GOOD, Project

from hookline.core.result import Failed, Replied

ACTION, FILES = 'match = "Bash"\nrun = "sh hooks/g.sh"', {"hooks/g.sh": GOOD}
OWN = '[[hook]]\nname = "own"\non = "PreToolUse"\nrun = ["sh", "-c", "echo own >&2; exit 2"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path.resolve(), ACTION, FILES)
    made.approve()
    return made


def state(project: Project) -> Path:
    return project.home / ".local/state/hookline"


def toml(project: Project) -> Path:
    return project.root / ".hookline/hookline.toml"


def own(project: Project, name: str = "hookline.toml") -> Path:
    path = project.home / ".config/hookline" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def edit_unseen(path: Path, old: str, new: str) -> None:
    """As many bytes, and the times that a program can set."""
    assert len(old) == len(new)
    status = path.stat()
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/null")


def test_the_second_process_finds_the_hooks_in_a_snapshot(project: Project) -> None:
    project.keep_snapshot()
    fresh, again = project.runtime(), project.runtime(reuse=True)
    assert (fresh.trust is None, again.trust is None) == (False, True)
    assert (again.loaded, again.unapproved, again.engine.specs) == (fresh.loaded, fresh.unapproved, fresh.engine.specs)
    outcome = project.outcome(reuse=True)
    assert (type(outcome), outcome.reply and outcome.reply.effect) == (Replied, "deny")


# ── what it was made of changes ──────────────────────────────────────────────────────────────────────


CHANGES: dict[str, Callable[[Project], object]] = {
    "its matcher, unseen": lambda p: edit_unseen(toml(p), '"Bash"', '"Nope"'),
    "its command, unseen": lambda p: edit_unseen(toml(p), "sh hooks/g.sh", "sh hooks/f.sh"),
    "its script": lambda p: p.write("hooks/g.sh", EVIL),
    "its file is emptied": lambda p: toml(p).write_text(""),
    "its file is gone": lambda p: toml(p).unlink(),
    "its folder is gone": lambda p: shutil.rmtree(p.root / ".hookline"),
    "another file takes its place": lambda p: p.write("new.toml", "").replace(toml(p)),
    "a link takes its place": lambda p: link_to_nothing(toml(p)),
    "a local file switches it off": lambda p: p.write(".hookline/local.toml", '[[hook]]\nname = "guard"\nenabled = false\n'),
    "approvals are emptied": lambda p: (state(p) / "trust.json").write_text('{"version": 1, "approvals": []}'),
    "approvals are damaged": lambda p: (state(p) / "trust.json").write_text("{"),
    "approvals are gone": lambda p: (state(p) / "trust.json").unlink(),
    "a repository appears inside": lambda p: (p.root / "sub/.git").mkdir(parents=True),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_no_change_of_the_files_lets_the_action_pass(project: Project, change: Callable[[Project], object]) -> None:
    project.keep_snapshot()
    change(project)
    decision = project.fire(reuse=True)
    assert decision.effect == "deny", decision
    assert not project.trace.exists()
    assert decision.reason == project.fire().reason


@pytest.mark.parametrize("inside", [False, True])
def test_a_guard_of_ones_own_counts_at_once(project: Project, inside: bool) -> None:
    """Also in a file that was missing, and in one that another names."""
    own(project).write_text('[[source]]\ndialect = "native"\npath = "more.toml"\n' if inside else "")
    own(project, "more.toml").write_text("")
    project.keep_snapshot()
    own(project, "more.toml" if inside else "hookline.toml").write_text(OWN)
    outcomes = project.fire(reuse=True).outcomes
    assert [(one.hook, type(one)) for one in outcomes][:1] == [("own", Replied)]


def test_a_machine_wide_or_lazy_file_that_appears_is_read(project: Project) -> None:
    project.keep_snapshot()
    lazy = project.home / ".config/lazy-harness/config.toml"
    lazy.parent.mkdir(parents=True)
    lazy.write_text("[hooks.pre_tool_use]\nscripts = ['nothing-of-that-name']\n")
    assert project.runtime(reuse=True).loaded.problems == project.runtime().loaded.problems != ()


def test_what_is_revoked_no_longer_runs(project: Project) -> None:
    project.keep_snapshot()
    trust = project.runtime().trust
    assert trust is not None
    assert trust.revoke("guard") == 1
    assert project.fire(reuse=True).outcomes == project.fire().outcomes == ()


def test_a_variable_that_leads_elsewhere_leads_elsewhere(project: Project, tmp_path: Path) -> None:
    """A person's own call goes by variables."""
    other = tmp_path / "other/hookline"
    other.mkdir(parents=True)
    (other / "hookline.toml").write_text(OWN)
    project.keep_snapshot()
    project.environ["XDG_CONFIG_HOME"] = str(tmp_path / "other")
    for _ in range(2):
        names = [one.name for one in project.runtime(reuse=True, agents_door=False).engine.specs]
        assert names == ["own", "guard"]


# ── somebody made it ─────────────────────────────────────────────────────────────────────────────────


def disarm(kept: Path) -> None:
    """What somebody would write who wants the guard to be asked about nothing."""
    tree = json.loads(kept.read_text())
    tree["value"] = json.loads(json.dumps(tree["value"]).replace('"Bash"', '"Nope"'))
    kept.write_text(json.dumps(tree))


def edited(kept: Path, **changes: object) -> None:
    kept.write_text(json.dumps({**json.loads(kept.read_text()), **changes}))


def linked(kept: Path) -> None:
    kept.rename(kept.parent.parent / "elsewhere.json")
    kept.symlink_to(kept.parent.parent / "elsewhere.json")


def in_a_linked_folder(kept: Path) -> None:
    kept.parent.rename(kept.parent.with_name("elsewhere"))
    kept.parent.symlink_to(kept.parent.with_name("elsewhere"))


def foreign(kept: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(kept, 12345, -1)


FORGERIES: dict[str, Callable[[Path], object]] = {
    "others may write it": lambda kept: kept.chmod(0o606),
    "others may read it": lambda kept: kept.chmod(0o644),
    "others may write its folder": lambda kept: kept.parent.chmod(0o777),
    "somebody else owns it": foreign,
    "a link": linked,
    "a folder behind a link": in_a_linked_folder,
    "a second name": lambda kept: os.link(kept, kept.parent.parent / "second"),
    "another version of hookline": lambda kept: edited(kept, code=["0.0.0"]),
    "another format": lambda kept: edited(kept, format=99),
    "the hooks of another place": lambda kept: edited(kept, key="elsewhere"),
    "other files": lambda kept: edited(kept, files={str(kept): None}),
    "another environment": lambda kept: edited(kept, environ={"HOME": "x"}),
    "cut off": lambda kept: kept.write_bytes(kept.read_bytes()[:-9]),
    "not JSON": lambda kept: kept.write_bytes(b"\x80\x04cos\nsystem\n"),
    "deeper than anything": lambda kept: kept.write_text("[" * 100_000),
    "empty": lambda kept: kept.write_bytes(b""),
    "a class that is not in the table": lambda kept: edited(kept, value=[[["Popen", "sh"]], [0]]),
    "fewer fields": lambda kept: edited(kept, value=[[["Origin", "x"]], [0]]),
    "a row that is not there": lambda kept: edited(kept, value=[[], [7]]),
    "another shape": lambda kept: edited(kept, value=[[], ["t", 1]]),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_snapshot_that_is_odd_in_any_way_is_none(project: Project, forge: Callable[[Path], object]) -> None:
    kept = project.keep_snapshot()
    disarm(kept)
    forge(kept)
    assert project.fire(reuse=True).effect == "deny"


def test_a_pipe_in_its_place_makes_nobody_wait(project: Project) -> None:
    kept = project.keep_snapshot()
    kept.unlink()
    os.mkfifo(kept, 0o600)
    assert project.fire(reuse=True).effect == "deny"


def test_an_old_snapshot_that_is_put_back_is_none(project: Project) -> None:
    """From a time when there was no guard."""
    text, trust = toml(project).read_text(), project.runtime().trust
    assert trust is not None
    trust.revoke("guard")
    toml(project).write_text('[[hook]]\nname = "guard"\non = "PostToolUse"\nrun = "sh hooks/g.sh"\n')
    project.approve()
    kept = project.keep_snapshot()
    old = kept.read_bytes()
    trust.revoke("guard")
    toml(project).write_text(text)
    project.approve()
    kept = project.keep_snapshot()
    kept.write_bytes(old)
    assert project.fire(reuse=True).effect == "deny"


def test_what_is_not_in_order_is_never_kept(project: Project) -> None:
    """So it is judged anew by every process."""
    project.write("hooks/g.sh", EVIL)
    toml(project).write_text(toml(project).read_text() + '\n[[hook]]\nname = "x"\non = "Nonsense"\n')
    for _ in range(3):
        outcome = project.outcome(reuse=True)
        assert type(outcome) is Failed
    assert not (state(project) / "snapshots").exists()
