"""A person's home and project, and the service they sit at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hookline.engine.build import Runtime, Sources, StoreOptions, load_runtime
from hookline.tui.catalog import Hook
from hookline.tui.service import HookService

USER = """\
# mine
[[hook]]
name = "guard"
on = "PreToolUse"
match = "Bash"
shell = "grep -q 'rm -rf' && { echo by hand >&2; exit 2; }; exit 0"

[[hook]]   # asks a model
name = "reviewer"
on = ["Stop", "SubagentStop"]
prompt = "Is it done?"
"""


@dataclass(frozen=True)
class Place:
    home: Path
    project: Path

    @property
    def user_file(self) -> Path:
        return self.home / ".config" / "hookline" / "hookline.toml"

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state" / "hookline"

    def assemble(self, *, record: bool = False, inspect: bool = False) -> Runtime:
        environ = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        return load_runtime(
            Sources(cwd=self.project, environ=environ, home=str(self.home), inspect=inspect),
            StoreOptions(record=record, live=False),
        )

    def fire(self, event: str, **data: object) -> None:
        with self.assemble(record=True).engine as engine:
            engine.fire_sync(event, data)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "home", tmp_path / "project")
    made.user_file.parent.mkdir(parents=True)
    made.user_file.write_text(USER)
    (made.project / ".git").mkdir(parents=True)
    return made


@pytest.fixture
def service(place: Place) -> Iterator[HookService]:
    made = HookService(lambda: place.assemble(inspect=True))
    yield made
    made.close()


def hook_of(service: HookService, name: str) -> Hook:
    (found,) = [hook for hook in service.hooks if hook.name == name]
    return found
