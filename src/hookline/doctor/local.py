"""Check hookline itself: directories, daemon, client, and whether the hooks can run."""

from __future__ import annotations

import os
import platform
import sqlite3
import stat
from collections.abc import Iterator, Mapping

import hookline
from hookline.core.paths import Paths, why_unusable
from hookline.daemon import lifecycle
from hookline.daemon.protocol import find_daemon_paths
from hookline.doctor.finding import Finding, budget_overruns, fine, note, wrong
from hookline.engine.build import Runtime
from hookline.engine.lint import program_problems
from hookline.engine.lint_matchers import gate_problems, match_problems
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
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        wanted = ".".join(map(str, _OLDEST_SQLITE))
        yield wrong("sqlite", f"SQLite is older than {wanted}, so nothing can be recorded", "install a newer Python")


def _directories(paths: Paths, environ: Mapping[str, str]) -> Iterator[Finding]:
    yield from _state(paths.state)
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
            yield note("daemon", "not running, so every call starts Python", "hookline daemon start")
    elif told["version"] != hookline.__version__:
        yield wrong(
            "daemon", f"its version is {told['version']}, but this is {hookline.__version__}", "hookline daemon stop"
        )
    elif told["crashes"]:
        yield wrong(
            "daemon",
            f"{len(told['crashes'])} crashes; the latest: {told['crashes'][-1]}",
            "hookline daemon status",
        )
    else:
        yield fine("daemon", f"running, {told['requests']} requests, {told['engines']} engines")


def _client(paths: Paths) -> Iterator[Finding]:
    client = os.path.join(paths.data, "bin", "hookc")
    if not os.path.exists(client):
        yield note(
            "client",
            "the native client is not built; the Python client is slower",
            "hookline daemon build-client",
        )
    elif not os.access(client, os.X_OK):
        yield wrong("client", f"{client} is not executable", "hookline daemon build-client")
    else:
        yield fine("client", client)


def _hooks(runtime: Runtime, cwd: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    loaded, verdicts = runtime.loaded, runtime.verdicts.values()
    errors = sum(problem.severity == "error" for problem in loaded.problems)
    if errors:
        yield wrong("hooks", f"{errors} {'error' if errors == 1 else 'errors'} in the configuration", "hookline check")
    programs = [
        *program_problems(loaded.specs, cwd, environ),
        *match_problems(loaded.specs),
        *gate_problems(loaded.specs),
    ]
    for problem in programs:
        yield wrong("hooks", problem.finding, problem.fix)
    unknown = sorted(
        {one.name for one in loaded.specs if (got := runtime.verdicts.get(one.id)) and got.state == "unknown"}
    )
    changed = sum(one.state == "changed" for one in verdicts)
    if unknown:
        yield wrong("trust", f"not trusted yet, so they do not run: {', '.join(unknown)}", "hookline trust")
    if changed:
        yield wrong("trust", f"{changed} changed since you trusted them, so they count as failed", "hookline trust")
    for one in runtime.missing:
        yield wrong("trust", f"the trusted hook {one.name!r} is missing from {one.file}", "hookline trust")
    off = sorted({one.name for one in loaded.specs if runtime.switches.off(one)})
    if off:
        yield note("hooks", f"switched off by hand: {', '.join(off)}", "hookline hooks list")
    if not loaded.specs:
        yield note("hooks", f"no hooks in {cwd}", "hookline hooks add")
    elif not (errors or programs or unknown or changed or runtime.missing):
        names = len({spec.name for spec in loaded.specs if spec.enabled})
        yield fine("hooks", f"{names} hook{'' if names == 1 else 's'}, all can run")


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
