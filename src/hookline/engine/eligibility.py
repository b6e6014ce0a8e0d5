"""Why a hook whose matcher fits is not run: gates, claims, trust, switches and budgets.

``outcome_without_running`` is asked when it is the hook's turn, ``explain`` by whoever only wants to know. Both ask
the same functions, so what would happen and what happens cannot differ.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import AGENTS, full_name
from hookline.core.event import Event
from hookline.core.hook import (
    AgentRun,
    Command,
    Function,
    Gates,
    HookSpec,
    Matcher,
    OnFailure,
    Origin,
    Prompt,
    Scope,
    hook_id,
)
from hookline.core.result import Blocked, Failed, Outcome, Skipped
from hookline.core.typed import TYPE_CHECKING, Protocol
from hookline.dialects import dialect_named
from hookline.dialects.base import FOREIGN, MANAGED, PACK
from hookline.engine.fold import FoldState
from hookline.engine.match import Selection
from hookline.state.disabled import Switches, why
from hookline.state.sessions import Sessions

if TYPE_CHECKING:
    from hookline.state.trust import Approval, TrustStore, TrustVerdict
    from hookline.state.trust.covered import CoveredFiles

_STRICTNESS: tuple[OnFailure, ...] = ("ignore", "deny", "abort")


def stand_in_for_changed(spec: HookSpec, verdict: TrustVerdict) -> HookSpec:
    """A hook whose definition changed: the change must not keep it from failing, or weaken what its failure means.

    What it used to match is not known, so it fails on every event of its kind.
    """
    if "definition" not in verdict.changed:
        return spec
    before = (verdict.approval and verdict.approval.on_failure) or spec.on_failure
    return replace(
        spec,
        enabled=True,
        matcher=Matcher(),
        gates=Gates(),
        scope=Scope(),
        mode="sync",
        on_failure=max(before, spec.on_failure, key=_STRICTNESS.index),
    )


def stand_in_for_removed(approval: Approval) -> HookSpec | None:
    """A stand-in for a removed guard; None for a hook whose failure blocks nothing."""
    if not approval.on_failure or approval.on_failure == "ignore":
        return None
    return HookSpec(
        id=hook_id(approval.file, f"{approval.pointer} {approval.name}", approval.event),
        name=approval.name,
        dialect="native",
        event=approval.event,
        origin=Origin(file=approval.file, layer="project", pointer=approval.pointer),
        action=Command(form="argv", argv=("false",)),
        on_failure=approval.on_failure,
    )


class _Checks(Protocol):
    """What an engine asks before it runs a hook."""

    @property
    def sessions(self) -> Sessions: ...
    @property
    def blocked(self) -> Callable[[HookSpec], Blocked | None]: ...
    @property
    def blocked_in(self) -> Callable[[HookSpec, str], Blocked | None] | None: ...
    @property
    def covered(self) -> Callable[[HookSpec], CoveredFiles | None] | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What would become of one hook if the event were fired: ``why`` is "" when it would run."""

    spec: HookSpec
    why: str
    #: False where the event's subject or data do not match.
    matches: bool = True


def outcome_without_running(
    spec: HookSpec, event: Event, selection: Selection, state: FoldState, checks: _Checks
) -> Outcome | None:
    """The outcome of a hook that is not to be run; None if it is."""
    if state.stopped:
        text = "the run was ended by an earlier hook" if state.aborted else "an earlier hook denied it"
        return Skipped(id=spec.id, hook=spec.name, error=text, not_run="stopped")
    if not selection.plain:
        if selection.broken and spec.id in selection.broken:
            return Failed(id=spec.id, hook=spec.name, error=selection.broken[spec.id], not_run="undecidable")
        held = selection.held.get(spec.id, "") if selection.held else ""
        # A hook that claims first uses up its claim even when a gate holds it.
        if not held or (spec.gates.claim_first and not event.data.get("auto_submit")):
            claimed = _claim(checks.sessions.claim, spec, event)
            if claimed and not held:
                return Skipped(id=spec.id, hook=spec.name, error=claimed, not_run="claim")
        if held:
            return Skipped(id=spec.id, hook=spec.name, error=held, not_run="gate")
    block = checks.blocked(spec)
    if block is None and checks.blocked_in is not None:
        block = checks.blocked_in(spec, event.cwd)
    if block is None:
        return None
    kind = Failed if block.counts_as_failure else Skipped
    return kind(id=spec.id, hook=spec.name, error=block.message, not_run=block.reason)


def nothing_blocked(_spec: HookSpec) -> Blocked | None:
    return None


def are_free(specs: Sequence[HookSpec], cwd: str, checks: _Checks) -> bool:
    """Whether it is known that nothing keeps any of them from running, so that none has to be asked about by itself."""
    blocked, blocked_in, covered = checks.blocked, checks.blocked_in, checks.covered
    return (
        (blocked.are_free(specs) if isinstance(blocked, HookBlocks) else blocked is nothing_blocked)
        and (blocked_in is None or not any(blocked_in(spec, cwd) for spec in specs))
        and (covered is None or not any(covered(spec) for spec in specs))
    )


def _block(spec: HookSpec, cwd: str, checks: _Checks) -> Blocked | None:
    block = checks.blocked(spec)
    return block if block is not None or checks.blocked_in is None else checks.blocked_in(spec, cwd)


def explain(spec: HookSpec, event: Event, unmatched: Blocked | None, checks: _Checks) -> Explained:
    """Missing trust comes first: it does not depend on the event, and a person can fix it.

    ``unmatched`` is what ``match`` found against the hook.
    """
    text = unmatched.message if unmatched is not None else ""
    block = _block(spec, event.cwd, checks)
    if block is not None and text:
        text = f"{block.message}; besides, {text}"
    elif block is not None:
        failing = f"; until then it counts as failed (on_failure = {spec.on_failure})"
        text = f"{block.message}{failing if block.counts_as_failure else ''}"
    elif not text:
        text = _claim(checks.sessions.would_claim, spec, event)
    return Explained(spec=spec, why=text, matches=unmatched is None or unmatched.reason != "mismatch")


def _claim(claim: Callable[..., str], spec: HookSpec, event: Event) -> str:
    """Why the session refuses a claim. ``claim`` is its ``claim``, which counts, or its ``would_claim``."""
    return claim(event.session, spec.id, spec.gates, event.time) if spec.gates.claims else ""


# ── independent of the event ─────────────────────────────────────────────────────────────────────────


class HookBlocks:
    """Why a hook must not run, whatever the event. Called with a hook.

    A guard that was changed or removed behind a person's back fails before anything else is asked: otherwise it could
    be given the name of a hook that is switched off.
    """

    __slots__ = (
        "_agent_runs", "_disabled", "_faulty", "_free", "_inside_agent", "_own", "_packs", "_removed", "_show", "_store",
        "_verdicts",
    )  # fmt: skip

    def __init__(
        self,
        *,
        verdicts: Mapping[str, TrustVerdict],
        store: TrustStore | None,
        removed: Sequence[HookSpec],
        #: The command that shows a hook to the person who is to trust it.
        show: Callable[[HookSpec], str],
        agent_runs: Mapping[str, Blocked],
        disabled: Switches,
        inside_agent: Callable[[HookSpec], bool] | None,
        #: The files of a pack, by its digest; None where nobody approved it.
        packs: Callable[[str], CoveredFiles | None] | None = None,
        #: Files with errors: what is missing there may be what cannot be read.
        faulty: Container[str] = (),
    ) -> None:
        self._verdicts = verdicts
        self._store = store
        self._removed = {spec.id for spec in removed}
        self._faulty = faulty
        self._show = show
        self._agent_runs = agent_runs
        self._disabled = disabled
        self._inside_agent = inside_agent
        self._packs = packs
        #: By their ids: the person's own hooks, which nothing but a switch keeps from running.
        self._own: dict[str, HookSpec] = {}
        #: The latest of which all are.
        self._free: Sequence[HookSpec] = ()

    @property
    def has_covered_files(self) -> bool:
        return bool(self._verdicts) or self._packs is not None

    def covered_files(self, spec: HookSpec) -> CoveredFiles | None:
        """The files that a project's hook was approved with, or those of its pack."""
        if self._packs is not None and (pack := spec.extra.get("pack")):
            return self._packs(pack)
        if spec.origin.layer not in FOREIGN:
            return None
        verdict = self._verdicts.get(spec.extra.get("plugin", spec.id))
        return None if verdict is None else verdict.covered

    def __call__(self, spec: HookSpec) -> Blocked | None:
        if self._own.get(spec.id) is spec and not self._disabled.some_off():
            return None
        if spec.origin.layer == MANAGED:
            return None
        if self._inside_agent is not None and self._inside_agent(spec):
            return Blocked(reason="inside-agent", message="hooks are off inside a hook's own agent (HOOKLINE_NO_HOOKS)")
        block = self._trust(spec)
        if block is not None and block.counts_as_failure:
            return block
        switch = self._disabled.off(spec)
        if switch is not None:
            return Blocked(reason="disabled", message=why(switch, self._disabled.clock()))
        block = self._agent_runs.get(spec.id, block)
        if (
            block is None
            and self._inside_agent is None
            and spec.origin.layer not in FOREIGN
            and "pack" not in spec.extra
        ):
            self._own[spec.id] = spec
        return block

    def are_free(self, specs: Sequence[HookSpec]) -> bool:
        if specs is not self._free:  # what was found to be a person's own stays so
            if not all(self._own.get(spec.id) is spec for spec in specs):
                return False
            self._free = specs
        return not self._disabled.some_off()

    def _trust(self, spec: HookSpec) -> Blocked | None:
        """A hook that was never trusted does not run; one that changed since counts as failed."""
        if spec.id in self._removed:
            return self._missing(spec)
        if self._packs is not None and (pack := spec.extra.get("pack")):
            return _changed_pack(spec, self._packs(pack))
        # What stands in for a change that is not trusted has the id of the change, and is the person's own.
        if spec.origin.layer not in FOREIGN:
            return None
        # A plugin's hooks are approved with the plugin that registered them.
        verdict = self._verdicts.get(spec.extra.get("plugin", spec.id))
        if verdict is None:
            return None
        store = self._store
        if verdict.state == "unknown":
            if store is not None and store.note:  # it may have been trusted: a bad disk must not open a guard
                return Blocked(reason="trust-unreadable", message=store.note, counts_as_failure=True)
            return Blocked(reason="untrusted", message=f"not approved; review it with: {self._show(spec)}")
        changed = verdict.changed if verdict.covered is None else verdict.covered.check()
        if not changed:
            return None
        text = f"changed since it was trusted ({', '.join(changed)}); review it with: {self._show(spec)}"
        return Blocked(reason="changed", message=text, counts_as_failure=True)

    def _missing(self, spec: HookSpec) -> Blocked:
        file = spec.origin.file
        if file in self._faulty:
            text = f"{file} has errors, so this hook cannot be read; see: hookline check"
            return Blocked(reason="file-has-errors", message=text, counts_as_failure=True)
        text = f"it was trusted in {file} and was removed or moved; review it with: {self._show(spec)}"
        return Blocked(reason="removed", message=text, counts_as_failure=True)


def _changed_pack(spec: HookSpec, files: CoveredFiles | None) -> Blocked | None:
    """One changed byte is enough, whatever the hook says of failures."""
    changed = ("its approval is gone",) if files is None else files.check()
    if not changed:
        return None
    text = f"the pack's files are not as approved ({', '.join(changed[:5])}); to see and restore them: hookline sync"
    return Blocked(reason="pack-changed", message=text, counts_as_failure=True)


def inside_agent(environ: Mapping[str, str], *, agents_door: bool) -> Callable[[HookSpec], bool] | None:
    """Inside a hook's own agent no hooks run, or agents would ask agents without end.

    At the agents' door a repository's settings could set the variable to switch off a guard; there it holds back only
    the hooks that ask a model.
    """
    if environ.get("HOOKLINE_NO_HOOKS") != "1":
        return None
    return lambda spec: not agents_door or isinstance(spec.action, (AgentRun, Prompt))


def block_other_files(verdicts: Mapping[str, TrustVerdict], root: str) -> Callable[[HookSpec, str], Blocked | None]:
    """A hook's relative paths mean files of the directory it runs in; those must be the files that were approved.

    Otherwise a second guard.sh, in a directory the agent works in, would run under the name of the first.
    """

    def blocked_in(spec: HookSpec, cwd: str) -> Blocked | None:
        verdict = verdicts.get(spec.id)
        if verdict is None or verdict.approval is None or cwd == root:
            return None
        for path in verdict.approval.cover.named:
            other = os.path.join(cwd, path)
            if not _found_from_root(spec, path) and os.path.lexists(other) and not _same(other, root, path):
                text = f"{path} in {cwd} is not the file that was trusted; call it by its full path"
                return Blocked(reason="other-file", message=text, counts_as_failure=True)
        return None

    return blocked_in


def _found_from_root(spec: HookSpec, path: str) -> bool:
    """Our own ``run`` looks its program up in the project's root, and Python modules in their base, wherever it runs."""
    action = spec.action
    if isinstance(action, Command) and action.form == "argv" and spec.dialect == "native":
        return os.path.normpath(action.argv[0]) == path
    return isinstance(action, Function)


def _same(other: str, root: str, path: str) -> bool:
    return os.path.realpath(other) == os.path.realpath(os.path.join(root, path))


# ── hooks that the calling agent runs itself ─────────────────────────────────────────────────────────


def block_agents_own(
    agent: str, specs: Iterable[HookSpec], cwd: str, home: str, environ: Mapping[str, str]
) -> Mapping[str, Blocked]:
    """By id, the hooks that ``agent`` reads from its own files and runs itself; here they would run a second time.

    A hook that is left out must be one that really runs there, so nothing that a repository can set decides about a
    person's own sources: of the person's files only the one in its usual place counts, and only where no variable of
    the agent moves it. In doubt a hook runs twice.
    """
    borrowed = [spec for spec in specs if spec.dialect != "native" and spec.origin.layer != PACK]
    own = [spec for spec in specs if spec.extra.get("installed") == full_name(agent)]
    found = {spec.id: Blocked(reason="agent-runs-it", message=f"{agent} runs its plugins itself") for spec in own}
    if not borrowed:
        return found
    user, project = agent_files(agent, cwd, home, environ)
    for spec in borrowed:
        file = os.path.realpath(spec.origin.file)
        if file in user or (file in project and spec.origin.layer in FOREIGN):
            text = f"{agent} runs it itself, from {spec.origin.file}"
            found[spec.id] = Blocked(reason="agent-runs-it", message=text)
    return found


def agent_files(agent: str, cwd: str, home: str, environ: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """The person's and the project's files whose hooks the agent runs itself."""
    row = AGENTS.get(full_name(agent))
    if row is None or not row.runs_own_hooks:
        return set(), set()
    started_in = environ.get(row.project_variable, "") if row.project_variable else ""
    cwd = started_in if os.path.isabs(started_in) else cwd
    places = dialect_named(agent).places
    usual = {os.path.realpath(one.path) for one in places(cwd, home, {}) if one.layer not in FOREIGN}
    now = [(os.path.realpath(one.path), one.layer) for one in places(cwd, home, environ)]
    user = {path for path, layer in now if layer not in FOREIGN}
    return usual & user, {path for path, layer in now if layer in FOREIGN}
