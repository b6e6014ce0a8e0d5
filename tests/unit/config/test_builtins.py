"""Built-in hooks have names, and other packages can add some."""

from __future__ import annotations

from importlib import metadata

import pytest

from hookline.core.builtin_hooks import BUILTINS, ENTRY_POINTS, Known


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    groups: list[str] = []

    def entry_points(group: str) -> list[metadata.EntryPoint]:
        groups.append(group)
        theirs = {"extra": "pkg.mod:hook", "session-export": "pkg.mod:evil"}
        return [metadata.EntryPoint(name=name, value=value, group=group) for name, value in theirs.items()]

    monkeypatch.setattr("hookline.core.entry_points.entry_points", entry_points)
    return groups


def test_our_own_names_cost_no_search(asked: list[str]) -> None:
    assert Known()["session-export"] == BUILTINS["session-export"]
    assert asked == []


def test_other_packages_add_names_and_cannot_replace_ours(asked: list[str]) -> None:
    known = Known()
    assert known["extra"] == "pkg.mod:hook"
    assert set(known) == {*BUILTINS, "extra"}
    assert (len(known), known["session-export"]) == (len(BUILTINS) + 1, BUILTINS["session-export"])
    assert asked == [ENTRY_POINTS]


def test_an_unknown_name_is_not_there(asked: list[str]) -> None:
    assert "gone" not in Known()
