"""The hooks that come with hookline, by name.

Each name maps to the Python function that is the hook (``pkg.mod:function``); the event is its one argument. Other
packages add names through the entry point group ``hookline.builtins``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

ENTRY_POINTS = "hookline.builtins"

BUILTINS: Mapping[str, str] = MappingProxyType(
    {
        "context-inject": "hookline.memory.inject.context_inject:context_inject",
        "recall": "hookline.memory.inject.recall:recall",
        "pre-compact": "hookline.memory.notes.backup:pre_compact",
        "session-export": "hookline.memory.notes.session_export:session_export",
        "compound-loop": "hookline.memory.queue.enqueue:compound_loop",
        "session-end": "hookline.memory.queue.enqueue:session_end",
    }
)


#: Makes the hook of a guard's table; see ``Function.given``.
GUARD = "hookline.guard.hook:guard"

_TARGETS = frozenset(BUILTINS.values())


def is_ours(action: object) -> bool:
    """Whether the action is one of these functions."""
    return getattr(action, "target", None) in _TARGETS


class Known(Mapping[str, str]):
    """Ours, and those of other packages; ours cannot be replaced by theirs.

    Theirs are only looked up for a name that is not ours: reading the metadata of all installed
    packages costs more than a whole warm run.
    """

    _theirs: Mapping[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        return BUILTINS[name] if name in BUILTINS else self._installed()[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**BUILTINS, **self._installed()})

    def __len__(self) -> int:
        return len({**BUILTINS, **self._installed()})

    def _installed(self) -> Mapping[str, str]:
        if self._theirs is None:
            from hookline.core.entry_points import entry_points

            self._theirs = {entry.name: entry.value for entry in entry_points(ENTRY_POINTS)}
        return self._theirs
