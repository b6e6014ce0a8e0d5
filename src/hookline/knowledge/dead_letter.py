"""Tasks that were given up, each with the reason: a person may look at them and queue them again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.dataclass import dataclass, replace
from hookline.knowledge.task import RULE, Task, in_order, task_from, text_of
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


def write(folder: str, name: str, task: Task, reason: str, answer: str = "") -> None:
    """Raises OSError and StateError."""
    private_dir(folder)
    # Without its tries: a person who moves the file back into the queue wants them all again.
    text = text_of(replace(task, outcome="failed", reason=reason, attempts="", not_before=""))
    write_whole(os.path.join(folder, name), f"{text}{RULE}\n{answer}\n" if answer else text)


def letters(folder: str) -> list[Letter]:
    """Oldest first."""
    try:
        names = in_order(os.listdir(folder))
    except OSError:
        return []
    found: list[Letter] = []
    for name in names:
        text = read_text(os.path.join(folder, name), 1 << 20, errors="surrogateescape") or ""
        found.append(Letter(name=name, task=task_from(text), answer=text.partition(f"\n{RULE}\n")[2].strip()))
    return found


def queue_again(folder: str, letter: Letter, queue: Queue) -> str:
    """The task waits again, as if it had never been tried; its new name. Raises OSError."""
    name = queue.put(replace(letter.task, attempts="", not_before="", outcome="", reason="", host=""))
    os.unlink(os.path.join(folder, letter.name))
    return name
