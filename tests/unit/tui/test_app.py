"""The manager, worked with keys alone on a screen of 80 by 24."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.tui.conftest import USER, Place, hook_of

pytest.importorskip("textual", reason="the manager on the screen needs the extra ui")

from textual.widgets import DataTable, Input, OptionList, Static

from hookline.tui.app import KEYS, Manager
from hookline.tui.screens import ChoiceScreen, ConfirmScreen, HookScreen, TextScreen

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from hookline.tui.service import HookService

Act = Callable[["Pilot[None]", Manager], Awaitable[Any]]


def work(service: HookService, act: Act) -> None:
    async def play() -> None:
        app = Manager(service)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            await act(pilot, app)

    asyncio.run(play())


def text_of(app: Manager, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).render())


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Hooks run in threads of their own; wait for what they bring, not for a time."""
    for _ in range(3000):
        if holds():
            return
        await pilot.pause(0.02)
    raise AssertionError("it did not come")


def test_hooks_are_listed_and_the_first_is_shown(service: HookService) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        table = app.query_one(DataTable)
        assert [str(table.get_row_at(row)[1]) for row in range(table.row_count)] == ["guard", "✦ reviewer"]
        assert "PreToolUse (Bash)" in text_of(app, "#summary")
        assert text_of(app, "#heading") == "hooks by event · 2 in all, 0 off"

    work(service, act)


def test_space_switches_off_and_on_again_and_edits_no_file(service: HookService, place: Place) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("space")
        assert hook_of(service, "guard").state == "switched off"
        assert "1 off" in text_of(app, "#heading")
        await pilot.press("space")
        assert hook_of(service, "guard").state == "on"

    work(service, act)
    assert place.user_file.read_text() == USER


def test_h_switches_off_for_an_hour(service: HookService) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("down", "h")
        (first, _) = service.runtime.switches.list()
        assert first.until is not None
        assert 3590 < first.until - service.now <= 3600
        assert "off until" in text_of(app, "#summary")

    work(service, act)


def test_b_turns_through_event_dialect_and_source(service: HookService) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        seen = []
        for _ in range(3):
            await pilot.press("b")
            groups = app.query_one("#groups", OptionList)
            seen.append([str(groups.get_option_at_index(n).prompt).split()[0] for n in range(groups.option_count)])
        assert seen == [
            ["everything", "native"],
            ["everything", "user"],
            ["everything", "Stop", "PreToolUse", "SubagentStop"],
        ]

    work(service, act)


def test_a_group_shows_only_its_hooks(service: HookService) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("shift+tab", "down")
        await pilot.pause()
        assert app.view.group == "Stop"
        assert app.query_one(DataTable).row_count == 1
        await pilot.press("enter")
        assert app.hook is not None
        assert app.hook.name == "reviewer"

    work(service, act)


def test_the_filter_is_typed_and_taken_back(service: HookService) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("slash", *"guard zz", "enter")
        assert app.query_one(DataTable).row_count == 0
        await pilot.press("escape")
        assert app.query_one(DataTable).row_count == 2

    work(service, act)


def test_enter_tells_everything_and_escape_closes(service: HookService) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("enter")
        assert isinstance(app.screen, TextScreen)
        assert "has not run yet" in text_of(app, "#text")
        await pilot.press("escape")
        assert not isinstance(app.screen, TextScreen)

    work(service, act)


def test_r_runs_the_hook_on_a_sample(service: HookService) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.pause()
        assert text_of(app, "#text").startswith("PreToolUse: allow\nthe hook replied")

    work(service, act)


def test_r_asks_which_event_where_there_are_several(service: HookService) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("down", "r")
        await pilot.pause()
        assert isinstance(app.screen, ChoiceScreen)
        await pilot.press("escape")

    work(service, act)


def test_e_runs_the_hook_on_a_recorded_event(service: HookService, place: Place) -> None:
    place.fire("PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf /"})

    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("e")
        await pilot.pause()
        assert isinstance(app.screen, ChoiceScreen)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.pause()
        assert "PreToolUse: deny" in text_of(app, "#text")

    work(service, act)


def test_a_hook_is_added_with_the_form(service: HookService, place: Place) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("a")
        await pilot.pause()
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert "needs a name" in text_of(app, "#finding")
        await pilot.press(*"tidy", "enter", *"post_tool_use", "enter", *"Edit", "tab", "tab", *"./tidy.sh", "ctrl+s")
        await pilot.pause()
        assert not isinstance(app.screen, HookScreen)
        assert app.query_one(DataTable).row_count == 3

    work(service, act)
    added = '\n[[hook]]\nname = "tidy"\non = "PostToolUse"\nmatch = "Edit"\nrun = "./tidy.sh"\n'
    assert place.user_file.read_text() == USER + added


def test_deleting_asks_first_and_enter_is_no(service: HookService, place: Place) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("d")
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen)
        await pilot.press("enter")
        assert place.user_file.read_text() == USER
        await pilot.press("d", "y")
        await pilot.pause()
        assert [hook.name for hook in service.hooks] == ["reviewer"]

    work(service, act)


def test_everything_fits_into_eighty_columns_and_twenty_four_lines(service: HookService) -> None:
    async def act(pilot: Pilot[None], app: Manager) -> None:
        assert len(KEYS) <= 78
        for keys in ((), ("question_mark",), ("escape", "a")):
            await pilot.press(*keys)
            await pilot.pause()
            for widget in app.screen.query("Static, Input, Select, DataTable, OptionList"):
                if widget.display and widget.is_on_screen:
                    assert widget.region.right <= 80
                    assert widget.region.bottom <= 24
            boxes = app.screen.query("#box")
            if boxes and not isinstance(app.screen, HookScreen):
                assert boxes.first().max_scroll_y == 0, "the help is longer than the screen"

    work(service, act)


def test_markup_in_a_name_is_shown_as_it_is_written(service: HookService, place: Place) -> None:
    place.user_file.write_text(
        '[[hook]]\nname = "[red]x[/] [@click=app.quit]y"\non = "Stop"\nshell = "echo \'[bold\'"\n'
    )
    service.reload()

    async def act(pilot: Pilot[None], app: Manager) -> None:
        assert str(app.query_one(DataTable).get_row_at(0)[1]).startswith("[red]x[/]")
        await pilot.press("enter")
        await pilot.pause()
        assert "[red]x[/]" in text_of(app, "#text")
        await pilot.press("escape", "r")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.pause()
        assert "[bold" in text_of(app, "#text")

    work(service, act)


def test_nothing_at_all_is_no_problem(service: HookService, place: Place) -> None:
    place.user_file.unlink()
    service.reload()

    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("space", "h", "r", "e", "d", "enter", "b", "f5")
        assert "Press a to add one" in text_of(app, "#summary")
        assert app.query_one(Input).display is False

    work(service, act)


def test_c_shows_the_chain_of_a_past_event(service: HookService, place: Place) -> None:
    place.fire("PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf x"})
    place.fire("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})  # of which it has nothing to say

    async def act(pilot: Pilot[None], app: Manager) -> None:
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        text = text_of(app, "#text")
        assert "Refused by guard: by hand" in text
        assert "1. refused       guard" in text

    work(service, act)
