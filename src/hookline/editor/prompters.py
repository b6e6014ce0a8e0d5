"""Who asks a person: Neovim, the terminal, the desktop, in this order; and what no answer in time means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from hookline.core._dataclass import dataclass
from hookline.editor import desktop, nvim, terminal
from hookline.editor.question import Answer, PersonQuestion, Progress, UnavailableError


class _Prompter(Protocol):
    def ask(self, question: PersonQuestion, /) -> Answer: ...

    def pick(self, question: PersonQuestion, /) -> str: ...

    def tell(self, progress: Progress, /) -> None: ...


@dataclass(frozen=True, slots=True)
class _Functions:
    ask: Callable[[PersonQuestion], Answer]
    pick: Callable[[PersonQuestion], str]
    tell: Callable[[Progress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOutcome:
    """The answer, and notes: why prompters were skipped, or that nobody answered."""

    answer: Answer
    notes: tuple[str, ...] = ()
    choice: str = ""


def prompters(environ: Mapping[str, str]) -> tuple[_Prompter, ...]:
    """The prompters that may work here."""
    address = environ.get("NVIM", "")
    neovim = (
        [_Functions(partial(nvim.ask, address), partial(nvim.pick, address), partial(nvim.tell, address))]
        if address
        else []
    )
    ways = (desktop.ask, desktop.pick, desktop.tell)
    dialog = _Functions(*(partial(way, environ=environ) for way in ways))  # type: ignore[arg-type]  # each its own
    return (*neovim, _Functions(terminal.ask, terminal.pick, terminal.tell), dialog)


def ask(question: PersonQuestion, candidates: Sequence[_Prompter]) -> PromptOutcome:
    """The first prompter that works decides. No answer in time means no; nobody is asked twice."""
    notes: list[str] = []
    for one in candidates:
        try:
            if not question.options:
                return PromptOutcome(answer=one.ask(question), notes=tuple(notes))
            choice = one.pick(question)
            return PromptOutcome(answer="allowed" if choice else "refused", notes=tuple(notes), choice=choice)
        except UnavailableError as error:
            notes.append(str(error))
        except TimeoutError:
            notes.append(f"nobody answered within {question.patience:g} s")
            return PromptOutcome(answer="refused", notes=tuple(notes))
    return PromptOutcome(answer="unavailable", notes=tuple(notes))


def tell(progress: Progress, candidates: Sequence[_Prompter]) -> PromptOutcome:
    """Show it once, with the first prompter that works."""
    notes: list[str] = []
    for one in candidates:
        try:
            one.tell(progress)
            return PromptOutcome(answer="allowed", notes=tuple(notes))
        except (UnavailableError, TimeoutError) as error:
            notes.append(str(error) or "no answer")
    return PromptOutcome(answer="unavailable", notes=tuple(notes))
