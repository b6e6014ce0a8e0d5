"""The hooks of a place as the process before found them, while nothing that they were read from has changed.

Only the plain case is kept: all is approved or unknown, nothing was changed, removed or overridden, nothing is wrong.
Whatever else there is, is found anew every time. What a project's hook runs is checked when it is about to run, by the
same judgement as without a snapshot.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import time_ns

from hookline.core.hook import HookSpec
from hookline.core.loaded import Loaded, Unapproved
from hookline.core.paths import FILE, FOLDER, LOCAL, Directories, upwards
from hookline.core.typed import TYPE_CHECKING, Any
from hookline.core.watched_environ import WatchedEnviron
from hookline.dialects.base import FOREIGN
from hookline.state import snapshots

if TYPE_CHECKING:
    from hookline.engine.build import Place, Sources
    from hookline.engine.load import Found
    from hookline.state.trust import TrustVerdict


class Restored:
    """What ``engine.load.Found`` says, from a snapshot."""

    __slots__ = ("_unknown", "contents", "gone", "held", "loaded", "missing", "store", "unapproved", "verdicts")

    def __init__(
        self,
        loaded: Loaded,
        unapproved: tuple[Unapproved, ...],
        unknown: frozenset[str],
        verdicts: Mapping[str, TrustVerdict],
    ) -> None:
        self.loaded = loaded
        self.unapproved = unapproved
        self.verdicts = verdicts
        self._unknown = unknown
        self.store = None
        self.held = self.missing = self.gone = self.contents = ()

    def standing(self, specs: tuple[HookSpec, ...]) -> tuple[HookSpec, ...]:
        return tuple([spec for spec in specs if spec.id not in self._unknown]) if self._unknown else specs


def restore(place: Place, sources: Sources) -> Restored | Found | None:
    """The hooks as they were kept; None where there is no snapshot that counts."""
    if not _is_keepable(sources):
        return None
    kept = snapshots.load(place.paths.state, _key(place, sources), place.environ)
    if type(kept) is not tuple or [*map(type, kept)] != [str, Loaded, tuple, frozenset]:
        return None
    cwd, loaded, unapproved, unknown = kept
    if sources.inspect:  # a person sees what trust says now
        from hookline.engine.load import judge_loaded

        return judge_loaded(loaded, place, sources)
    place.cwd = cwd
    foreign = {spec.id: spec for spec in loaded.specs if spec.origin.layer in FOREIGN}
    verdicts = _LiveVerdicts(foreign, unknown, place, sources, loaded) if foreign else {}
    return Restored(loaded, unapproved, unknown, verdicts)


def find_and_keep(place: Place, sources: Sources, find: Callable[[Place, Sources], Found]) -> Found:
    """Find the hooks, and keep them for the next process if it is the plain case."""
    if not _is_keepable(sources):
        return find(place, sources)
    from hookline.core.files import listening

    key, given, began = _key(place, sources), place.environ, time_ns()
    place.environ = watched = WatchedEnviron(given)
    try:
        with listening() as opened:
            found = find(place, sources)
    finally:
        place.environ = given
    if not watched.whole and found.is_plain:
        unknown = frozenset(id_ for id_, one in found.verdicts.items() if one.state == "unknown")
        snapshots.save(
            place.paths.state,
            key,
            (place.cwd, found.loaded, found.unapproved, frozenset() if sources.inspect else unknown),
            files={*opened, *_further_files(found.loaded, place, sources)},
            real=_real_paths(found.loaded, place, sources),
            environ=watched.seen,
            began_ns=began,
        )
    return found


def _is_keepable(sources: Sources) -> bool:
    """What a caller brings along in memory cannot be kept."""
    return not (sources.more or sources.as_approved or sources.host is not None)


def _key(place: Place, sources: Sources) -> str:
    """What the hooks depend on besides files and variables."""
    lookup = None if sources.lookup is None else sorted(sources.lookup.items())
    others = [_place_names(one) for one in sources.others]
    own = Directories(home=place.home, paths=place.paths)
    named = None if not sources.config else [os.path.abspath(os.fspath(one)) for one in sources.config]
    return repr((
        os.geteuid(), place.cwd, list(sources.working_in), named, sources.dialect, _place_names(own), lookup, others,
        sources.trust_all, sources.inspect, sources.inner, sources.agents_door, sources.registered,
    ))  # fmt: skip


def _place_names(one: Directories) -> tuple[str, ...]:
    return one.home, one.paths.config, one.paths.state, one.paths.data, one.paths.machine


def _further_files(loaded: Loaded, place: Place, sources: Sources) -> Iterator[str]:
    """What was looked for without being opened: all that says where a project begins, and what is approved and kept."""
    for start in {place.cwd, *sources.working_in}:
        for above in upwards(start):
            yield os.path.join(above, ".git")
            yield from (os.path.join(above, FOLDER, name) for name in (FILE, LOCAL))
    yield from (source.path for source in loaded.sources)
    for one in (place.paths, *(other.paths for other in sources.others)):
        names = ("trust.json", "trust.json.expected", "deployed.json", "own-guards.json", "packs.json", "packs")
        yield from (os.path.join(one.state, name) for name in names)


def _real_paths(loaded: Loaded, place: Place, sources: Sources) -> Iterable[str]:
    folders = {os.path.dirname(source.path) for source in loaded.sources if source.found}
    return {place.cwd, place.home, place.paths.state, place.paths.config, *sources.working_in, *folders}


class _LiveVerdicts(Mapping[str, "TrustVerdict"]):
    """What trust says of a project's hooks, asked when the first of them is about to run."""

    def __init__(
        self, foreign: Mapping[str, Any], unknown: frozenset[str], place: Place, sources: Sources, loaded: Loaded
    ) -> None:
        self._foreign = foreign
        self._unknown = unknown
        self._ask = (loaded, place, sources)
        self._judged: Mapping[str, TrustVerdict] | None = None

    def __getitem__(self, hook: str) -> TrustVerdict:
        if hook not in self._foreign:
            raise KeyError(hook)
        if self._judged is None:
            self._judged = self._judge()
        return self._judged[hook]

    def __iter__(self) -> Iterator[str]:
        return iter(self._foreign)

    def __len__(self) -> int:
        return len(self._foreign)

    def _judge(self) -> Mapping[str, TrustVerdict]:
        """Files may have changed, which is what this is about. If anything else has, in this moment, nothing counts as
        approved."""
        from hookline.engine.load import judge_loaded
        from hookline.state.trust import TrustVerdict

        now = judge_loaded(*self._ask)
        as_known = all(
            one.state == "unknown"
            if hook in self._unknown
            else one.state != "unknown" and "definition" not in one.changed
            for hook, one in now.verdicts.items()
        )
        if as_known and not now.missing and not now.gone and now.verdicts.keys() == self._foreign.keys():
            return now.verdicts
        return dict.fromkeys(self._foreign, TrustVerdict(state="changed", changed=("its approval",)))
