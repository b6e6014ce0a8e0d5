"""The model that the agent itself uses, for prompt hooks that ask it: as its event says, else its transcript."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.agents import find_agent
from hookline.core.event import Event
from hookline.core.hook import OWN_MODEL, HookSpec, Prompt
from hookline.llm.names import ModelError, access, resolve
from hookline.transcripts import Homes, sessions_in, transcript_path
from hookline.transcripts.reading import last_model


def with_own_model(spec: HookSpec, event: Event, table: Mapping[str, str]) -> HookSpec:
    """The hook with the name of that model; without a name, which means the default, if it is unknown or has no key."""
    assert isinstance(spec.action, Prompt)
    if OWN_MODEL in table:
        return spec
    model = _text(event.data.get("model")) or last_model(_transcript(event))
    try:
        access(resolve(model, table, event.environ), event.environ)
    except ModelError:
        model = ""
    return replace(spec, action=replace(spec.action, model=model))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _transcript(event: Event) -> str:
    environ, agent = event.environ, find_agent(event.agent)
    home = event.directories.home if event.directories else environ.get("HOME", "")
    if agent is None or not home:
        return ""
    path = transcript_path(agent.name, event.data, home, environ)
    if path or not agent.newest_is_current:
        return path
    homes = Homes(home=home, environ=environ)
    return next((one.path for one in sessions_in(event.cwd, homes, (agent.name,))), "")
