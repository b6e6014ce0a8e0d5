"""Tasks that were given up, each with the reason. A person can read them and move them back into the queue."""

from __future__ import annotations

import os

from hookline.core._dataclass import dataclass, replace
from hookline.core.files import list_names, read_text, replace_atomically
from hookline.core.paths import private_dir
from hookline.memory.queue.task import ANSWER_MARK, DistillTask, format_task, parse_task, sort_tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class _Letter:
    name: str
    task: DistillTask
    #: The model's answer, where that is the reason.
    answer: str = ""


def write(folder: str, name: str, task: DistillTask, reason: str, answer: str = "") -> None:
    """Raises OSError and StateError."""
    private_dir(folder)
    # Without its attempts: a person who moves the file back into the queue wants all of them again.
    text = format_task(replace(task, outcome="failed", reason=reason, attempts="", not_before=""))
    replace_atomically(os.path.join(folder, name), f"{text}{ANSWER_MARK}\n{answer}\n" if answer else text)


def letters(folder: str) -> list[_Letter]:
    """Oldest first."""
    found: list[_Letter] = []
    for name in sort_tasks(list_names(folder)):
        text = read_text(os.path.join(folder, name), 1 << 20, errors="surrogateescape") or ""
        found.append(_Letter(name=name, task=parse_task(text), answer=text.partition(f"\n{ANSWER_MARK}\n")[2].strip()))
    return found
