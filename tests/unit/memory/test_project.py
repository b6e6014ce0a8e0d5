from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.unit.memory.note_world import git

from hookline.memory.project import find_project, normalize_remote

if TYPE_CHECKING:
    from pathlib import Path


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return folder


def test_worktrees_and_subdirectories_are_their_project(tmp_path: Path) -> None:
    main = repository(tmp_path / "proj")
    git(main, "worktree", "add", "-q", "../side")
    (tmp_path / "side" / "deep").mkdir()
    (main / "sub").mkdir()
    projects = [find_project(str(one)) for one in (main, main / "sub", tmp_path / "side", tmp_path / "side" / "deep")]
    assert {(one.folder, one.name, one.root) for one in projects} == {(projects[0].folder, "proj", str(main))}
    assert [one.checkout for one in projects] == [str(main), str(main), str(tmp_path / "side"), str(tmp_path / "side")]


def test_a_link_to_a_repository_is_the_repository(tmp_path: Path) -> None:
    main = repository(tmp_path / "proj")
    (tmp_path / "link").symlink_to(main)
    assert find_project(str(tmp_path / "link")) == find_project(str(main))


def test_worktrees_of_a_bare_repository_are_one_project(tmp_path: Path) -> None:
    main = repository(tmp_path / "proj")
    git(tmp_path, "clone", "-q", "--bare", str(main), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", "../one", "-b", "one")
    git(tmp_path / "bare.git", "worktree", "add", "-q", "../two", "-b", "two")
    one, two = (find_project(str(tmp_path / name)) for name in ("one", "two"))
    assert one.folder == two.folder
    assert one.name == "bare"


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    inner, outer = repository(tmp_path / "inner"), repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    assert find_project(str(outer / "lib")).name == "lib"
    assert find_project(str(outer / "lib")).folder != find_project(str(outer)).folder


def test_clones_with_the_same_remote_are_one_project_and_its_memory_from_before_is_known(tmp_path: Path) -> None:
    first = repository(tmp_path / "a" / "proj")
    before = find_project(str(first))
    git(first, "remote", "add", "origin", "git@example.org:team/thing.git")
    second = repository(tmp_path / "b" / "another-name")
    git(second, "remote", "add", "origin", "https://me:secret@example.org/team/thing")
    one, two = find_project(str(first)), find_project(str(second))
    assert one.folder == two.folder
    assert one.folder.startswith("thing-")
    assert one.earlier == (before.folder,)
    assert one.key == "example.org/team/thing"


def test_the_only_remote_counts_and_of_several_only_origin(tmp_path: Path) -> None:
    main = repository(tmp_path / "proj")
    git(main, "remote", "add", "upstream", "https://example.org/up/thing")
    assert find_project(str(main)).key == "example.org/up/thing"
    git(main, "remote", "add", "mine", "https://example.org/me/thing")
    assert find_project(str(main)).key == str(main / ".git")


def test_repositories_of_the_same_name_have_different_folders(tmp_path: Path) -> None:
    one, two = (find_project(str(repository(tmp_path / place / "proj"))) for place in ("a", "b"))
    assert one.name == two.name == "proj"
    assert one.folder != two.folder


def test_a_moved_repository_without_a_remote_is_another_one(tmp_path: Path) -> None:
    before = find_project(str(repository(tmp_path / "proj")))
    shutil.move(tmp_path / "proj", tmp_path / "moved")
    assert find_project(str(tmp_path / "moved")).folder != before.folder


@pytest.mark.parametrize("text", ["", "gitdir: /nowhere", "nonsense", "gitdir:", "\0"])
def test_a_broken_git_file_is_never_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert find_project(str(tmp_path)).name == tmp_path.name


def test_a_directory_that_is_gone_has_a_project_still(tmp_path: Path) -> None:
    assert find_project(str(tmp_path / "gone")).name == "gone"


@pytest.mark.parametrize("name", ["..", "sp ace", "ünï", "-x", "a\nb", "\udcff", "." * 5, "x" * 200])
def test_a_folder_is_one_plain_name(tmp_path: Path, name: str) -> None:
    folder = find_project(f"{tmp_path}/{name}").folder
    assert folder.isascii()
    assert "/" not in folder
    assert folder[0].isalnum()
    assert len(folder) < 80


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("git@example.org:a/b.git", "example.org/a/b"),
        ("ssh://git@Example.org:2222/a/b.git/", "example.org/a/b"),
        ("https://user:token@example.org/a/b", "example.org/a/b"),
        ("host:path", "host/path"),
        ("/srv/git/b.git", ""),
        ("../b", ""),
        ("file:///srv/b", ""),
        ("C:/b", ""),
        ("", ""),
    ],
)
def test_one_remote_has_one_name(url: str, key: str) -> None:
    assert normalize_remote(url) == key
