"""Which files count: those of the folder, those that appear, those behind links, and those of older approvals."""

from __future__ import annotations

import json
import mmap
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.approvals import DATA, EVIL, GOOD, GOOD_PY, Project

from hookline.core.errors import StateError
from hookline.core.result import Failed, Replied
from hookline.state.trust import TrustStore
from hookline.state.trust.code_files import files_below
from hookline.state.trust.covered import CoveredFiles
from hookline.state.trust.found_files import MOST_FILES

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who writes a file")
PY = {"hooks/g.py": "import json\n" + GOOD_PY}


def covered(project: Project) -> CoveredFiles:
    with project.engine() as runtime:
        (verdict,) = runtime.verdicts.values()
    assert verdict.covered is not None
    return verdict.covered


def files(project: Project) -> list[str]:
    return [path for path, _ in covered(project).cover.files]


def test_a_folder_that_may_not_be_listed_counts_as_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files can be run all the same. Nothing is unreadable for root, so the system's answer is given here."""
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": GOOD})
    project.approve()
    hooks = str(project.root / "hooks")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: access(path, mode) and not (path == hooks and mode & os.R_OK))
    assert covered(project).check() == ("cannot be listed: hooks",)


# ── what is covered ──────────────────────────────────────────────────────────────────────────────────


def test_a_script_below_hooks_brings_its_folder_and_nothing_else(tmp_path: Path) -> None:
    names = {"hooks/a/g.sh": GOOD, "hooks/a/list.txt": "", "hooks/a/sub/x": "", "hooks/b.sh": "", "src/main.py": ""}
    project = Project(tmp_path, 'run = "sh hooks/a/g.sh"', names)
    project.approve()
    assert files(project) == ["hooks/a/g.sh", "hooks/a/list.txt", "hooks/a/sub/x"]


def test_the_files_that_hooks_are_written_in_are_approved_hook_by_hook(tmp_path: Path) -> None:
    project = Project(
        tmp_path, 'run = "sh .hookline/g.sh"', {".hookline/g.sh": GOOD, ".claude/settings.local.json": "{}"}
    )
    project.approve()
    assert files(project) == [".hookline/g.sh"]


def test_a_folder_with_too_many_files_is_not_covered_and_approval_says_so(tmp_path: Path) -> None:
    many = {f"hooks/data/{number}.txt": "" for number in range(MOST_FILES)}
    project = Project(
        tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": ". hooks/lib.sh\n", "hooks/lib.sh": GOOD, **many}
    )
    with project.engine(inspect=True) as runtime:
        assert runtime.trust is not None
        pins = runtime.trust.pins(runtime.loaded.specs[0])
    assert [path for path, _ in pins.files] == ["hooks/g.sh", "hooks/lib.sh"]
    assert pins.notes == (f"hooks has {MOST_FILES + 2} files: only the script and what it names are covered",)


@pytest.mark.parametrize("program", ["ruff check src/main.py", "prettier --check src", "python3 -m pytest tests"])
def test_the_files_that_a_tool_checks_are_not_the_hooks(tmp_path: Path, program: str) -> None:
    names = {"src/main.py": "import other\n", "src/other.py": "", "tests/test_x.py": ""}
    project = Project(tmp_path, f'run = "{program}"', names)
    project.approve()
    assert set(files(project)) <= {"src/main.py"}


def test_what_else_a_script_names_is_shown(tmp_path: Path) -> None:
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": "case $1 in package.json) ;; esac\nmake x\n" + GOOD, "package.json": "{}"})  # fmt: skip
    with project.engine(inspect=True) as runtime:
        assert runtime.trust is not None
        pins = runtime.trust.pins(runtime.loaded.specs[0])
    assert "package.json (named by a script)" in pins.unpinned


# ── what appears later ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name",
    ["hooks/json.py", "hooks/json/__init__.py", "hooks/x.so", "hooks/json.pyc", "hooks/lib/evil.sh", "hooks/e.mjs"],
)
def test_code_that_appears_in_the_folder_revokes(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path, 'run = "python3 hooks/g.py"', PY)
    project.approve()
    project.write(name, "")
    outcome = project.outcome()
    assert (type(outcome), f"appeared: {name}" in outcome.error) == (Failed, True), outcome


def test_a_program_without_a_suffix_that_appears_revokes(tmp_path: Path) -> None:
    project = Project(tmp_path, 'run = "python3 hooks/g.py"', PY)
    project.approve()
    project.write("hooks/evil", "x")
    assert type(project.outcome()) is Replied
    (project.root / "hooks/evil").chmod(0o755)
    assert type(project.outcome()) is Failed


@pytest.mark.parametrize(
    "name",
    [
        "hooks/guard.log",
        "hooks/cache.json",
        "hooks/__pycache__/g.cpython-311.pyc",
        "hooks/state/x.db",
        "src/new.py",
        "new.py",
    ],
)
def test_data_that_appears_does_not_revoke(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path, 'run = "python3 hooks/g.py"', PY)
    project.approve()
    project.write(name, "x")
    assert type(project.outcome()) is Replied


@pytest.mark.parametrize(
    ("action", "files", "appears"),
    [
        ('run = "python3 g.py"', {"g.py": "import json\n" + GOOD_PY}, "json.py"),
        ('run = "python3 g.py"', {"g.py": "try:\n  import extra\nexcept ImportError: pass\n" + GOOD_PY}, "extra/__init__.py"),
        ('run = "sh g.sh"', {"g.sh": "[ -f env ] && . ./env\n" + GOOD}, "env"),
        ('run = "sh hooks/g.sh"', {"hooks/g.sh": "[ -f ../x/env ] && . ../x/env; . lib/more 2>/dev/null\n" + GOOD}, "lib/more"),
        ("shell = 'for f in h.d/*; do . $f; done'", {"h.d/1": GOOD}, "h.d/0"),
        ('run = ["python3", "-c", "import sys; sys.exit(2)"]', {}, "sys.py"),
    ],
)  # fmt: skip
def test_what_would_be_loaded_in_front_revokes_anywhere(
    tmp_path: Path, action: str, files: dict[str, str], appears: str
) -> None:
    project = Project(tmp_path, action, files)
    project.approve()
    assert project.outcome().not_run is None
    project.write(appears, EVIL)
    outcome = project.outcome()
    assert (type(outcome), outcome.not_run) == (Failed, "changed"), outcome


# ── links ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_that_becomes_a_link_to_itself_revokes(tmp_path: Path) -> None:
    """The files are the same, but a script that follows the link finds other neighbours."""
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": GOOD})
    project.approve()
    (project.root / "hooks").rename(tmp_path / "moved")
    (project.root / "hooks").symlink_to(tmp_path / "moved")
    assert covered(project).check() == ("hooks",)


def test_a_link_that_leads_elsewhere_revokes(tmp_path: Path) -> None:
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"one/g.sh": GOOD, "two/g.sh": GOOD})
    (project.root / "hooks").symlink_to("one")
    project.approve()
    assert type(project.outcome()) is Replied
    (project.root / "hooks").unlink()
    (project.root / "hooks").symlink_to("two")
    assert type(project.outcome()) is Failed


def test_links_in_a_circle_are_survived(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "up").symlink_to("../..")
    (tmp_path / "a" / "x").write_text("")
    assert "a/x" in [path for path, _ in files_below(str(tmp_path))]


def test_every_way_to_a_project_leads_to_the_same_approval(tmp_path: Path) -> None:
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": GOOD})
    project.approve()
    (tmp_path / "link").symlink_to(project.root)
    for way in (tmp_path / "link", Path(f"/{project.root}"), project.root / ".." / "project"):
        with project.engine(cwd=way) as runtime:
            assert [one.state for one in runtime.verdicts.values()] == ["trusted"]
            assert runtime.missing == ()


# ── worktrees ────────────────────────────────────────────────────────────────────────────────────────


def git(where: Path, *words: str) -> None:
    line = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *words]
    subprocess.run(line, cwd=where, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Project:
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": GOOD})
    (project.root / ".git").rmdir()
    git(project.root, "init", "-q")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "x")
    git(project.root, "worktree", "add", "-q", str(tmp_path / "tree"))
    return project


def test_a_worktree_shares_the_approvals_of_its_repository(repository: Project, tmp_path: Path) -> None:
    repository.approve()
    assert type(repository.outcome(cwd=tmp_path / "tree")) is Replied
    (tmp_path / "tree/hooks/g.sh").write_text(EVIL)
    assert type(repository.outcome(cwd=tmp_path / "tree")) is Failed
    assert type(repository.outcome()) is Replied, "each worktree has its own files"


def test_what_is_approved_in_a_worktree_counts_in_the_repository(repository: Project, tmp_path: Path) -> None:
    main, repository.root = repository.root, tmp_path / "tree"
    repository.approve()
    assert type(repository.outcome(cwd=main)) is Replied


def test_a_folder_that_only_claims_to_be_a_worktree_is_another_project(repository: Project, tmp_path: Path) -> None:
    repository.approve()
    fake = Project(tmp_path / "fake", 'run = "sh hooks/g.sh"', {"hooks/g.sh": GOOD})
    (fake.root / ".git").rmdir()
    (fake.root / ".git").write_text(f"gitdir: {repository.root}/.git/worktrees/tree\n")
    assert repository.fire(cwd=fake.root).outcomes == ()


# ── older approvals ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def older(tmp_path: Path) -> Project:
    """Approved by a version that kept only the files that the definition names."""
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": ". hooks/lib.sh\n", "hooks/lib.sh": GOOD})
    project.approve()
    with project.engine() as runtime:
        assert runtime.trust is not None
        path = Path(runtime.trust.path)
    tree = json.loads(path.read_text())
    for one in tree["approvals"]:
        for key in ("signatures", "folders", "absent", "links", "variables", "named", "covers_folders"):
            del one[key]
        one["files"] = [pair for pair in one["files"] if pair[0] == "hooks/g.sh"]
    path.write_text(json.dumps(tree))
    return project


def test_an_older_approval_is_judged_by_the_files_it_lists(older: Project) -> None:
    assert type(older.outcome()) is Replied
    older.write("hooks/lib.sh", GOOD + "# edited\n")
    older.write("hooks/new.py", "")
    assert type(older.outcome()) is Replied
    older.write("hooks/g.sh", EVIL)
    assert type(older.outcome()) is Failed


def test_an_older_approval_of_a_link_stays(older: Project) -> None:
    script = older.root / "hooks/g.sh"
    script.rename(older.root / "real.sh")
    script.symlink_to("../real.sh")
    assert type(older.outcome()) is Replied


def test_an_older_version_can_read_a_newer_file(tmp_path: Path) -> None:
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": GOOD})
    project.approve()
    with project.engine() as runtime:
        assert runtime.trust is not None
        store: TrustStore = runtime.trust
    for one in json.loads(Path(store.path).read_text())["approvals"]:
        assert {"name", "event", "file", "pointer", "definition", "files", "when"} <= one.keys()


def test_a_cold_check_reads_no_file_that_has_not_been_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": GOOD})
    project.approve()

    def read(_path: str) -> str:
        raise AssertionError

    monkeypatch.setattr("hookline.state.trust.digest._sha256", read)
    assert type(project.outcome()) is Replied
    os.utime(project.root / "hooks/g.sh")
    with pytest.raises(AssertionError):
        project.outcome()


# ── files in somebody's memory ───────────────────────────────────────────────────────────────────────

#: As long as what replaces it: a mapping cannot grow.
LONG_GOOD = "echo no >&2; exit 2".ljust(60) + "\n"
LONG_EVIL = EVIL.strip().ljust(60).encode() + b"\n"


def mapped(project: Project) -> mmap.mmap:
    """Held by nothing but the memory of this process."""
    with (project.root / "hooks/g.sh").open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


@linux
def test_a_file_that_somebody_holds_open_for_writing_is_not_approved(tmp_path: Path) -> None:
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": LONG_GOOD})
    with mapped(project), pytest.raises(StateError, match="open for writing in another program"):
        project.approve()
    project.approve()


@linux
@pytest.mark.parametrize("dirty", [True, False])
def test_a_change_in_memory_runs_nothing(tmp_path: Path, dirty: bool) -> None:
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": LONG_GOOD})
    project.approve()
    with project.engine() as runtime:
        assert runtime.trust is not None
        runtime.trust.stay()
        assert runtime.engine.fire_sync("PreToolUse", DATA).reason == "no"
        with mapped(project) as memory:
            if dirty:  # what is written after this leaves no trace in the times of the file
                memory[0] = memory[0]
                runtime.engine.fire_sync("PreToolUse", DATA)
            memory[:] = LONG_EVIL
            assert runtime.engine.fire_sync("PreToolUse", DATA).effect == "deny"
            assert project.fire().effect == "deny"
    assert not project.trace.exists()


def test_a_repository_that_does_not_know_a_worktree_shares_no_approval(tmp_path: Path) -> None:
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": GOOD})
    project.approve()
    stranger = tmp_path / "stranger"
    shutil.copytree(project.root, stranger, ignore=shutil.ignore_patterns(".git"))
    (stranger / "own").mkdir()
    for name, text in {
        ".git": "gitdir: own",
        "own/commondir": f"{project.root}/.git",
        "own/gitdir": f"{stranger}/.git",
    }.items():
        (stranger / name).write_text(text)
    assert project.fire(cwd=stranger).outcomes == ()
