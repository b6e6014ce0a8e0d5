"""Callers for whom no hook runs: the doctor's probe, our own model, and a hook that has called itself too often.

Each has a variable, but a repository can set variables. So the doctor and our own model also need a private file in the
state directory, and a call that is nested too deeply is refused.

The worker that distils sessions runs ``claude -p`` in a directory of ours, so that the transcript belongs to no project,
with a variable that names a file which the worker keeps locked meanwhile. Even then no tool may be used: the process
reads text that anybody may have written, and only has to answer.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress

from hookline.core.event import Event
from hookline.core.files import is_locked, open_locked
from hookline.core.paths import private_dir
from hookline.core.result import Decision
from hookline.dialects.base import Answer
from hookline.engine.engine import Engine
from hookline.gateway import probe
from hookline.gateway.request import AgentRequest
from hookline.runners.environ import DEPTH_VARIABLE, hook_depth

#: The variable that names the lock of our own model.
OWN_MODEL = "HOOKLINE_DISTILLING"
#: Begins every prompt of the worker: known also where a transcript does not give its directory.
PREFACE = "You distil finished work sessions for hookline."
#: A hook may start an agent whose hooks start another; nobody does that more often than this on purpose.
MOST_NESTED = 4

_HEX = frozenset("0123456789abcdef")


def bypass(
    request: AgentRequest, event: Event, engine: Engine, problems: Iterable[str]
) -> tuple[Answer, tuple[str, ...]] | None:
    """The answer to such a caller and the lines for stderr; None for everybody else, whatever their variables say."""
    if question := probe.take(request.environ, request.paths.state):
        _answer_probe(question, request, event, engine, problems)
        word = f"hookline doctor asks: {request.environ[probe.PROBE]}"
        return _answer(request, event, word if event.kind.deniable else ""), ()
    if is_own_model(request.environ, request.paths.state):
        is_tool = event.kind.name in {"PreToolUse", "PermissionRequest"}
        return _answer(request, event, "hookline is distilling a session: no tool is needed" if is_tool else ""), ()
    if why := why_too_deep(request.environ):
        # A refused Stop makes the agent go on, which would never end; only a fail-closed registration wants that.
        refuse = event.kind.deniable and (request.arguments.fail_closed or not event.kind.continues)
        return _answer(request, event, why if refuse else ""), (why,)
    return None


def _answer_probe(question: str, request: AgentRequest, event: Event, engine: Engine, problems: Iterable[str]) -> None:
    hooks = [{"hook": each.spec.name, "why_not": each.why or None} for each in engine.explain(event)]
    probe.answer(
        question,
        {
            "event": event.kind.name, "agent": request.arguments.agent, "session": event.session, "cwd": request.cwd,
            "hooks": hooks, "problems": list(problems), "pid": os.getpid(),
        },
    )  # fmt: skip


def _answer(request: AgentRequest, event: Event, refusal: str) -> Answer:
    decision = Decision(
        event=event.kind.name, effect="deny" if refusal else "allow", reason=refusal, data=event.data
    )  # fmt: skip
    return request.dialect.reply_out(event, decision)


# ── our own model ────────────────────────────────────────────────────────────────────────────────────


def own_model_directory(state: str) -> str:
    """The directory that our own model process works in."""
    return os.path.join(state, "distilling")


def is_own_session(*, state: str, cwd: str = "", prompt: str = "") -> bool:
    """Whether a session is our own model's, by its directory or its first prompt: not exported, not the latest."""
    if prompt.lstrip().startswith(PREFACE):
        return True
    return bool(cwd) and os.path.realpath(cwd) == os.path.realpath(own_model_directory(state))


@contextmanager
def mark_own_model(state: str) -> Generator[Mapping[str, str]]:
    """The variables of a process for which no hook runs while the context lasts. Raises OSError, StateError."""
    folder = private_dir(own_model_directory(private_dir(state)))
    _remove_stale_marks(folder)
    name = os.urandom(16).hex()
    path = os.path.join(folder, name)
    handle = open_locked(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, wait=True)
    assert handle is not None, "it was waited for"
    try:
        # The second is for our own commands and for hooks that would ask a model.
        yield {OWN_MODEL: name, "HOOKLINE_NO_HOOKS": "1"}
    finally:
        with suppress(OSError):
            os.unlink(path)
        os.close(handle)


def is_own_model(environ: Mapping[str, str], state: str) -> bool:
    """Whether the variable names a lock that the worker holds at this moment."""
    name = environ.get(OWN_MODEL, "")
    return _is_mark(name) and is_locked(os.path.join(own_model_directory(state), name), ours=True)


def _is_mark(name: str) -> bool:
    return len(name) == 32 and _HEX.issuperset(name)


def _remove_stale_marks(folder: str) -> None:
    """Marks whose worker is gone."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if _is_mark(name) and not is_locked(path, ours=True):
            with suppress(OSError):
                os.unlink(path)


def why_too_deep(environ: Mapping[str, str]) -> str:
    """Why no hook is run here; "" where hooks may run."""
    depth = hook_depth(environ)
    if depth <= MOST_NESTED:
        return ""
    return (
        f"hookline was called from inside its own hooks, {depth} deep, and stopped there: some hook calls hookline "
        f"(see: hookline list), or {DEPTH_VARIABLE} is set in the environment"
    )
