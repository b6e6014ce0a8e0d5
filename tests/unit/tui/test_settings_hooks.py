"""Hooks in the settings files of agents, changed in the manager; and what it does when things go wrong."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.unit.tui.conftest import Place

pytest.importorskip("textual", reason="the manager on the screen needs the extra ui")

from textual.widgets import DataTable, Input, Select, Static

from hookline.core.errors import ConfigError, UsageError
from hookline.dialects.claude_family.settings_edit import WrittenHook
from hookline.engine.build import Runtime, Sources, StoreOptions, load_runtime
from hookline.tui.app import Manager
from hookline.tui.details import record_line
from hookline.tui.screens import HookScreen, TextScreen
from hookline.tui.service import HookService

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from hookline.state.record.query import Row

FILE = """{
    "keep":   [1,2],
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5000}]}
        ]
    }
}
"""


@pytest.fixture
def file(place: Place) -> Path:
    made = place.home / ".letta/settings.json"
    made.parent.mkdir()
    made.write_text(FILE)
    return made


def open_service(place: Place, dialect: str = "letta", **environ: str) -> HookService:
    def assemble() -> Runtime:
        around = {"HOME": str(place.home), "PATH": "/usr/bin:/bin", **environ}
        sources = Sources(cwd=place.project, environ=around, home=str(place.home), dialect=dialect, inspect=True)
        return load_runtime(sources, StoreOptions(record=False, live=False))

    return HookService(assemble)


def work(
    service: HookService, act: Callable[[Pilot[None], Manager], Awaitable[Any]], size: tuple[int, int] = (80, 24)
) -> None:
    async def play() -> None:
        app = Manager(service)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await act(pilot, app)

    try:
        asyncio.run(play())
    finally:
        service.close()


def text_of(app: Manager, selector: str) -> str:
    return str(app.screen_stack[0].query_one(selector, Static).render())


def written(file: Path) -> str:
    return file.read_text()


def test_a_hook_is_added_changed_switched_and_deleted_and_every_change_is_taken_back(place: Place, file: Path) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("a")
        form = app.screen
        assert isinstance(form, HookScreen)
        assert form.query_one("#target", Select).value == "letta user"
        form.query_one("#on", Input).value = "Stop"
        form.query_one("#what", Input).value = "./done.sh"
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert [hook.name for hook in app.service.hooks] == ["./guard.sh", "./done.sh"]
        assert written(file).startswith(FILE.partition("\n        ]")[0])
        await pilot.press("m")
        assert app.screen.query_one("#timeout", Input).value == "5s"
        app.screen.query_one("#what", Input).value = "./other.sh"
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert '"./other.sh", "timeout": 5000' in written(file)
        await pilot.press("o")
        assert {hook.state for hook in app.service.hooks} == {"off"}
        await pilot.press("d", "y")
        await pilot.pause()
        assert "other.sh" not in written(file)
        await pilot.press("u", "u", "u", "u")
        assert written(file) == FILE
        await pilot.press("u")

    work(open_service(place), act)
    kept = [one.read_text() for one in (place.state / "backups").iterdir()]
    assert FILE in kept


def test_the_same_holds_for_the_other_dialect_of_the_family_and_a_new_file(place: Place) -> None:
    service = open_service(place, "claude")
    target = next(one for one in service.settings_files if one.label == "claude project")
    service.add_to(target, WrittenHook(event="PreToolUse", text="./x.sh", matcher="Bash", timeout="2s"))
    file = place.project / ".claude/settings.json"
    assert '"timeout": 2' in file.read_text()
    assert [hook.trust for hook in service.hooks] == ["unknown"]
    service.undo()
    assert not file.exists()
    service.close()


def test_what_would_not_work_is_not_written(place: Place, file: Path) -> None:
    service = open_service(place)
    (target,) = [one for one in service.settings_files if one.label == "letta user"]
    with pytest.raises(UsageError, match="prompt hooks are not supported on Notification"):
        service.add_to(target, WrittenHook(event="Notification", kind="prompt", text="?"))
    with pytest.raises(UsageError, match="unknown event"):
        service.add_to(target, WrittenHook(event="Stopp", text="x"))
    (hook,) = service.hooks
    file.write_text("{")
    with pytest.raises(ConfigError):
        service.remove(hook)
    assert file.read_text() == "{"
    service.close()


def test_a_change_by_somebody_else_is_not_undone(place: Place, file: Path) -> None:
    service = open_service(place)
    service.remove(service.hooks[0])
    file.write_text("{}")
    with pytest.raises(ConfigError, match="changed by somebody else"):
        service.undo()
    assert file.read_text() == "{}"
    service.close()


def test_a_project_whose_settings_are_a_link_out_of_it_is_left_alone(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(FILE)
    (place.project / ".letta").mkdir()
    (place.project / ".letta/settings.json").symlink_to(outside)
    service = open_service(place)
    with pytest.raises(ConfigError, match="link out of its project"):
        service.remove(service.hooks[0])
    assert outside.read_text() == FILE
    service.close()


# ── when things go wrong ─────────────────────────────────────────────────────────────────────────────


def test_a_directory_that_is_gone_ends_nothing(place: Place, file: Path) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        shutil.rmtree(place.home)
        place.home.write_text("")
        for key in ("f5", "space", "d", "y", "enter", "escape", "u"):
            await pilot.press(key)
        assert app.is_running

    work(open_service(place), act)
    assert file is not None


def test_a_fault_is_raised_after_the_screen_was_given_back_and_shows_no_variables(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    service = open_service(place, ANTHROPIC_API_KEY="sk-secret")
    app = Manager(service)

    async def play() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            app.service = cast("HookService", _Broken())  # a bug of ours
            await pilot.press("b")
            await pilot.pause()

    with suppress(ZeroDivisionError):
        asyncio.run(play())
    with pytest.raises(ZeroDivisionError):
        app.raise_fault()
    service.close()
    assert "sk-secret" not in "".join(capsys.readouterr())


class _Broken:
    @property
    def hooks(self) -> Any:
        raise ZeroDivisionError

    def stop_trial(self) -> None: ...


def test_quitting_ends_a_slow_trial_at_once(place: Place, file: Path) -> None:
    file.write_text(FILE.replace("./guard.sh", "sleep 300").replace("5000", "900000"))

    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("r")
        while app.service._trial is None:  # pyright: ignore[reportPrivateUsage]
            await pilot.pause(0.01)
        await pilot.press("ctrl+c")

    work(open_service(place), act)
    waiting = [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]
    for thread in waiting:
        thread.join(60)
        assert not thread.is_alive()


def test_problems_stand_first_and_are_shown_in_full(place: Place, file: Path) -> None:
    file.write_text('{"hooks": {"Stop": 7}}')

    async def act(pilot: Pilot[None], app: Manager) -> None:
        assert "Stop is 7, not a list" in text_of(app, "#problems")
        await pilot.press("p")
        assert isinstance(app.screen, TextScreen)

    work(open_service(place), act)


def test_a_wide_screen_is_used_and_a_small_one_is_named(place: Place, file: Path) -> None:
    async def wide(_pilot: Pilot[None], app: Manager) -> None:
        table = app.screen_stack[0].query_one(DataTable)
        assert [str(column.label) for column in table.ordered_columns][-2:] == ["event", "written in"]
        assert str(table.get_row_at(0)[-1]).endswith("settings.json")

    work(open_service(place), wide, (160, 40))

    async def small(_pilot: Pilot[None], app: Manager) -> None:
        assert "needs 80 by 24 characters; this terminal has 60 by 20" in text_of(app, "#small")

    work(open_service(place), small, (60, 20))
    assert file.read_text() == FILE


def test_a_light_terminal_has_a_light_theme_and_a_key_changes_it(place: Place, file: Path) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        assert app.theme == "textual-light"
        await pilot.press("l")
        assert app.theme == "textual-dark"

    work(open_service(place, COLORFGBG="0;15"), act)
    assert file.exists()


def test_recorded_events_are_told_apart_by_tool_and_command() -> None:
    data = {"session_id": "s", "tool_name": "Bash", "tool_input": {"description": "x", "command": "rm -rf build"}}
    row = cast("Row", SimpleNamespace(time=0.0, agent="codex", data=data))
    assert record_line(row, 86400.0 * 400).endswith("Bash:  rm -rf build  codex")
