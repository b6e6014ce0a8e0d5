"""The managed files of all agents that a policy is for: planned, written, compared and removed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import Agent, all_agents, select_agents
from hookline.core.errors import ConfigError
from hookline.core.hook import HookSpec
from hookline.deploy import apply, transport
from hookline.deploy.managed import plan_managed, policy_events
from hookline.deploy.plan import FilePlan
from hookline.fleet.manifest import Manifest

_SCOPE = "managed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlan:
    """``plan`` is None for an agent that lets no owner register hooks."""

    agent: Agent
    plan: FilePlan | None

    @property
    def gap(self) -> str:
        """What a person could do about it; "" if nothing is known."""
        if self.plan is None:
            return "it has no file in which the owner of a machine registers hooks; each person's hookline deploy does"
        return self.agent.managed_gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where files go: below ``root``, for whoever prepares the disk of another machine."""

    root: str = ""
    #: What the entries call, as the machine itself names it.
    program: str

    def plans(self, manifest: Manifest, specs: Sequence[HookSpec], *, fresh: bool = False) -> Iterator[AgentPlan]:
        """``fresh``: as if the files were not there yet."""
        agents = select_agents(manifest.agents) or [one for one in all_agents().values() if one.managed]
        for agent in agents:
            if not agent.managed:
                yield AgentPlan(agent=agent, plan=None)
                continue
            path = self.root + agent.managed
            text, refused = (None, "") if fresh else apply.read(path)
            events = policy_events(agent, specs)
            plan = plan_managed(agent, text, events, self.program, cold=not manifest.daemon)
            yield AgentPlan(agent=agent, plan=replace(plan, path=path, refused=refused or plan.refused))


def require_possible(plans: Sequence[AgentPlan]) -> None:
    """Raises ConfigError for the first file that cannot be edited."""
    for one in plans:
        if one.plan is not None and one.plan.refused:
            raise ConfigError(one.plan.refused)


def write_files(ledger: apply.Ledger, plans: Sequence[AgentPlan]) -> list[str]:
    """Readable by all; the paths that were written."""
    written: list[str] = []
    for one in plans:
        if one.plan is None or not one.plan.changes:
            continue
        new = one.plan.before is None
        apply.deploy(ledger, one.plan, agent=one.agent.name, scope=_SCOPE)
        if new:
            os.chmod(one.plan.path, 0o644)
        written.append(one.plan.path)
    return written


def remove_files(ledger: apply.Ledger) -> list[str]:
    """Give every file back as it was, or without our entries if somebody has written to it since."""
    removed: list[str] = []
    for path, kept in ledger.all().items():
        agent = next(one for one in all_agents().values() if one.name == kept.agent)
        text, refused = apply.read(path)
        if refused:
            raise ConfigError(refused)
        if text is not None and apply.digest(text) == kept.digest:
            plan = FilePlan(path=path, before=text, after=kept.before)
        elif agent.managed.endswith(".toml"):
            plan = replace(plan_managed(agent, text, (), "", cold=False), path=path)
        else:
            plan = apply.plan_removal(path, agent, kept)
        apply.undeploy(ledger, plan)
        removed.append(path)
    return removed


def build_program(folder: str, *, cold: bool) -> str:
    """The native client, or a launcher where none can be built, in the owner's directory and for everybody to run."""
    environ = {"HOME": "/", "HOOKLINE_DATA_DIR": folder}
    agent = next(one for one in all_agents().values() if one.form == "groups")
    path = transport.entry_program(agent, "command" if cold else "", environ, build=True)
    for one in (os.path.dirname(path), os.path.realpath(path)):
        os.chmod(one, 0o755)  # noqa: S103  everybody's agents call it
    return path


# ── for tools that write files themselves ────────────────────────────────────────────────────────────


def as_text(plans: Sequence[AgentPlan]) -> str:
    return "".join(f"==> {path} <==\n{text}\n" for path, text in _contents(plans))


def as_ansible(plans: Sequence[AgentPlan]) -> str:
    """Tasks for a playbook; JSON is YAML too."""
    tasks: list[object] = []
    for path, text in _contents(plans):
        folder = {"path": os.path.dirname(path), "state": "directory", "owner": "root", "mode": "0755"}
        copy = {"dest": path, "content": text, "owner": "root", "group": "root", "mode": "0644"}
        tasks.append({"name": f"folder of {path}", "become": True, "ansible.builtin.file": folder})
        tasks.append({"name": f"hookline in {path}", "become": True, "ansible.builtin.copy": copy})
    return json.dumps(tasks, indent=2, ensure_ascii=False) + "\n"


def as_dockerfile(plans: Sequence[AgentPlan], policy: str, key: str) -> str:
    """Lines for an image that has hookline."""
    files = [os.path.basename(policy), os.path.basename(key)]
    inside = [f"/root/{one}" for one in files]
    written = "".join(f"# writes {path}\n" for path, _ in _contents(plans))
    install = f"hookline policy install {inside[0]} --key {inside[1]} && rm {' '.join(inside)}"
    return f"{written}USER root\nCOPY {' '.join(files)} /root/\nRUN {install}\n"


def _contents(plans: Sequence[AgentPlan]) -> Iterator[tuple[str, str]]:
    for one in plans:
        if one.plan is not None and one.plan.after is not None:
            yield one.plan.path, one.plan.after
