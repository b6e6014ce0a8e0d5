"""Our own files are found upwards, and never beyond the repository or the home directory."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from hookline.config.discover import native_places
from hookline.core.own_directories import agents_directories, surroundings
from hookline.core.paths import Paths, project_root

PATHS = Paths(config="/c", state="/s", data="/d", machine="/m")


def found(cwd: Path, home: Path) -> list[tuple[str, str]]:
    return [(place.layer, place.path) for place in native_places(str(cwd), str(home), PATHS)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home/repo/src/deep").mkdir(parents=True)
    return tmp_path / "home"


def configured(folder: Path, name: str = "hookline.toml") -> Path:
    (folder / ".hookline").mkdir(exist_ok=True)
    (folder / ".hookline" / name).touch()
    return folder


def test_machine_and_user_are_always_looked_at(home: Path) -> None:
    assert found(home / "repo", home) == [("machine", "/m/hookline.toml"), ("user", "/c/hookline.toml")]


@pytest.mark.parametrize("name", ["hookline.toml", "local.toml"])
def test_the_project_is_found_from_below(home: Path, name: str) -> None:
    configured(home / "repo", name)
    assert found(home / "repo/src/deep", home)[2:] == [
        ("project", str(home / "repo/.hookline/hookline.toml")),
        ("local", str(home / "repo/.hookline/local.toml")),
    ]


def test_the_nearest_configuration_counts(home: Path) -> None:
    configured(home / "repo")
    configured(home / "repo/src")
    assert project_root(str(home / "repo/src/deep"), str(home)) == str(home / "repo/src")


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_nothing_above_the_repository_is_ours(home: Path, kind: str) -> None:
    configured(home)
    (home / "repo/.git").mkdir() if kind == "directory" else (home / "repo/.git").write_text("gitdir: x")
    assert len(found(home / "repo/src", home)) == 2


def test_nothing_above_home_is_ours(home: Path) -> None:
    configured(home.parent)
    assert len(found(home / "repo/src", home)) == 2


def test_outside_of_home_the_search_goes_to_the_top(home: Path, tmp_path: Path) -> None:
    configured(tmp_path)
    assert project_root(str(home / "repo"), str(tmp_path / "elsewhere")) == str(tmp_path)


def test_an_empty_folder_of_ours_is_no_project(home: Path) -> None:
    (home / "repo/src/.hookline").mkdir()
    configured(home / "repo")
    assert project_root(str(home / "repo/src"), str(home)) == str(home / "repo")


def test_without_a_configuration_the_repository_is_the_project(home: Path) -> None:
    (home / "repo/.git").mkdir()
    assert project_root(str(home / "repo/src/deep"), str(home)) == str(home / "repo")


def test_without_anything_the_working_directory_is_the_project(home: Path) -> None:
    assert project_root(str(home / "repo/src"), str(home)) == str(home / "repo/src")


def test_a_circle_of_links_and_a_missing_directory_do_no_harm(home: Path) -> None:
    (home / "loop").symlink_to(home / "loop")
    (home / "repo/.hookline").symlink_to(home / "loop")
    assert len(found(home / "repo/gone/for/good", home)) == 2


# ── where our own files are ──────────────────────────────────────────────────────────────────────────


def test_a_project_cannot_move_our_files_into_itself(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    home = str(tmp_path / "home")
    environ = {"HOME": home, "XDG_STATE_HOME": str(project), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert surroundings(str(project), environ) == (home, {"XDG_CONFIG_HOME": str(tmp_path / "config")})
    moved, _ = surroundings(str(project), {"HOME": str(project / "home")})
    assert moved == pwd.getpwuid(os.geteuid()).pw_dir


def test_what_lies_above_ones_own_files_is_no_project(tmp_path: Path) -> None:
    """Otherwise guards of one's own would be silently off there."""
    environ = {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    own = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert surroundings("/", environ) == (str(tmp_path / "home"), own)
    assert surroundings(pwd.getpwuid(os.geteuid()).pw_dir, environ) == (str(tmp_path / "home"), own)


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home directory in the password database."""
    home = tmp_path / "account"
    home.mkdir()
    entry = type("Entry", (), {"pw_dir": str(home)})
    monkeypatch.setattr(pwd, "getpwuid", lambda _user: entry)
    return home


@pytest.mark.parametrize("name", ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"])
def test_where_a_variable_differs_from_the_password_database_both_count(
    account: Path, tmp_path: Path, name: str
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    same = agents_directories(str(project), {"HOME": str(account)})
    assert [one.home for one in same] == [str(account)]
    named, usual = agents_directories(str(project), {"HOME": str(account), name: str(tmp_path / "elsewhere")})
    assert usual == same[0]
    assert named.paths != usual.paths


@pytest.mark.parametrize("value", ["/proc/self/cwd/../evil", "/x/../evil", "evil", ".", "/dev/fd/3"])
def test_a_path_that_is_not_plain_says_nothing(account: Path, tmp_path: Path, value: str) -> None:
    environ = {"HOME": str(account), "XDG_CONFIG_HOME": value, "XDG_STATE_HOME": value}
    (only,) = agents_directories(str(tmp_path), environ)
    assert only.paths.config == str(account / ".config/hookline")
    (only,) = agents_directories(str(tmp_path), {"HOME": value})
    assert only.home == str(account)


def test_a_user_whom_the_password_database_does_not_know_has_the_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_user: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    (only,) = agents_directories(str(tmp_path), {"HOME": "/home/x"})
    assert only.home == "/home/x"
