"""A directory with a conversation in it, ``hookline run`` there, and a model server that speaks the real protocols."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hookline.cli import main
from hookline.llm.scripted import ModelServer

HEAD = """\
interlocutor:
  name: Bot
  prompt: Be nice.
  provider: openai/chat
  model: scripted
"""


@dataclass
class Ran:
    code: int
    out: str
    err: str


@dataclass
class Stage:
    """A directory with a conversation in it, and the command line in this process."""

    place: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def write(self, header: str, body: str = "Hello", name: str = "t.lec") -> Path:
        path = self.place / name
        path.write_text(f"---\n{header}---\n{body}\n")
        return path

    def run(self, *words: str, stdin: str = "", server: ModelServer | None = None) -> Ran:
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        for key, value in (server.environ() if server else {}).items():
            self.monkeypatch.setenv(key, value)
        self.capsys.readouterr()
        code = main(["run", *words])
        told = self.capsys.readouterr()
        return Ran(code, told.out, told.err)

    def append(self, text: str) -> None:
        with (self.place / "t.lec").open("a") as file:
            file.write(text)

    def text(self, name: str) -> str:
        return (self.place / name).read_text()

    def lines(self, name: str) -> list[str]:
        return self.text(name).splitlines()


@pytest.fixture
def stage(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Stage:
    home = tmp_path / "home"
    home.mkdir()
    for name, value in surroundings(home).items():
        monkeypatch.setenv(name, value)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY",
                 "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "HOOKLINE_TRUST", "LECTIC_CONFIG", "XDG_CONFIG_HOME"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return Stage(place, capsys, monkeypatch)


def surroundings(home: Path) -> dict[str, str]:
    names = ("STATE", "CONFIG", "DATA")
    return {"HOME": str(home), **{f"HOOKLINE_{name}_DIR": str(home / name.lower()) for name in names}}


@pytest.fixture
def serve() -> Iterator[Callable[..., ModelServer]]:
    servers: list[ModelServer] = []

    def start(*steps: dict[str, Any]) -> ModelServer:
        servers.append(ModelServer(list(steps)).start())
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def hooks(*written: str) -> str:
    return "hooks:\n" + "".join(f"  - {{{one}}}\n" for one in written)


def note(event: str, what: str, file: str = "seen.txt") -> str:
    """A hook that writes down what it sees."""
    return f"""on: {event}, do: "bash -c 'echo \\"{what}\\" >> {file}'" """


def messages(server: ModelServer, request: int = -1) -> list[tuple[str, Any]]:
    body = server.requests[request].body
    return [(one["role"], one.get("content")) for one in body["messages"] if one["role"] != "system"]


ECHO_TOOL = """\
  tools:
    - exec: echo
      name: say
"""


def call(*argv: str, text: str = "", name: str = "say", **more: Any) -> dict[str, Any]:
    return {"text": text, "tool": {"name": name, "arguments": {"argv": list(argv)}}, **more}
