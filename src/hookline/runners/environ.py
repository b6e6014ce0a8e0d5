"""The child's environment and arguments as values that the kernel accepts.

One string may be 128 KiB long and all of them together take a share of the stack. What is longer goes into a
private file: the variable then holds the path of that file, and ``NAME_FILE`` holds it too, so that a hook can
tell a path from a value. Private files also hold script sources, payloads of detached hooks and spilled output.

The environment also counts how deeply hooks are nested. A repository's agent settings can set that
variable too, so it switches nothing off: beyond the limit no hook runs, but what asks for permission is refused, and a
false number can only make the refusal come sooner.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from hookline.core._dataclass import dataclass
from hookline.core.code_variables import foreign_parts, is_inside
from hookline.core.paths import private_dir
from hookline.core.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.runners.base import ApprovedFiles, Job

#: Linux's MAX_ARG_STRLEN, the closing NUL included. Other systems have no such limit, only the total.
STRING_LIMIT = 128 * 1024
#: The kernel counts a pointer per string; the rest of the margin is for what it adds itself.
_POINTER = 8
_MARGIN = 16 * 1024
#: Values shorter than this are not worth a file when the total is over the budget.
_WORTH_A_FILE = 1024
#: Nothing could be started with the path of a file in it.
_NEVER_BY_FILE = frozenset({b"PATH"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecArguments:
    """What is handed to the kernel, and what a person should know about it. Text where nothing had to be done."""

    argv: tuple[str, ...] | tuple[bytes, ...]
    environ: Mapping[str, str] | Mapping[bytes, bytes]
    notes: tuple[str, ...] = ()


def child_environ(caller: Mapping[str, str], unset: frozenset[str], laid_over: Mapping[str, str]) -> dict[str, str]:
    """The caller's whole environment, minus what does not apply, plus what the dialect sets."""
    kept = {name: value for name, value in caller.items() if name not in unset} if unset else caller
    return {**kept, **laid_over}


# ── code from the project ────────────────────────────────────────────────────────────────────────────


def hook_environ(job: Job, caller: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The environment of a hook, with notes on what was left out of the caller's.

    The settings of an agent in a repository can set variables, and so can who starts a program in it: none of them may
    make an approved hook, or one of a person's own at the agents' door, load code that nobody approved.
    """
    approved = job.approved
    projects = job.settings.agents_project
    if not projects and approved is not None and not is_inside(os.path.expanduser("~"), (approved.root,)):
        projects = (approved.root,)
    notes: tuple[str, ...] = ()
    if projects:
        caller, notes = _without_project_code(caller, projects, approved)
    own = job.spec.environ  # a dialect that sets variables for its hooks has the last word
    environ = child_environ(caller, job.call.unset, {**own, **job.call.environ} if own else job.call.environ)
    if job.settings.agents_project and (lost := _lost_folders(environ.get("PATH", os.defpath))):
        environ["PATH"] = os.pathsep.join(filter(None, (environ.get("PATH", ""), *lost)))
        notes += (f"PATH has none of the system's programs; {os.pathsep.join(lost)} was added at its end",)
    if first := job.spec.extra.get("programs"):
        environ["PATH"] = f"{first}{os.pathsep}{environ.get('PATH', os.defpath)}"
    if approved is not None and approved.has_modules:
        environ["PYTHONPYCACHEPREFIX"] = bytecode_folder(job, approved.version)
    return environ, notes


def _lost_folders(path: str) -> tuple[str, ...]:
    """Without ``grep`` most guards let everything pass, and a repository's agent settings can set PATH."""
    system = ("/usr/bin", "/bin")
    return () if any(folder in system for folder in path.split(os.pathsep)) else system


def bytecode_folder(job: Job, version: str) -> str:
    """Where Python keeps what it compiled for a hook. In the project anybody could put compiled code beside the source;
    and what was compiled from files that were not as approved must not be found later."""
    folder = os.path.join(state_root(job.settings.state_dir), "pycache")
    own = os.path.join(folder, f"{job.spec.id}-{version}")
    if not os.path.isdir(own):
        private_dir(own)
        for name in os.listdir(folder):
            if name.startswith(f"{job.spec.id}-") and name != os.path.basename(own):
                remove_tree(os.path.join(folder, name))
    return own


def remove_tree(folder: str) -> None:
    """As far as possible; ``shutil`` would cost a cold run milliseconds."""
    for path, folders, files in os.walk(folder, topdown=False):
        for name in files:
            with suppress(OSError):
                os.unlink(os.path.join(path, name))
        for name in folders:
            with suppress(OSError):
                os.rmdir(os.path.join(path, name))
    with suppress(OSError):
        os.rmdir(folder)


#: The latest caller's variables, without the project's code: in a process that stays, the same caller asks again.
_latest: list[tuple[Mapping[str, str], tuple[str, ...], object, tuple[Mapping[str, str], tuple[str, ...]]]] = []


def _without_project_code(
    caller: Mapping[str, str], projects: tuple[str, ...], approved: ApprovedFiles | None
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The variables that are left, and notes on the others."""
    for known, theirs, files, result in tuple(_latest):
        if known == caller and theirs == projects and files is approved:
            return result
    changed: dict[str, str] = {}
    notes: list[str] = []
    for name, value in caller.items():
        bad = foreign_parts(name, value, projects, approved.is_covered if approved is not None else None)
        if not bad:
            continue
        changed[name] = os.pathsep.join(part for part in value.split(os.pathsep) if bad != [value] and part not in bad)
        shown = ", ".join(part or "an empty entry" for part in bad)
        notes.append(f"{name}: {shown} was left out, since code would be loaded from the project; covers can name it")
    kept = {name: changed.get(name, value) for name, value in caller.items() if changed.get(name) != ""}
    _latest[:] = [(dict(caller), projects, approved, (kept if changed else caller, tuple(notes)))]
    return _latest[0][3]


class EnvironCache:
    """A caller's environment as a plain dictionary. The process's own is copied only when it has changed: it keeps
    its variables encoded, and to decode them all costs more than everything else before a spawn."""

    __slots__ = ("_latest",)

    def __init__(self) -> None:
        #: The variables as the process keeps them, and as text; replaced together, as other threads read them.
        self._latest: tuple[object, Mapping[str, str]] = (None, {})

    def of(self, caller: Mapping[str, str]) -> Mapping[str, str]:
        kept = getattr(caller, "_data", None) if caller is os.environ else None
        if kept is None:
            return caller
        seen, text = self._latest
        if kept != seen:
            seen, text = dict(kept), dict(caller)
            self._latest = (seen, text)
        return text


def pass_on(argv: Sequence[str], environ: Mapping[str, str], workspace: Workspace, *, budget: int = 0) -> ExecArguments:
    """Move what the kernel would refuse into files of ``workspace``; replace what no process can be given."""
    encoding = sys.getfilesystemencoding()
    if _harmless(argv, environ, encoding, min(budget or STRING_LIMIT, STRING_LIMIT)):
        return ExecArguments(argv=tuple(argv), environ=environ)
    budget = budget or _arg_budget()
    notes: list[str] = []
    words = [_encoded(word, encoding, notes) for word in argv]
    variables = {_encoded(name, encoding, notes): _encoded(value, encoding, notes) for name, value in environ.items()}
    _without_nul(words, variables, notes)
    _by_file(words, variables, workspace, notes, budget)
    return ExecArguments(argv=tuple(words), environ=variables, notes=tuple(notes))


def _harmless(argv: Sequence[str], environ: Mapping[str, str], encoding: str, limit: int) -> bool:
    """One test of everything together, instead of one for each of some hundred ordinary strings."""
    strings = [*argv, *environ, *environ.values()]
    try:
        together = "\0".join(strings)
        size = len(together.encode(encoding, "surrogateescape"))
    except (TypeError, UnicodeEncodeError):
        return False
    if size + len(strings) * (_POINTER + 2) > limit or together.count("\0") != len(strings) - 1:
        return False
    return "=" not in "".join(environ) and "" not in environ


def _arg_budget() -> int:
    """What all strings together may take. Linux stops at 6 MiB, even where the stack has no limit."""
    return max(STRING_LIMIT, min(int(os.sysconf("SC_ARG_MAX")), 6 << 20) - _MARGIN)


def _encoded(text: object, encoding: str, notes: list[str]) -> bytes:
    try:
        return str(text).encode(encoding, "surrogateescape")
    except UnicodeEncodeError:
        notes.append("characters that cannot be encoded were replaced in its environment or arguments")
        return str(text).encode(encoding, "replace")


def _without_nul(words: list[bytes], variables: dict[bytes, bytes], notes: list[str]) -> None:
    """A NUL ends a string for the kernel, so it becomes U+FFFD; a name that is none is left out."""
    for index, word in enumerate(words):
        if b"\0" in word:
            words[index] = word.replace(b"\0", "\ufffd".encode())
            notes.append(f"NUL bytes were replaced in argument {index}")
    for name, value in list(variables.items()):
        shown = name.decode(errors="replace")
        if not name or b"=" in name or b"\0" in name:
            del variables[name]
            notes.append(f"a variable cannot be called {shown!r}; it was left out")
        elif b"\0" in value:
            variables[name] = value.replace(b"\0", "\ufffd".encode())
            notes.append(f"NUL bytes were replaced in {shown}")


def _by_file(
    words: list[bytes], variables: dict[bytes, bytes], workspace: Workspace, notes: list[str], budget: int
) -> None:
    for index, word in enumerate(words):
        if len(word) >= STRING_LIMIT:
            words[index] = _file_argument(workspace, index, word, notes)
    for name, value in list(variables.items()):
        if len(name) + len(value) + 2 > STRING_LIMIT:
            _file_variable(workspace, variables, name, notes)
    while _size(words, variables) > budget:
        largest = max(variables.keys() - _NEVER_BY_FILE, key=lambda name: len(variables[name]), default=b"")
        longest = max(range(1, len(words)), key=lambda index: len(words[index]), default=0)
        if longest and len(words[longest]) > len(variables.get(largest, b"")):
            if len(words[longest]) < _WORTH_A_FILE:
                return  # let the kernel judge; the error says what to do
            words[longest] = _file_argument(workspace, longest, words[longest], notes)
        elif len(variables.get(largest, b"")) < _WORTH_A_FILE:
            return
        else:
            _file_variable(workspace, variables, largest, notes)


def _size(words: list[bytes], variables: dict[bytes, bytes]) -> int:
    strings = sum(map(len, words)) + sum(map(len, variables)) + sum(map(len, variables.values()))
    return strings + len(words) * (_POINTER + 1) + len(variables) * (_POINTER + 2)


def _file_argument(workspace: Workspace, index: int, word: bytes, notes: list[str]) -> bytes:
    path = workspace.file(f"arg{index}", word)
    notes.append(f"argument {index} is too long ({len(word)} bytes) and was passed as a file")
    return os.fsencode(path)


def _file_variable(workspace: Workspace, variables: dict[bytes, bytes], name: bytes, notes: list[str]) -> None:
    shown = name.decode(errors="replace")
    safe = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in shown)[:100]
    path = os.fsencode(workspace.file(safe, variables[name]))
    notes.append(f"{shown} is too long ({len(variables[name])} bytes) and was passed as a file")
    variables[name] = path
    variables[name + b"_FILE"] = path


#: What a file is called that tells which process the files of a detached hook are for.
_OF = ".of-"
#: What a script is called that must lie in the working directory while it runs.
_BESIDE = ".hookline_script-"
#: Such files are removed when that process has ended, and after this many seconds.
_KEEP = 7 * 24 * 3600.0
#: The number of spilled outputs that are kept; each has a cap, so floods cannot fill the disk.
_SPILLS = 32


def state_root(state_dir: str) -> str:
    """The configured directory, or one of our own under the system's temporary directory."""
    if state_dir:
        return private_dir(state_dir)
    base = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  # private_dir refuses one that is not ours
    return private_dir(os.path.join(base, f"hookline-{os.geteuid()}"))


class Workspace:
    """The private files of one run. The directory is created with the first file."""

    __slots__ = ("_dir", "_state_dir")

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._dir = ""

    def file(self, name: str, content: bytes, *, mode: int = 0o600) -> str:
        """Write ``content`` to a new private file and give its path."""
        if not self._dir:
            parent = private_dir(os.path.join(state_root(self._state_dir), "tmp"))
            made = os.path.join(parent, os.urandom(8).hex())
            os.mkdir(made, 0o700)
            self._dir = made
        path = os.path.join(self._dir, name)
        # Two values may want the same name (a variable and an argument); the second gets a number.
        if os.path.exists(path):
            path = f"{path}.{len(os.listdir(self._dir))}"
        write_private(path, content, mode=mode)
        return path

    def file_in(self, folder: str, content: bytes) -> str:
        """A script in a folder of others, from which it is removed too; "" where nothing can be written. A symbolic link
        in our own directory names it, so that a later sweep finds it if this process is killed."""
        path = os.path.join(folder, _BESIDE + os.urandom(8).hex())
        own = os.path.dirname(self.file(f"{_OF}{os.getpgrp()}", b""))
        _sweep(os.path.dirname(own), time.time() - _KEEP)
        try:
            os.symlink(path, os.path.join(own, "script"))
            write_private(path, content, mode=0o700)
        except OSError:
            return ""
        return path

    def nameless(self, name: str, content: bytes) -> int:
        """An open file that is on no disk once everybody who has it open is gone."""
        path = self.file(name, content)
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.unlink(path)

    def remove(self) -> None:
        if self._dir:
            _remove(self._dir)
            self._dir = ""

    def finish(self, pid: int) -> None:
        """Remove the files of a hook that has ended, unless a process of its group still runs."""
        if self._dir and _is_gone(pid):
            self.remove()

    def leave(self, pid: int) -> None:
        """Keep the files for a hook that outlives us, and remove those of earlier ones that have ended."""
        if self._dir:
            if os.listdir(self._dir):
                write_private(os.path.join(self._dir, f"{_OF}{pid}"), b"")
            else:
                os.rmdir(self._dir)
            _sweep(os.path.dirname(self._dir), time.time() - _KEEP)


def write_private(path: str, content: bytes, *, mode: int = 0o600) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


def _sweep(directory: str, before: float) -> None:
    """Remove the entries that were last changed before that time. Others may sweep at the same moment."""
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                if entry.stat(follow_symlinks=False).st_mtime < before or _has_ended(entry.path):
                    _remove(entry.path)
            except OSError:
                continue


def _has_ended(workspace: str) -> bool:
    """Whether the hook that these files were left for is gone, with its whole group."""
    pid = next((name.removeprefix(_OF) for name in os.listdir(workspace) if name.startswith(_OF)), "")
    return pid.isdigit() and _is_gone(int(pid))


def _is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def _remove(workspace: str) -> None:
    """A workspace is flat. A hook that made directories in it keeps them until a sweep finds it empty."""
    try:
        for name in os.listdir(workspace):
            path = os.path.join(workspace, name)
            beside = os.readlink(path) if os.path.islink(path) else ""
            if os.path.basename(beside).startswith(_BESIDE):
                with suppress(OSError):
                    os.unlink(beside)
            if beside or not os.path.isdir(path):
                os.unlink(path)
        os.rmdir(workspace)
    except OSError:
        return


def new_spill(state_dir: str, stream: str) -> tuple[int, str]:
    """An open file for output over the cap, and its path; the oldest ones make room."""
    directory = private_dir(os.path.join(state_root(state_dir), "spill"))
    for old in sorted(os.listdir(directory))[: -_SPILLS + 1]:
        try:
            os.unlink(os.path.join(directory, old))
        except OSError:
            continue
    path = os.path.join(directory, f"{time.time_ns():020d}-{os.urandom(4).hex()}.{stream}")
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), path


DEPTH_VARIABLE = "HOOKLINE_DEPTH"
_DIGITS = 6


def hook_depth(environ: Mapping[str, str]) -> int:
    """0 outside of every hook, and where the variable is no number."""
    text = environ.get(DEPTH_VARIABLE, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else 0


def next_depth(environ: Mapping[str, str]) -> str:
    """The depth that the process of a hook gets."""
    return str(hook_depth(environ) + 1)
