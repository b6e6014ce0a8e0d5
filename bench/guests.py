"""What it costs bash to ask before a command: over its pipes, beside running the command at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from measure import Row

from shell import HOOK

if TYPE_CHECKING:
    from collections.abc import Iterator

#: In turns, so that both meet the same machine: asking about a command, and running one. Microseconds of one each.
LOOP = """
eval "$(hookline shell-init bash)"
now() { printf -v "$1" %s "${EPOCHREALTIME/[.,]/}"; }
for ((round = 0; round < ROUNDS; round++)); do
  now a; for ((i = 0; i < COUNT; i++)); do _hookline_ask spawn text 'ls -l' cwd "$PWD" || exit 1; done
  now b; for ((i = 0; i < COUNT; i++)); do /bin/true; done
  now c; echo "US $(((b - a) / COUNT)) $(((c - b) / COUNT))"
done
"""


def rows(folder: str, short: bool) -> Iterator[Row]:
    if shutil.which("bash") is None:
        return
    asking, running = zip(*_measured(Path(folder) / "bash", *((3, 20) if short else (25, 100))), strict=True)
    ask = median(asking) / 1000
    shown = f"{ask:.2f} / {median(running) / 1000:.2f} ms"
    ratio = median(one / other for one, other in zip(asking, running, strict=True))
    yield Row(what="bash: asking a hook before a command / running it", value=ratio, target=1.0, shown=shown)
    yield Row(what="bash: asking a hook before a command", value=ask, target=1.0, unit="ms", shown="")


def _measured(folder: Path, rounds: int, count: int) -> list[tuple[int, int]]:
    config = folder / ".config" / "hookline"
    config.mkdir(parents=True)
    (config / "looking.py").write_text(HOOK)
    (config / "hookline.toml").write_text(
        '[[hook]]\nname = "look"\non = "process.pre_spawn"\npython = "looking:look"\n'
    )
    environ = {"HOME": str(folder), "PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin", "TERM": "dumb"}
    script = LOOP.replace("ROUNDS", str(rounds)).replace("COUNT", str(count))
    done = subprocess.run(
        ["bash", "--norc", "-i", "-c", script], env=environ, capture_output=True, text=True, timeout=120, check=True,
        stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("US ")]
    return [(int(one), int(other)) for _, one, other in lines]
