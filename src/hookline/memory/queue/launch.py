"""Start a worker in the background; nobody waits for it."""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType

from hookline.core.files import is_locked, list_names, read_text, take_lock
from hookline.core.isolation import module_command
from hookline.core.paths import private_dir, project_root
from hookline.memory.layout import Places
from hookline.memory.settings import TrustedEnvironment

#: Seconds that a worker tries: a process that only checks the lock holds it for an instant.
_TIMEOUT = 0.1
_STEP = 0.005
#: Errors of a file system without locks: there, claims keep two workers apart.
_WITHOUT = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


class WorkerLock:
    """``with WorkerLock(path) as held:``, almost without waiting. ``exclusive``: the file system has locks. The file is never
    removed: two workers could then hold two locks of one name."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle = -1
        self.exclusive = False

    def __enter__(self) -> bool:
        private_dir(os.path.dirname(self._path))
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        until = time.monotonic() + _TIMEOUT
        while not (held := _acquire(self._handle)) and time.monotonic() < until:
            time.sleep(_STEP)
        self.exclusive = held and _is_real(self._handle)
        return held

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)


def _acquire(handle: int) -> bool:
    try:
        return take_lock(handle)
    except OSError as error:
        if error.errno in _WITHOUT:
            return True
        raise


def _is_real(handle: int) -> bool:
    """Whether we really hold the lock: acquiring it again changes nothing."""
    try:
        return take_lock(handle)
    except OSError:
        return False


_MODULE = "hookline.memory.queue.worker"
#: Variables that locate our files; only trusted values are passed on.
_OURS = frozenset(
    {"LH_CONFIG_DIR", "CLAUDE_CONFIG_DIR", "LCT_LEARNINGS_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}
)
_REDIRECTS = frozenset(
    {"LD_PRELOAD", "LD_LIBRARY_PATH", "NODE_OPTIONS", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"}
)
#: Bytes of a settings file, and number of files, that are searched.
_MAX_SETTINGS_BYTES, _MAX_SETTINGS_FILES = 1 << 18, 100


def start_worker(here: TrustedEnvironment, places: Places, environ: Mapping[str, str]) -> bool:
    """Start one unless one is running; whether one was started."""
    if is_locked(places.worker_lock):
        return False
    pid = _spawn(module_command(_MODULE), worker_environment(here, environ), places.worker_log)
    if pid and "hookline.daemon.service" in sys.modules:  # the daemon stays, so it must reap its children
        threading.Thread(target=_reap, args=(pid,), name="hookline-worker", daemon=True).start()
    return pid > 0


def worker_environment(here: TrustedEnvironment, environ: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, with our directories as we found them.

    A repository can set variables through an agent's settings, and the worker also reads sessions of other projects. So
    programs of the repository, and variables that redirect model requests and are named in its files, are dropped.
    """
    own = {
        "HOME": here.home,
        "HOOKLINE_CONFIG_DIR": here.paths.config,
        "HOOKLINE_STATE_DIR": here.paths.state,
        "HOOKLINE_DATA_DIR": here.paths.data,
    }
    root = project_root(here.cwd, here.home)
    # They decide where a request goes, or which code sends it.
    endings = ("_BASE_URL", "_PROXY", "_ENDPOINT", "_API_BASE")
    redirects = [name for name in environ if name in _REDIRECTS or name.upper().endswith(endings)]
    texts = [read_text(path, _MAX_SETTINGS_BYTES) or "" for path in _settings_files(root)] if redirects else []
    dropped = {"HOOKLINE_NO_HOOKS", *(name for name in redirects if any(name in text for text in texts))}
    kept = {
        name: value
        for name, value in environ.items()
        if name not in dropped and (name not in _OURS or name in here.environ)
    }
    return {**kept, **own, "PATH": _path(environ.get("PATH", os.defpath), root)}


def _settings_files(root: str) -> list[str]:
    """In the project's root and its hidden directories."""
    hidden = [os.path.join(root, name) for name in list_names(root) if name.startswith(".") and name != ".git"]
    endings = (".json", ".jsonc", ".toml", ".yaml", ".yml")
    found = [
        os.path.join(folder, name)
        for folder in (root, *hidden)
        for name in list_names(folder)[:_MAX_SETTINGS_FILES]
        if name.startswith(".env") or (folder != root and name.endswith(endings))
    ]
    return found[:_MAX_SETTINGS_FILES]


def _path(path: str, root: str) -> str:
    inside = os.path.realpath(root).rstrip("/") + "/"
    entries = [one for one in path.split(os.pathsep) if os.path.isabs(one)]
    return os.pathsep.join(one for one in entries if not (os.path.realpath(one) + "/").startswith(inside))


def _spawn(line: list[str], environ: Mapping[str, str], log: str) -> int:
    """In its own session, with only the log open. 0 if it cannot be started."""
    streams = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    streams.append((os.POSIX_SPAWN_OPEN, 2, log, flags, 0o600))
    try:
        closed = [(os.POSIX_SPAWN_CLOSE, number) for number in _inherited()]
        return os.posix_spawn(line[0], line, environ, file_actions=[*streams, *closed], setsid=True)
    except NotImplementedError:  # a system whose posix_spawn cannot create sessions
        return _detached(line, environ)
    except (OSError, ValueError):
        return 0


def _detached(line: list[str], environ: Mapping[str, str]) -> int:
    from hookline.runners.spawn import Launch, detach  # the slower way

    try:
        return detach(Launch(program=line[0], argv=tuple(line), environ=environ), None, None, None)
    except (OSError, ValueError):
        return 0


def _inherited() -> list[int]:
    """Descriptors that our caller left open. An agent that waits for the end of a pipe would wait for the worker."""
    found: list[int] = []
    with suppress(OSError):
        for name in os.listdir("/dev/fd"):
            number = int(name)
            with suppress(OSError):
                if number > 2 and os.get_inheritable(number):
                    found.append(number)
    return found


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
