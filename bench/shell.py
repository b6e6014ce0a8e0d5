"""What hooks cost inside a shell: one external command with its five events, and a key that nobody hooked."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from measure import Row, interleaved, repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

#: Run inside both shells: for every line on standard input, so many commands, and the milliseconds of one.
LOOP = """
import sys, time
def go(n):
    began = time.perf_counter()
    for _ in range(n):
        $[/bin/true]
    return (time.perf_counter() - began) / n * 1000
go(10)
for line in sys.stdin:
    sys.stdout.write(f"MS {go(int(line)):.6f}\\n")
    sys.stdout.flush()
"""

HOOK = "def look(event):\n    return None\n"
EVENTS = (
    "pipeline.pre_execute", "process.pre_spawn", "process.post_spawn", "process.pre_exit", "pipeline.post_execute",
)  # fmt: skip


class Shell:
    """One shell that measures itself when asked."""

    def __init__(self, argv: list[str], environ: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ, bufsize=1
        )

    def ms(self, count: int) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{count}\n")
        for line in self._process.stdout:
            if line.startswith("MS "):
                return float(line.split()[1])
        raise RuntimeError("the shell ended")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)


def command(folder: str, short: bool) -> Iterator[Row]:
    """The same shell with and without hooks, in turns, so that both meet the same machine."""
    try:
        import xonsh  # noqa: F401
    except ImportError:
        return
    plain, hooked = _shells(Path(folder) / "shell")
    try:
        rounds, count = (3, 10) if short else (80, 10)
        pairs = [(plain.ms(count), hooked.ms(count)) for _ in range(rounds)]
    finally:
        plain.close()
        hooked.close()
    # The quicker rounds: a neighbour on the machine makes both slower, and the one with more threads the more so.
    without, with_hooks = (_quick([pair[side] for pair in pairs]) for side in (0, 1))
    ratio = with_hooks / without
    yield Row(
        what="an external command in xonsh with five hooked events / without", value=ratio, target=1.3, unit="x",
        shown=f"{with_hooks:.2f} / {without:.2f} ms",
    )  # fmt: skip


def _quick(times: list[float]) -> float:
    """The median of the quicker half."""
    return median(sorted(times)[: max(1, len(times) // 2)])


def key(short: bool) -> Iterator[Row]:
    """A key that nobody hooked, through our part of the key path / through a generator that only passes it on."""
    try:
        from prompt_toolkit.key_binding.key_processor import KeyPress

        from hookline.shell.xonsh.keys import KeyHooks
    except ImportError:
        return
    press = KeyPress("q", "q")
    keys = KeyHooks(_Gate(), lambda: None)  # type: ignore[arg-type]  # all that keys ask of a dispatcher
    ours, bare = keys.around_process(_inner)(None), _passing(_inner)(None)
    next(ours)
    next(bare)
    found = interleaved(
        {"bare": repeated(lambda: bare.send(press)), "ours": repeated(lambda: ours.send(press))},
        rounds=5 if short else 50, inner=1000 if short else 10000, clock=time.process_time,
    )  # fmt: skip
    spent = (found["ours"] - found["bare"]) * 1e6
    yield Row(
        what="a key that nobody hooked, on top of passing it on", value=max(spent, 0.0), unit="µs", target=1.0,
        shown=f"{found['ours'] * 1e6:.2f} / {found['bare'] * 1e6:.2f} µs",
    )  # fmt: skip


class _Gate:
    """Some key is hooked, and not the one that is pressed."""

    def __init__(self) -> None:
        self.on_reload: list[object] = []
        self.specs = _specs()

    def has_hooks(self, _name: str) -> bool:
        return False


def _specs() -> list[object]:
    from hookline.core.hook import Command, HookSpec, Origin
    from hookline.dialects.lash.entry import key_matcher

    origin = Origin(file="", line=0, pointer="", layer="user")
    matcher = key_matcher(frozenset({"ctrl+t"}))
    action = Command(form="argv", argv=("true",))
    return [
        HookSpec(id="k", name="k", dialect="lash", event="input.key", origin=origin, action=action, matcher=matcher)
    ]


def _inner(_processor: object) -> Generator[None, object, None]:
    while True:
        yield


def _passing(
    original: Callable[[object], Generator[None, object, None]],
) -> Callable[[object], Generator[None, object, None]]:
    def process(processor: object) -> Generator[None, object, None]:
        inner = original(processor)
        next(inner)
        while True:
            press = yield
            inner.send(press)

    return process


def _shells(folder: Path) -> tuple[Shell, Shell]:
    config = folder / "home" / ".config" / "hookline"
    config.mkdir(parents=True)
    (config / "looking.py").write_text(HOOK)
    hooks = [f'[[hook]]\nname = "{event}"\non = "{event}"\npython = "looking:look"\n' for event in EVENTS]
    (config / "hookline.toml").write_text("\n".join(hooks))
    script = folder / "loop.xsh"
    script.write_text(LOOP)
    bin_ = os.path.dirname(sys.executable)
    environ = {"HOME": str(folder / "home"), "PATH": f"{bin_}:/usr/bin:/bin", "HOOKLINE_DAEMON": "off", "TERM": "dumb"}
    plain = Shell([f"{bin_}/xonsh", "--no-rc", str(script)], environ)
    return plain, Shell([f"{bin_}/hookline", "shell", "--", "--no-rc", str(script)], environ)
