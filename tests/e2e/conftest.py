"""A home, a project with hooks, hookline deployed by its own command, and a real agent in it, offline."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import agents, install

HERE = Path(__file__).parent
WHY = "real agents are run only with HOOKLINE_E2E=1: make e2e"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skipped aloud: nobody shall believe that the agents were tried when they were not."""
    for item in items:
        if item.path == HERE / "test_real_agents.py":
            item.add_marker(pytest.mark.timeout(280))
            if os.environ.get("HOOKLINE_E2E") not in {"1", "all"}:
                item.add_marker(pytest.mark.skip(reason=WHY))


def alone() -> list[str]:
    """Run what follows where there is no network."""
    return ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-r", "-n"]


@dataclass(frozen=True)
class Session:
    """What came of one run of an agent."""

    code: int | None
    out: str
    err: str
    #: The bodies of the model's requests, as text.
    requests: list[str]
    proof: str | None

    def reached_the_model(self, text: str) -> bool:
        return any(text in request for request in self.requests)


@dataclass(frozen=True)
class World:
    agent: agents.Agent
    home: Path
    project: Path

    def write(self, name: str, text: str) -> Path:
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
        return file

    @property
    def program(self) -> Path:
        """The hookline that is registered: a link, so that it can be taken away."""
        return self.home / "bin" / "hookline"

    def hookline(self, *words: str) -> str:
        agent = install.program(self.agent.package)
        path = os.pathsep.join([str(agent.parent) if agent else "", "/usr/local/bin", "/usr/bin", "/bin"])
        done = subprocess.run(
            [*alone(), self.program, *words], cwd=self.project, capture_output=True, text=True, check=False,
            env={"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8"}, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def hooks(self, toml: str) -> None:
        """The project's hooks, approved, and hookline registered for them."""
        self.write(".hookline/hookline.toml", toml)
        self.hookline("trust", "--yes")
        self.hookline("deploy", "--agent", self.agent.name, "--approve")

    @property
    def registered(self) -> Path:
        return self.home / self.agent.registered_in

    def run(self, *steps: dict[str, Any]) -> Session:
        """One session: the model says ``steps`` and then that it is done."""
        environ = agents.surroundings(self.agent, self.home)
        program = install.program(self.agent.package)
        assert program is not None
        runs = [
            {"argv": argv, "environ": environ, "cwd": str(self.project), "timeout": 120}
            for argv in self.agent.runs(str(program))
        ]
        order, result = self.home / "order.json", self.home / "result.json"
        script = {"steps": list(steps or (self.agent.call(),)), "default": "All done."}
        order.write_text(
            json.dumps({"port": agents.PORT, "script": script, "runs": runs, "result": str(result)}), encoding="utf-8"
        )
        subprocess.run([*alone(), sys.executable, HERE / "inside.py", order], check=True, timeout=270)
        told = json.loads(result.read_text(encoding="utf-8"))
        last, proof = told["runs"][-1], self.project / "proof.txt"
        asked = [json.dumps(request["body"], ensure_ascii=False) for request in told["requests"]]
        return Session(last["code"], last["out"], last["err"], asked, proof.read_text() if proof.exists() else None)

    def log(self) -> list[dict[str, Any]]:
        """What hookline has recorded."""
        return [json.loads(line) for line in self.hookline("log", "--json").splitlines()]


@pytest.fixture(params=agents.AGENTS, ids=lambda agent: agent.name)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    agent: agents.Agent = request.param
    if agent.slow and os.environ.get("HOOKLINE_E2E") != "all":
        pytest.skip(f"{agent.name} is slow without a network: HOOKLINE_E2E=all runs it too")
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not here, and no agent is run where it could reach the network")
    missing = [name for name in (agent.package, "node") if install.program(name) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed: make e2e")
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home / "tmp", home / "bin", project / ".git"):
        folder.mkdir(parents=True)
    (home / "bin" / "hookline").symlink_to(Path(sys.executable).parent / "hookline")
    for name, text in agent.files(home, project).items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")
    return World(agent, home, project)
