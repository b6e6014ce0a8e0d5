"""The table of wrap points, and the test that they are there."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from hookline.core.event import EVENTS
from hookline.shell.xonsh.patch_points import ANNOUNCED, BY_NAME, POINTS, Patches, PatchPoint, missing

#: The engine's own: no shell fires them.
OF_THE_ENGINE = {"plugin.describe", "plugin.load", "plugin.unload", "plugin.message"}


def test_every_event_of_the_shell_comes_from_a_place_in_the_table():
    fired = {event for point in POINTS for event in point.fires} | set(ANNOUNCED)
    assert fired == {name for name, kind in EVENTS.items() if kind.family == "shell"} - OF_THE_ENGINE


def test_no_name_stands_twice():
    assert len(BY_NAME) == len(POINTS)


def test_this_xonsh_has_them_all():
    pytest.importorskip("xonsh")
    assert missing() == []


def test_what_is_missing_is_named_with_its_address():
    points = [
        PatchPoint(name="a", where="json:nothing_here"),
        PatchPoint(name="b", where="no_such_module:x"),
        PatchPoint(name="c", where="json:dumps", takes=("obj", "other")),
        PatchPoint(name="d", where="json:dumps", takes=("obj",)),
        PatchPoint(name="e", where="json:gone", editor=True),
    ]
    found = missing(points, editor=False)
    assert [each.split(" ")[0] for each in found] == ["json:nothing_here", "no_such_module:x", "json:dumps"]
    assert "no longer takes other" in found[2]


def test_wraps_come_off_in_the_opposite_order(monkeypatch: pytest.MonkeyPatch):
    target = SimpleNamespace(value=1)
    monkeypatch.setitem(BY_NAME, "probe", PatchPoint(name="probe", where="json:probe"))
    monkeypatch.setattr(json, "probe", target, raising=False)
    patches = Patches()
    patches.apply("probe", lambda original: (original, "first"))
    patches.apply("probe", lambda original: (original, "second"))
    assert json.probe == ((target, "first"), "second")  # type: ignore[attr-defined]  # put there above
    patches.undo()
    assert json.probe is target  # type: ignore[attr-defined]  # put there above
