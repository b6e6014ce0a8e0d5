"""A worker in the background, started so that nobody waits for it: neither the agent nor we."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.knowledge.lock import held

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.knowledge.places import Places
    from hookline.knowledge.settings import Around

MODULE = "hookline.knowledge.worker"


def start_worker(here: Around, places: Places, environ: Mapping[str, str]) -> bool:
    """Unless one is running; whether one was started."""
    if held(places.worker_lock):
        return False
    pid = _spawned([sys.executable, "-E", "-P", "-m", MODULE], surroundings(here, environ), places.worker_log)
    if pid and stays():
        threading.Thread(target=_see_off, args=(pid,), name="hookline-worker", daemon=True).start()
    return pid > 0


def stays() -> bool:
    """Whether this process answers others after this one: the daemon."""
    return "hookline.daemon.service" in sys.modules


def surroundings(here: Around, environ: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, in which our directories are named as they were found, and without programs that the
    project brings: a repository must not choose which ``claude`` reads its sessions."""
    own = {
        "HOME": here.home,
        "HOOKLINE_CONFIG_DIR": here.paths.config,
        "HOOKLINE_STATE_DIR": here.paths.state,
        "HOOKLINE_DATA_DIR": here.paths.data,
    }
    ours = (
        "LH_CONFIG_DIR",
        "CLAUDE_CONFIG_DIR",
        "LCT_LEARNINGS_DIR",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
    )
    kept = {name: value for name, value in environ.items() if name not in ours or name in here.environ}
    kept.pop("HOOKLINE_NO_HOOKS", None)
    return {**kept, **own, "PATH": _path(environ.get("PATH", os.defpath), here.cwd)}


def _path(path: str, cwd: str) -> str:
    inside = os.path.realpath(cwd).rstrip("/") + "/"
    good = [
        one
        for one in path.split(os.pathsep)
        if os.path.isabs(one) and not (os.path.realpath(one) + "/").startswith(inside)
    ]
    return os.pathsep.join(good)


def _spawned(line: list[str], environ: Mapping[str, str], log: str) -> int:
    """In a session of its own, with nothing of ours open but the log. 0 if it cannot be started."""
    streams = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    streams.append((os.POSIX_SPAWN_OPEN, 2, log, flags, 0o600))
    try:
        closed = [(os.POSIX_SPAWN_CLOSE, number) for number in _inherited()]
        return os.posix_spawn(line[0], line, environ, file_actions=[*streams, *closed], setsid=True)
    except (OSError, NotImplementedError, ValueError):
        return 0


def _inherited() -> list[int]:
    """What our caller left open for us. An agent that waits for the end of a pipe would wait for the worker."""
    found: list[int] = []
    with suppress(OSError):
        for name in os.listdir("/dev/fd"):
            number = int(name)
            with suppress(OSError):
                if number > 2 and os.get_inheritable(number):
                    found.append(number)
    return found


def _see_off(pid: int) -> None:
    """Who stays sees its children off."""
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
