"""Check hookline itself: directories, daemon, client, and whether the hooks can run."""

from __future__ import annotations

import os
import platform
import sqlite3
import stat
from collections.abc import Iterator, Mapping

import hookline
from hookline.core.hook import count_hooks
from hookline.core.paths import Paths, home_directory, why_unusable
from hookline.daemon import lifecycle
from hookline.daemon.protocol import find_daemon_paths
from hookline.deploy.transport import runs_from_cache
from hookline.doctor.finding import Finding, budget_overruns, fine, note, wrong
from hookline.engine.build import Runtime
from hookline.engine.lint import lint
from hookline.gateway.notices import missing_hooks
from hookline.state.record.store import store_in

#: The first with STRICT tables.
_OLDEST_SQLITE = (3, 37)


def local_findings(runtime: Runtime, paths: Paths, cwd: str, environ: Mapping[str, str]) -> list[Finding]:
    """``paths`` are those of agents' calls, which ignore HOOKLINE_*_DIR."""
    return [
        *_versions(), *_directories(paths, environ), *_daemon(environ), *_client(paths),
        *_hooks(runtime, cwd, environ), *_late(runtime, paths),
    ]  # fmt: skip


def _versions() -> Iterator[Finding]:
    yield fine(
        "version",
        f"hookline {hookline.__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
    )
    if why := runs_from_cache():
        yield note("version", why)
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        wanted = ".".join(map(str, _OLDEST_SQLITE))
        yield wrong("sqlite", f"SQLite is older than {wanted}, so nothing can be recorded", "install a newer Python")


def _directories(paths: Paths, environ: Mapping[str, str]) -> Iterator[Finding]:
    yield from _state(paths.state)
    if not os.path.isabs(environ.get("HOME", "")):
        home = home_directory(environ)
        yield note("state", f"HOME is not an absolute path; {home} counts instead", f"export HOME={home}")
    for name in ("HOOKLINE_STATE_DIR", "HOOKLINE_CONFIG_DIR", "HOOKLINE_DATA_DIR"):
        if given := environ.get(name):
            yield note("state", f"{name} is set; commands you type use it, agents' calls ignore it", f"unset {name}")
            yield from _unusable(os.path.abspath(given))


def _state(path: str) -> Iterator[Finding]:
    found = [*_unusable(path)] or [each for name in (path, *_kept(path)) for each in _private(name)]
    yield from found or [fine("state", f"{path} is private")]


def _unusable(path: str) -> Iterator[Finding]:
    if why := why_unusable(path):
        yield wrong("state", f"{why.finding}; nothing can be stored there", why.next_step)


def _kept(state: str) -> list[str]:
    names = ("hookline.db", "sessions.db", "trust.json", "deployed.json")
    return [path for name in names if os.path.exists(path := os.path.join(state, name))]


def _private(path: str) -> Iterator[Finding]:
    """Report what other users could read or change. A missing directory is created when needed."""
    try:
        status = os.stat(path)
    except OSError:  # not there yet
        return
    if status.st_uid != os.geteuid():
        yield wrong("state", f"{path} belongs to another user", f"ls -l {path}")
    elif status.st_mode & 0o077:
        mode = "700" if stat.S_ISDIR(status.st_mode) else "600"
        yield wrong("state", f"other users can access {path}", f"chmod {mode} {path}")
    elif not os.access(path, os.W_OK | os.R_OK):
        yield wrong("state", f"{path} is not writable, so nothing is recorded", f"ls -ld {path}")


def _daemon(environ: Mapping[str, str]) -> Iterator[Finding]:
    if environ.get("HOOKLINE_DAEMON") == "off":
        yield note("daemon", "HOOKLINE_DAEMON=off: every call starts Python")
        return
    try:
        told = lifecycle.status(find_daemon_paths(environ))
    except (OSError, ValueError) as error:
        yield wrong("daemon", f"no answer: {error}", "hookline daemon stop")
        return
    if not told["running"]:
        if told["silent"]:
            yield wrong("daemon", "a process holds its lock but does not answer", "hookline daemon stop")
        else:
            yield note("daemon", "not running; the next call of an agent starts it", "hookline daemon start")
    elif told["version"] != hookline.__version__:
        yield wrong(
            "daemon", f"its version is {told['version']}, but this is {hookline.__version__}", "hookline daemon stop"
        )
    elif told["crashes"]:
        text = f"{len(told['crashes'])} crashes; the latest: {told['crashes'][-1]}"
        yield wrong("daemon", text, "hookline daemon status")
    else:
        yield fine("daemon", f"running; requests: {told['requests']}, engines: {told['engines']}")


def _client(paths: Paths) -> Iterator[Finding]:
    client = os.path.join(paths.data, "bin", "hookc")
    if not os.path.exists(client):
        text = "the native client is not built; the Python client is slower"
        yield note("client", text, "hookline daemon build-client")
    elif not os.access(client, os.X_OK):
        yield wrong("client", f"{client} is not executable", "hookline daemon build-client")
    else:
        yield fine("client", client)


def _hooks(runtime: Runtime, cwd: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    specs = runtime.loaded.specs
    found = [*_mistakes(runtime, cwd, environ), *_approvals(runtime)]
    yield from found
    if off := sorted({one.name for one in specs if runtime.switches.off(one)}):
        yield note("hooks", f"switched off by hand: {', '.join(off)}", "hookline hooks list")
    if not specs:
        yield note("hooks", f"no hooks in {cwd}", "hookline hooks add")
    elif not found:
        hooks, on = count_hooks(specs), count_hooks(spec for spec in specs if spec.enabled)
        yield fine("hooks", f"{hooks} hook{'' if hooks == 1 else 's'}, {'all can run' if on == hooks else f'{on} on'}")


def _mistakes(runtime: Runtime, cwd: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    specs = runtime.loaded.specs
    errors = sum(problem.severity == "error" for problem in runtime.loaded.problems)
    if errors:
        yield wrong("hooks", f"{errors} {'error' if errors == 1 else 'errors'} in the configuration", "hookline check")
    for problem in lint(specs, cwd, environ):
        yield wrong("hooks", problem.finding, problem.fix)


def _approvals(runtime: Runtime) -> Iterator[Finding]:
    verdicts = runtime.verdicts
    state = {one.id: verdicts[one.id].state for one in runtime.loaded.specs if one.id in verdicts}
    unknown = sorted({one.name for one in runtime.loaded.specs if state.get(one.id) == "unknown"})
    changed = count_hooks(one for one in runtime.loaded.specs if state.get(one.id) == "changed")
    if unknown:
        yield wrong("trust", f"not trusted yet, so they do not run: {', '.join(unknown)}", "hookline trust")
    if changed:
        yield wrong("trust", f"{changed} changed since you trusted them, so they count as failed", "hookline trust")
    for file in runtime.unapproved:
        if not file.hooks and not file.settings:
            yield wrong("trust", f"{file.file} is not approved, so nothing of it has any effect", runtime.review)
    for one in missing_hooks(runtime):
        yield wrong("trust", f"{one.file}: {one.finding}", one.fix)


def _late(runtime: Runtime, paths: Paths) -> Iterator[Finding]:
    specs = runtime.loaded.specs
    if not any(spec.thrift is not None for spec in specs):
        return
    store = store_in(paths.state, runtime.loaded.settings.record)
    late = budget_overruns(store, specs)
    store.close()
    for spec in specs:
        if spec.id in late:
            yield wrong("budget", f"{spec.name} ({spec.event}) is {late[spec.id]}", "hookline list")
