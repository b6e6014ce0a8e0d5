"""What ``hookline trust --yes`` does, for tests without a command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.engine.load import approve

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def approve_project(project: Path, environ: Mapping[str, str], dialect: str | None = None) -> None:
    runtime = load_runtime(Sources(cwd=project, environ=environ, dialect=dialect, inspect=True), READ_ONLY)
    runtime.engine.close()
    approve(runtime, [spec for spec in runtime.loaded.specs if spec.id in runtime.verdicts])
