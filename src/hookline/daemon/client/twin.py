"""The client of the daemon in Python: ``python -I -S start.py hook --agent A …`` does what ``hookc`` does.

It hands everything the caller gave to the daemon and gives back what the daemon says. Where there is no daemon that
answers, ``hookline hook`` is run in the ordinary way; the caller cannot tell the difference, except by the clock.
On the warm path only ``posix`` and ``_socket`` are imported: ``os`` and ``socket`` would double the time.

Exit code 75: nobody could answer, or not in time; with ``--on-failure deny`` it is 2, which agents read as a block.
"""

import _signal  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]  # signal without enum
import _socket
import posix
import sys
from time import monotonic

VERSION = "0.1.0"
_FAILED, _BLOCK = 75, 2
#: Less than the time that an agent gives us: it goes on with its call when that is over.
DEADLINE = 590.0
#: Seconds without a sign of life after which a daemon counts as hung.
_HUNG = 2.0
#: Seconds that another client's attempt to start a daemon may take.
_STARTING = 10.0
#: Seconds after the deadline that an ordinary run has to end: it answers, ends its hooks and writes down what happened.
_GRACE = 2.5
#: Bytes of a path that every system takes as the name of a socket.
_LONGEST = 100
_SO_PEERCRED = 17
_EBADF = 9


class Refused(Exception):  # not a fault: the answer is to do without
    """There is no daemon that answers this; ``absent`` when there is none at all."""

    def __init__(self, *, absent: bool = False) -> None:
        super().__init__()
        self.absent = absent


class Late(Exception):  # named after what happened
    """The deadline has passed."""


def main(words: list[str]) -> int:
    """Answer the caller as the daemon does, or as a cold run does."""
    until, deny = _wishes(words)
    if not words or words[0] != "hook" or "--cold" in words:
        return _cold(words, None, until, deny)
    try:
        given = _read_all(0, until)
        try:
            code, out, err = ask(words[1:], given, until)
        except Refused as refused:
            if refused.absent:
                start_daemon(words)
            return _cold(words, given, until, deny)
        _write_all(1, out, until)
        _write_all(2, err, until)
    except Late:
        return _failed("no answer in time", deny)
    except OSError as error:
        return _failed(str(error), deny)
    return code


def ask(words: list[str], given: bytes, until: float) -> tuple[int, bytes, bytes]:
    """The daemon's answer. Raises ``Refused`` and ``Late``."""
    if posix.environ.get(b"HOOKLINE_DAEMON") == b"off":
        raise Refused
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        try:
            sock.settimeout(min(_HUNG, _left(until)))
            sock.connect(_socket_path(words))
        except BlockingIOError:  # its backlog is full: there is a daemon
            raise Refused from None
        except OSError:
            raise Refused(absent=posix.environ.get(b"HOOKLINE_DAEMON") != b"if running") from None
        if not _is_ours(sock):
            raise Refused
        return _exchange(sock, _request(words, given), until)
    except OSError:
        raise Refused from None
    finally:
        sock.close()


def _exchange(sock: _socket.socket, request: bytes, until: float) -> tuple[int, bytes, bytes]:
    sent, view = 0, memoryview(request)
    while sent < len(request):
        sock.settimeout(min(_HUNG, _left(until)))
        sent += sock.send(view[sent : sent + (1 << 20)])
    pieces = bytearray()
    need, accepted = 1, False
    while len(pieces) < need:
        sock.settimeout(_left(until) if accepted else min(_HUNG, _left(until)))
        try:
            piece = sock.recv(1 << 16)
        except TimeoutError:
            _left(until)
            raise Refused from None
        if not piece:
            raise Refused
        pieces += piece
        while pieces and pieces[0] == 65:  # A
            del pieces[:1]
            accepted = True
        if pieces and pieces[0] != 82:  # R
            raise Refused
        if len(pieces) >= 13:
            out, err = int.from_bytes(pieces[5:9]), int.from_bytes(pieces[9:13])
            need = 13 + out + err
        else:
            need = 13
    out = int.from_bytes(pieces[5:9])
    return pieces[4], bytes(pieces[13 : 13 + out]), bytes(pieces[13 + out : need])


def _request(words: list[str], given: bytes) -> bytes:
    head = [VERSION.encode(), b"hook", posix.getcwdb(), str(len(words)).encode()]
    head += [word.encode("utf-8", "surrogateescape") for word in words]
    head += [name + b"=" + value for name, value in posix.environ.items()]
    text = b"\0".join(head) + b"\0"
    return b"HKL1" + len(text).to_bytes(4) + len(given).to_bytes(4) + text + given


def _socket_path(words: list[str]) -> bytes:
    path = _directory(words) + b"/daemon.sock"
    if len(path) > _LONGEST:  # there cannot be one, so none is started
        raise Refused
    return path


def _directory(words: list[str]) -> bytes:
    """As ``hookline.daemon.protocol`` says. Raises ``Refused`` if nothing says where: only a cold run looks further.

    An entry that names its directories is not led elsewhere by variables, which a repository can set."""
    get = posix.environ.get
    own = _option(words, "--state-dir")
    runtime = _option(words, "--runtime-dir") if own else get(b"XDG_RUNTIME_DIR", b"")
    if runtime.startswith(b"/"):
        try:
            status = posix.stat(runtime)
        except OSError:
            pass
        else:
            if status.st_mode & 0o170077 == 0o040000 and status.st_uid == posix.geteuid():
                return runtime + b"/hookline"
    if own:
        return own + b"/run"
    state = get(b"XDG_STATE_HOME", b"")
    if state.startswith(b"/"):
        return state + b"/hookline/run"
    home = get(b"HOME", b"")
    if not home.startswith(b"/"):
        raise Refused
    return home + b"/.local/state/hookline/run"


def _option(words: list[str], name: str) -> bytes:
    """Its value; the last counts."""
    found = ""
    for index, word in enumerate(words):
        if word == name and index + 1 < len(words):
            found = words[index + 1]
        elif word.startswith(name + "="):
            found = word[len(name) + 1 :]
    return found.encode("utf-8", "surrogateescape")


def _is_ours(sock: _socket.socket) -> bool:
    """Nothing is sent to, or accepted from, another user's socket."""
    if sys.platform != "linux":
        return True
    told = sock.getsockopt(_socket.SOL_SOCKET, _SO_PEERCRED, 12)
    return int.from_bytes(told[4:8], sys.byteorder) == posix.geteuid()


def _wishes(words: list[str]) -> tuple[float, bool]:
    """When to give up, and whether a failure is a block."""
    seconds, deny = DEADLINE, False
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if not equals:
            value = words[index + 1] if index + 1 < len(words) else ""
        if name == "--deadline":
            try:
                seconds = min(max(float(value), 0.0), 86_400.0)
            except ValueError:
                seconds = DEADLINE
        elif name == "--on-failure":
            deny = value == "deny"
    return monotonic() + seconds, deny


def _left(until: float) -> float:
    left = until - monotonic()
    if left <= 0:
        raise Late
    return left


def _read_all(source: int, until: float) -> bytes:
    """Standard input to its end; a caller that never closes it is not waited for beyond the deadline."""
    _signal.signal(_signal.SIGALRM, _late)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))  # our parent may have blocked it
    _signal.setitimer(_signal.ITIMER_REAL, _left(until))
    pieces: list[bytes] = []
    while True:
        try:
            piece = posix.read(source, 1 << 16)
        except BlockingIOError:
            _wait_for(source, until, reading=True)
            continue
        except OSError as error:
            if error.errno != _EBADF:
                raise
            break  # without any input there is none, which the ordinary run reports
        if not piece:
            break
        pieces.append(piece)
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    return b"".join(pieces)


def _late(_number: int, _frame: object) -> None:
    raise Late


def _write_all(target: int, data: bytes, until: float | None = None) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[posix.write(target, view) :]
        except BlockingIOError:
            if until is None:
                raise
            _wait_for(target, until, reading=False)


def _wait_for(handle: int, until: float, *, reading: bool) -> None:
    """Wait for a non-blocking stream; few callers pass one."""
    from select import select

    select([handle] if reading else [], [] if reading else [handle], [], _left(until))


def _failed(why: str, deny: bool) -> int:
    try:  # noqa: SIM105  contextlib is not for the warm path
        _write_all(2, f"hookline failed: {why}\n".encode())
    except OSError:
        pass
    return _BLOCK if deny else _FAILED


# ── without a daemon ─────────────────────────────────────────────────────────────────────────────────


def _main() -> str:
    """What runs hookline; Python is isolated (-I), so no variable and no directory adds code to it."""
    return __file__.rpartition("/daemon/")[0] + "/__main__.py"


def _cold(words: list[str], given: bytes | None, until: float, deny: bool) -> int:
    """The ordinary command in a process of its own, so that its end is ours to judge, whatever it is."""
    # It answers by the deadline itself, in the agent's own words; what is left of it is all it has.
    more = ["--cold", f"--deadline={max(until - monotonic(), 0.001):.3f}"] if given is not None else []
    line = [sys.executable, "-I", _main(), *words, *more]
    # If it is ignored, neither we nor our child could learn how a child ended.
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))
    try:
        stdin, feed = posix.pipe() if given is not None else (-1, -1)
        actions = [(posix.POSIX_SPAWN_DUP2, stdin, 0)] if given is not None else []
        child = posix.posix_spawn(line[0], line, posix.environ, file_actions=actions)
    except OSError as error:
        return _failed(f"cannot run {line[0]}: {error}", deny)
    late = False

    def end(number: int, _frame: object) -> None:
        nonlocal late
        late = late or number == _signal.SIGALRM
        try:  # noqa: SIM105  contextlib is not for this path
            posix.kill(child, _signal.SIGKILL if number == _signal.SIGALRM else number)
        except OSError:
            pass

    for number in (_signal.SIGALRM, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
        _signal.signal(number, end)
    _signal.setitimer(_signal.ITIMER_REAL, max(until - monotonic(), 0.001) + _GRACE)
    if given is not None:
        posix.close(stdin)
        try:  # noqa: SIM105  contextlib is not for this path
            _write_all(feed, given)
        except OSError:
            pass  # it did not read everything; its answer still counts
        posix.close(feed)
    code = posix.waitstatus_to_exitcode(posix.waitpid(child, 0)[1])
    if late:
        return _failed("no answer in time", deny)
    if deny and code not in {0, _BLOCK}:
        return _failed(f"hookline ended with {code}", deny)
    return code if code >= 0 else 128 - code


def start_daemon(words: list[str]) -> None:
    """In the background, for later calls; at most one attempt every ten seconds."""
    directory = _directory(words)
    mark = directory + b"/daemon.starting"
    try:
        _make(directory)
        try:
            posix.close(posix.open(mark, posix.O_CREAT | posix.O_EXCL | posix.O_WRONLY | posix.O_CLOEXEC, 0o600))
        except FileExistsError:
            from time import time  # only a slow start needs it

            if abs(time() - posix.stat(mark).st_mtime) < _STARTING:  # a clock may have been set back since
                return
            posix.utime(mark)
        line = [sys.executable, "-I", _main(), "daemon", "run", "--background", "--directory"]
        line.append(directory.decode("utf-8", "surrogateescape"))
        nothing = [(posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in (0, 1, 2)]
        posix.posix_spawn(line[0], line, posix.environ, file_actions=nothing, setsid=True)
    except OSError:
        return


def _make(directory: bytes) -> None:
    try:
        posix.mkdir(directory, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        _make(directory[: directory.rindex(b"/")])
        posix.mkdir(directory, 0o700)
