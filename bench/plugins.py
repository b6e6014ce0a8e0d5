"""What the engine adds to a call of a plugin that is already running: against a bare round trip to the same one."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import Row, awaited, interleaved, repeated, us

from hookline import Engine
from hookline.core.hook import Plugin
from hookline.core.settings import Settings
from hookline.dialects.lash import DIALECT
from hookline.runners.frames import with_head
from hookline.testing import event, hook_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = Path(__file__).parents[1] / "tests" / "processes" / "plugins"
DATA: dict[str, Any] = {"text": "ls -l", "history": True}


def round_trip(folder: str, short: bool) -> Iterator[Row]:
    sys.path.insert(0, str(PROGRAMS))
    from bare import bare_round_trip  # type: ignore[import-not-found]  # it stands beside the plugins

    plugin = Plugin(name="echo", path=_program(folder))
    spec = hook_spec("echo", event="input.submit", dialect="lash", action=plugin, timeout=5.0)
    settings = Settings(state_dir=os.path.join(folder, "plugin-state"))
    line = with_head(DIALECT.event_out(spec, event("input.submit", **DATA)).stdin, 1)
    loop = asyncio.new_event_loop()
    with Engine(specs=(spec,), cwd=folder, settings=settings) as engine, bare_round_trip() as ask:
        heard = engine.fire_sync("input.submit", DATA)
        assert not heard.outcomes[0].error, heard.outcomes
        medians = interleaved(
            {
                "bare": repeated(lambda: ask(line)),
                "fire_sync": repeated(lambda: engine.fire_sync("input.submit", DATA)),
                "await fire": awaited(loop, lambda: engine.fire("input.submit", DATA)),
            },
            rounds=5 if short else 300,
            inner=5,
        )
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    floor = medians.pop("bare")
    for door, taken in medians.items():
        what = f"{door}, one plugin, against a bare socket round trip"
        yield Row(what=what, shown=f"{us(taken)} / {us(floor)}", value=taken / floor, target=2.5)


def _program(folder: str) -> str:
    """The plugin under the interpreter that runs the bench, as the bare round trip starts it."""
    path = os.path.join(folder, "echo")
    source = PROGRAMS / "echo_plugin.py"
    start = f"import sys; sys.path.insert(0, {str(PROGRAMS)!r})"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!{sys.executable} -SE\n{start}\nexec(compile(open({str(source)!r}).read(), 'echo', 'exec'))\n")
    os.chmod(path, 0o700)
    return path
