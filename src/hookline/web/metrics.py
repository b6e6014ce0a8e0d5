"""Prometheus text of what is recorded."""

from __future__ import annotations

from collections.abc import Iterator

from hookline.state.record.store import Store
from hookline.web import events
from hookline.web.sessions import OWN


def text(store: Store) -> str:
    return "\n".join(_lines(store)) + "\n"


def _lines(store: Store) -> Iterator[str]:
    yield "# HELP hookline_decisions Recorded decisions by agent, event and effect."
    yield "# TYPE hookline_decisions gauge"
    query = f"SELECT agent, event, effect, count(*) FROM firings WHERE {OWN} GROUP BY agent, event, effect"
    for agent, event, effect, many in store.read(query):
        yield f"hookline_decisions{_labels(agent=agent, event=event, effect=effect)} {many}"
    yield "# HELP hookline_hook_runs Recorded runs of a hook by status."
    yield "# TYPE hookline_hook_runs gauge"
    own = f"every_run AS runs JOIN firings ON number = firing WHERE {OWN}"
    rows = store.read(f"SELECT hook, status, count(*), sum(runs.ms) / 1000 FROM {own} GROUP BY hook, status")
    for hook, status, many, _ in rows:
        yield f"hookline_hook_runs{_labels(hook=hook, status=status)} {many}"
    yield "# HELP hookline_hook_seconds Seconds that recorded runs of a hook took."
    yield "# TYPE hookline_hook_seconds gauge"
    for hook, status, _, seconds in rows:
        yield f"hookline_hook_seconds{_labels(hook=hook, status=status)} {seconds:.6f}"
    yield "# HELP hookline_newest The number of the newest recorded event."
    yield "# TYPE hookline_newest counter"
    yield f"hookline_newest {events.newest(store)}"


def _labels(**values: str) -> str:
    def quoted(value: str) -> str:
        return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{quoted(value)}"' for name, value in values.items()) + "}"
