"""What the owner of a machine writes for an agent: the file that a person on it cannot change. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Sequence

from hookline.core._dataclass import replace
from hookline.core.agents import Agent
from hookline.core.hook import HookSpec
from hookline.deploy.own_entry import Registration
from hookline.deploy.plan import FileFormat, FilePlan, plan_file
from hookline.deploy.registration import EntryCaller, registrations
from hookline.dialects.event_lookup import native_events
from hookline.gateway.required_events import event_reasons

_BEGIN, _END = "# >>> hookline policy: do not edit", "# <<< hookline policy"
_BLOCK = re.compile(rf"\n?^{re.escape(_BEGIN)}$.*?^{re.escape(_END)}$\n?", re.MULTILINE | re.DOTALL)


def policy_events(agent: Agent, specs: Iterable[HookSpec]) -> tuple[str, ...]:
    """Canonical events that the hooks of a policy need of this agent."""
    known = native_events(agent)
    return tuple(event for event in event_reasons(specs, agent) if event in known)


def plan_managed(agent: Agent, text: str | None, events: Sequence[str], program: str, *, cold: bool) -> FilePlan:
    """The agent's file with our entries and everything else in it as it was; without events, without them."""
    caller = EntryCaller(program=program, scope="managed", file=agent.managed, cold=cold)
    wanted = registrations(agent, caller, events)
    if agent.managed.endswith(".toml"):
        return _plan_requirements(agent.managed, text, wanted)
    form = FileFormat.of(agent)
    return plan_file(agent.managed, text, wanted, replace(form, head={**form.head, **agent.managed_head}))


def _plan_requirements(path: str, text: str | None, wanted: Sequence[Registration]) -> FilePlan:
    """Tables at the end of the file, between two lines of ours."""
    rest = _BLOCK.sub("", text or "")
    block = "\n".join([_BEGIN, *_requirements(wanted), _END]) + "\n" if wanted else ""
    after = f"{rest.rstrip()}\n\n{block}" if rest.strip() and block else block or rest
    try:
        tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        why = f"{path} has tables of its own where hookline's belong ({error}); move [features] hooks and [hooks] out of it"
        return FilePlan(path=path, before=text, after=text, refused=why)
    return FilePlan(path=path, before=text, after=after or None)


def _requirements(wanted: Sequence[Registration]) -> Iterable[str]:
    """Hooks that need no approval by a person, and the switch that keeps them on."""
    yield from ("[features]", "hooks = true", "", "[hooks]", 'managed_dir = "/etc/hookline"')
    for one in wanted:
        inner = one.entry["hooks"][0]
        yield from ("", f"[[hooks.{one.event}]]")
        yield from (f"{key} = {json.dumps(value)}" for key, value in one.entry.items() if key != "hooks")
        yield f"[[hooks.{one.event}.hooks]]"
        yield from (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in inner.items())
