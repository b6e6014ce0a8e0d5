"""A ``lectic.yaml`` that was found takes part in a run only as it was approved.

That covers its hooks and everything else in it: programs, addresses, headers, variables, prompts, and the files it
names. A run does not start with one that is not approved, because its hooks may be guards of this very conversation.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hookline.config.layers import ProjectGate
from hookline.core.errors import DataError
from hookline.core.hook import HookSpec
from hookline.dialects.base import FOREIGN
from hookline.engine.load import trust_store
from hookline.state.protection import require_outside_agent
from hookline.state.trust import Approval

if TYPE_CHECKING:
    from hookline.agent.lectic_config import Where
    from hookline.config.layers import LayerLoader


class ConversationFiles:
    """Decides about the files found for one conversation. ``approve``: they are approved as they are now."""

    def __init__(self, where: Where, *, trust_all: bool = False, approve: bool = False) -> None:
        self._where = where
        self._trust_all, self._approve = trust_all, approve
        self._store = trust_store(where.paths, where.directory, where.home, where.environ, "lectic")

    def gate(self) -> ProjectGate:
        if self._trust_all:
            return ProjectGate("open")
        return ProjectGate("inspect" if self._approve else "approved", self)

    def knows(self, file: str) -> bool:
        return self._store.knows(file)

    def covers(self, contents: HookSpec) -> bool:
        return self._store.verdict(contents).state == "trusted"

    def check_files(self, loader: LayerLoader) -> None:
        """Before anything of them is merged. Raises ``DataError``."""
        unread = [source.path for source in loader.sources if source.inert]
        contents = loader.gate.contents.values()
        if self._trust_all or self._approve:
            return
        changed = [
            f"{one.origin.file}{_since(self._store.verdict(one).changed)}" for one in contents if not self.covers(one)
        ]
        self._require([*unread, *changed])

    def check_hooks(self, hooks: Sequence[HookSpec], contents: Sequence[HookSpec]) -> None:
        """``hooks`` are those without the document. Raises ``DataError``; or approves them, and the files with them."""
        found = [spec for spec in hooks if spec.origin.layer in FOREIGN]
        if self._trust_all:
            return
        if self._approve:
            require_outside_agent(self._where.paths.state, "approve a lectic.yaml")
            self._store.approve([*found, *contents])
            return
        judged = self._store.judge(found)
        open_ones = [
            f"{spec.origin.file}: the hook {spec.name}{_since(verdict.changed)}"
            for spec, verdict in zip(found, judged.verdicts, strict=True)
            if verdict.state != "trusted"
        ]
        self._require([*open_ones, *self._gone(judged.missing)])

    def _require(self, findings: Sequence[str]) -> None:
        if not findings:
            return
        listed = "\n".join(f"  {line}" for line in dict.fromkeys(findings))
        raise DataError(
            f"the run does not start, because this is not approved:\n{listed}\n"
            f"review and approve it with: cd {shlex.quote(self._where.directory)} && hookline trust"
        )

    def _gone(self, missing: Sequence[Approval]) -> Iterator[str]:
        """Guards that were approved and are no longer in the files of this conversation."""
        for one in missing:
            near = f"{self._where.directory}/".startswith(f"{os.path.dirname(one.file)}/")
            if one.on_failure not in {"", "ignore"} and near:
                yield f"{one.file}: the trusted hook {one.name} is gone"


def _since(changed: tuple[str, ...]) -> str:
    return f" (changed: {', '.join(changed)})" if changed else ""
