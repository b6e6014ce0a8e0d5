"""Dialogs over the list: a text, a question, a choice, and the form for a new hook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Grid, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label, OptionList, Select, Static

from hookline.core._dataclass import dataclass
from hookline.core.event import EVENTS
from hookline.dialects.claude_family.settings_edit import WrittenHook
from hookline.tui.toml_edit import KINDS, Draft

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

_BOX = """
{name} {{ align: center middle; }}
{name} > #box {{ width: 90%; min-width: 78; max-width: 140; max-height: 100%; border: round $primary; padding: 0 1; background: $surface; }}
"""


class TextScreen(ModalScreen[None]):
    """A text to scroll."""

    DEFAULT_CSS = _BOX.format(name="TextScreen") + "TextScreen > #box { height: 93%; }"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a person filled in. ``target`` is whose file it is, and the layer."""

    draft: Draft
    target: str
    model: str = ""

    @property
    def written(self) -> WrittenHook:
        """As a hook of a settings file."""
        draft = self.draft
        return WrittenHook(
            event=draft.on[0] if draft.on else "", kind="prompt" if draft.kind == "prompt" else "command",
            text=draft.what, matcher=draft.match, timeout=draft.timeout, model=self.model,
        )  # fmt: skip


class HookScreen(ModalScreen[Form | None]):
    """The form for a new hook, or for one that is to be changed; returns what was saved."""

    DEFAULT_CSS = (
        _BOX.format(name="HookScreen")
        + """
HookScreen > #box { height: auto; }
HookScreen Grid { grid-size: 2; grid-columns: 13 1fr; grid-rows: 1; height: auto; grid-gutter: 0 1; }
HookScreen Input, HookScreen Select { width: 1fr; }
HookScreen #finding { color: $text-error; height: auto; }
"""
    )
    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Close"), ("ctrl+s", "save", "Save")]
    #: Field, hint; the last two only where they can be written.
    FIELDS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("name", "no-rm; settings files of agents have no names"),
        ("on", "PreToolUse; several with commas"),
        ("match", "a pattern for the tool's name; empty for all"),
        ("what", "the command, the prompt, the URL …"),
        ("timeout", "5s"),
        ("model", "of a prompt in an agent's settings"),
    )

    def __init__(self, save: Callable[[Form], str], targets: Sequence[str], known: WrittenHook | None = None) -> None:
        super().__init__()
        #: Writes the form; returns what is wrong with it, "" if it was written.
        self._save = save
        self._targets = targets
        #: The hook to be changed.
        self._known = known

    def compose(self) -> ComposeResult:
        events = SuggestFromList(list(EVENTS), case_sensitive=False)
        known = self._known
        given = {} if known is None else {
            "on": known.event, "match": known.matcher, "what": known.text, "timeout": known.timeout, "model": known.model,
        }  # fmt: skip
        kinds = KINDS if known is None else ("command", "prompt")
        with Vertical(id="box") as box:
            box.border_title = "a new hook" if known is None else "change the hook"
            box.border_subtitle = "tab: next field, ctrl+s: save, esc: close"
            with Grid():
                for name, hint in self.FIELDS:
                    if known is not None and name == "name":
                        continue
                    yield Label(name)
                    suggester = events if name == "on" else None
                    yield Input(given.get(name, ""), placeholder=hint, id=name, compact=True, suggester=suggester)
                    if name == "match":
                        yield Label("does")
                        yield _select("kind", kinds, known.kind if known else kinds[0])
                if known is None:
                    yield Label("on failure")
                    yield _select("on_failure", ("ignore", "deny", "abort"))
                    yield Label("written to")
                    yield _select("target", self._targets)
            yield Static("", markup=False, id="finding")

    def on_input_submitted(self) -> None:
        self.focus_next()

    def action_save(self) -> None:
        form = self.form()
        finding = self._save(form)
        if finding:
            self.query_one("#finding", Static).update(finding)
        else:
            self.dismiss(form)

    def form(self) -> Form:
        """The form's content. Defaults are left out of the file."""

        def text(name: str) -> str:
            found = self.query(f"#{name}").results(Input)
            return next((one.value.strip() for one in found), "")

        def chosen(name: str, missing: str) -> Any:
            found = self.query(f"#{name}").results(Select)
            return next((one.value for one in found), missing)

        failure, kind = chosen("on_failure", "ignore"), chosen("kind", "")
        draft = Draft(
            name=text("name"),
            on=tuple(event for part in text("on").split(",") if (event := part.strip())),
            kind="shell" if kind == "command" else kind,
            what=text("what"),
            match=text("match"),
            timeout=text("timeout"),
            on_failure="" if failure == "ignore" else failure,
        )
        return Form(draft=draft, target=chosen("target", ""), model=text("model"))


def _select(name: str, options: Sequence[str], value: str = "") -> Select[str]:
    chosen = value if value in options else options[0]
    return Select([(one, one) for one in options], value=chosen, allow_blank=False, id=name, compact=True)
