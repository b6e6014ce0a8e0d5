"""Probe a registration: run its command as the agent does, with the agent's payload.

Hookline answers with a denial that contains the probe's name, and runs no hook (see ``hookline.gateway.probe``).
"""

from __future__ import annotations

import json
import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, replace
from hookline.core.event import Event, event_kind
from hookline.core.result import Decision
from hookline.core.samples import sample
from hookline.deploy.payload import build_payload
from hookline.deploy.plugin import plugin_driver
from hookline.dialects import dialect_named
from hookline.dialects.event_lookup import native_events
from hookline.gateway import probe

if TYPE_CHECKING:
    from hookline.core.agents import Agent
    from hookline.deploy.installed import RegisteredHook

#: Seconds for one probe.
_PATIENCE = 30.0

_LOGIN_SHELLS = frozenset({"sh", "bash", "zsh"})


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Where probes run: the project, an agent's environment, and our state directory."""

    cwd: str
    environ: Mapping[str, str]
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The result of one probe. ``error`` is "" if the answer was right."""

    event: str
    ms: float
    error: str = ""
    #: The event's hooks, as the probed call sees them: name -> why it would not run ("" if it would).
    hooks: Mapping[str, str]


def probe_all(target: Agent, registered: Sequence[RegisteredHook], world: World) -> list[Probed]:
    """Probe every registered event, two at a time; failures are probed again alone, as an agent would."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = list(pool.map(lambda entry: _probe_one(target, entry, world), registered))
    return [
        _probe_one(target, entry, world) if one.error and os.path.exists(entry.program) else one
        for entry, one in zip(registered, found, strict=True)
    ]


def _probe_one(target: Agent, entry: RegisteredHook, world: World) -> Probed:
    """Raises ``StateError`` if the probe's file cannot be written."""
    canonical = dialect_named(target.dialect).events.get(entry.event, entry.event)
    name = probe.ask(world.state)
    event = replace(_event(canonical, target, world, name), native_name=entry.event)
    began = time.monotonic()
    printed, code = call_entry(target, entry, event, replace(world, environ={**world.environ, probe.PROBE: name}))
    told = probe.read_answer(world.state, name)
    error = _missing(told, printed, code) or _unanswered(target, event, name, printed)
    return Probed(event=entry.event, ms=(time.monotonic() - began) * 1000, error=error, hooks=_hooks(told))


def call_entry(target: Agent, entry: RegisteredHook, event: Event, world: World) -> tuple[str, str]:
    """Run a registered command as the agent does, with its payload: what it prints, and its exit code or what went wrong."""
    argv = _argv(target, entry, world.environ)
    try:
        done = subprocess.run(
            argv, cwd=world.cwd, env=dict(world.environ), input=json.dumps(build_payload(target, event)), capture_output=True,
            text=True, errors="replace", timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "", f"still running after {_PATIENCE:.0f} s"
    except OSError as failed:
        return f"{argv[0]}: {failed.strerror}", "none, it could not be started"
    return "\n".join(text for text in (done.stdout, done.stderr) if text), str(done.returncode)


def probe_plugin(target: Agent, text: str, world: World) -> str:
    """Load the plugin and let it ask before a tool; what is wrong with it, "" if nothing or without node."""
    node = shutil.which("node", path=world.environ.get("PATH"))
    if node is None:
        return ""
    name = probe.ask(world.state)
    sent = build_payload(target, _event("PreToolUse", target, world, name))
    with tempfile.TemporaryDirectory(prefix="hookline-doctor-") as folder:
        # Under this ending every version of node reads it as a module.
        module, driver = os.path.join(folder, "plugin.mjs"), os.path.join(folder, "driver.mjs")
        for made, content in ((module, text), (driver, plugin_driver(target.dialect))):
            with open(made, "w", encoding="utf-8") as file:
                file.write(content)
        try:
            done = subprocess.run(
                [node, driver, module, json.dumps(sent)], cwd=world.cwd,
                # A probe must not leave a daemon running.
                env={"HOOKLINE_DAEMON": "if running", **world.environ, probe.PROBE: name},
                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=_PATIENCE, check=False,
            )  # fmt: skip
            printed, code = done.stdout + done.stderr, str(done.returncode)
        except (OSError, subprocess.TimeoutExpired) as failed:
            printed, code = "", str(failed)
    told = probe.read_answer(world.state, name)
    return _missing(told, printed, code) or ("" if name in printed else "its denial does not stop the tool")


def _argv(target: Agent, entry: RegisteredHook, environ: Mapping[str, str]) -> list[str]:
    """As the agent starts it; its shell was observed on the real agents."""
    if not entry.command:
        return [entry.program, "hook", "--agent", target.name, "--event", entry.event, *entry.words]
    shell: str = target.run_with
    if shell == "$SHELL":
        shell = environ.get("SHELL") or "bash"
    elif shell == "login":
        login = pwd.getpwuid(os.geteuid()).pw_shell
        shell = login if os.path.basename(login) in _LOGIN_SHELLS else "/bin/bash"
    return shlex.split(entry.command) if shell == "nothing" else [shell, "-c", entry.command]


def _event(canonical: str, target: Agent, world: World, name: str) -> Event:
    return agent_event(canonical, target, world, {**sample(canonical), "session_id": f"hookline-doctor-{name[:8]}"})


def agent_event(canonical: str, target: Agent, world: World, data: Mapping[str, Any]) -> Event:
    """An event as this agent would fire it here and now; ``data`` names its session."""
    return Event(
        kind=event_kind(canonical), data=data, session=data["session_id"], agent=target.name, cwd=world.cwd,
        environ=world.environ, time=time.time(), native_name=native_events(target)[canonical],
    )  # fmt: skip


def _missing(told: Mapping[str, Any] | None, printed: str, code: str) -> str:
    """Why the probe did not reach hookline."""
    if told is not None:
        return ""
    said = " ".join(printed.split())[:300]
    return f"hookline was not reached (exit code {code}{': ' + said if said else ''})"


def _unanswered(target: Agent, event: Event, name: str, printed: str) -> str:
    """Why the answer did not come back; only a denial that the agent supports contains the probe's name."""
    refusal = Decision(event=event.kind.name, effect="deny", reason=name, data=event.data)
    expected = dialect_named(target.dialect).reply_out(event, refusal)
    if not event.kind.deniable or name not in expected.stdout + expected.stderr or name in printed:
        return ""
    return "hookline was reached, but its answer did not come back"


def _hooks(told: Mapping[str, Any] | None) -> Mapping[str, str]:
    listed = told.get("hooks", ()) if told is not None else ()
    return {str(one["hook"]): one["why_not"] or "" for one in listed}
