"""Where hookline keeps its files (XDG, unless the environment says otherwise), and what a directory's project is."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError

_MACHINE = "/etc/hookline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    config: str
    state: str
    data: str
    machine: str = _MACHINE

    @property
    def policy(self) -> str:
        """The version of the owner's policy that is in force on this machine (``config.managed``)."""
        return os.path.join(self.machine, "policy", "current")

    @property
    def fleet_credentials(self) -> tuple[str, str]:
        """By which the machine, or else the person, is known to a fleet (``fleet.join``)."""
        machine, person = (os.path.join(one, "fleet", "machine.creds") for one in (self.machine, self.config))
        return machine, person


def find_paths(environ: Mapping[str, str], home: str = "", *, root: str = "") -> Paths:
    """``HOOKLINE_*_DIR``, then XDG (absolute paths only, as its specification asks), then the defaults below ``home``.

    ``home``: by the same variables, unless given. ``root``: of the disk that the machine's own directory is on, where that
    is another machine's.
    """

    def place(own: str, xdg: str, default: str) -> str:
        if given := environ.get(own):
            return os.path.abspath(given)
        base = environ.get(xdg, "")
        if not os.path.isabs(base):
            base = os.path.join(home or home_directory(environ), default)
        return os.path.join(base, "hookline")

    return Paths(
        config=place("HOOKLINE_CONFIG_DIR", "XDG_CONFIG_HOME", ".config"),
        state=place("HOOKLINE_STATE_DIR", "XDG_STATE_HOME", ".local/state"),
        data=place("HOOKLINE_DATA_DIR", "XDG_DATA_HOME", ".local/share"),
        machine=(os.path.abspath(root).rstrip("/") if root else "") + _MACHINE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Directories:
    """A person's home directory, and our own files that go with it."""

    home: str
    paths: Paths

    def variables(self) -> dict[str, str]:
        """The variables that lead other programs' lookups to the same places, and nothing else."""
        variables = {"HOME": self.home}
        ours = {
            "XDG_CONFIG_HOME": self.paths.config,
            "XDG_STATE_HOME": self.paths.state,
            "XDG_DATA_HOME": self.paths.data,
        }
        for name, path in ours.items():
            above, last = os.path.split(path)
            if last == "hookline":
                variables[name] = above
        return variables


def home_directory(environ: Mapping[str, str]) -> str:
    """HOME, or the account's where that is no absolute path: our files would be wherever a command is typed."""
    home = environ.get("HOME", "")
    found = home if os.path.isabs(home) else account_home()
    if not found:
        what = f"HOME is {home!r}, not an absolute path" if home else "HOME is not set"
        raise StateError(f"{what}, and this account has no home directory; set HOME to a directory of your own")
    return found


def account_home() -> str:
    """The home directory in the password database, which no variable can change; "" if it has none for us."""
    import pwd

    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""
    return home if os.path.isabs(home) else ""


# ── the project ──────────────────────────────────────────────────────────────────────────────────────

#: Our own files in the project's folder.
FILE, FOLDER, LOCAL = "hookline.toml", ".hookline", "local.toml"
#: What was deployed, in the state directory. Kept by ``hookline.deploy.apply``.
MANIFEST = "deployed.json"
#: One's own guards as they were deployed, beside it. Kept by ``hookline.state.own_guards``.
OWN_GUARDS = "own-guards.json"


def project_root(cwd: str, home: str) -> str:
    """The directory that holds ``.hookline``, else the repository's root, else the working directory."""
    if folder := project_folder(cwd, home):
        return os.path.dirname(folder)
    return repository_root(cwd, home) or os.path.abspath(cwd)


def project_folder(cwd: str, home: str) -> str | None:
    """The nearest ``.hookline`` with a configuration in it, never above the repository or the home directory."""
    for place in upwards(cwd, home):
        folder = os.path.join(place, FOLDER)
        if any(os.path.lexists(os.path.join(folder, name)) for name in (FILE, LOCAL)):
            return folder
        if _is_repository(place):
            return None
    return None


def repository_root(path: str, home: str = "") -> str:
    """The checkout that a directory is in, not above ``home``; "" outside every repository."""
    return next((place for place in upwards(path, home) if _is_repository(place)), "")


def upwards(path: str, ceiling: str = "") -> Iterator[str]:
    """The directory and those above it, up to ``ceiling``."""
    place = os.path.abspath(path)
    last = os.path.abspath(ceiling) if ceiling else ""
    while True:
        yield place
        above = os.path.dirname(place)
        if place in {above, last}:
            return
        place = above


def _is_repository(place: str) -> bool:
    # A file in a worktree or a submodule, a directory elsewhere.
    return os.path.lexists(os.path.join(place, ".git"))


# ── a place that cannot be used ──────────────────────────────────────────────────────────────────────

#: Agents' calls go by XDG alone (a repository can set HOOKLINE_* for them), so this helps everybody.
ELSEWHERE = "set XDG_STATE_HOME (XDG_DATA_HOME for data) to a directory of your own"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SHUT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """A path that cannot be used: what is in the way, how to fix it, and where to go instead."""

    path: str
    why: str
    fix: str = ""
    elsewhere: str = ELSEWHERE
    #: It belongs to another user.
    foreign: bool = False

    @property
    def finding(self) -> str:
        return f"{self.path} cannot be used: {self.why}"

    @property
    def next_step(self) -> str:
        return f"{self.fix}, or {self.elsewhere}" if self.fix else self.elsewhere

    def __str__(self) -> str:
        return f"{self.finding}; {self.next_step}"


class UnusableError(StateError):
    """A path of ours that cannot be used."""

    def __init__(self, place: Unusable) -> None:
        super().__init__(str(place))
        self.place = place


def short_tmp() -> str | None:
    """For sockets, whose paths have about a hundred characters at most, while TMPDIR may be of any length."""
    place = "/tmp"  # noqa: S108 - mkdtemp makes a folder of our own in it
    return place if os.access(place, os.W_OK) else None


def private_dir(path: str) -> str:
    """Make ``path`` a directory that only we can enter; refuse one that belongs to somebody else."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.stat(path)
    except OSError as error:
        raise UnusableError(unusable(path, error)) from error
    if status.st_uid != os.geteuid():
        raise UnusableError(_foreign(path))
    if status.st_mode & 0o077:
        os.chmod(path, 0o700)
    return path


def unusable(path: str, error: OSError, elsewhere: str = ELSEWHERE) -> Unusable:
    nearest = _nearest(path)
    why = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.EEXIST or (nearest != path and not os.path.isdir(nearest)):
        what = "a file" if os.path.exists(nearest) else "a broken link"
        why, fix = f"{nearest if nearest != path else 'it'} is {what}, not a directory", "move it away"
    elif error.errno in _FULL:
        fix = "make room"
    elif error.errno in _SHUT:
        why, fix = f"{nearest} cannot be written ({why})" if nearest != path else why, "make it writable"
    else:
        fix = f"see: ls -ld {nearest}"
    return Unusable(path=path, why=why, fix=fix, elsewhere=elsewhere)


def why_unusable(path: str) -> Unusable | None:
    """What ``private_dir`` or a write there would complain of, without touching anything."""
    nearest = _nearest(path)
    if not os.path.isdir(nearest):
        return unusable(path, OSError(errno.EEXIST, ""))
    try:
        status, room = os.stat(nearest), os.statvfs(nearest)
    except OSError as error:
        return unusable(path, error)
    if nearest == path and status.st_uid != os.geteuid():
        return _foreign(path)
    if not os.access(nearest, os.W_OK | os.X_OK):
        return unusable(path, OSError(errno.EROFS if room.f_flag & os.ST_RDONLY else errno.EACCES, ""))
    if room.f_blocks and not room.f_bavail:  # a file system that counts nothing says 0 of 0
        return unusable(path, OSError(errno.ENOSPC, ""))
    return None


def _foreign(path: str) -> Unusable:
    return Unusable(path=path, why="it belongs to another user", foreign=True)


def _nearest(path: str) -> str:
    """``path``, or what there is on the way to it; where we may not look further, the last that we may see."""
    while not os.path.lexists(path) and (above := os.path.dirname(path)) not in {"", path}:
        path = above
    return path
