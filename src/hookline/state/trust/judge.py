"""Which hooks are as they were approved, which have changed, which are new, and which are gone.

An approval belongs to a slot: a file, an event and a name. Lines and ordinals are no part of it, so a hook
may be moved; but who edits an approved hook, or takes its place, does not become a stranger by that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hookline.core._dataclass import dataclass
from hookline.core.typed import TYPE_CHECKING, Literal
from hookline.state.trust.covered import Cover

if TYPE_CHECKING:
    from hookline.core.hook import HookSpec, OnFailure
    from hookline.state.trust.covered import CoveredFiles

_State = Literal["trusted", "unknown", "changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One hook as a person approved it."""

    name: str
    event: str
    file: str
    pointer: str
    definition: str
    cover: Cover = Cover()
    #: Seconds since the epoch.
    when: float = 0.0
    #: What its failure meant then; "" where that was not kept.
    on_failure: OnFailure | Literal[""] = ""
    #: Which hooks were looked at when it was approved (a project's, in one system's places); "" if that was not kept.
    look: str = ""
    #: What of its project stays the same when that is moved: the number and the birth of folders, in nanoseconds.
    folders_born: tuple[tuple[int, int], ...] = ()
    #: And when it is copied and deleted, as a move to another disk is: size, SHA-256 and place of ``file`` in it.
    fingerprint: str = ""
    #: Older versions covered only the files that the definition names; such an approval still counts, as it was made.
    covers_folders: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustVerdict:
    """``changed`` names what is not as it was approved: "definition", or files."""

    state: _State
    changed: tuple[str, ...] = ()
    #: The one that speaks for the hook, whatever became of it since.
    approval: Approval | None = None
    #: Its files; None for a hook that was never approved, or not as it is.
    covered: CoveredFiles | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Verdicts in the order of the hooks, and the approvals whose hook is no longer there."""

    verdicts: tuple[TrustVerdict, ...]
    missing: tuple[Approval, ...]


#: A hook with the file it is written in, as approvals name it, and the digest of its definition: one more where the
#: project has several names, since older versions took the one they were given.
_Judged = tuple["HookSpec", str, tuple[str, ...]]


def judge(
    hooks: Sequence[_Judged], approvals: Sequence[Approval], covered: Callable[[Approval], CoveredFiles]
) -> Judgement:
    """Each approval speaks for one hook: first for the one it describes, then for the one in its slot."""
    free = list(approvals)
    found: dict[int, Approval] = {}
    for fits in (_same_definition, _same_name, _same_place):
        for index, hook in enumerate(hooks):
            if index not in found and (approval := _first(free, fits, hook)) is not None:
                found[index] = approval
                free.remove(approval)
    verdicts = tuple(_verdict(found.get(index), digests, covered) for index, (_, _, digests) in enumerate(hooks))
    return Judgement(verdicts=verdicts, missing=tuple(free))


def _first(
    free: Sequence[Approval], fits: Callable[[Approval, HookSpec, tuple[str, ...]], bool], hook: _Judged
) -> Approval | None:
    spec, file, digests = hook
    here = (a for a in free if a.event == spec.event and a.file in {file, spec.origin.file})
    return next((approval for approval in here if fits(approval, spec, digests)), None)


def _same_definition(approval: Approval, spec: HookSpec, digests: tuple[str, ...]) -> bool:  # one of three alike
    return approval.definition in digests


def _same_name(approval: Approval, spec: HookSpec, digests: tuple[str, ...]) -> bool:  # one of three alike
    return approval.name == spec.name


def _same_place(approval: Approval, spec: HookSpec, digests: tuple[str, ...]) -> bool:  # one of three alike
    return approval.pointer == spec.origin.pointer


def _verdict(
    approval: Approval | None, digests: tuple[str, ...], covered: Callable[[Approval], CoveredFiles]
) -> TrustVerdict:
    if approval is None:
        return TrustVerdict(state="unknown")
    if approval.definition not in digests:
        return TrustVerdict(state="changed", changed=("definition",), approval=approval)
    files = covered(approval)
    changed = files.check()
    return TrustVerdict(state="changed" if changed else "trusted", changed=changed, approval=approval, covered=files)
