"""The engine that lives in the shell: made once, made anew when its files change or the shell enters another project.

Running plugins, the session's mode and the counts of its events move from one engine to the next.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any

from hookline.config import load
from hookline.config.discover import project_root
from hookline.core._dataclass import dataclass, replace
from hookline.core.file_tracking import listening
from hookline.core.hook import Plugin
from hookline.core.paths import find_paths, why_unusable
from hookline.daemon.signatures import now_ns, signatures, unchanged
from hookline.engine.build import Runtime, Sources, load_runtime
from hookline.gateway.notices import problem_lines
from hookline.runners.plugin.runner import PluginRunner
from hookline.shell.deadlines import cap_editor_timeout
from hookline.shell.deferred_recorder import DeferredRecorder
from hookline.shell.redacting_recorder import RedactingRecorder
from hookline.state.record import NullRecorder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.daemon.signatures import Signature
    from hookline.engine.engine import Engine

#: Seconds that an engine is kept after another one came into force.
_LEAVING = 2.0

#: Seconds that the end of a shell waits for its background hooks; what runs on then is ended.
_LAST_WORDS = 2.0

#: What hooks are told of who fires these events.
AGENT = "shell"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellOptions:
    """What the person asked for on the command line; nothing of it: one's own files and the project's."""

    config: tuple[str, ...] = ()
    dialect: str | None = None


class EngineHost:
    """``engine`` is the one in force; ``refresh`` looks whether it still is the right one."""

    def __init__(self, options: ShellOptions, environ: Mapping[str, str]) -> None:
        self._options = options
        self._environ = dict(environ)
        self._home = environ.get("HOME") or os.path.expanduser("~")
        self._files: dict[str, Signature] = {}
        self._cwd = ""
        self._root = ""
        #: How often the files were looked at: what a person switched off is looked up once per look.
        self.looks = 0
        self.problems: tuple[str, ...] = ()
        #: Engines that are no longer in force; a thread that waits for a job may still be firing through one.
        self._leaving: list[Engine] = []
        self._lock = threading.Lock()
        self.engine: Engine = self._made()

    def refresh(self, environ: Mapping[str, str]) -> bool:
        """Whether a new engine came into force. A look costs some thirty microseconds."""
        self.looks += 1
        here = _here()
        moved = here != self._cwd and project_root(here, self._home) != self._root
        same_files = unchanged(self._files)
        if same_files and not moved:
            self._cwd = here
            return False
        before = self.engine
        self._environ = dict(environ)
        self.engine = self._made()
        self._move_in(before, keep_plugins=same_files)
        return True

    @property
    def cwd(self) -> str:
        """Where the shell was at the last look."""
        return self._cwd

    def moved(self) -> bool:
        """The shell has changed its directory since the last look."""
        return _here() != self._cwd

    def close(self) -> None:
        until = time.monotonic() + _LAST_WORDS
        for engine in (*self._leaving, self.engine):
            engine.join(None, until)
        for engine in tuple(self._leaving):
            self._let_go(engine)
        self.engine.close()

    def _made(self) -> Engine:
        self._cwd = _here()
        self._root = project_root(self._cwd, self._home)
        began = now_ns()
        with listening() as opened:
            assembly, problems = self._assembled()
        state = assembly.paths.state
        unkept = why_unusable(state)
        self.problems = (*problem_lines(assembly), *problems, *([f"nothing is recorded: {unkept}"] if unkept else ()))
        ours = tuple(os.path.join(state, name) for name in ("hookline.db", "sessions.db"))
        watched = {path for path in opened if not path.startswith(ours) and not os.path.isdir(path)}
        watched |= {source.path for source in assembly.loaded.sources}
        watched |= {os.path.join(state, "trust.json"), *self._places()}
        self._files = signatures(watched, began)
        assembly.switches.moment = lambda: self.looks
        engine = assembly.engine
        if not isinstance(engine.recorder, NullRecorder):
            engine.recorder = DeferredRecorder(RedactingRecorder(engine.recorder))
        return engine

    def _places(self) -> set[str]:
        return {os.path.join(self._home, ".lash", name) for name in ("config", "plugins.conf")}

    def _assembled(self) -> tuple[Runtime, tuple[str, ...]]:
        sources = Sources(
            cwd=self._cwd, environ=self._environ, home=self._home, agent=AGENT, adjust=cap_editor_timeout,
            trust_all=self._environ.get("HOOKLINE_TRUST") == "all",
            config=list(self._options.config) or None, dialect=self._options.dialect,
        )  # fmt: skip
        if sources.config or sources.dialect:
            return load_runtime(sources), ()
        lash = load(
            cwd=self._cwd,
            home=self._home,
            environ=self._environ,
            paths=find_paths(self._environ, self._home),
            dialect="lash",
        )
        problems = tuple(str(problem) for problem in lash.problems if problem.severity == "error")
        return load_runtime(replace(sources, more=lash.specs)), problems

    def _move_in(self, before: Engine, *, keep_plugins: bool) -> None:
        now = self.engine
        now.sessions, now.on_applied = before.sessions, before.on_applied
        if keep_plugins and (runner := before.crew.release(Plugin)) is not None:
            assert isinstance(runner, PluginRunner), "the table of runners says so"
            runner.on_event = now.crew.on_event
            now.crew.employ(Plugin, runner)
        if now.settings.record == before.settings.record:
            # One journal for the whole session: a second one would find it locked, and take the long way.
            now.recorder.close()
            now.recorder = before.recorder
        self._leaving.append(before)
        leave = threading.Timer(_LEAVING, self._let_go, [before])
        leave.daemon = True
        leave.start()

    def _let_go(self, engine: Engine) -> None:
        with self._lock:
            rest = [one for one in self._leaving if one is not engine]
            if len(rest) == len(self._leaving):
                return
            self._leaving = rest
        if engine.recorder is self.engine.recorder:
            engine.recorder = NullRecorder()
        engine.close()


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the directory was taken away
        return os.path.expanduser("~")


def shell_event(
    engine: Engine, name: str, data: Mapping[str, Any], session: str, environ: Mapping[str, str], *, cwd: str = ""
) -> Any:
    """The event as the engine is to judge it: of this session, here and now."""
    return engine.event(name, data, session=session, cwd=cwd or _here(), environ=environ)
