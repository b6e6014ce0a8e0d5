"""What a command costs that starts from nothing, against a bare Python: 20 hooks in three files, none of which matches.

In processor time, turn by turn: nothing here waits, and neighbours on the machine stretch the clock of all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING

from measure import Row, us

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAYLOAD = {
    "session_id": "bench", "hook_event_name": "PreToolUse", "tool_name": "Bash", "permission_mode": "default",
    "tool_input": {"command": "ls -l", "description": "List the files"}, "transcript_path": "/tmp/transcript.jsonl",
    "tool_use_id": "toolu_0123456789",
}  # fmt: skip
HOOK = '[[hook]]\nname = "{name}"\non = "PreToolUse"\nmatch = "Edit|Write"\non_failure = "deny"\nrun = "true"\n'
COMMANDS = {
    "hook": ("hook", "--agent", "claude-code", "--cold"),
    "list": ("list",),
    "check": ("check",),
    "log": ("log",),
    "explain": ("explain", "PreToolUse", "--data", '{"tool_name": "Bash"}'),
}


def rows(folder: str, short: bool) -> Iterator[Row]:
    home, project = os.path.join(folder, "cold-home"), os.path.join(folder, "cold-project")
    places = {
        f"{home}/.config/hookline": ("hookline",),
        f"{project}/.hookline": ("hookline", "local"),
        f"{project}/.git": (),
    }
    for place, files in places.items():
        os.makedirs(place)
        for name in files:
            with open(f"{place}/{name}.toml", "w", encoding="utf-8") as file:
                file.writelines(
                    HOOK.format(name=f"{len(place)}-{name}-{n}") for n in range(6 if name == "local" else 7)
                )
    environ = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    hookline = [sys.executable, "-m", "hookline"]
    subprocess.run([*hookline, "trust", "--yes"], cwd=project, env=environ, check=True, stdout=subprocess.DEVNULL)
    payload = json.dumps({**PAYLOAD, "cwd": project}).encode()
    lines = {"bare": [sys.executable, "-c", "pass"]} | {name: [*hookline, *rest] for name, rest in COMMANDS.items()}
    taken: dict[str, list[float]] = {name: [] for name in lines}
    for number in range(4 if short else 40):
        for name, line in lines.items():
            used = _processor_time(line, payload, environ, project)
            if number >= 2:  # the first ones leave what the next ones find
                taken[name].append(used)
    bare = median(taken.pop("bare"))
    for name, times in taken.items():
        what = f"cold: hookline {name} with 20 hooks in three files, against python -c pass"
        one = median(times)
        yield Row(
            what=what,
            shown=f"{us(one)} / {us(bare)}",
            value=one / bare,
            target=4.0,
            aim=3.0 if name == "hook" else None,
        )


def _processor_time(line: Sequence[str], payload: bytes, environ: dict[str, str], cwd: str) -> float:
    child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environ, cwd=cwd)
    assert child.stdin is not None
    try:
        child.stdin.write(payload)
        child.stdin.close()
    except BrokenPipeError:
        pass  # most do not want to hear it
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime
