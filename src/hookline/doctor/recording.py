"""A recorded session of an agent as one file to send: what it called hookline with, and what hookline made of it.

The file is made of the record, so secrets are redacted in it. A test can give the payloads to the agent's dialect again
and see that they mean the same: that is how an agent which hookline knows by its documents becomes one that is proven.
"""

from __future__ import annotations

import json
import platform
import re
from typing import Any

from hookline import __version__
from hookline.core.agents import Agent
from hookline.core.errors import DataError
from hookline.dialects import dialect_named
from hookline.dialects.base import Dialect
from hookline.state.record.query import Row, firings
from hookline.state.record.store import Store

#: Events of one session that are enough to see every form of payload.
_MOST = 500
#: Of mail: some agents tell hooks whose account it is.
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def recording(store: Store, agent: Agent, version: str, home: str) -> str:
    """The latest session of this agent as JSON. Raises ``DataError`` where none is recorded."""
    latest = firings(store, agent=agent.name, last=1)
    if not latest:
        fix = f"register it (hookline deploy --agent {agent.name}), work with it once, then try again"
        raise DataError(f"no event of {agent.name} is recorded; {fix}")
    rows = firings(store, agent=agent.name, session=latest[0].session, last=_MOST)
    dialect = dialect_named(agent.dialect)
    events = [
        {"event": row.event, "native_event": row.native_event, "payload": _payload(row, dialect)}
        for row in rows
        if row.native_event in dialect.events or row.event.startswith(f"{agent.dialect}:")
    ]
    bundle = {
        "agent": agent.name, "version": version, "hookline": __version__, "system": f"{platform.system()} {platform.machine()}",
        "events": events,
    }  # fmt: skip
    text = _ADDRESS.sub("user@example.com", json.dumps(bundle, indent=1, ensure_ascii=False)) + "\n"
    return text.replace(json.dumps(home)[1:-1], "/home/user") if len(home) > 1 else text


def _payload(row: Row, dialect: Dialect) -> dict[str, Any]:
    """What the agent sent: the data without what hookline added, and what is not among them."""
    data = row.before if row.before is not None else row.data
    wire: dict[str, Any] = row.wire if isinstance(row.wire, dict) else {}
    added = {"native_tool_name", *wire.get("added", ())}
    sent = {name: value for name, value in (data if isinstance(data, dict) else {}).items() if name not in added}
    if "tool_name" in sent:
        sent["tool_name"] = data.get("native_tool_name", sent["tool_name"])
    named_by = getattr(getattr(dialect, "words", None), "named_by", "hook_event_name")
    own = wire.get("own", {})
    # Letta Code calls it ``event_type``, which is kept as it came.
    usual = "hook_event_name" in named_by.split("|") and "event_type" not in own
    named = {"hook_event_name": row.native_event} if usual else {}
    return {**named, **sent, **own}
