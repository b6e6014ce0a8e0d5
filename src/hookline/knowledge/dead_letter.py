"""Tasks that were given up, each with the reason: a person may look at them and queue them again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.dataclass import dataclass, replace
from hookline.knowledge.task import Task, in_order, task_from, text_of
from hookline.knowledge.whole_file import read_text, write_whole
from hookline.paths import private_dir

if TYPE_CHECKING:
    from hookline.knowledge.queue import Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    name: str
    task: Task
    #: The end of what the model said, where that is the reason.
    answer: str = ""


_RULE = "--- answer ---\n"


def write(folder: str, name: str, task: Task, reason: str, answer: str = "") -> None:
    """Raises OSError and StateError."""
    private_dir(folder)
    text = text_of(replace(task, outcome="failed", reason=reason))
    write_whole(os.path.join(folder, name), f"{text}{_RULE}{answer}\n" if answer else text)


def letters(folder: str) -> list[Letter]:
    """Oldest first."""
    try:
        names = in_order(os.listdir(folder))
    except OSError:
        return []
    found: list[Letter] = []
    for name in names:
        head, _rule, answer = (read_text(os.path.join(folder, name), 1 << 20) or "").partition(_RULE)
        found.append(Letter(name=name, task=task_from(head), answer=answer.strip()))
    return found


def queue_again(folder: str, letter: Letter, queue: Queue) -> str:
    """The task waits again, as if it had never been tried; its new name. Raises OSError."""
    name = queue.put(replace(letter.task, attempts="", not_before="", outcome="", reason="", host=""))
    os.unlink(os.path.join(folder, letter.name))
    return name
