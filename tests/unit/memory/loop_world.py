"""A home, a project and sessions in it, for tests of the knowledge loop's queue and worker."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

from tests.approval import approve_project

from hookline.core.event import Event, event_kind
from hookline.memory.context import hook_context
from hookline.memory.queue import worker
from hookline.memory.queue.enqueue import EnqueueResult, enqueue
from hookline.memory.queue.queue import Queue
from hookline.memory.queue.task import DistillTask

#: The whole loop, in lazy-harness's words.
LOOP = """
[hooks.session_start]
scripts = ["context-inject"]
[hooks.session_stop]
scripts = ["session-export", "compound-loop"]
[hooks.session_end]
scripts = ["session-end"]
"""
ANSWER: dict[str, Any] = {
    "decisions": [{"type": "tooling", "summary": "Use SQLite for the cache", "rationale": "one file"}],
    "failures": [{"summary": "The migration ran twice", "prevention": "take the lock first"}],
    "learnings": [{"title": "Locks come first", "learning": "Take the lock before reading."}],
    "handoff": ["write the docs"],
}


def set_time(path: Path, seconds: float) -> None:
    os.utime(path, (seconds, seconds))


class World:
    """Everything below one temporary directory. The clock is real; sessions are Claude Code's."""

    def __init__(self, folder: Path, config: str = "[compound_loop]\nenabled = true\n") -> None:
        self.folder = folder
        self.home, self.project = folder / "home", folder / "work" / "proj"
        self.project.mkdir(parents=True)
        (self.project / ".git").mkdir()
        self.state, self.data = self.home / ".local/state/hookline", self.home / ".local/share/hookline"
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.configure(config)
        path = f"{self.bin}:{os.path.dirname(sys.executable)}:/usr/bin:/bin"
        self.environ = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8"}

    def configure(self, text: str) -> None:
        file = self.home / ".config/hookline/hookline.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def opt_out(self) -> None:
        (self.project / ".hookline").mkdir()
        (self.project / ".hookline/hookline.toml").write_text("[knowledge]\nenabled = false\n")
        approve_project(self.project, self.environ)

    # ── sessions ─────────────────────────────────────────────────────────────────────────────────────

    def transcript(self, session: str, *, turns: int = 3, prompt: str = "", answer: str = "It is done.") -> Path:
        said = prompt or f"Please mend the migration of {session}, so that it does not run twice. " * 3
        rows: list[dict[str, Any]] = [{"type": "permission-mode", "permissionMode": "default", "sessionId": session}]
        for _ in range(turns):
            head = {"sessionId": session, "cwd": str(self.project), "gitBranch": "main", "version": "2.1"}
            tool = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "/src/migrate.py"}}
            rows += [
                {"type": "user", **head, "message": {"role": "user", "content": said}},
                {"type": "assistant", **head, "message": {"content": [{"type": "text", "text": answer}, tool]}},
            ]
        file = self.home / ".claude/projects" / str(self.project).replace("/", "-") / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return file

    def event(self, session: str, name: str = "Stop", *, agent: str = "claude-code") -> Event:
        data = {"transcript_path": str(self.transcript_file(session))}
        return Event(
            kind=event_kind(name), data=data, session=session, agent=agent, cwd=str(self.project), environ=self.environ
        )

    def transcript_file(self, session: str) -> Path:
        return self.home / ".claude/projects" / str(self.project).replace("/", "-") / f"{session}.jsonl"

    # ── the loop ─────────────────────────────────────────────────────────────────────────────────────

    def stop(self, session: str, *, force: bool = False, patient: bool = False) -> EnqueueResult:
        """What ``compound-loop`` does, without starting a worker. Nothing waits for the session's end, unless ``patient``."""
        scene = hook_context(self.event(session), "compound-loop")
        assert scene is not None
        queued = enqueue(scene, force=force, start=False)
        for waiting in () if patient else self.queue().postponed(session):
            self.queue().postpone(waiting, 0)
        return queued

    def work(self, *answers: object, environ: dict[str, str] | None = None) -> tuple[worker.WorkerReport, list[str]]:
        """Run the worker here; the model gives these answers in turn, the last one again and again."""
        asked: list[str] = []

        def model(text: str) -> str:
            asked.append(text)
            answer = answers[min(len(asked), len(answers)) - 1]
            if isinstance(answer, Exception):
                raise answer
            return answer if isinstance(answer, str) else json.dumps(answer)

        report = worker.run(environ or self.environ, cwd=str(self.bin), model=model)
        return report, asked

    def queue(self) -> Queue:
        return Queue(str(self.state / "queue"))

    def put(self, session: str) -> str:
        task = DistillTask(
            cwd=str(self.project), session_jsonl=str(self.transcript_file(session)), session_id=session,
            agent="claude-code",
        )  # fmt: skip
        return self.queue().put(task)

    def claude(self, body: str) -> None:
        """A ``claude`` on PATH: a Python program of these lines."""
        file = self.bin / "claude"
        file.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{body}\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    # ── what came of it ──────────────────────────────────────────────────────────────────────────────

    @property
    def memory(self) -> Path:
        return next((self.data / "knowledge/memory").iterdir())

    def lines(self, name: str) -> list[dict[str, Any]]:
        found = list((self.data / "knowledge/memory").glob(f"*/{name}"))
        return [json.loads(line) for line in found[0].read_text().splitlines()] if found else []

    def summaries(self, name: str) -> list[str]:
        return [entry["summary"] for entry in self.lines(name)]

    def handoff(self) -> str:
        found = list((self.data / "knowledge/memory").glob("*/handoff.md"))
        return found[0].read_text() if found else ""

    def learnings(self) -> list[Path]:
        return sorted((self.data / "knowledge/learnings").rglob("*.md"))

    def done(self) -> list[str]:
        return sorted(one.name for one in (self.state / "queue/done").glob("*.task"))

    def log(self) -> str:
        file = self.state / "compound-loop.log"
        return file.read_text() if file.exists() else ""
