"""Which version of an agent is installed: only its own program knows."""

from __future__ import annotations

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.agents import Agent

#: Seconds that an agent may take to tell its version. Some load everything they have first.
_TIMEOUT = 20.0

_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


def agent_program(target: Agent, environ: Mapping[str, str]) -> str:
    """Where its program is; "" where it is not found."""
    return shutil.which(target.program, path=environ.get("PATH")) or ""


def _version_of(program: str, environ: Mapping[str, str], cwd: str) -> str:
    """What ``program --version`` says; "" where it says nothing in time.

    Asked in ``cwd``, which should not be a project's: some agents read its settings before anything else.
    """
    try:
        done = subprocess.run(
            [program, "--version"], cwd=cwd, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=_TIMEOUT, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(done.stdout) or _VERSION.search(done.stderr)
    return found[0].rstrip(".") if found else ""


def agent_versions(targets: Sequence[Agent], environ: Mapping[str, str], cwd: str) -> dict[str, str]:
    """Agent -> version, of those whose program is found; all are asked at once."""
    found = {target.name: program for target in targets if (program := agent_program(target, environ))}
    if not found:
        return {}
    with ThreadPoolExecutor(max_workers=4) as pool:
        told = pool.map(lambda program: _version_of(program, environ, cwd), found.values())
        return dict(zip(found, told, strict=True))
