"""A policy and the agents' files of one machine, together: put in force, and looked at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.agents import all_agents
from hookline.core.errors import ConfigError
from hookline.core.paths import Paths
from hookline.deploy import apply
from hookline.deploy.apply import Ledger
from hookline.deploy.own_entry import entry_commands
from hookline.deploy.plan import own_entries
from hookline.deploy.registration import command_program
from hookline.fleet import agent_files
from hookline.fleet.agent_files import AgentPlan, Machine
from hookline.fleet.build import check_tree
from hookline.fleet.bundle import Bundle
from hookline.fleet.install import PolicyFolder, readable_by_all
from hookline.fleet.keys import PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class _PolicyApplied:
    bundle: Bundle
    #: False if it was in force already.
    new: bool
    written: Sequence[str]
    plans: Sequence[AgentPlan]


def put_in_force(
    paths: Paths, data: bytes, key: PublicKey | None, *, program: str = "", root: str = ""
) -> _PolicyApplied:
    """Raises ConfigError, UsageError and StateError, and has then changed nothing that is in force."""
    folder, made = PolicyFolder(paths), list[AgentPlan]()

    def check(bundle: Bundle) -> None:
        specs = check_tree(bundle.tree, paths, "the policy").specs
        called = program or agent_files.build_program(folder.folder, cold=not bundle.manifest.daemon)
        made.extend(Machine(root=root, program=called).plans(bundle.manifest, specs))
        agent_files.require_possible(made)

    new = folder.install(data, key, check=check)
    bundle = folder.bundle()
    assert bundle is not None, "it was installed"
    if not new:
        check(bundle)
    with readable_by_all():
        written = agent_files.write_files(ledger(folder), made)
    return _PolicyApplied(bundle=bundle, new=new, written=written, plans=made)


def inspect(paths: Paths, *, root: str = "") -> tuple[list[dict[str, Any]], list[str]]:
    """What each agent's managed file says of the policy, and everything that is not as it was signed."""
    folder = PolicyFolder(paths)
    bundle, findings = folder.bundle(), list(folder.findings())
    if bundle is None:
        return [], findings
    specs = check_tree(bundle.tree, paths, folder.current).specs
    rows: list[dict[str, Any]] = []
    for one in Machine(root=root, program=_registered_program(folder)).plans(bundle.manifest, specs):
        state = (
            "no managed file" if one.plan is None else "missing" if one.plan.changes or one.plan.refused else "in force"
        )
        if one.plan is not None and state == "missing":
            findings.append(f"{one.plan.path} does not register the policy; hookline policy install again")
        rows.append(
            {"agent": one.agent.name, "file": one.agent.managed or None, "state": state, "gap": one.gap or None}
        )
    return rows, findings


def ledger(folder: PolicyFolder) -> Ledger:
    place = os.path.join(folder.folder, "ledger")
    os.makedirs(place, 0o700, exist_ok=True)
    return Ledger(place)


def _registered_program(folder: PolicyFolder) -> str:
    """What the entries call, from the entries themselves."""
    for path in _ledger_paths(folder):
        text, _ = apply.read(path)
        with suppress(ValueError):  # a damaged file is a finding, and says nothing about the program
            for entry in own_entries(text or "", path) if text else ():
                for line in entry_commands(entry.value):
                    return command_program(line)
    return os.path.join(folder.folder, "bin", "hookline")


def _ledger_paths(folder: PolicyFolder) -> list[str]:
    try:
        return list(ledger(folder).all())
    except (OSError, ConfigError):  # a person who is not the owner only looks
        return [one.managed for one in all_agents().values() if one.managed]
