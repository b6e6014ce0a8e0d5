"""What it costs that only approved files run: to check a folder of 50 files before and after each run of a hook."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from statistics import median
from typing import TYPE_CHECKING

from measure import Row, interleaved, repeated, us

from hookline.core.hook import Command, HookSpec, Origin
from hookline.state.trust import TrustStore

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = 50
#: Everything that an approved hook costs a process of its own, without the hook: in milliseconds.
COLD = """
import sys, time
from hookline.core.hook import Command, HookSpec, Origin
from hookline.state.trust import TrustStore
def spec(name):
    return HookSpec(id=name, name=name, dialect="native", event="Stop", origin=Origin(file=sys.argv[1] + "/x.toml", pointer=name),
                    action=Command(form="argv", argv=("sh", "hooks/g.sh") if name == "g.sh" else ("true",)))
def cost(name):
    store = TrustStore(sys.argv[2], root=sys.argv[1])
    began = time.perf_counter()
    (verdict,) = store.judge([spec(name)]).verdicts
    files = verdict.covered
    assert files.check() == ()
    if not files.is_empty:
        assert files.start_run().changed() == ()
    return (time.perf_counter() - began) * 1000
cost("true")  # the file of approvals, and OpenSSL for the definition, are read in any case
bare = cost("true")
print(cost("g.sh"), bare)
"""


def rows(folder: str, short: bool) -> Iterator[Row]:
    project, store = _approved(folder)
    yield _warm(store, project, short)
    yield _cold(store, project, short)


def _approved(folder: str) -> tuple[str, TrustStore]:
    project = os.path.join(folder, "approval")
    os.makedirs(os.path.join(project, "hooks", "lib"))
    for number in range(FILES - 1):
        with open(os.path.join(project, "hooks", "lib", f"{number}.sh"), "w", encoding="utf-8") as file:
            file.write("echo x\n" * 50)
    with open(os.path.join(project, "hooks", "g.sh"), "w", encoding="utf-8") as file:
        file.write("exit 0\n")
    store = TrustStore(os.path.join(folder, "approval-state", "trust.json"), root=project)
    store.approve([_spec(project, "g.sh"), _spec(project, "true")])
    return project, store


def _spec(project: str, name: str) -> HookSpec:
    return HookSpec(
        id=name, name=name, dialect="native", event="Stop", origin=Origin(file=f"{project}/x.toml", pointer=name),
        action=Command(form="argv", argv=("sh", "hooks/g.sh") if name == "g.sh" else ("true",)),
    )  # fmt: skip


def _warm(store: TrustStore, project: str, short: bool) -> Row:
    files = store.verdict(_spec(project, "g.sh")).covered
    assert files is not None
    store.stay()

    def checked() -> None:
        assert files.check() == ()
        assert files.start_run().changed() == ()

    each = interleaved({"warm": repeated(checked)}, rounds=5 if short else 200, inner=50, clock=time.thread_time)[
        "warm"
    ]
    return Row(
        what=f"check of {FILES} approved files before and after a run, daemon", shown=us(each), value=each * 1e6, unit="µs",
        target=50,
    )  # fmt: skip


def _cold(store: TrustStore, project: str, short: bool) -> Row:
    line = [sys.executable, "-c", COLD, project, store.path]
    pairs = [tuple(map(float, subprocess.check_output(line).split())) for _ in range(3 if short else 25)]
    each = median(covered - bare for covered, bare in pairs)
    return Row(
        what=f"check of {FILES} approved files before and after a run, cold", shown=f"{each:.2f} ms", value=each, unit="ms",
        target=1,
    )  # fmt: skip
