"""A program of a hook: its start in a session of its own, as cheaply as the system allows, why that failed; and what it
prints: the first bytes in memory, all of them in a file when there are more, never too many.
"""

from __future__ import annotations

import codecs
import errno
import fcntl
import os
import stat
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import starmap

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.core.typed import TYPE_CHECKING, Any
from hookline.runners.environ import new_spill

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the module around it makes an enum of every number first


def start_time(pid: int) -> str:
    """The start time, which no other process with this pid has; "" if there is no such process."""
    if sys.platform != "linux":
        import subprocess  # 10 ms that are needed nowhere else

        found = subprocess.run(
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        return found.stdout.strip()
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def mark_process(pid: int) -> str:
    """A text that identifies this process, also when it is read later."""
    return f"{pid} {start_time(pid)}"


def pid_from_mark(mark: str) -> int | None:
    """The pid in the mark, if that process still runs."""
    number, _, then = mark.strip().partition(" ")
    if not number.isdecimal() or len(number) > 18 or int(number) <= 1:
        return None
    return int(number) if then and start_time(int(number)) == then else None


# ── its start ─────────────────────────────────────────────────────────────────────────────────────────

#: Python ignores these in itself; a child that inherits that never ends in ``yes | head``.
_RESTORED = tuple(
    getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ") if hasattr(signal, name)
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A program that has been found, with all that it is given. ``cwd`` "" is our own."""

    program: str
    argv: tuple[str, ...] | tuple[bytes, ...]
    environ: Mapping[str, str] | Mapping[bytes, bytes]
    cwd: str = ""
    stdin: bytes = b""
    #: What had to be done to the arguments and the environment; goes into the notes of the run.
    notes: tuple[str, ...] = ()
    #: The person's own run that it belongs to (``runners.host.Host``), and whether it gets the terminal.
    host: Any = None
    terminal: bool = False
    on_start: Callable[[], None] | None = None


def pipe() -> tuple[int, int]:
    """A pipe whose ends are above 2: in a process without stdin they would collide with the child's."""
    ends = os.pipe()
    if min(ends) > 2:
        return ends
    lifted = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3) for end in ends]
    for end in ends:
        os.close(end)
    return lifted[0], lifted[1]


def spawn(
    launch: Launch, stdin: int | None, stdout: int | None, stderr: int | None, born: list[int] | None = None
) -> int:
    """Start it as the leader of a new session and give its pid; None is the null device. Raises OSError.

    The pid is in ``born`` too, and there before any signal is handled: a caller that is interrupted right here, by an
    exception that a signal handler raises, would not know otherwise what it has to end.

    ``posix_spawn`` is the faster way, but it cannot change the directory. ``subprocess`` closes what we inherited
    from our caller, which only matters to a hook that outlives us, so it is used for those too (``detach``).
    """
    if launch.terminal or (launch.cwd and launch.cwd != own_directory()):
        return detach(launch, stdin, stdout, stderr, alone=False)
    actions = [_action(stdin, 0, os.O_RDONLY), _action(stdout, 1, os.O_WRONLY), _action(stderr, 2, os.O_WRONLY)]
    start = partial(
        os.posix_spawn, launch.program, launch.argv, launch.environ,
        file_actions=actions, setsid=True, setsigmask=(), setsigdef=_RESTORED,
    )  # fmt: skip
    pids = [] if born is None else born
    try:
        pids.extend(starmap(start, [()]))  # called and kept by one instruction: signal handlers run only between two
        return pids[-1]
    except NotImplementedError:  # a system whose posix_spawn makes no sessions
        return detach(launch, stdin, stdout, stderr, alone=False)


def _action(source: int | None, target: int, flags: int) -> tuple[int, int, int] | tuple[int, int, str, int, int]:
    if source is None:
        return (os.POSIX_SPAWN_OPEN, target, os.devnull, flags, 0)
    return (os.POSIX_SPAWN_DUP2, source, target)


def own_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted under us
        return ""


def detach(launch: Launch, stdin: int | None, stdout: int | None, stderr: int | None, *, alone: bool = True) -> int:
    """Like ``spawn``, but ``alone``: the child inherits nothing except its three streams."""
    import subprocess  # 10 ms of imports that most cold runs do not need

    child = subprocess.Popen(
        launch.argv,
        executable=launch.program,
        env=launch.environ,
        cwd=launch.cwd or None,
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.DEVNULL if stdout is None else stdout,
        stderr=subprocess.DEVNULL if stderr is None else stderr,
        start_new_session=not launch.terminal,
        process_group=0 if launch.terminal else None,
        preexec_fn=launch.host.terminal.enter if launch.terminal else None,  # noqa: PLW1509  # three system calls
        close_fds=alone,
    )
    # We wait for the pid ourselves; the object must not believe that it has to.
    child.returncode = 0
    return child.pid


def why_not(launch: Launch, error: OSError) -> str:
    """Why a program that exists could not be started, and what to do about it."""
    program = launch.program
    if launch.cwd and not os.path.isdir(launch.cwd):
        return (
            f"cannot start {program!r}: the working directory {launch.cwd!r} does not exist; create it or name another"
        )
    if error.errno == errno.ENOENT and not os.path.exists(program):
        return f"cannot start {program!r}: it does not exist; write the path of an existing program"
    if error.errno == errno.ENOENT:
        name = _interpreter(program)
        if name.endswith("\r"):
            return f"cannot start {program!r}: its lines end with CRLF; save it with LF"
        return f"cannot start {program!r}: its interpreter {name!r} does not exist; correct its first line"
    if error.errno == errno.ENOEXEC:
        return f"cannot start {program!r}: it is neither a program for this machine nor a script that begins with '#!'; add a first line, such as #!/bin/sh"
    if error.errno == errno.EACCES:
        return _no_access(program)
    if error.errno == errno.E2BIG:
        return f"cannot start {program!r}: its arguments and environment are too large together; unset large variables"
    return f"cannot start {program!r}: {error.strerror or error}"


def _no_access(program: str) -> str:
    try:
        mode = os.stat(program).st_mode
    except OSError as error:
        return f"cannot start {program!r}: {error.strerror}; check the permissions of its directories"
    if stat.S_ISDIR(mode):
        return f"cannot start {program!r}: it is a directory; name the program in it"
    if not stat.S_ISREG(mode):
        return f"cannot start {program!r}: it is not a regular file; name a program"
    if not os.access(program, os.X_OK):
        return f"cannot start {program!r}: it is not executable; run chmod +x on it"
    return f"cannot start {program!r}: permission denied; check its interpreter, its directories and the file system"


def _interpreter(program: str) -> str:
    try:
        with open(program, "rb") as file:
            line = file.readline(256)
    except OSError:
        return "?"
    return (
        line.removeprefix(b"#!").strip(b" \t\n").decode("utf-8", "backslashreplace") if line[:2] == b"#!" else "ld.so"
    )


# ── what it prints ────────────────────────────────────────────────────────────────────────────────────

#: A spilled file grows no further than this; what comes after it is read and dropped.
_SPILL_LIMIT = 64 << 20


class Capture:
    """Takes whatever comes, in bounded memory and bounded disk."""

    __slots__ = ("_chunks", "_dropped", "_fault", "_file", "_kept", "_limit", "_state_dir", "_stream", "_total", "path")

    def __init__(self, stream: str, limit: int, state_dir: str) -> None:
        self._stream = stream
        self._limit = limit
        self._state_dir = state_dir
        self._chunks: list[bytes] = []
        self._kept = 0
        self._total = 0
        self._dropped = 0
        self._file = -1
        self._fault = ""
        #: Where all of it is, if it was over the cap.
        self.path = ""

    def feed(self, data: bytes) -> None:
        self._total += len(data)
        room = self._limit - self._kept
        if len(data) <= room:
            self._chunks.append(data)
            self._kept += len(data)
            return
        if not self.path and not self._fault:
            self._open()
        self._spill(data)
        if room > 0:
            self._chunks.append(data[:room])
            self._kept = self._limit

    def _open(self) -> None:
        try:
            self._file, self.path = new_spill(self._state_dir, self._stream)
        except (OSError, StateError) as error:
            self._fault = str(error)
            return
        for chunk in self._chunks:
            self._spill(chunk)

    def _spill(self, data: bytes) -> None:
        if self._file < 0:
            self._dropped += len(data)
            return
        try:
            os.write(self._file, data)
            full = os.lseek(self._file, 0, os.SEEK_CUR) >= _SPILL_LIMIT
        except OSError as error:
            self._fault, full = str(error), True
        if full:
            self.close()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def cut(self) -> bool:
        return self._total > self._kept

    def text(self) -> str:
        """What was kept. Bytes that are no UTF-8 become U+FFFD; a character cut by the cap is left out."""
        data = b"".join(self._chunks)
        if not self.cut:
            return data.decode("utf-8", "replace")
        return codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=False)

    def notes(self) -> tuple[str, ...]:
        if not self.cut:
            return ()
        note = f"{self._stream} was {self._total} bytes; the first {self._kept} were kept"
        if self.path:
            note += f", the rest is in {self.path}"
        if self._dropped:
            note += f", {self._dropped} were dropped"
        if self._fault:
            note += f" (cannot spill: {self._fault})"
        return (note,)
