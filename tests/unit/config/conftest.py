"""A machine, a home and a project of its own for each test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from hookline.config.layers import ProjectGate
from hookline.config.load import load
from hookline.core.loaded import Loaded
from hookline.core.paths import Paths


@dataclass(frozen=True, kw_only=True)
class World:
    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def paths(self) -> Paths:
        return Paths(
            config=str(self.home / ".config/hookline"),
            state=str(self.home / "state"),
            data=str(self.home / "data"),
            machine=str(self.root / "etc"),
        )

    def write(self, path: str, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def layer(self, name: str, text: str) -> Path:
        places = {
            "machine": "etc/hookline.toml",
            "user": "home/.config/hookline/hookline.toml",
            "project": "home/project/.hookline/hookline.toml",
            "local": "home/project/.hookline/local.toml",
        }
        return self.write(places[name], text)

    def load(
        self,
        *,
        cwd: Path | None = None,
        files: Sequence[str] | None = None,
        dialect: str | None = None,
        environ: Mapping[str, str] | None = None,
        gate: ProjectGate | None = None,
    ) -> Loaded:
        return load(
            cwd=str(cwd or self.project),
            home=str(self.home),
            environ=environ or {},
            paths=self.paths,
            files=files,
            dialect=dialect,
            gate=gate,
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(root=tmp_path)
    (world.project / ".git").mkdir(parents=True)
    return world
