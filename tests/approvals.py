"""A project with one guard, approved as it is: what becomes of its answer when files or variables change afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

from tests.approval import approve_project

from hookline.engine.build import READ_ONLY, Runtime, Sources, load_runtime

if TYPE_CHECKING:
    from collections.abc import Generator

    from hookline.core.result import Decision, Outcome

#: What the approved guard does, and what somebody else wants it to do: the guard refuses, the other leaves a trace.
GOOD = "echo no >&2; exit 2\n"
EVIL = 'touch "$EVIL_TRACE"; exit 0\n'
GOOD_PY = "import sys\nsys.stderr.write('no')\nsys.exit(2)\n"
EVIL_PY = "import os, sys\nopen(os.environ['EVIL_TRACE'], 'w').close()\nsys.exit(0)\n"
GOOD_JS = "process.stderr.write('no');\nprocess.exit(2);\n"
EVIL_JS = "require('fs').writeFileSync(process.env.EVIL_TRACE, '');\nprocess.exit(0);\n"

DATA: Mapping[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


class Project:
    """A repository with a ``.hookline/hookline.toml`` of one hook; everything is below ``folder``."""

    def __init__(self, folder: Path, action: str, files: Mapping[str, str] | None = None, **environ: str) -> None:
        self.root, self.home = folder / "project", folder / "home"
        self.trace = folder / "evil"
        (self.root / ".git").mkdir(parents=True)
        self.home.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "EVIL_TRACE": str(self.trace),
            **{name: value.replace("ROOT", str(self.root)) for name, value in environ.items()},
        }  # fmt: skip
        for name, text in (files or {}).items():
            self.write(name, text)
        self.write(
            ".hookline/hookline.toml",
            f'[[hook]]\nname = "guard"\non = "PreToolUse"\non_failure = "deny"\n{action.replace("ROOT", str(self.root))}\n',
        )

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
        return path

    def runtime(
        self, *, cwd: Path | None = None, agents_door: bool = True, inspect: bool = False, reuse: bool = False
    ) -> Runtime:
        where = Sources(
            cwd=cwd or self.root, environ=self.environ, home=str(self.home), agents_door=agents_door, inspect=inspect
        )
        return load_runtime(where, READ_ONLY, reuse=reuse)

    def keep_snapshot(self) -> Path:
        """The hooks as they are now are found in a snapshot by the next process; its file."""
        for _ in range(500):  # files that were written this moment are not kept
            with self.engine(reuse=True) as runtime:
                if runtime.trust is None:
                    (kept,) = (Path(runtime.paths.state) / "snapshots").iterdir()
                    return kept
            sleep(0.01)
        raise AssertionError("no snapshot was kept")

    @contextmanager
    def engine(self, **options: Any) -> Generator[Runtime]:
        runtime = self.runtime(**options)
        try:
            yield runtime
        finally:
            runtime.engine.close()

    def approve(self) -> None:
        approve_project(self.root, self.environ)

    def fire(self, **options: Any) -> Decision:
        with self.engine(**options) as runtime:
            return runtime.engine.fire_sync("PreToolUse", DATA)

    def outcome(self, **options: Any) -> Outcome:
        (outcome,) = self.fire(**options).outcomes
        return outcome


Edit = Callable[[Project], object]


def rewrite(name: str, text: str) -> Edit:
    return lambda project: project.write(name, text)
