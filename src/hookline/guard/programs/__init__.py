"""What programs do, by their own manuals: one table per field, one function per program or family."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import Handler
from hookline.guard.programs import databases, deletion, files, git, interpreters, network, system, text

#: Program -> the functions that say what it does.
HANDLERS: Final[Mapping[str, tuple[Handler, ...]]] = MappingProxyType({
    name: tuple(table[name] for table in _tables if name in table)
    for _tables in [(deletion.PROGRAMS, files.PROGRAMS, text.PROGRAMS, git.PROGRAMS, interpreters.PROGRAMS, network.PROGRAMS, databases.PROGRAMS, system.PROGRAMS)]
    for _table in _tables
    for name in _table
})  # fmt: skip
