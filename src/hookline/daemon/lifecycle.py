"""Starting and stopping the daemon: one per user, identified by a lock that dies with it, never by a process id.

Stopping works in whatever state it is: first a request, then SIGTERM, then SIGKILL. The lock file names the process that
holds it, in a form that names no other; it is needed only to end a daemon that does not answer.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import hookline
from hookline.core.errors import StateError
from hookline.core.files import is_locked, open_locked, open_without_waiting
from hookline.core.isolation import MAIN
from hookline.core.paths import UnusableError, find_paths, unusable
from hookline.daemon.protocol import RESULT, Caller, DaemonPaths, DaemonRequest, create_directory, pack_request
from hookline.daemon.server import Server
from hookline.runners.spawn import mark_process, pid_from_mark

if TYPE_CHECKING:
    from hookline.daemon.exporter import Supervisor

#: Bytes of log that are kept from one daemon to the next, and that one daemon may fill.
_KEPT, _MOST = 1 << 20, 1 << 22
_RESTARTED = b"hookline: the log was full and starts over\n"


def _redirect_output(place: DaemonPaths) -> None:
    """From now on everything that is printed goes to the log; without a log it stays lost, as before."""
    with contextlib.suppress(OSError):
        log = _open_log(place)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)


def _truncate_log() -> None:
    """Empty the log when it is too long. It is not replaced: workers keep printing into the same file."""
    with contextlib.suppress(OSError):
        if os.fstat(2).st_size > _MOST:
            os.ftruncate(2, 0)
            os.write(2, _RESTARTED)


def _chores(server: Server, *, background: bool) -> Callable[[], None]:
    """What is done about once a second: the log stays short, and what sends telemetry or speaks with a fleet runs."""
    supervisors: list[Supervisor] = []
    paths = find_paths(os.environ)

    def supervisor() -> Supervisor:
        if not supervisors:
            from hookline.daemon.exporter import Supervisor as Made  # off: nothing is imported

            supervisors.append(Made())
        return supervisors[0]

    def chore() -> None:
        if background:
            _truncate_log()
        for state, settings in server.service.engines.telemetry().items():
            supervisor().ensure(state, settings, os.environ)
        if any(os.access(path, os.R_OK) for path in paths.fleet_credentials):
            supervisor().ensure_link(os.environ)

    return chore


def _open_log(place: DaemonPaths) -> int:
    with contextlib.suppress(OSError):
        if os.stat(place.log).st_size > _KEPT:
            os.replace(place.log, f"{place.log}.1")
    return os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def notify_ready(environ: MutableMapping[str, str] = os.environ) -> None:
    """Once, and then the variable is gone: what the daemon starts must not speak in its name."""
    address = environ.pop("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    name = "\0" + address[1:] if address.startswith("@") else address
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.connect(name)
        sock.sendall(b"READY=1")


def write_pid(lock: int) -> None:
    """Write our process into the lock that we hold. A full disk must not cost the daemon."""
    with contextlib.suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{mark_process(os.getpid())}\n".encode(), 0)


def lock_holder(place: DaemonPaths) -> int | None:
    """The process in the lock file, if it is still the same one; else the one that listens on the socket."""
    try:
        with open(place.lock, encoding="ascii", errors="replace", opener=open_without_waiting) as file:
            pid = pid_from_mark(file.read(200))
    except OSError:
        pid = None
    return _socket_owner(place) if pid is None else pid


def _socket_owner(place: DaemonPaths) -> int | None:
    """The process that listens on the socket; None where nobody does, or the system does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        try:
            sock.connect(place.socket)
            peer = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        except OSError:
            return None
    pid, user = (int.from_bytes(peer[at : at + 4], sys.byteorder) for at in (0, 4))
    return pid if pid > 1 and user == os.geteuid() else None


#: Seconds that a lock may be held by somebody who only checks it.
_CHECKING = 0.25
#: Seconds without a request after which a daemon that should stay would end.
_NEVER = 4e9
#: M_ARENA_MAX of glibc's malloc.h.
_MOST_HEAPS = -8


def acquire_lock(place: DaemonPaths) -> int | None:
    """The lock, to be kept open; None when another daemon has it. A lock ends with its process.

    Raises StateError.
    """
    lock = create_directory(place).lock
    try:
        return open_locked(lock)
    except OSError as error:
        raise UnusableError(unusable(lock, error)) from error


def _acquire_soon(place: DaemonPaths) -> int | None:
    """The same, with some patience: whoever asks for the status holds the lock for a moment, to see whether it is free."""
    until = time.monotonic() + _CHECKING
    while (lock := acquire_lock(place)) is None and time.monotonic() < until:
        time.sleep(0.01)
    return lock


def _bind(place: DaemonPaths) -> socket.socket:
    """The socket, bound under a temporary name and moved into place, so that no client finds one that does not listen.

    Only for the holder of the lock: a socket that is already there belonged to a daemon that is gone.
    """
    temporary = f"{place.socket[:-5]}.new"
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        sock.bind(temporary)
        sock.listen(512)
        sock.setblocking(False)
        os.replace(temporary, place.socket)
    except OSError as error:
        sock.close()
        raise UnusableError(unusable(place.socket, error)) from error
    finally:
        os.umask(before)
    return sock


def run(place: DaemonPaths, *, idle: float | None = None, background: bool = False) -> bool:
    """Be the daemon until somebody or idleness ends it; False when there is one already."""
    if background:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # an agent's pipes and locks must end with the agent
    lock = _acquire_soon(place)
    if lock is None:
        return False
    write_pid(lock)
    _share_heap()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # the agent whose client started us may have blocked some
    os.chdir("/")  # we keep no directory from being removed
    if background:
        _redirect_output(place)
    sock = _bind(place)
    with contextlib.suppress(OSError):
        os.unlink(place.starting)
    inode = os.stat(place.socket).st_ino
    notify_ready()
    threading.Thread(target=_end_orphaned_plugins, name="hookline-tidy", daemon=True).start()
    try:
        package = _package()
        server = _server(sock, place, idle, lambda: _is_at(place.socket, inode) and _package() == package)
        server.chore = _chores(server, background=background)
        gc.freeze()  # what is loaded now stays: collecting it again and again is useless
        gc.set_threshold(20_000, 20, 50)
        server.run()
    finally:
        with contextlib.suppress(OSError):
            if os.stat(place.socket).st_ino == inode:
                os.unlink(place.socket)
        os.close(lock)
    return True


def _share_heap() -> None:
    """glibc gives threads heaps of their own. Ours take turns, and each would leave holes in another one."""
    import ctypes  # clients of this module need none of it

    with contextlib.suppress(AttributeError):  # other C libraries have one heap
        ctypes.CDLL(None).mallopt(_MOST_HEAPS, 1)


def _end_orphaned_plugins() -> None:
    """End plugins that hung when the last daemon was killed."""
    from hookline.core.paths import find_paths  # clients of this module need none of it
    from hookline.runners.plugin.sockets import bases, sweep

    for base in bases(find_paths(os.environ).state, os.environ):
        with contextlib.suppress(OSError):
            sweep(base)


def _server(sock: socket.socket, place: DaemonPaths, idle: float | None, is_reachable: Callable[[], bool]) -> Server:
    """With what is known about the last daemon, if it hung."""
    from hookline.daemon.quarantine import (
        HangTimer,
        open_quarantine,  # clients of this module need none of it
    )
    from hookline.daemon.server import IDLE
    from hookline.daemon.server import Server as Made

    file, quarantined, why = open_quarantine(place.hung)
    seconds = IDLE if idle is None else idle or _NEVER
    server = Made(sock, idle=seconds, hang_timer=HangTimer(file), is_reachable=is_reachable)
    server.service.engines.hung = quarantined
    if why:
        os.write(2, f"hookline: {why}\n".encode(errors="replace"))
        server.service.crashes.append(why)
    return server


def _is_at(path: str, inode: int) -> bool:
    """Whether clients can find us. When a login ends, its runtime directory is gone, and the next login has another."""
    try:
        return os.stat(path).st_ino == inode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _package() -> tuple[int, int] | None:
    """Which hookline is installed here: after an upgrade, what this process has loaded is not what should answer."""
    try:
        found = os.stat(hookline.__file__)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns  # some file systems give a file another inode every time


def start(place: DaemonPaths, environ: Mapping[str, str], *, wait: float = 10.0, idle: float | None = None) -> bool:
    """Start a daemon that outlives us; whether one answers in time."""
    if ask(place, "status") is not None:
        return True
    if _socket_owner(place) is not None:  # it hangs, and there can be no other
        return False
    lock = acquire_lock(place)  # report problems here: a daemon in the background cannot
    if lock is not None:
        os.close(lock)
    line = [sys.executable, "-I", MAIN, "daemon", "run", "--background", "--directory", place.directory]
    line += [] if idle is None else ["--idle", str(idle)]
    try:
        subprocess.Popen(  # we do not wait for its end
            line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
            env=dict(environ), start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise StateError(f"the daemon cannot be started: {error.strerror}") from error
    until = time.monotonic() + wait
    while time.monotonic() < until:
        if ask(place, "status") is not None:
            return True
        time.sleep(0.02)
    return False


def ask(place: DaemonPaths, kind: str, *, timeout: float = 5.0) -> bytes | None:
    """The daemon's answer to one of our own commands; None when there is none."""
    request = DaemonRequest(caller=Caller(version=hookline.__version__, kind=kind, cwd="/", environ={}))
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(timeout)
            sock.connect(place.socket)
            sock.sendall(pack_request(request))
            answer = b"".join(iter(lambda: sock.recv(65536), b"")).lstrip(b"A")
    except OSError:
        return None
    if len(answer) < RESULT.size or answer[:1] != b"R":
        return None
    _, _, out, err = RESULT.unpack_from(answer)
    return answer[RESULT.size : RESULT.size + out] if len(answer) == RESULT.size + out + err else None


def status(place: DaemonPaths) -> dict[str, Any]:
    import json  # only this command needs it

    answer = ask(place, "status")
    if answer:
        return {**json.loads(answer), "socket": place.socket}
    return {"running": False, "silent": is_held(place), "socket": place.socket}


def is_held(place: DaemonPaths) -> bool:
    """Whether a daemon has the lock."""
    return is_locked(place.lock)


#: Seconds for a daemon that got the request: it finishes its work, for a minute at most.
_WAIT = 70.0
#: Seconds for one that did not: to react to SIGTERM, and to be gone after SIGKILL.
_GRACE = 3.0


class _StopResult(NamedTuple):
    """``how`` it ended; "alive" when it did not. ``pid`` is 0 where it was not needed."""

    how: Literal["not running", "asked", "terminated", "killed", "alive"]
    pid: int = 0


def stop(place: DaemonPaths, *, wait: float = _WAIT, grace: float = _GRACE) -> _StopResult:
    """Let the daemon finish its work and end. One that does not is killed, if it is certain which process it is."""
    if not is_held(place):
        return _StopResult("not running")
    asked = ask(place, "stop") is not None
    if asked and _gone(place, wait):
        return _StopResult("asked")
    pid = lock_holder(place)
    if pid is None:
        return _StopResult("asked" if _gone(place, grace) else "alive")
    if _kill(place, pid, signal.SIGTERM, grace):
        return _StopResult("terminated", pid)
    if not asked and _has_closed(place) and _gone(place, wait):  # of another version: it finishes its work, too
        return _StopResult("terminated", pid)
    return _StopResult("killed" if _kill(place, pid, signal.SIGKILL, grace) else "alive", pid)


def _kill(place: DaemonPaths, pid: int, number: int, grace: float) -> bool:
    """Whether it is gone after that. Checked again first: it may have ended meanwhile, and another may have started."""
    if lock_holder(place) == pid:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    return _gone(place, grace)


def _has_closed(place: DaemonPaths) -> bool:
    """Whether it accepts no more requests: it has got the signal."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        try:
            sock.connect(place.socket)
        except (ConnectionRefusedError, FileNotFoundError):
            return True
        except OSError:  # too many clients wait
            return False
    return False


def _gone(place: DaemonPaths, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while is_held(place):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
