"""Find a way to reach a person: Neovim, the terminal, the desktop, in this order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from hookline.core._dataclass import dataclass
from hookline.editor import desktop, nvim, terminal
from hookline.editor.prompters import Answer, Progress, Question, UnavailableError


class _Prompter(Protocol):
    def ask(self, question: Question) -> Answer: ...

    def tell(self, progress: Progress) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOutcome:
    """The answer, and notes: why prompters were skipped, or that nobody answered."""

    answer: Answer
    notes: tuple[str, ...] = ()


def prompters(environ: Mapping[str, str]) -> tuple[_Prompter, ...]:
    """The prompters that may work here."""
    address = environ.get("NVIM", "")
    return (*([_NeovimPrompter(address)] if address else []), _TerminalPrompter(), _DesktopPrompter(environ))


def ask(question: Question, candidates: Sequence[_Prompter]) -> PromptOutcome:
    """The first prompter that works decides. No answer in time means no; nobody is asked twice."""
    notes: list[str] = []
    for one in candidates:
        try:
            return PromptOutcome(answer=one.ask(question), notes=tuple(notes))
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


class _NeovimPrompter:
    def __init__(self, address: str) -> None:
        self._address = address

    def ask(self, question: Question) -> Answer:
        return nvim.ask(self._address, question)

    def tell(self, progress: Progress) -> None:
        nvim.tell(self._address, progress)


class _TerminalPrompter:
    def ask(self, question: Question) -> Answer:
        return terminal.ask(question)

    def tell(self, progress: Progress) -> None:
        terminal.tell(progress)


class _DesktopPrompter:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def ask(self, question: Question) -> Answer:
        return desktop.ask(question, self._environ)

    def tell(self, progress: Progress) -> None:
        desktop.tell(progress, self._environ)
