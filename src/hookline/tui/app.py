"""The full-screen manager: groups on the left, hooks on the right, one hook in detail below. Keyboard only."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.widgets import DataTable, Input, OptionList, Static
from textual.widgets.option_list import Option

from hookline.core._dataclass import replace
from hookline.core.errors import HooklineError
from hookline.core.isolation import MAIN
from hookline.core.sanitize import one_line
from hookline.dialects.claude_family.settings_edit import RULES
from hookline.dialects.event_lookup import canonical_event
from hookline.engine.build import Runtime
from hookline.engine.try_hook import Trial
from hookline.state.record.chain import verdict_word
from hookline.tui import details as show
from hookline.tui.catalog import CatalogView, Hook, groups, visible_hooks
from hookline.tui.screens import ChoiceScreen, ConfirmScreen, Form, HookScreen, TextScreen
from hookline.tui.service import HOUR, HookService
from hookline.tui.settings_files import SettingsFile


def possible() -> bool:
    """Whether there is a terminal, and textual is installed."""
    return sys.stdin.isatty() and sys.stdout.isatty() and find_spec("textual") is not None


async def open_manager(assemble: Callable[[], Runtime]) -> None:
    """Take the whole screen until the person quits. Switches apply at once; added and deleted hooks apply when the
    configuration is loaded again."""
    service = HookService(assemble)
    manager = Manager(service)
    try:
        await manager.run_async()
    finally:
        service.close()
    manager.raise_fault()


_HELP = """\
up, down   move                      tab    groups or hooks
space      switch on or off          h      off for an hour
enter      details of a hook         b      by event, dialect or source
r          try it on a sample        e      try it on a recorded event
a          add a hook                d      delete a hook
m          modify a hook             u      undo the latest change
o          all of its file off, on   t      review and approve (trust)
/          find                      p      problems in files
c          why: a past event whole   l      light or dark
f5         reload                    q      quit (ctrl+c too)

●  on     ○  off in its file     ◌  switched off here     !  not trusted
✦  a prompt hook: a model answers

Space edits no file: the switch is stored in your state directory, and
the log says why a hook did not run. Adding, changing and deleting
change one hook of a hookline.toml or of an agent's settings file and
no other byte; a copy is kept, and u takes the change back."""

#: Fits into eighty columns; the rest is in the help.
KEYS = "␣ on/off  r run  c why  a add  m edit  d del  t trust  / find  ? help  q quit"
#: Below this, lines do not fit.
_LEAST = (80, 24)


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
    #filter, #problems, #small { display: none; }
    #filter.shown, #problems.shown { display: block; }
    #problems { height: 1; background: $error; color: $text; padding: 0 1; }
    Screen.small #small { display: block; }
    Screen.small #heading, Screen.small #problems, Screen.small #body, Screen.small #summary, Screen.small #keys { display: none; }
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
        ("m", "change", "modify"),
        ("u", "undo", "undo"),
        ("o", "switch_file", "all of the file"),
        ("t", "trust", "trust"),
        ("p", "problems", "problems"),
        ("l", "light", "light or dark"),
        ("q", "quit", "quit"),
        Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True),
        ("f5", "look_again", ""),
        ("escape", "unfilter", ""),
    ]

    def __init__(self, service: HookService) -> None:
        super().__init__()
        self.service = service
        self.view = CatalogView()
        self._hooks: tuple[Hook, ...] = ()
        self._groups: tuple[str, ...] = ()
        self._files: dict[str, SettingsFile] = {}
        self._groups_width = 26
        if _has_light_background(service.runtime.engine.environ):
            self.theme = _LIGHT

    def compose(self) -> ComposeResult:
        yield Static(id="small", markup=False)
        yield Static(id="heading", markup=False)
        yield Static(id="problems", markup=False)
        yield Input(placeholder="words to look for", id="filter", compact=True)
        with Horizontal(id="body"):
            yield OptionList(id="groups", markup=False, compact=True)
            yield DataTable[Text](id="hooks", cursor_type="row", zebra_stripes=False)
        yield Static(id="summary", markup=False)
        yield Static(KEYS, id="keys", markup=False)

    def on_mount(self) -> None:
        self._table.focus()

    def on_resize(self, event: Resize) -> None:
        width, height = event.size
        small = width < _LEAST[0] or height < _LEAST[1]
        self.screen_stack[0].set_class(small, "small")
        needs = f"The manager needs {_LEAST[0]} by {_LEAST[1]} characters; this terminal has {width} by {height}."
        self.screen_stack[0].query_one("#small", Static).update(
            f"{needs}\nMake it larger, or press q and use: hookline hooks list"
        )
        self._groups_width = min(40, max(26, width // 5))
        self.screen_stack[0].query_one("#groups").styles.width = self._groups_width
        table = self._table
        table.clear(columns=True)
        for name, room in show.columns(self._table_width):
            table.add_column(name, width=room)
        self.refresh_hooks()

    @property
    def _table_width(self) -> int:
        return self.size.width - self._groups_width

    # ── what is on the screen ────────────────────────────────────────────────────────────────────────

    @property
    def _table(self) -> DataTable[Text]:
        return self.screen_stack[0].query_one("#hooks", DataTable)

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
        errors = [one for one in self.service.runtime.loaded.problems if one.severity == "error"]
        line = self.screen_stack[0].query_one("#problems", Static)
        line.set_class(bool(errors), "shown")
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        text = f"p: {os.path.basename(errors[0].file)}:{errors[0].line}: {errors[0].finding}{more}" if errors else ""
        line.update(one_line(text, self.size.width - 2))

    def _draw_groups(self, known: Any) -> None:
        listed = self.screen_stack[0].query_one("#groups", OptionList)
        with self.prevent(OptionList.OptionHighlighted):
            listed.clear_options()
            listed.add_options(
                [Option(show.group_label(group, self._groups_width - 3), id=f"g{n}") for n, group in enumerate(known)]
            )
            listed.highlighted = next(n for n, group in enumerate(known) if group.key == self.view.group)
        self._groups = tuple(group.key for group in known)

    def _draw_hooks(self, hooks: tuple[Hook, ...]) -> None:
        kept = self.hook.id if self.hook else ""
        self._hooks = visible_hooks(hooks, self.view)
        table = self._table
        table.clear()
        for hook in self._hooks:
            table.add_row(*map(Text, show.cells(hook, self._table_width)))
        places = [n for n, hook in enumerate(self._hooks) if hook.id == kept]
        table.move_cursor(row=places[0] if places else 0)
        self.screen_stack[0].query_one("#heading", Static).update(show.heading(self.view, hooks, len(self._hooks)))
        self._draw_summary()

    def _draw_summary(self) -> None:
        hook = self.hook
        if hook is None:
            text = "No hooks here. Press a to add one." if not self.view.words else "No hook matches."
        else:
            text = show.summary(hook, self.service.fired(hook, 3), self.service.now, self.size.width)
        self.screen_stack[0].query_one("#summary", Static).update(text)

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
                how = "o switches its hooks on" if hook.dialect in RULES else "its file says enabled = false"
                self.notify(f"It is off in {hook.origin.file}: {how}.", markup=False, severity="warning")
            else:
                self._do(lambda: self.service.switch_off(hook))

    def action_hour(self) -> None:
        if hook := self.hook:
            self._do(lambda: self.service.switch_off(hook, HOUR))

    def action_delete(self) -> None:
        hook = self.hook
        if hook is None:
            return
        if hook.dialect not in {"native", *RULES}:
            notice = f"It is defined in {hook.origin.file} ({hook.dialect}): delete it there, or switch it off."
            self.notify(notice, markup=False, severity="warning")
            return
        question = (
            f"Delete {one_line(hook.title)} from {hook.origin.file}?\nThe file is backed up, and u brings it back."
        )
        self.push_screen(ConfirmScreen(question), lambda yes: self._delete(hook) if yes else None)

    def _delete(self, hook: Hook) -> None:
        def delete() -> None:
            removed = self.service.remove(hook)
            self.notify(f"Deleted. Backup: {removed.backup}", markup=False)

        self._do(delete)

    def action_add(self) -> None:
        self._files = {one.label: one for one in self.service.settings_files}
        targets = [*(f"hookline {layer}" for layer in ("user", "project", "local")), *self._files]
        here = f"{self.hook.dialect} {self.hook.origin.layer}" if self.hook else ""
        self.push_screen(HookScreen(self._save, sorted(targets, key=lambda one: one != here)), self._after_adding)

    def _save(self, form: Form) -> str:
        file = self._files.get(form.target)
        try:
            if file is not None:
                self.service.add_to(file, form.written)
            else:
                events = tuple(canonical_event(event, "native") for event in form.draft.on)
                self.service.add(replace(form.draft, on=events), form.target.rpartition(" ")[2])
        except (HooklineError, OSError) as error:
            return str(error)
        return ""

    def _after_adding(self, made: Form | None) -> None:
        if made is not None:
            foreign = "" if made.target.endswith("user") else " It runs after you approve it: t"
            name = one_line(made.draft.name or made.draft.what, 40)
            self.notify(f"Added {name}. u takes it back.{foreign}", markup=False)
            self.view = CatalogView(by=self.view.by)
            self.refresh_hooks()

    def action_change(self) -> None:
        hook = self.hook
        if hook is None:
            return

        def change() -> None:
            known = self.service.written(hook)
            if known is None:
                self.notify(f"Change it in its file: {hook.origin.place}", markup=False, severity="warning")
            else:
                self.push_screen(HookScreen(lambda form: self._change(hook, form), (), known), self._after_change)

        self._do(change)

    def _change(self, hook: Hook, form: Form) -> str:
        try:
            self.service.change(hook, form.written)
        except (HooklineError, OSError) as error:
            return str(error)
        return ""

    def _after_change(self, made: Form | None) -> None:
        if made is not None:
            self.notify("Changed. u takes it back; a project's hook is to be approved again: t")
            self.refresh_hooks()

    def action_undo(self) -> None:
        def undo() -> None:
            change = self.service.undo()
            self.notify(f"{change.file} is as it was before.", markup=False)

        self._do(undo)

    def action_switch_file(self) -> None:
        if hook := self.hook:

            def switch() -> None:
                off = self.service.switch_file(hook)
                self.notify(f"All hooks of {hook.origin.file} are {'off' if off else 'on'}.", markup=False)

            self._do(switch)

    def action_trust(self) -> None:
        """The command that shows what is to be approved, and asks; it needs the terminal for itself."""
        words = shlex.split(self.service.runtime.review)[1:]
        try:
            with self.suspend():
                subprocess.run([sys.executable, "-I", MAIN, *words], cwd=self.service.runtime.engine.cwd, check=False)
                input("\nPress enter to go back to the manager. ")
        except (SuspendNotSupported, EOFError, OSError):
            self.notify(f"Type this in a terminal: {self.service.runtime.review}", markup=False, severity="warning")
        self._do(self.service.reload)

    def action_problems(self) -> None:
        found = [str(one) for one in self.service.runtime.loaded.problems if one.severity != "note"]
        self.push_screen(TextScreen("problems in files", "\n\n".join(found) or "There are none."))

    def action_light(self) -> None:
        self.theme = "textual-dark" if self.theme == _LIGHT else _LIGHT

    async def action_quit(self) -> None:
        """At once: a hook that is being tried ends, with everything it started."""
        self.service.stop_trial()
        self.exit()

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
        """One event that the hook took part in, with every hook of it; those first on which it had something to say."""
        fired = self.service.fired(self.hook, 500) if self.hook else ()
        runs = sorted(fired, key=lambda one: verdict_word(one.run) in {"no opinion", "skipped"})[:50]
        if not runs:
            self.notify("It has not run on any recorded event yet.", severity="warning")
            return

        def chosen(number: int | None) -> None:
            if number is not None:
                row = runs[number].row
                self.push_screen(TextScreen(f"{row.event} {row.id}", self.service.chain_text(row)))

        listed = [
            f"{verdict_word(one.run):<10}  {one.row.event}  {show.record_line(one.row, self.service.now)}"
            for one in runs
        ]
        self.push_screen(ChoiceScreen("The chain of which event? With what this hook said:", listed), chosen)

    @work(thread=True, exclusive=True)
    def _try(self, hook: Hook, run: Callable[[], Trial]) -> None:
        """In a thread: a hook may be slow, and the screen must not be."""
        self.call_from_thread(self.notify, f"Running {one_line(hook.name)} …", markup=False, timeout=2)
        try:
            text = show.trial_text(run())
        except (HooklineError, OSError) as error:
            text = str(error)
        if self.is_running and not self._exit:
            self.call_from_thread(self.push_screen, TextScreen(one_line(hook.title, 60), text))

    def _do(self, work: Callable[[], object]) -> None:
        """Do it, report an error, and redraw."""
        try:
            work()
        except FileNotFoundError as error:
            what = error.filename or "the directory in which the manager was opened"
            self.notify(f"{what} is gone; press q, and start again elsewhere", markup=False, severity="error")
        except (HooklineError, OSError) as error:
            self.notify(one_line(str(error)), markup=False, severity="error")
        self.refresh_hooks()

    def _handle_exception(self, error: Exception) -> None:
        """Textual would print the local variables of every function, secrets among them, and end with 0."""
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self.service.stop_trial()
        self._return_code = 1
        self._close_messages_no_wait()

    def raise_fault(self) -> None:
        """After the screen is given back: what went wrong, for the command line to report."""
        if self._exception is not None:
            raise self._exception


#: Textual's own theme.
_LIGHT = "textual-light"


def _has_light_background(environ: Mapping[str, str]) -> bool:
    """As some terminals say: ``COLORFGBG=0;15``."""
    return environ.get("COLORFGBG", "").rpartition(";")[2] in {"7", "15"}
