"""The engine inside the shell. It is rebuilt when its files change or the shell enters another project.

Running plugins, the session's mode and its event counts move to the new engine.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

from hookline.config.load import load
from hookline.core._dataclass import dataclass, replace
from hookline.core.file_watch import Signature, are_unchanged, signatures
from hookline.core.files import listening
from hookline.core.hook import HookSpec, Plugin
from hookline.core.loaded import Loaded
from hookline.core.paths import find_paths, home_directory, project_root, why_unusable
from hookline.dialects.base import FOREIGN
from hookline.engine.build import Runtime, Sources, load_runtime
from hookline.engine.engine import Engine
from hookline.gateway.notices import approval_lines, problem_lines
from hookline.runners.plugin.runner import PluginRunner
from hookline.shell.recorders import DeferredRecorder, RedactingRecorder
from hookline.state.record import NullRecorder

#: The usual default; a timeout of this length or more counts as not configured.
_DEFAULT = 5.0

#: Event -> seconds for each hook.
EDITOR_TIMEOUTS: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(("input.key", "key.tab", "key.up", "key.down", "input.prefix"), 0.25),
        **dict.fromkeys(("completion.request", "input.post_complete", "prompt.render"), 1.0),
    }
)


def cap_editor_timeout(spec: HookSpec) -> HookSpec:
    seconds = EDITOR_TIMEOUTS.get(spec.event)
    if seconds is None or spec.mode != "sync" or (spec.timeout is not None and spec.timeout < _DEFAULT):
        return spec
    return replace(spec, timeout=seconds)


#: Seconds that a replaced engine is kept.
_RETIRE_AFTER = 2.0

#: Seconds that the end of a shell waits for background hooks before it kills them.
_CLOSE_TIMEOUT = 2.0

#: The agent of these events.
_AGENT = "shell"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellOptions:
    """Options of the command line; without any, the person's and the project's files are used."""

    config: tuple[str, ...] = ()
    dialect: str | None = None


class EngineHost:
    """``engine`` is the current one; ``refresh`` replaces it if it is outdated."""

    def __init__(
        self, options: ShellOptions, environ: Mapping[str, str], directory: Callable[[], str] | None = None
    ) -> None:
        """``directory``: where the shell is."""
        self.directory = directory or current_directory
        self._options = options
        self._environ = dict(environ)
        self._home = home_directory(environ)
        self._files: dict[str, Signature] = {}
        self._cwd = ""
        self._root = ""
        #: Number of checks: disabled hooks are looked up once per check.
        self.checks = 0
        self.problems: tuple[str, ...] = ()
        #: One's own files -> their hooks as they were last read without errors.
        self._last_read: dict[str, tuple[HookSpec, ...]] = {}
        #: Replaced engines; a thread that waits for a job may still use one.
        self._retired: list[Engine] = []
        self._lock = threading.Lock()
        self.engine: Engine = self._build()

    def refresh(self, environ: Mapping[str, str]) -> bool:
        """Whether there is a new engine. A check costs about thirty microseconds."""
        self.checks += 1
        here = self.directory()
        moved = here != self._cwd and project_root(here, self._home) != self._root
        same_files = self.is_current
        if same_files and not moved:
            self._cwd = here
            return False
        before = self.engine
        self._environ = dict(environ)
        self.engine = self._build()
        self._hand_over(before, keep_plugins=same_files)
        return True

    @property
    def is_current(self) -> bool:
        return are_unchanged(self._files)

    @property
    def files(self) -> frozenset[str]:
        """The files that the engine was made from, those that do not exist among them."""
        return frozenset(self._files)

    @property
    def cwd(self) -> str:
        """The shell's directory at the last check."""
        return self._cwd

    def moved(self) -> bool:
        """The shell has changed its directory since the last check."""
        return self.directory() != self._cwd

    def close(self) -> None:
        until = time.monotonic() + _CLOSE_TIMEOUT
        for engine in (*self._retired, self.engine):
            engine.join(None, until)
        for engine in tuple(self._retired):
            self._retire(engine)
        self.engine.close()

    def _build(self) -> Engine:
        self._cwd = self.directory()
        self._root = project_root(self._cwd, self._home)
        began = time.time_ns()
        with listening() as opened:
            assembly, problems = self._assembled()
        state = assembly.paths.state
        unkept = why_unusable(state)
        unrecorded = [f"nothing is recorded: {unkept}"] if unkept else []
        self.problems = (*problem_lines(assembly), *approval_lines(assembly), *problems, *unrecorded)
        ours = tuple(os.path.join(state, name) for name in ("hookline.db", "sessions.db"))
        watched = {path for path in opened if not path.startswith(ours) and not os.path.isdir(path)}
        watched |= {source.path for source in assembly.loaded.sources}
        watched |= {os.path.join(self._home, ".lash", name) for name in ("config", "plugins.conf")}
        watched.add(os.path.join(state, "trust.json"))
        self._files = signatures(watched, began)
        assembly.switches.moment = lambda: self.checks
        engine = assembly.engine
        if not isinstance(engine.recorder, NullRecorder):
            engine.recorder = DeferredRecorder(RedactingRecorder(engine.recorder))
        return engine

    def _assembled(self) -> tuple[Runtime, tuple[str, ...]]:
        sources = Sources(
            cwd=self._cwd, environ=self._environ, home=self._home, agent=_AGENT, adjust=cap_editor_timeout,
            trust_all=self._environ.get("HOOKLINE_TRUST") == "all",
            config=list(self._options.config) or None, dialect=self._options.dialect,
        )  # fmt: skip
        if sources.config or sources.dialect:
            return self._loaded(sources), ()
        lash = load(
            cwd=self._cwd,
            home=self._home,
            environ=self._environ,
            paths=find_paths(self._environ, self._home),
            dialect="lash",
        )
        problems = tuple(str(problem) for problem in lash.problems if problem.severity == "error")
        return self._loaded(replace(sources, more=self._as_last_read(lash) or lash.specs)), problems

    def _loaded(self, sources: Sources) -> Runtime:
        runtime = load_runtime(sources)
        kept = self._as_last_read(runtime.loaded)
        return load_runtime(replace(sources, more=kept)) if kept else runtime

    def _as_last_read(self, loaded: Loaded) -> tuple[HookSpec, ...]:
        """All hooks, where a file has errors now and had none before: who corrects a file keeps the guards in it.
        Approved hooks of a project refuse by themselves then."""
        own = {source.path for source in loaded.sources if source.found and source.layer not in FOREIGN}
        for path in own - loaded.faulty:
            self._last_read[path] = tuple(spec for spec in loaded.specs if spec.origin.file == path)
        faulty = own & loaded.faulty & self._last_read.keys()
        others = tuple(spec for spec in loaded.specs if spec.origin.file not in faulty)
        return (*others, *(spec for path in sorted(faulty) for spec in self._last_read[path])) if faulty else ()

    def _hand_over(self, before: Engine, *, keep_plugins: bool) -> None:
        now = self.engine
        now.sessions, now.on_applied = before.sessions, before.on_applied
        if keep_plugins and (runner := before.crew.pop(Plugin, None)) is not None:
            assert isinstance(runner, PluginRunner), "the table of runners says so"
            runner.on_event = now.crew.on_event
            now.crew[Plugin] = runner
        if now.settings.record == before.settings.record:
            # One journal for the session: a second writer would find it locked and be slower.
            now.recorder.close()
            now.recorder = before.recorder
        self._retired.append(before)
        leave = threading.Timer(_RETIRE_AFTER, self._retire, [before])
        leave.daemon = True
        leave.start()

    def _retire(self, engine: Engine) -> None:
        with self._lock:
            rest = [one for one in self._retired if one is not engine]
            if len(rest) == len(self._retired):
                return
            self._retired = rest
        if engine.recorder is self.engine.recorder:
            engine.recorder = NullRecorder()
        engine.close()


def current_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # the directory was removed
        return home_directory(os.environ)
