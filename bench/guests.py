"""What hookline costs bash and zsh: at the start, per line without a hook and with the guard, and in a busy function."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from measure import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

GUARD = '[guard]\npolicy = "standard"\n'
#: Microseconds of a function that assigns and does nothing else.
BUSY = "busy() { local i; for ((i = 0; i < 10000; i++)); do x=$i; done; }"


def rows(folder: str, short: bool) -> Iterator[Row]:
    rounds, lines = (3, 40) if short else (9, 200)
    for shell in ("bash", "zsh"):
        if shutil.which(shell) is None:
            continue
        plain, idle, guarded = (_Home(Path(folder) / shell / name, shell, name) for name in ("plain", "idle", "guard"))
        for home in (idle, guarded):
            home.run(lines)  # what is hooked is known from now on
        runs = [[home.run(lines) for home in (plain, idle, guarded)] for _ in range(rounds)]
        starts, costs, busy = (
            [[getattr(one, name) for one in run] for run in runs] for name in ("start", "line", "busy")
        )
        start = median(each[1] - each[0] for each in starts)
        ratio = median(each[1] / each[0] for each in costs)
        guard = median(each[2] - each[0] for each in costs)
        function = max(median(each[number] / each[0] for each in busy) for number in (1, 2))
        shown = f"{median(each[1] for each in costs):.2f} / {median(each[0] for each in costs):.2f} ms"
        yield Row(what=f"{shell}: start without a hook", value=start, target=20.0, unit="ms", shown="")
        yield Row(what=f"{shell}: a line without a hook / plain", value=ratio, target=1.3, shown=shown)
        yield Row(what=f"{shell}: a line under the guard", value=guard, target=2.0, unit="ms", shown="")
        yield Row(what=f"{shell}: a function of 10,000 assignments / plain", value=function, target=1.5, shown="")


class _Run:
    """Milliseconds: of the rc file, of one line, of the busy function."""

    def __init__(self, output: str) -> None:
        found = {words[1]: float(words[2]) for line in output.splitlines() if (words := line.split())[:1] == ["MS"]}
        self.start, self.line, self.busy = (found[name] for name in ("start", "line", "busy"))


class _Home:
    def __init__(self, folder: Path, shell: str, kind: str) -> None:
        self._folder, self._shell = folder, shell
        folder.mkdir(parents=True)
        self._environ = {
            "HOME": str(folder), "PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin", "TERM": "dumb",
            "HOOKLINE_DAEMON": "off",
        }  # fmt: skip
        init = ""
        if kind != "plain":
            words = ["hookline", "shell-init", shell, "--save"]
            done = subprocess.run(words, env=self._environ, capture_output=True, text=True, check=True)
            init = done.stdout
        if kind == "guard":
            (folder / ".config" / "hookline").mkdir(parents=True)
            (folder / ".config" / "hookline" / "hookline.toml").write_text(GUARD)
        clock = "zmodload zsh/datetime\n" if shell == "zsh" else ""
        ms = "ms() { printf 'MS %s %s\\n' $1 $(awk \"BEGIN { print ($3 - $2) * 1000 / $4 }\"); }\n"
        (folder / f".{shell}rc").write_text(
            f"{clock}a=$EPOCHREALTIME\n{init}b=$EPOCHREALTIME\n{ms}{BUSY}\nms start $a $b 1\n"
        )

    def run(self, lines: int) -> _Run:
        wait = f"until ls {self._folder}/.local/state/hookline/shell/*/ready >/dev/null 2>&1; do sleep 0.05; done"
        text = "\n".join(
            (
                wait if (self._folder / ".local").exists() else "true", "true", "a=$EPOCHREALTIME",
                *["/bin/true"] * lines, f"ms line $a $EPOCHREALTIME {lines}", "a=$EPOCHREALTIME; busy; b=$EPOCHREALTIME",
                "ms busy $a $b 1", "exit", "",
            )
        )  # fmt: skip
        rc = ["--rcfile", str(self._folder / ".bashrc")] if self._shell == "bash" else []
        done = subprocess.run(
            [self._shell, *rc, "-i"], env=self._environ, capture_output=True, text=True, timeout=120, check=False,
            input=text, start_new_session=True, cwd=self._folder,
        )  # fmt: skip
        time.sleep(0.3)  # the helper of this shell ends
        return _Run(done.stdout)
