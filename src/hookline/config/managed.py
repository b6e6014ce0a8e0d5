"""The layer of the machine's owner: hooks of a signed policy that no person and no repository can switch off.

The signature is checked when a policy is installed (``hookline.fleet``); here it counts that nobody but the owner of the
machine can have written the files. A policy that is expected and cannot be used refuses what its guards would judge.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator

from hookline.config.layers import LayerLoader, ProjectGate
from hookline.config.load import load_native
from hookline.core._dataclass import replace
from hookline.core.event import GUARDED
from hookline.core.files import note
from hookline.core.hook import Command, HookSpec, Origin, hook_id
from hookline.core.loaded import Loaded
from hookline.core.paths import FILE, Paths
from hookline.core.problem import Problem
from hookline.core.settings import Settings
from hookline.dialects.base import MANAGED, Layer, Lookup
from hookline.dialects.native.settings import read_settings

#: After every hook of a person or a project, whatever number it gives itself: the last word is the owner's, and it sees
#: what the others have made of a call.
_AFTER_ALL = 1 << 40
#: Where a hook of the policy finds the files that came with it.
_VARIABLE = "HOOKLINE_POLICY_DIR"
_VERIFY = "as the machine's owner: hookline policy verify"


def load_managed(lookup: Lookup, paths: Paths, settings: Settings) -> Loaded:
    """The owner's hooks alone, and ``settings`` as the policy changes them. Never raises."""
    file = os.path.join(paths.policy, FILE)
    # The folder of the link as well: who can write there can let it lead to any other folder of the owner's.
    if why := find_stranger(os.path.dirname(paths.policy)) or find_stranger(file):
        problem = Problem(file=file, finding=f"the policy is not used: {why}", fix=_VERIFY)
        return Loaded(specs=tuple(_refusals(file, problem)), problems=(problem,), settings=settings)
    loaded = read_policy(paths.policy, lookup, paths, settings)
    if silence := find_silence(paths):
        refusals = _refusals(file, silence) if silence.severity == "error" else ()
        return replace(loaded, specs=(*loaded.specs, *refusals), problems=(*loaded.problems, silence))
    return loaded


def find_silence(paths: Paths) -> Problem | None:
    """A machine of a fleet that has heard nothing of its broker for longer than the policy allows."""
    file = os.path.join(paths.machine, "fleet", "contact.json")
    note(file)
    try:
        with open(file, encoding="utf-8") as opened:
            kept = json.load(opened)
        over, then = kept["until"] < time.time(), kept["then"]
    except FileNotFoundError:  # in no fleet
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        over, then = True, f"deny ({error})"
    if not over:
        return None
    finding = "this machine has not reached its fleet for longer than the policy allows"
    fix = "to find out why: hookline fleet status --local"
    return Problem(file=file, finding=finding, fix=fix, severity="warning" if then == "warn" else "error")


def read_policy(folder: str, lookup: Lookup, paths: Paths, settings: Settings) -> Loaded:
    """A policy that lies in ``folder``, whoever wrote it there."""
    file = os.path.join(folder, FILE)
    reading = LayerLoader(
        # What a pack keeps of its own is the person's; its files are the policy's.
        lookup=lookup, gate=ProjectGate("open"), paths=replace(paths, state=folder), pack_root=os.path.join(folder, "packs"),
    )  # fmt: skip
    layer = reading.layer(file, MANAGED, "toml", "native", required=True)
    layers: tuple[Layer, ...] = () if layer is None else (layer,)
    specs = [_owned(spec, folder) for spec in load_native(reading, layers)]
    merged, problems = read_settings(layers, settings)
    found = (*reading.problems, *problems)
    if broken := next((one for one in found if one.severity == "error"), None):
        specs += _refusals(file, broken)
    return Loaded(specs=tuple(specs), problems=found, settings=merged, sources=tuple(reading.sources))


def with_managed(loaded: Loaded, managed: Loaded) -> Loaded:
    """Neither changes or switches off a hook of the other."""
    return replace(
        loaded,
        specs=(*loaded.specs, *managed.specs),
        problems=(*loaded.problems, *managed.problems),
        settings=managed.settings,
        sources=(*loaded.sources, *managed.sources),
    )


def find_stranger(file: str, owner: int = 0) -> str:
    """Who besides the machine's owner could have written this file; "" if nobody. Folders on the way count too."""
    real = os.path.realpath(file)
    place = real
    while True:
        try:
            status = os.stat(place)
        except OSError as error:
            return f"{place}: {error.strerror}"
        # In a folder like /tmp only the owner of a file may replace it.
        shared = status.st_mode & 0o022 and not (status.st_mode & stat.S_ISVTX and stat.S_ISDIR(status.st_mode))
        if status.st_uid != owner or shared:
            return f"{place} can be written by others than the owner of the machine"
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above


def _owned(spec: HookSpec, folder: str) -> HookSpec:
    """Whatever brought it, it is the owner's: no check by a person's approvals, and no twin takes its place."""
    extra = {name: value for name, value in spec.extra.items() if name != "pack"}
    return replace(
        spec, origin=replace(spec.origin, layer=MANAGED), order=spec.order + _AFTER_ALL, same="", extra=extra,
        environ={**spec.environ, _VARIABLE: folder},
    )  # fmt: skip


def _refusals(file: str, problem: Problem) -> Iterator[HookSpec]:
    """Stand-ins for guards that cannot be read: they refuse, and say why."""
    words = ("/bin/sh", "-c", 'echo "$1" >&2; exit 2', "sh", f"the policy of this machine cannot be used: {problem}")
    for event in sorted(GUARDED):
        yield HookSpec(
            id=hook_id(file, "$", event), name="policy", dialect="native", event=event, native_event=event,
            origin=Origin(file=file, layer=MANAGED), action=Command(form="argv", argv=words), on_failure="deny",
            order=_AFTER_ALL,
        )  # fmt: skip
