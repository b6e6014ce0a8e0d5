"""What a repository's own configuration says about programs, as git prints it."""

from __future__ import annotations

import pytest

from hookline.core.git import git_environ, read_config

SHA1, SHA256 = (
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
)


@pytest.mark.parametrize(
    ("printed", "code", "found"),
    [
        ("", 1, (False, SHA1)),
        ("global\tfilter.lfs.clean git-lfs clean -- %f\n", 0, (False, SHA1)),
        ("local\tfilter.x.clean sh\n", 0, (True, SHA1)),
        ("worktree\tfilter.x.process sh\n", 0, (True, SHA1)),
        ("command\tfilter.x.clean sh\n", 0, (True, SHA1)),
        ("local\textensions.objectformat sha256\n", 0, (False, SHA256)),
        ("", 129, (True, "")),
    ],
)
def test_a_filter_of_ones_own_is_told_from_one_of_the_repository(
    printed: str, code: int, found: tuple[bool, str]
) -> None:
    assert read_config(printed, code) == found


def test_variables_that_select_another_repository_are_left_out() -> None:
    own = git_environ({"GIT_DIR": "/elsewhere", "HOME": "/h"}, SHA1)
    assert (own.get("GIT_DIR"), own["HOME"], own["GIT_ATTR_SOURCE"]) == (None, "/h", SHA1)


@pytest.mark.parametrize("home", ["/checkout/home", "/proc/self/cwd/home", "home", "/checkout/../checkout"])
def test_variables_that_name_programs_are_left_out(home: str) -> None:
    given = {
        "GIT_CONFIG_GLOBAL": "x",
        "GIT_CONFIG_COUNT": "1",
        "GIT_TRACE": "/f",
        "HOME": home,
        "XDG_CONFIG_HOME": "/own",
    }
    own = git_environ(given, checkout="/checkout")
    assert set(own) & set(given) == {"XDG_CONFIG_HOME"}
