"""What the engine adds to a process that it runs: against bare posix_spawn, in parallel, and for plugins."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from measure import Row, awaited, interleaved, repeated, us

from hookline import Engine
from hookline.core.hook import Command
from hookline.dialects.native import DIALECT
from hookline.testing import event, hook_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_OP = "#include <unistd.h>\nint main(void){char b[4096];while(read(0,b,sizeof b)>0);return 0;}\n"
SLEEPER = "#include <unistd.h>\nint main(void){usleep(100000);return 0;}\n"
DATA: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls -l"}}


def program(folder: str, name: str, source: str, script: str) -> str:
    """Static C where there is a compiler, a tiny shell script elsewhere."""
    path = os.path.join(folder, name)
    compiler = shutil.which("cc")
    for flags in (["-static"], []) if compiler else ():
        built = subprocess.run(
            [compiler, "-O2", *flags, "-x", "c", "-", "-o", path],
            input=source,
            text=True,
            capture_output=True,
            check=False,
        )
        if built.returncode == 0:
            return path
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o700)
    return path


def command(folder: str, short: bool) -> Iterator[Row]:
    no_op = program(folder, "no-op", NO_OP, "cat >/dev/null")
    spec = hook_spec("no-op", action=Command(form="argv", argv=(no_op,)))
    engine, elsewhere = Engine(specs=(spec,)), Engine(specs=(spec,), cwd=folder)
    payload = DIALECT.event_out(spec, event("PreToolUse", **DATA)).stdin
    environ = dict(os.environ)
    loop = asyncio.new_event_loop()
    medians = interleaved(
        {
            "bare": repeated(lambda: bare(no_op, payload, environ)),
            "fire_sync, one command hook": repeated(lambda: engine.fire_sync("PreToolUse", **DATA)),
            "fire_sync, one in another directory": repeated(lambda: elsewhere.fire_sync("PreToolUse", **DATA)),
            "await fire, one command hook": awaited(loop, lambda: engine.fire("PreToolUse", **DATA)),
        },
        rounds=4 if short else 150,
        inner=2,
    )
    engine.close()
    elsewhere.close()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    floor = medians.pop("bare")
    for name, taken in medians.items():
        what = f"{name}, against bare posix_spawn with pipes"
        yield Row(what=what, shown=f"{us(taken)} / {us(floor)}", value=taken / floor, target=1.5, aim=1.3)


def bare(program: str, payload: bytes, environ: dict[str, str]) -> None:
    """The least that anybody can do who wants to hear what a program says."""
    stdin, to_child = os.pipe()
    from_out, stdout = os.pipe()
    from_err, stderr = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1), (os.POSIX_SPAWN_DUP2, stderr, 2)]
    pid = os.posix_spawn(program, [program], environ, file_actions=actions)
    for end in (stdin, stdout, stderr):
        os.close(end)
    os.write(to_child, payload)
    os.close(to_child)
    for end in (from_out, from_err):
        while os.read(end, 65536):
            pass
        os.close(end)
    os.waitpid(pid, 0)


def parallel(folder: str, short: bool) -> Iterator[Row]:
    sleeper = program(folder, "sleeper", SLEEPER, "sleep 0.1")
    action = Command(form="argv", argv=(sleeper,))
    many, one = (
        Engine(specs=tuple(hook_spec(f"hook-{n}", event="PostToolUse", action=action) for n in range(size)), cwd=folder)
        for size in (10, 1)
    )
    medians = interleaved(
        {name: repeated(lambda e=e: e.fire_sync("PostToolUse", **DATA)) for name, e in (("one", one), ("ten", many))},  # type: ignore[misc]
        rounds=1 if short else 8,
        inner=1,
    )
    many.close()
    one.close()
    ratio = medians["ten"] / medians["one"]
    shown = f"{us(medians['ten'])} / {us(medians['one'])}"
    yield Row(what="ten parallel hooks of 100 ms, against one", shown=shown, value=ratio, target=1.5)
