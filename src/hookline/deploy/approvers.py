"""The agents that run only what a person approved, and who approves our entries with each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, cast

from hookline.deploy import allowlist, approval
from hookline.deploy.apply import Ledger


class _Approver(Protocol):
    def is_given(self, home: str) -> bool:
        """Whether hookline has approved entries before."""
        ...

    def approve(self, ledger: Ledger, here: str, home: str) -> list[str]:
        """What is approved now. Raises ``ConfigError``."""
        ...

    def withdraw(self, ledger: Ledger, here: str, home: str) -> None: ...


APPROVERS: Mapping[str, _Approver] = MappingProxyType(
    {"codex": cast("_Approver", approval), "hermes": cast("_Approver", allowlist)}
)


def withdraw_approvals(ledger: Ledger, agents: Sequence[str], here: str, home: str) -> None:
    for agent in agents:
        if agent in APPROVERS:
            APPROVERS[agent].withdraw(ledger, here, home)
