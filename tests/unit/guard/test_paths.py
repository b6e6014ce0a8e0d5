"""Where a path lies."""

from __future__ import annotations

import pytest

from hookline.guard.paths import JudgedPath, KnownPlaces, locate, locate_path
from hookline.guard.reading import UNKNOWN, Glob, Word

PLACES = KnownPlaces(cwd="/work/app/src", project="/work/app", home="/home/me")


@pytest.mark.parametrize(
    ("path", "name", "whole"),
    [
        ("/", "root", True),
        ("/etc", "system", True),
        ("/etc/passwd", "system", True),
        ("/etc/ssh/sshd_config", "system", False),
        ("/home", "home", True),
        ("/home/me", "home", True),
        ("/home/ann", "home", True),
        ("/home/me/x", "home", False),
        ("/work", "outside", True),
        ("/work/app", "project", True),
        ("..", "project", True),
        (".", "project", False),
        ("a/../b", "project", False),
        ("../../other", "outside", False),
        ("/tmp", "temp", True),
        ("/tmp/x", "temp", False),
        ("/tmp/../etc", "system", True),
        ("/dev/sda", "device", False),
        ("/dev/null", "temp", False),
        ("/dev/tcp/x/9", "network", False),
        ("/mnt/disk", "mount", True),
        ("/data/x", "outside", False),
    ],
)
def test_a_path_has_a_place(path: str, name: str, whole: bool) -> None:
    found = locate_path(path, PLACES, PLACES.cwd)
    assert (found.name, found.whole) == (name, whole)


def test_a_link_is_judged_by_where_it_leads() -> None:
    linked = KnownPlaces(
        cwd="/work/app",
        project="/work/app",
        home="/home/me",
        resolve=lambda path: "/etc/x" if path == "/work/app/l" else path,
    )
    assert locate_path("l", linked, "/work/app", follow=True).name == "system"
    assert locate_path("l", linked, "/work/app").name == "project", "removing a link leaves what it points to"


def test_a_pattern_may_mean_what_the_system_needs() -> None:
    assert locate(Word(("/et", Glob("?"))), PLACES, "/") == JudgedPath(name="system", path="/etc", whole=True)
    assert locate(Word(("/", Glob("*"))), PLACES, "/").name == "root"


def test_what_is_not_known_has_no_place_but_a_known_beginning_has() -> None:
    assert locate(Word((UNKNOWN,)), PLACES, "/").name == "unknown"
    assert locate(Word(("/tmp/", UNKNOWN)), PLACES, "/").name == "temp"
