"""The full-screen manager: groups on the left, hooks on the right, one hook in detail below. Keyboard only."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import DataTable, Input, OptionList, Static
from textual.widgets.option_list import Option

from hookline.core._dataclass import replace
from hookline.core.errors import HooklineError
from hookline.core.sanitize import one_line
from hookline.engine.build import Runtime
from hookline.tui import details as show
from hookline.tui import dry_run
from hookline.tui.catalog import Hook, View, groups, visible_hooks
from hookline.tui.chain import chain_text
from hookline.tui.dry_run import Trial
from hookline.tui.screens import ChoiceScreen, ConfirmScreen, NewHookScreen, TextScreen
from hookline.tui.service import HOUR, HookService
from hookline.tui.toml_edit import Draft


def possible() -> bool:
    """Whether there is a terminal, and textual is installed."""
    return sys.stdin.isatty() and sys.stdout.isatty() and find_spec("textual") is not None


async def open_manager(assemble: Callable[[], Runtime]) -> None:
    """Take the whole screen until the person quits. Switches apply at once; added and deleted hooks apply when the
    configuration is loaded again."""
    service = HookService(assemble)
    try:
        await Manager(service).run_async()
    finally:
        service.close()


_HELP = """\
up, down   move                      tab    groups or hooks
space      switch on or off          h      off for an hour
enter      details of a hook         b      by event, dialect or source
r          try it on a sample        e      try it on a recorded event
a          add a hook                d      delete a hook
c          the chain of a past event
/          find                      f5     reload
q          quit

●  on     ○  off in its file     ◌  switched off here     !  not trusted
✦  a prompt hook: a model answers

Switching a hook edits no file: it is stored in your state directory,
and the log says why a hook did not run. Adding and deleting change one
table of a hookline.toml and no other byte. Edit hooks of other dialects
in their own files."""

#: Fits into eighty columns; the rest is in the help.
KEYS = "␣ on/off  h 1 hour  r run  e past  a add  d del  b by  / find  ? help  q quit"


class Manager(App[None]):
    """Shows a ``HookService``."""

    TITLE = "hookline hooks"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #heading { height: 1; background: $primary; color: $text; padding: 0 1; }
    #keys { height: 1; background: $panel; color: $text-muted; padding: 0 1; }
    #groups { width: 26; height: 1fr; border: none; border-right: solid $panel; }
    #hooks { width: 1fr; height: 1fr; }
    #summary { height: 8; border-top: solid $panel; padding: 0 1; }
    #filter { display: none; }
    #filter.shown { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("space", "switch", "on/off"),
        ("h", "hour", "1 hour"),
        ("r", "try_sample", "run"),
        ("e", "try_recorded", "recorded"),
        ("a", "add", "add"),
        ("c", "chain", "chain"),
        ("d", "delete", "delete"),
        ("b", "turn", "by"),
        ("slash", "filter", "filter"),
        ("question_mark", "help", "help"),
        ("q", "quit", "quit"),
        ("f5", "look_again", ""),
        ("escape", "unfilter", ""),
    ]

    def __init__(self, service: HookService) -> None:
        super().__init__()
        self.service = service
        self.view = View()
        self._hooks: tuple[Hook, ...] = ()
        self._groups: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="heading", markup=False)
        yield Input(placeholder="words to look for", id="filter", compact=True)
        with Horizontal():
            yield OptionList(id="groups", markup=False, compact=True)
            yield DataTable[Text](id="hooks", cursor_type="row", zebra_stripes=False)
        yield Static(id="summary", markup=False)
        yield Static(KEYS, id="keys", markup=False)

    def on_mount(self) -> None:
        table = self._table
        for name, width in zip(show.HEAD, show.WIDTHS, strict=True):
            table.add_column(name, width=width)
        self.refresh_hooks()
        table.focus()

    # ── what is on the screen ────────────────────────────────────────────────────────────────────────

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one("#hooks", DataTable)

    @property
    def hook(self) -> Hook | None:
        """The one under the cursor."""
        row = self._table.cursor_row
        return self._hooks[row] if 0 <= row < len(self._hooks) else None

    def refresh_hooks(self) -> None:
        """Redraw everything, with the cursor on the same hook."""
        hooks = self.service.hooks
        known = groups(hooks, self.view)
        if self.view.group not in {group.key for group in known}:
            self.view = replace(self.view, group="")
        self._draw_groups(known)
        self._draw_hooks(hooks)

    def _draw_groups(self, known: Any) -> None:
        listed = self.query_one("#groups", OptionList)
        with self.prevent(OptionList.OptionHighlighted):
            listed.clear_options()
            listed.add_options([Option(show.group_label(group), id=f"g{n}") for n, group in enumerate(known)])
            listed.highlighted = next(n for n, group in enumerate(known) if group.key == self.view.group)
        self._groups = tuple(group.key for group in known)

    def _draw_hooks(self, hooks: tuple[Hook, ...]) -> None:
        kept = self.hook.id if self.hook else ""
        self._hooks = visible_hooks(hooks, self.view)
        table = self._table
        table.clear()
        for hook in self._hooks:
            table.add_row(*map(Text, show.cells(hook)))
        places = [n for n, hook in enumerate(self._hooks) if hook.id == kept]
        table.move_cursor(row=places[0] if places else 0)
        self.query_one("#heading", Static).update(show.heading(self.view, hooks, len(self._hooks)))
        self._draw_summary()

    def _draw_summary(self) -> None:
        hook = self.hook
        if hook is None:
            text = "No hooks here. Press a to add one." if not self.view.words else "No hook matches."
        else:
            text = show.summary(hook, self.service.fired(hook, 3), self.service.now)
        self.query_one("#summary", Static).update(text)

    def on_data_table_row_highlighted(self) -> None:
        self._draw_summary()

    def on_data_table_row_selected(self) -> None:
        if hook := self.hook:
            text = show.details(hook, self.service.fired(hook, 50), self.service.now)
            self.push_screen(TextScreen(one_line(hook.title, 60), text))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list.id == "groups":
            self.view = replace(self.view, group=self._groups[event.option_index])
            self._draw_hooks(self.service.hooks)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_list.id == "groups":
            self._table.focus()

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────

    def action_turn(self) -> None:
        self.view = self.view.next_grouping()
        self.refresh_hooks()

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.add_class("shown")
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self.view = replace(self.view, words=event.value)
            self.refresh_hooks()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            event.input.set_class(bool(event.value), "shown")
            self._table.focus()

    def action_unfilter(self) -> None:
        field = self.query_one("#filter", Input)
        field.value = ""
        field.remove_class("shown")
        self._table.focus()

    def action_look_again(self) -> None:
        self._do(self.service.reload)

    def action_help(self) -> None:
        self.push_screen(TextScreen("keys", _HELP))

    # ── doing ────────────────────────────────────────────────────────────────────────────────────────

    def action_switch(self) -> None:
        if hook := self.hook:
            if hook.switch is not None:
                self._do(lambda: self.service.switch_on(hook))
            elif hook.state == "off":
                self.notify(f"{hook.origin.file} says enabled = false.", markup=False, severity="warning")
            else:
                self._do(lambda: self.service.switch_off(hook))

    def action_hour(self) -> None:
        if hook := self.hook:
            self._do(lambda: self.service.switch_off(hook, HOUR))

    def action_delete(self) -> None:
        hook = self.hook
        if hook is None:
            return
        if hook.dialect != "native":
            notice = f"It is defined in {hook.origin.file} ({hook.dialect}): delete it there, or switch it off."
            self.notify(notice, markup=False, severity="warning")
            return
        question = f"Delete {one_line(hook.title)} from {hook.origin.file}?\nThe file is backed up."
        self.push_screen(ConfirmScreen(question), lambda yes: self._delete(hook) if yes else None)

    def _delete(self, hook: Hook) -> None:
        def delete() -> None:
            removed = self.service.remove(hook)
            self.notify(f"Deleted. Backup: {removed.backup}", markup=False)

        self._do(delete)

    def action_add(self) -> None:
        self.push_screen(NewHookScreen(self._save), self._after_adding)

    def _save(self, draft: Draft, layer: str) -> str:
        try:
            events = tuple(dry_run.canonical(event, "native") for event in draft.on)
            self.service.add(replace(draft, on=events), layer)
        except HooklineError as error:
            return str(error)
        return ""

    def _after_adding(self, made: tuple[Draft, str] | None) -> None:
        if made is not None:
            draft, layer = made
            foreign = "" if layer == "user" else " It runs after you approve it: hookline trust"
            self.notify(f"Added {one_line(draft.name)}.{foreign}", markup=False)
            self.view = View(by=self.view.by)
            self.refresh_hooks()

    # ── trying ───────────────────────────────────────────────────────────────────────────────────────

    def action_try_sample(self) -> None:
        hook = self.hook
        if hook is None:
            return
        events = tuple(dict.fromkeys(hook.events))
        if len(events) == 1:
            self._try(hook, lambda: self.service.try_sample(hook, events[0]))
            return

        def chosen(number: int | None) -> None:
            if number is not None:
                self._try(hook, lambda: self.service.try_sample(hook, events[number]))

        self.push_screen(ChoiceScreen("Sample of which event?", events), chosen)

    def action_try_recorded(self) -> None:
        hook = self.hook
        if hook is None:
            return
        rows = [row for event in dict.fromkeys(hook.events) for row in self.service.recorded(event)]
        if not rows:
            self.notify("No such event is recorded yet; press r to use a sample.", severity="warning")
            return

        def chosen(number: int | None) -> None:
            if number is not None:
                self._try(hook, lambda: self.service.try_recorded(hook, rows[number]))

        listed = [f"{row.event}  {show.record_line(row, self.service.now)}" for row in rows]
        self.push_screen(ChoiceScreen("Which recorded event?", listed), chosen)

    def action_chain(self) -> None:
        """One event that the hook took part in, with every hook of it."""
        runs = self.service.fired(self.hook, 20) if self.hook else ()
        if not runs:
            self.notify("It has not run on any recorded event yet.", severity="warning")
            return

        def chosen(number: int | None) -> None:
            if number is not None:
                row = runs[number].row
                self.push_screen(TextScreen(f"{row.event} {row.id}", chain_text(self.service, row)))

        listed = [f"{one.row.event}  {show.record_line(one.row, self.service.now)}" for one in runs]
        self.push_screen(ChoiceScreen("The chain of which event?", listed), chosen)

    @work(thread=True, exclusive=True)
    def _try(self, hook: Hook, run: Callable[[], Trial]) -> None:
        """In a thread: a hook may be slow, and the screen must not be."""
        self.call_from_thread(self.notify, f"Running {one_line(hook.name)} …", markup=False, timeout=2)
        try:
            text = show.trial_text(run())
        except HooklineError as error:
            text = str(error)
        self.call_from_thread(self.push_screen, TextScreen(one_line(hook.title, 60), text))

    def _do(self, work: Callable[[], object]) -> None:
        """Do it, report an error, and redraw."""
        try:
            work()
        except HooklineError as error:
            self.notify(one_line(str(error)), markup=False, severity="error")
        self.refresh_hooks()
