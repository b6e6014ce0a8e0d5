"""Where the knowledge loop keeps its files, and what to do about a directory that cannot be used.

Every directory and file name is defined here.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from contextlib import suppress

from hookline.core._dataclass import dataclass, field, replace
from hookline.core.errors import StateError
from hookline.core.paths import ELSEWHERE, Paths, UnusableError, private_dir, unusable, why_unusable
from hookline.memory.project import Project
from hookline.memory.settings import KnowledgeLoop

DECISIONS = "decisions.jsonl"
FAILURES = "failures.jsonl"
#: What hook agents keep with their memory tool.
NOTES = "notes.jsonl"
HANDOFF = "handoff.md"
PRE_COMPACT_SUMMARY = "pre-compact-summary.md"
#: Points to the newest export of a project, so that a start need not search all of them.
LAST_SESSION = "last-session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """``root`` is the person's knowledge, ``state`` is ours."""

    root: str
    state: str
    sessions: str
    learnings: str
    #: The agent's own directory (``CLAUDE_CONFIG_DIR``). Memory that lazy-harness left there is read, never written.
    agent: str = ""
    #: The transcripts of our own chat.
    chats: str = ""
    #: The settings that name these directories, for messages.
    root_from: str = field(default="", compare=False)
    learnings_from: str = field(default="", compare=False)

    @property
    def queue(self) -> str:
        return os.path.join(self.state, "queue")

    @property
    def done(self) -> str:
        return os.path.join(self.queue, "done")

    @property
    def dead(self) -> str:
        return os.path.join(self.queue, "dead")

    @property
    def worker_lock(self) -> str:
        return os.path.join(self.queue, ".worker.lock")

    @property
    def hooks_log(self) -> str:
        return os.path.join(self.state, "hooks.log")

    @property
    def worker_log(self) -> str:
        return os.path.join(self.state, "compound-loop.log")

    @property
    def compact_backups(self) -> str:
        return os.path.join(self.state, "compact-backups")

    def memory(self, project: Project) -> str:
        """The directory that memory of the project is written to."""
        return os.path.join(self.root, "memory", project.folder)

    def memories(self, project: Project, cwd: str) -> tuple[str, ...]:
        """Every directory that memory of the project is read from, our own first. They need not exist."""
        own = [os.path.join(self.root, "memory", folder) for folder in (project.folder, *project.earlier)]
        return tuple(dict.fromkeys([*own, *self._left_by_lazy_harness(project, cwd)]))

    def _left_by_lazy_harness(self, project: Project, cwd: str) -> list[str]:
        if not self.agent:
            return []
        names = [name for place in (cwd, project.root) for name in encode_cwd(place)]
        return [os.path.join(self.agent, "projects", name, "memory") for name in dict.fromkeys(names)]


def make_private(path: str) -> str:
    """Create a private directory and its missing parents. Existing ones keep their permissions: a person made them.
    Raises OSError and StateError."""
    missing: list[str] = []
    place = path
    while place and not os.path.isdir(place):
        missing.append(place)
        place = os.path.dirname(place)
    for folder in reversed(missing):
        private_dir(folder)
    return path


def encode_cwd(cwd: str) -> tuple[str, str]:
    """A working directory as a file name: as Claude Code writes it, and as lazy-harness documents it (slashes only)."""
    return re.sub(r"[^A-Za-z0-9-]", "-", cwd), cwd.replace("/", "-")


def memory_places(settings: KnowledgeLoop, *, paths: Paths, home: str, environ: Mapping[str, str]) -> Places:
    """From the settings; ``LCT_LEARNINGS_DIR`` comes before ``learnings_subdir``.

    ``environ`` contains only trusted variables (``settings.resolve_environment``).
    """
    knowledge = settings.knowledge
    root = _absolute(knowledge.path, home) or os.path.join(paths.data, "knowledge")
    learnings = _absolute(environ.get("LCT_LEARNINGS_DIR", ""), home)
    file = knowledge.path_file or os.path.join(paths.config, "hookline.toml")
    return Places(
        root=root,
        state=paths.state,
        sessions=_within(root, knowledge.sessions_subdir, "sessions"),
        learnings=learnings or _within(root, settings.compound_loop.learnings_subdir, "learnings"),
        agent=_absolute(environ.get("CLAUDE_CONFIG_DIR", ""), home) or os.path.join(home, ".claude"),
        chats=os.path.join(paths.data, "chats"),
        root_from=f"[knowledge] path in {file}",
        learnings_from="LCT_LEARNINGS_DIR" if learnings else "",
    )


def _absolute(path: str, home: str) -> str:
    """Relative paths count from home: they would name another directory in every project."""
    if not path:
        return ""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.normpath(os.path.join(home, path))


def _within(root: str, subdir: str, default: str) -> str:
    inside = os.path.normpath(os.path.join(root, subdir or default))
    return inside if inside.startswith(root.rstrip("/") + "/") else os.path.join(root, default)


#: Errors of the machine, whatever the path.
_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)


def is_directory_error(error: OSError | StateError, places: Places) -> bool:
    """Whether no task caused it: a full disk, or one of our own directories that cannot be used."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in _MACHINE:
        return True
    path = _error_path(error)
    return any(_is_below(path, place) for place in (places.root, places.learnings, places.state))


def describe_error(error: OSError | StateError, places: Places) -> str:
    """The error in one line, with the setting that names the directory and the fix."""
    path = _error_path(error)
    fix = _fix(path, places)
    if isinstance(error, UnusableError):
        return str(replace(error.place, elsewhere=fix))
    if isinstance(error, OSError) and path and error.errno:
        return str(unusable(path, error, fix))
    return str(error)


def why_unreadable(places: Places) -> str:
    """Why the directories cannot be read; "" if they can, or if there is nothing yet."""
    for place in (places.root, places.state):
        try:
            with os.scandir(place):
                pass
        except FileNotFoundError:
            if os.path.islink(place):
                return str(unusable(place, OSError(errno.EEXIST, ""), _fix(place, places)))
        except OSError as error:
            wrong = OSError(errno.EEXIST, "") if error.errno == errno.ENOTDIR else error
            return str(unusable(place, wrong, _fix(place, places)))
    return ""


def why_unwritable(places: Places) -> list[str]:
    """The errors that writing would give now. Nothing is touched."""
    found: list[str] = []
    for place in (places.root, places.learnings, places.state):
        if found and _is_below(place, places.root):
            continue
        why = None
        with suppress(OSError):
            why = why_unusable(place)
        if why is not None and not why.foreign:  # a shared directory may belong to another user
            found.append(str(replace(why, elsewhere=_fix(place, places))))
    return found


def _fix(path: str, places: Places) -> str:
    if places.learnings_from and _is_below(path, places.learnings):
        return f"name another directory: {places.learnings_from}"
    if _is_below(path, places.root) or _is_below(path, places.learnings) or _blocks(path, places.root):
        return f"name another directory: {places.root_from}"
    return ELSEWHERE


def _error_path(error: OSError | StateError) -> str:
    if isinstance(error, UnusableError):
        return error.place.path
    cause = error if isinstance(error, OSError) else error.__cause__
    name = getattr(cause, "filename", None)
    return os.fsdecode(name) if isinstance(name, str | bytes) else ""


def _is_below(path: str, place: str) -> bool:
    return bool(path) and (f"{path}/".startswith(f"{place.rstrip('/')}/"))


def _blocks(path: str, place: str) -> bool:
    """A file where a parent directory should be."""
    return bool(path) and place.startswith(f"{path}/") and not os.path.isdir(path)
