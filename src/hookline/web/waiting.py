"""Everything that waits for a person: questions of hooks, changed guards, what is not approved, failed deployments."""

from __future__ import annotations

import difflib
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from hookline.core.errors import ConfigError, HooklineError
from hookline.core.paths import Paths
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.state import inbox as questions
from hookline.state import own_guards
from hookline.state.protection import require_outside_agent


def inbox(paths: Paths, cwd: str, projects: Sequence[str]) -> dict[str, Any]:
    asked = [{**one, "left": max(0.0, one["deadline"] - time.time())} for one in questions.questions(paths.state)]
    for one in asked:
        one.pop("socket", None)
    folders = [one for one in dict.fromkeys((cwd, *projects)) if os.path.isdir(one)][:12]
    found = list(_unapproved(folders))
    return {
        "questions": asked, "guards": list(_changed_guards(paths)),
        "unapproved": [one for one in found if "hook" in one], "packs": [one["pack"] for one in found if "pack" in one],
    }  # fmt: skip


def _changed_guards(paths: Paths) -> Iterator[dict[str, Any]]:
    """One's own deployed files that say something else now, with the difference."""
    for path, (text, _) in own_guards.read_kept(paths.state).items():
        now = own_guards.read_own(path)
        if now != text and not own_guards.was_declined(paths.state, path, now):
            lines = difflib.unified_diff(text.splitlines(), now.splitlines(), lineterm="")
            yield {"path": path, "diff": list(lines)[2:], "seal": _seal(now)}  # without the names of two files


def _unapproved(folders: Sequence[str]) -> Iterator[dict[str, Any]]:
    for folder in folders:
        with suppress(HooklineError, OSError):
            runtime = load_runtime(Sources(cwd=folder, inspect=True), READ_ONLY)
            runtime.engine.close()
            yield from ({"pack": str(one)} for one in runtime.loaded.problems if one.pointer.startswith("$.pack"))
            changed = [spec for spec in runtime.loaded.specs if _state(runtime, spec) in {"unknown", "changed"}]
            for spec in {one.name: one for one in changed}.values():
                yield {
                    "project": folder, "hook": spec.name, "id": spec.id, "file": spec.origin.file,
                    "state": _state(runtime, spec), "event": spec.event,
                }  # fmt: skip


def _state(runtime: Any, spec: Any) -> str:
    verdict = runtime.verdicts.get(spec.id)
    return "own" if verdict is None else verdict.state


def keep(paths: Paths, path: str, seal: str) -> None:
    """The person says that a change of a deployed guard is theirs; it must be the change that was shown."""
    require_outside_agent(paths.state, "accept a changed guard")
    if path not in own_guards.read_kept(paths.state) or _seal(own_guards.read_own(path)) != seal:
        raise ConfigError(f"{path} has changed since it was shown; look at it again")
    own_guards.accept(paths.state, path)


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
