"""Where the knowledge loop keeps its files. Every directory and file name is defined here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from hookline.core._dataclass import dataclass, field
from hookline.core.paths import Paths, private_dir
from hookline.memory.project import Project
from hookline.memory.settings import KnowledgeLoop

DECISIONS = "decisions.jsonl"
FAILURES = "failures.jsonl"
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
