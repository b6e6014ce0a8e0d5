"""A home, a project with hooks, hookline deployed by its own command, and a real agent in it, offline."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.e2e import agents, install

HERE = Path(__file__).parent


def alone() -> list[str]:
    """Run what follows without a network, among processes of its own, none of which outlives it."""
    mapped = [] if os.geteuid() == 0 else ["-r"]
    return ["unshare", *mapped, "-n", "-p", "-f", "--kill-child", "--mount-proc"]


@functools.cache
def cannot_be_alone() -> str:
    """Why nothing can be run so; empty when it can."""
    try:
        done = subprocess.run([*alone(), "true"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"no agent is run where it could reach the network, and unshare does not work: {error}"
    return f"no agent is run where it could reach the network: {done.stderr.strip()}" if done.returncode else ""


@dataclass(frozen=True, repr=False)
class Session:
    """What came of one run of an agent."""

    code: int | None
    out: str
    err: str
    #: The bodies of the model's requests, as text, without the descriptions of the tools.
    requests: list[str]
    #: The names of the tools that the model was offered.
    tools: tuple[str, ...] = ()

    def reached_the_model(self, text: str) -> bool:
        return any(text in request for request in self.requests)

    def printed(self, text: str) -> bool:
        return text in self.out or text in self.err

    def __repr__(self) -> str:
        last = self.requests[-1][-3000:] if self.requests else ""
        return f"exit code {self.code}\n{self.out[-3000:]}\n{self.err[-3000:]}\n{len(self.requests)} requests: {last}"


@dataclass(frozen=True, repr=False)
class World:
    agent: agents.Agent
    home: Path
    project: Path
    #: The agent asks before it uses a tool.
    asks: bool = False
    #: What the test found out, for the published matrix: (capability, "yes" or "no", note).
    found: list[tuple[str, Any]] = field(default_factory=list)

    def holds(self, capability: str, note: str = "") -> None:
        self.found.append(("found", (capability, "yes", note)))

    def lacks(self, capability: str, note: str) -> None:
        """The agent cannot do it, and that was seen."""
        self.found.append(("found", (capability, "no", note)))

    def expects(self, capability: str) -> bool:
        """Whether the agent is known to be able to; what it lacks goes into the matrix."""
        why = self.agent.lacks.get(capability)
        if why is not None:
            self.lacks(capability, why)
        return why is None

    def write(self, name: str, text: str, mode: int = 0o755) -> Path:
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        return file

    def has(self, name: str) -> bool:
        return (self.project / name).exists()

    def lines(self, name: str) -> list[str]:
        file = self.project / name
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    @property
    def program(self) -> Path:
        """The hookline that a person types, and that a project's file names."""
        return self.home / "bin" / "hookline"

    @property
    def launcher(self) -> Path:
        """The hookline that is registered: it can be taken away."""
        return self.home / ".local/share/hookline/launcher/hookline"

    def hookline(self, *words: str) -> str:
        agent = install.program(self.agent.package)
        path = os.pathsep.join([str(agent.parent) if agent else "", "/usr/local/bin", "/usr/bin", "/bin"])
        done = subprocess.run(
            [*alone(), self.program, *words], cwd=self.project, capture_output=True, text=True, check=False,
            env={"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8"}, timeout=200,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def hooks(self, toml: str, *scopes: str) -> None:
        """The project's hooks, approved, and hookline registered for them, by the command: it can be taken away."""
        self.write(".hookline/hookline.toml", toml)
        self.hookline("trust", "--yes")
        for scope in scopes or ("user",):
            self.hookline("deploy", "--agent", self.agent.name, "--approve", "--scope", scope, *self._door())

    def _door(self) -> tuple[str, ...]:
        return () if self.agent.registered_in.endswith(".js") else ("--door", "command")

    @property
    def registered(self) -> Path:
        return self.home / self.agent.registered_in

    def prepare(self) -> World:
        for name, text in self.agent.files(self.home, self.project, self.asks).items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(text, encoding="utf-8")
        return self

    def that_asks(self) -> World:
        """The same, but the agent asks before it uses a tool."""
        return replace(self, asks=True).prepare()

    def call(self, command: str = agents.COMMAND) -> dict[str, Any]:
        return self.agent.call(command, self.asks)

    def run(
        self, *steps: dict[str, Any], first: tuple[list[str], ...] = (), environ: dict[str, str] | None = None
    ) -> Session:
        """One session: the model says ``steps`` and then that it is done."""
        program = install.program(self.agent.package)
        assert program is not None
        runs = [*first, *self.agent.runs(str(program), self.asks)]
        return self.play(runs, list(steps or (self.call(),)), environ or {})

    def play(
        self,
        runs: list[list[str]],
        steps: list[dict[str, Any]],
        environ: dict[str, str],
        keys: list[tuple[str, str]] | None = None,
        *,
        port: int = agents.PORT,
        together: bool = False,
    ) -> Session:
        """``keys`` are typed at the last of the runs; with ``together`` all are started at once."""
        around = {**agents.surroundings(self.agent, self.home), **environ}
        base = {"environ": around, "cwd": str(self.project), "timeout": 200}
        orders: list[dict[str, Any]] = [{**base, "argv": argv} for argv in runs]
        if keys:
            orders[-1] |= {"keys": keys, "environ": {**around, "TERM": "xterm-256color"}, "timeout": 200}
        order, result = self.home / "order.json", self.home / "result.json"
        script = {"steps": steps, "default": "All done."}
        told = {"port": port, "script": script, "runs": orders, "result": str(result), "together": together}
        order.write_text(json.dumps(told), encoding="utf-8")
        subprocess.run([*alone(), sys.executable, HERE / "inside.py", order], check=True, timeout=450)
        bugs = [file.read_text(encoding="utf-8") for file in (self.home / "tmp").glob("hookline-bug-*")]
        assert not bugs, bugs
        return self._session(json.loads(result.read_text(encoding="utf-8")))

    def _session(self, told: dict[str, Any]) -> Session:
        last = told["runs"][-1]
        bodies = [{**request["body"], "tools": []} for request in told["requests"]]
        asked = [json.dumps(body, ensure_ascii=False) for body in bodies]
        named = dict.fromkeys(
            name
            for request in told["requests"]
            for name in re.findall(r'"name": "([^"]+)"', json.dumps(request["body"].get("tools")))
        )
        return Session(last["code"], last["out"], last["err"], asked, tuple(named))

    def log(self, *words: str) -> list[dict[str, Any]]:
        """What hookline has recorded."""
        return [json.loads(line) for line in self.hookline("log", "--json", *words).splitlines()]

    def outcomes(self) -> dict[str, set[str]]:
        """Hook -> how it ended."""
        ended: dict[str, set[str]] = {}
        for one in self.log():
            for outcome in one.get("outcomes", ()):
                ended.setdefault(outcome["hook"], set()).add(outcome["status"])
        return ended


def files(world: World) -> dict[str, bytes]:
    """The agent's own files; not what it has in databases and caches, or what hookline remembers."""
    kinds = {".json", ".toml", ".js", ".yaml"}
    found = (file for file in world.home.rglob("*") if file.suffix in kinds and "hookline" not in file.parts)
    return {
        str(file): file.read_bytes()
        for file in found
        if not {"node_modules", ".cache", ".system"} & set(file.parts) and file.is_file()
    }
