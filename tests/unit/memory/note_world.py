"""A home, a repository and transcripts: what the hooks of the knowledge loop find around them."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from hookline.core.event import Event, event_kind
from hookline.memory.inject.context_inject import context_inject
from hookline.memory.notes.backup import pre_compact
from hookline.memory.notes.session_export import session_export

if TYPE_CHECKING:
    from pathlib import Path

    from hookline.core.result import Reply

GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
WHO = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *WHO, *words], cwd=folder, env={**os.environ, **GIT}, check=True, capture_output=True, text=True
    )
    return done.stdout


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role, "sessionId": "abcdef12-0000-4000-8000-000000000000", "timestamp": "2026-04-12T18:32:00Z",
        "message": {"role": role, "content": content}, **more,
    }  # fmt: skip


def edited(path: str) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"t{path}", "name": "Edit", "input": {"file_path": path}}
    return {"type": "assistant", "sessionId": "abcdef12-0000-4000-8000-000000000000",
            "message": {"role": "assistant", "content": [block]}}  # fmt: skip


INTERACTIVE = {
    "type": "permission-mode",
    "permissionMode": "default",
    "sessionId": "abcdef12-0000-4000-8000-000000000000",
}


class NoteWorld:
    def __init__(self, tmp: Path) -> None:
        self.tmp, self.home, self.project = tmp, tmp / "home", tmp / "proj"
        self.home.mkdir()
        self.project.mkdir()
        self.knowledge = self.home / ".local/share/hookline/knowledge"
        self.state = self.home / ".local/state/hookline"
        self.environ = {"HOME": str(self.home), "PATH": os.environ["PATH"], **GIT}

    # ── what lies about ──────────────────────────────────────────────────────────────────────────────

    def repository(self) -> Path:
        git(self.project, "init", "-q", "-b", "main")
        (self.project / "a").write_text("a\n")
        git(self.project, "add", "a")
        git(self.project, "commit", "-q", "-m", "first thing")
        return self.project

    def config(self, text: str) -> None:
        self.write(self.home / ".config/hookline/hookline.toml", text)

    @staticmethod
    def write(path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def transcript(self, *records: Any, name: str = "abcdef12-0000-4000-8000-000000000000.jsonl") -> Path:
        lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
        return self.write(self.tmp / "transcripts" / name, "".join(f"{line}\n" for line in lines))

    def conversation(self, turns: int = 2, first: str = "please mend the parser") -> Path:
        records: list[Any] = [INTERACTIVE]
        for number in range(turns):
            text = first if number == 0 else f"and the next thing, number {number}"
            records += [
                said("user", text, cwd=str(self.project), version="2.1.0", gitBranch="main"),
                said("assistant", f"done {number}"),
            ]
        return self.transcript(*records)

    def memory(self) -> Path:
        """The one directory of this project's memory."""
        (found,) = (self.knowledge / "memory").iterdir()
        return found

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────

    def event(self, name: str, *, cwd: Path | None = None, agent: str = "claude-code", **data: Any) -> Event:
        return Event(
            kind=event_kind(name), data=data, session="11111111-new", agent=agent, cwd=str(cwd or self.project),
            environ=self.environ,
        )  # fmt: skip

    def start(self, *, cwd: Path | None = None, agent: str = "claude-code") -> Reply | None:
        return context_inject(self.event("SessionStart", cwd=cwd, agent=agent, source="startup"))

    def told(self, *, cwd: Path | None = None) -> str:
        reply = self.start(cwd=cwd)
        assert reply is not None
        return reply.context[0].text

    def banner(self) -> str:
        reply = self.start()
        assert reply is not None
        return reply.messages[0]

    def stop(self, transcript: Path, *, agent: str = "claude-code", **data: Any) -> None:
        session_export(self.event("Stop", agent=agent, transcript_path=str(transcript), **data))

    def stop_without_path(self) -> None:
        session_export(self.event("Stop"))

    def compact(self, transcript: Path, field: str = "transcript_path") -> Reply | None:
        data: dict[str, Any] = {field: str(transcript)}
        return pre_compact(self.event("PreCompact", **data))

    def notes(self) -> list[Path]:
        return sorted((self.knowledge / "sessions").glob("*/*.md"))

    def log(self) -> str:
        return (self.state / "hooks.log").read_text()
