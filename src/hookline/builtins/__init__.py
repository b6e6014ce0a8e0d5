"""The hooks that come with hookline, by name.

Each name maps to the Python function that is the hook (``pkg.mod:function``). An empty target is a name that
is known and has no function yet: the knowledge loop brings it. Other packages add names through the entry
point group ``hookline.builtins``.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ENTRY_POINTS = "hookline.builtins"

BUILTINS: Mapping[str, str] = MappingProxyType(
    {
        "context-inject": "",
        "pre-compact": "",
        "session-export": "",
        "compound-loop": "",
        "session-end": "",
    }
)


def installed() -> Mapping[str, str]:
    """Ours, and those of other packages; ours cannot be replaced by theirs."""
    # Imported here: reading the metadata of all installed packages costs more than a whole warm run.
    from importlib.metadata import entry_points  # noqa: PLC0415

    theirs = {entry.name: entry.value for entry in entry_points(group=ENTRY_POINTS)}
    return MappingProxyType({**theirs, **BUILTINS})
