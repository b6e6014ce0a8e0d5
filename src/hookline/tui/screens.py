"""Dialogs over the list: a text, a question, a choice, and the form for a new hook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Grid, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label, OptionList, Select, Static

from hookline.core.event import EVENTS
from hookline.tui.toml_edit import KINDS, Draft

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

_BOX = """
{name} {{ align: center middle; }}
{name} > #box {{ width: 78; max-width: 100%; max-height: 100%; border: round $primary; padding: 0 1; background: $surface; }}
"""


class TextScreen(ModalScreen[None]):
    """A text to scroll."""

    DEFAULT_CSS = _BOX.format(name="TextScreen") + "TextScreen > #box { height: 22; }"
    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter", "dismiss", "Close")]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="box") as box:
            box.border_title = self._title.replace("[", "\\[")
            box.border_subtitle = "esc closes"
            yield Static(self._text, markup=False, id="text")

    def on_mount(self) -> None:
        self.query_one("#box").focus()


class ConfirmScreen(ModalScreen[bool]):
    """A question whose answer is no, unless somebody presses y."""

    DEFAULT_CSS = _BOX.format(name="ConfirmScreen") + "ConfirmScreen > #box { height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [("y", "answer(True)", "Yes"), ("n,escape,q,enter", "answer(False)", "No")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(f"{self._question}\n\ny  yes        n  no", markup=False)

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class ChoiceScreen(ModalScreen[int | None]):
    """One of several lines, by its number."""

    DEFAULT_CSS = (
        _BOX.format(name="ChoiceScreen")
        + "ChoiceScreen > #box { height: 20; } ChoiceScreen OptionList { height: 1fr; }"
    )
    BINDINGS: ClassVar[list[BindingType]] = [("escape,q", "dismiss", "Close")]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = self._title.replace("[", "\\[")
            box.border_subtitle = "enter selects, esc closes"
            yield OptionList(*self._lines, markup=False, compact=True)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)


class NewHookScreen(ModalScreen[tuple[Draft, str] | None]):
    """The form for a new hook; returns the draft and its file."""

    DEFAULT_CSS = (
        _BOX.format(name="NewHookScreen")
        + """
NewHookScreen > #box { height: auto; }
NewHookScreen Grid { grid-size: 2; grid-columns: 13 1fr; grid-rows: 1; height: auto; grid-gutter: 0 1; }
NewHookScreen Input, NewHookScreen Select { width: 1fr; }
NewHookScreen #finding { color: $text-error; height: auto; }
"""
    )
    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Close"), ("ctrl+s", "save", "Save")]
    FIELDS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("name", "no-rm"),
        ("on", "PreToolUse; several with commas"),
        ("match", "a pattern for the tool's name; empty for all"),
        ("what", "the command, the prompt, the URL …"),
        ("timeout", "5s"),
    )

    def __init__(self, save: Any) -> None:
        super().__init__()
        #: Writes the draft; returns what is wrong with it, "" if it was written.
        self._save = save

    def compose(self) -> ComposeResult:
        events = SuggestFromList(list(EVENTS), case_sensitive=False)
        with Vertical(id="box") as box:
            box.border_title = "a new hook"
            box.border_subtitle = "tab: next field, ctrl+s: save, esc: close"
            with Grid():
                for name, hint in self.FIELDS:
                    yield Label(name)
                    suggester = events if name == "on" else None
                    yield Input(placeholder=hint, id=name, compact=True, suggester=suggester)
                    if name == "match":
                        yield Label("does")
                        yield _select("kind", KINDS)
                yield Label("on failure")
                yield _select("on_failure", ("ignore", "deny", "abort"))
                yield Label("written to")
                yield _select("layer", ("user", "project", "local"))
            yield Static("", markup=False, id="finding")

    def on_input_submitted(self) -> None:
        self.focus_next()

    def action_save(self) -> None:
        draft, layer = self.draft()
        finding = self._save(draft, layer)
        if finding:
            self.query_one("#finding", Static).update(finding)
        else:
            self.dismiss((draft, layer))

    def draft(self) -> tuple[Draft, str]:
        """The form's content. Defaults are left out of the file."""

        def text(name: str) -> str:
            return self.query_one(f"#{name}", Input).value.strip()

        def chosen(name: str) -> Any:
            return self.query_one(f"#{name}", Select).value

        failure = chosen("on_failure")
        draft = Draft(
            name=text("name"),
            on=tuple(event for part in text("on").split(",") if (event := part.strip())),
            kind=chosen("kind"),
            what=text("what"),
            match=text("match"),
            timeout=text("timeout"),
            on_failure="" if failure == "ignore" else failure,
        )
        return draft, chosen("layer")


def _select(name: str, options: Sequence[str]) -> Select[str]:
    return Select([(one, one) for one in options], value=options[0], allow_blank=False, id=name, compact=True)
