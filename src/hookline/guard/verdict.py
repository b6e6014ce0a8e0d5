"""The verdict on a command: read it, find its effects, let the policy answer. Pure, bounded, and never an exception."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import partial
from typing import Literal

from hookline.core._dataclass import dataclass, replace
from hookline.core.paths import home_directory, project_root
from hookline.guard.assess import assess
from hookline.guard.call import Scene
from hookline.guard.effects import HARMS, KINDS, SAFER, Effect
from hookline.guard.paths import KnownPlaces
from hookline.guard.pattern import lazy_pattern
from hookline.guard.policy import ANSWERS, READY, Answer, Policy
from hookline.guard.read import read
from hookline.guard.read_only import only_reads
from hookline.guard.reading import Invocation, Reading
from hookline.guard.scripts import ReadScript, script_effects

#: Texts that bash may run when it expands or counts: ``a[$(…)]``, ``${x?$(…)}``, ``${x@P}``.
_EVALUATED = lazy_pattern(r"@P\}|\w\[[^\]]*(\$\(|`)|\$\{\w+:?\?[^}]*(\$\(|`)")
#: Longer commands are unknown: reading them would take longer than a person wants to wait.
_LONGEST = 100_000
#: Longer ones are not proved to be harmless.
_LONGEST_PROOF = 20_000
#: hookline's own commands, which check themselves who calls them.
_OWN = frozenset({"hookline", "lh"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``none`` is no opinion: nobody is asked and nothing is granted. ``would`` is what a watching policy would answer."""

    verdict: Literal["allow", "ask", "deny", "none"]
    effects: tuple[Effect, ...] = ()
    #: The effect that decided, and its answer in words.
    cause: Effect | None = None
    reason: str = ""
    safer: str = ""
    would: Answer = "allow"
    reads_only: bool = False
    #: The programs that were judged as they stand, where the command runs: nothing new could be said about one alone.
    programs: frozenset[tuple[str, ...]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where a command would run. Without ``resolve``, links are not followed and no file is looked at."""

    cwd: str
    home: str
    project: str = ""
    environment: Mapping[str, str] | None = None
    resolve: Callable[[str], str] | None = None

    def places(self) -> KnownPlaces:
        temp = (self.environment or {}).get("TMPDIR", "")
        known = KnownPlaces(
            cwd=self.cwd,
            project=self.project or self.cwd,
            home=self.home,
            temp=(temp.rstrip("/"),) if temp.startswith("/") else (),
        )
        return known if self.resolve is None else replace(known, resolve=partial(_resolved, self.resolve))


def _resolved(resolve: Callable[[str], str], path: str) -> str:
    """Programs see a path up to its first NUL; one that no file system can be asked for is judged by its name."""
    path = path.partition("\0")[0]
    try:
        return resolve(path)
    except ValueError:
        return path


def here() -> Surroundings:
    """This process's own directory, home and environment, with links followed."""
    home, cwd = home_directory(os.environ), os.getcwd()
    return Surroundings(
        cwd=cwd, home=home, project=project_root(cwd, home), environment=dict(os.environ), resolve=os.path.realpath
    )


def judge(
    command: str,
    *,
    policy: Policy | str = "standard",
    around: Surroundings | None = None,
    today: date | None = None,
    script: ReadScript | None = None,
    is_owner: Callable[[], bool] | None = None,
) -> Verdict:
    """What a policy says to a command of bash. Scripts that it runs and ``script`` can read are judged with it.

    ``is_owner``: the person whose guard this is typed it, so hookline's own commands in it may change the guard.

    >>> judge("git push --force", around=Surroundings(cwd="/work", home="/home/me")).verdict
    'ask'
    """
    around = around or here()
    policy = READY[policy] if isinstance(policy, str) else policy
    scene = make_scene(around)
    reading, effects, reads = _look(command, scene, script, is_owner, grants=policy.allow_read_only)
    verdict = decide(effects, policy, around.home, command=command, today=today, grant=reads)
    return replace(verdict, programs=frozenset(_judged(reading.invocations)))


def _judged(invocations: Iterable[Invocation]) -> Iterator[tuple[str, ...]]:
    for one in invocations:
        if one.directory is None and not one.remote and all(word.known and not word.globs for word in one.argv):
            yield tuple(word.text for word in one.argv)


def _look(
    command: str, scene: Scene, script: ReadScript | None, is_owner: Callable[[], bool] | None, *, grants: bool
) -> tuple[Reading, tuple[Effect, ...], bool]:
    """Its effects, and whether it only reads. A fault of ours is an unknown effect that every policy asks about."""
    reading = Reading()
    try:
        reading = _read(command, scene)
        effects = assess(reading, scene)
        if is_owner is not None:
            effects = _without_own_commands(reading, scene, effects, is_owner)
        if script is not None:
            effects = (*effects, *script_effects(reading, scene, script))
        provable = grants and len(command) <= _LONGEST_PROOF and not _EVALUATED.search(command)
        return reading, effects, provable and only_reads(reading, scene, effects)
    except Exception as fault:
        why = f"the guard failed on it ({type(fault).__name__}, a fault of hookline)"
        effect = Effect(kind="unknown", harm="high", what=command[:80], cause=command[:200], why=why)
        return Reading(), (effect,), False


def _without_own_commands(
    reading: Reading, scene: Scene, effects: tuple[Effect, ...], is_owner: Callable[[], bool]
) -> tuple[Effect, ...]:
    """``is_owner`` takes a while, so it is only asked where it matters."""
    own = tuple(one for one in reading.invocations if one.name in _OWN)
    changes = {one for one in assess(Reading(invocations=own), scene) if one.kind == "guard"} if own else set()
    return tuple(one for one in effects if one not in changes) if changes and is_owner() else effects


def make_scene(around: Surroundings) -> Scene:
    inherited = around.environment if around.environment is not None else {"HOME": around.home, "TMPDIR": "/tmp"}  # noqa: S108
    environment = {**inherited, "PWD": around.cwd}  # a process may be asked about another directory than its own
    return Scene(
        places=around.places(),
        read=lambda text: read(text, home=around.home, environment=environment, complete=False),
        assess=assess,
    )


def _read(command: str, scene: Scene) -> Reading:
    if len(command) > _LONGEST:
        from hookline.guard.reading import Doubt

        return Reading(doubts=(Doubt(reason="it is too long to be read", source=command[:80], limit=True),))
    return scene.read(command)


def decide(
    effects: Iterable[Effect],
    policy: Policy,
    home: str,
    *,
    command: str = "",
    today: date | None = None,
    grant: bool = False,
) -> Verdict:
    """The strongest answer counts; among equals, the worst effect is named."""
    effects = tuple(effects)
    day = today or date.today()  # noqa: DTZ011 (an exception ends on the person's own day)
    answers = [
        (ANSWERS.index(policy.answer(one, command=command, today=day, home=home)), HARMS.index(one.harm), one)
        for one in effects
    ]
    rank, _, worst = max(answers, key=lambda row: row[:2], default=(0, 0, None))
    would = ANSWERS[rank]
    cause = worst if rank else None
    if would == "allow":
        verdict: Literal["allow", "ask", "deny", "none"] = "allow" if grant else "none"
    else:
        verdict = would if policy.enforces else "none"
    return Verdict(
        verdict=verdict,
        effects=effects,
        cause=cause,
        reason=_explain(cause) if cause else "",
        safer=(cause.safer or SAFER[cause.kind]) if cause else "",
        would=would,
        reads_only=grant,
    )


def _explain(effect: Effect) -> str:
    """One sentence: what happens, to what, why it matters, and a safer way."""
    what = f": {effect.what}" if effect.what else ""
    why = f" ({effect.why})" if effect.why else ""
    safer = f" Safer: {effect.safer or SAFER[effect.kind]}."
    return f"{KINDS[effect.kind]}{what}{why}.{safer}"
