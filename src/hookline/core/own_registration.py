"""How hookline recognises its own entries in an agent's file.

What ``hookline deploy`` wrote there is no hook: who read it as one would call hookline from hookline, without end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.typed import Any

#: The names under which agents keep a command line or an address.
_NAMES = ("command", "bash", "url")
_PROGRAM = r"(?:^|[\s/('\"])hookline['\"]* hook "
_HTTP = r"^http://127\.0\.0\.1:\d+/hookline/"
_OURS = lazy_pattern(rf"{_PROGRAM}--agent (\S+) --event (\S+)|{_HTTP}")
#: Also as a person writes it by hand. ``hookline hook NAME`` is a hook like any other: it calls no further ones.
_CALLED = lazy_pattern(rf"{_PROGRAM}[^;&|]*?--agent[ =]|{_HTTP}")

#: The events in a plugin of ours.
_PLUGIN = lazy_pattern(r"^const EVENTS = \{(.*)\}$", re.MULTILINE)
_QUOTED = lazy_pattern(r'"([^"]+)":')


def is_ours(command: str) -> bool:
    """``hookline deploy`` wrote this line or address, in whichever version."""
    return _OURS.search(command) is not None


def entry_events(text: str) -> frozenset[str]:
    """The agent's own names of the events for which its file calls hookline."""
    found = {event for _agent, event in _OURS.findall(text) if event}
    plugin = _PLUGIN.search(text)
    if plugin is not None:
        found.update(_QUOTED.findall(plugin[1]))
    return frozenset(found)


def calls_hookline(fields: Mapping[str, Any]) -> bool:
    """This entry of an agent's file passes the event to hookline, even if written by hand."""
    return any(_CALLED.search(line) for line in _lines(fields))


def _lines(fields: Mapping[str, Any]) -> Iterator[str]:
    for name in _NAMES:
        line = fields.get(name)
        if isinstance(line, str):
            args = fields.get("args")
            yield " ".join([line, *map(str, args)]) if isinstance(args, list) else line
