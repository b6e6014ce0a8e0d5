"""The two weeks of ``story.txt``, lived through with the real hooks, the real worker and a distiller that is scripted."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline.core.event import Event, event_kind
from hookline.memory.context import hook_context, memory_context
from hookline.memory.inject.context_inject import context_inject
from hookline.memory.inject.recall import recall
from hookline.memory.journal.files import Journal
from hookline.memory.journal.model import State, text_key
from hookline.memory.notes.session_export import session_export
from hookline.memory.queue import worker
from hookline.memory.queue.enqueue import enqueue

STORY = Path(__file__).with_name("story.txt")
#: An answer from the question and what was done in the session.
Distiller = Callable[[str, "Chapter"], str]


@dataclass
class Chapter:
    """One session of the story."""

    project: str
    agent: str
    manner: str = ""
    prompt: str = ""
    fits: list[str] = field(default_factory=list)
    #: ``decide``, ``failed``, ``open`` or ``close``, the key, and the text.
    did: list[tuple[str, str, str]] = field(default_factory=list)


def story() -> list[Chapter]:
    found: list[Chapter] = []
    for line in STORY.read_text().splitlines():
        word, _space, rest = line.partition(" ")
        if line.startswith("#"):
            continue
        if word == ">":
            found[-1].prompt = rest
        elif word == "fits":
            found[-1].fits += rest.split()
        elif word in {"decide", "failed", "open", "close"}:
            key, _colon, text = rest.partition(": ")
            found[-1].did.append((word, key, text))
        else:
            agent, _space, manner = rest.partition(" ")
            found.append(Chapter(project=word, agent=agent, manner=manner))
    return found


@dataclass
class Figures:
    sessions: int = 0
    calls: int = 0
    #: Superseded facts that were told as current, and open items that were not told while they were open.
    stale: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    told: int = 0
    fitting: int = 0
    wanted: int = 0
    recalled: int = 0

    def __str__(self) -> str:
        return (
            f"{self.sessions} sessions; stale facts told as current: {len(self.stale)}; open items lost: {len(self.lost)}; "
            f"model calls per session: {self.calls / self.sessions:.2f}; of {self.told} recalled entries {self.fitting} fit; "
            f"of {self.wanted} entries that fit {self.recalled} were recalled"
        )


class TwoWeeks:
    def __init__(self, folder: Path, distiller: Distiller) -> None:
        self.folder, self.home, self.distiller = folder, folder / "home", distiller
        config = self.home / ".config/hookline/hookline.toml"
        config.parent.mkdir(parents=True)
        config.write_text("[compound_loop]\nenabled = true\n")
        self.environ = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        self.figures = Figures()
        #: What is true, by project and key: the current text, and texts that were true once.
        self.truth: dict[tuple[str, str], str] = {}
        self.history: dict[str, set[str]] = {}
        self.open: dict[tuple[str, str], str] = {}
        self.number = 0

    def live(self, chapters: list[Chapter]) -> Figures:
        last: Path | None = None
        for chapter in chapters:
            again = chapter.manner == "again" and last is not None
            self.number += not again
            last = self._session(chapter, last if again else None)
        return self.figures

    def _session(self, chapter: Chapter, resumed: Path | None) -> Path:
        session = f"{self.number:08d}-0000-4000-8000-000000000000"
        project = self.folder / chapter.project
        (project / ".git").mkdir(parents=True, exist_ok=True)
        self.figures.sessions += not resumed
        if chapter.manner != "headless":
            self._listen(chapter, session, project, resumed is not None)
        lines = transcript(chapter, session, str(project), self.number)
        path = resumed or self.folder / f"transcripts/{session}.jsonl"
        path.parent.mkdir(exist_ok=True)
        half = len(lines) - 2 if chapter.manner == "grows" else len(lines)
        path.write_text((path.read_text() if resumed else "") + "".join(json.dumps(one) + "\n" for one in lines[:half]))
        ends = [("Stop", False), ("SessionEnd", True), ("SessionEnd", True)]
        for name, force in [("Stop", False)] * (half < len(lines)) + ends:
            event = self._event(name, chapter, session, project, transcript_path=str(path))
            if name == "Stop":
                session_export(event)
            context = hook_context(event, "compound-loop")
            assert context is not None
            enqueue(context, force=force, once=force, start=False)
            worker.run(self.environ, cwd=str(self.folder), model=lambda text: self._answer(text, chapter))
            path.write_text(path.read_text() + "".join(json.dumps(one) + "\n" for one in lines[half:]))
            half = len(lines)
        if chapter.manner in {"", "again", "grows"}:
            self._remember(chapter)
        return path

    def _answer(self, text: str, chapter: Chapter) -> str:
        self.figures.calls += 1
        return self.distiller(text, chapter)

    def _event(self, name: str, chapter: Chapter, session: str, project: Path, **data: Any) -> Event:
        return Event(
            kind=event_kind(name),
            data=data,
            session=session,
            agent=chapter.agent,
            cwd=str(project),
            environ=self.environ,
        )

    def _listen(self, chapter: Chapter, session: str, project: Path, resumed: bool) -> None:
        """What the agent is told at the start and with the first prompt, held against the truth."""
        source = "resume" if resumed else "startup"
        began = context_inject(self._event("SessionStart", chapter, session, project, source=source))
        asked = recall(self._event("UserPromptSubmit", chapter, session, project, prompt=chapter.prompt))
        first = began.context[0].text if began else ""
        second = asked.context[0].text if asked else ""
        for old in self.history.get(chapter.project, set()):
            if re.search(rf"{re.escape(old)}(?! that)", first + second):
                self.figures.stale.append(f"{chapter.prompt[:40]}: {old}")
        for (owner, key), text in self.open.items():
            if owner == chapter.project and text not in first:
                self.figures.lost.append(f"{key} in {chapter.prompt[:40]}")
        if chapter.manner not in {"", "grows"}:
            return
        wanted = {known for key in chapter.fits if (known := self.truth.get((chapter.project, key)))}
        told = [line for line in second.splitlines() if line.startswith("- [")]
        fitting = [line for line in told if any(text in line for text in wanted)]
        # An open item that the prompt is about fits too, and so does a session about the same thing.
        also = {
            text
            for (owner, key), text in self.open.items()
            if owner == chapter.project and ("close", key, "") in chapter.did
        }
        fitting += [line for line in told if line not in fitting and any(text in line for text in also)]
        entries = [line for line in told if not line.startswith(("- [session", "- [insight"))]
        self.figures.told += len(entries)
        self.figures.fitting += len([line for line in fitting if line in entries])
        self.figures.wanted += len(wanted)
        self.figures.recalled += sum(any(text in line for line in told) for text in wanted)

    def _remember(self, chapter: Chapter) -> None:
        for what, key, text in chapter.did:
            name = (chapter.project, key)
            if what == "open":
                self.open[name] = text
            elif what == "close":
                self.open.pop(name)
            else:
                if name in self.truth:
                    self.history.setdefault(chapter.project, set()).add(self.truth[name])
                self.truth[name] = text

    def state(self, project: str) -> State:
        here = memory_context(str(self.folder / project), self.environ)
        return Journal(here.places, here.project).state()


# ── distillers ───────────────────────────────────────────────────────────────────────────────────────


class Honest:
    """Answers what the story says that happened, by the numbers of the question."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], str] = {}

    def __call__(self, question: str, chapter: Chapter) -> str:
        return json.dumps(self.answer(question, chapter))

    def answer(self, question: str, chapter: Chapter) -> dict[str, Any]:
        numbers = {text: int(number) for number, text in re.findall(r"^\[(\d+)\] [^:]*: (.*)$", question, re.MULTILINE)}
        tree: dict[str, Any] = {"decisions": [], "failures": [], "handoff": [], "closes": []}
        for what, key, text in chapter.did:
            name = (chapter.project, key)
            old = next((number for one, number in numbers.items() if self.known.get(name, "?") in one), 0)
            if what == "close":
                tree["closes"].append({"number": old, "evidence": chapter.prompt[:60]})
            elif what == "open":
                tree["handoff"].append(text)
            else:
                kind = "decisions" if what == "decide" else "failures"
                tree[kind].append({"summary": text, "supersedes": [old] if old else []})
            self.known[name] = text or self.known.get(name, "")
        return tree


class ClosesEverything(Honest):
    """Says that every open item is done and that everything known is superseded: a transcript told it to."""

    def answer(self, question: str, chapter: Chapter) -> dict[str, Any]:
        everything = [int(number) for number in re.findall(r"^\[(\d+)\]", question, re.MULTILINE)]
        tree = super().answer(question, chapter)
        return {**tree, "closes": [*tree["closes"], *everything], "supersedes": everything, "duplicates": [everything]}


class Babbles(Honest):
    """Answers in prose, or half an object, before it answers as it was asked."""

    def __call__(self, question: str, chapter: Chapter) -> str:
        if "could not be read" in question:
            return self.said
        self.said = super().__call__(question, chapter)
        return "Certainly! Here is what I found: " + self.said[: len(self.said) // 2]

    said = "{}"


class Repeats(Honest):
    """Opens again what is open, in other cases and spacing, and names numbers that do not exist."""

    def answer(self, question: str, chapter: Chapter) -> dict[str, Any]:
        tree = super().answer(question, chapter)
        there = re.findall(r"^\[\d+\] open item[^:]*: (.*)$", question, re.MULTILINE)
        again = [f"  {text.upper()}!" for text in there]
        return {**tree, "handoff": [*tree["handoff"], *again], "closes": [*tree["closes"], 0, -3, 99, "all"]}


# ── transcripts, as each agent writes them ───────────────────────────────────────────────────────────


def transcript(chapter: Chapter, session: str, cwd: str, day: int) -> list[dict[str, Any]]:
    if chapter.manner == "trivial":
        turns = [(chapter.prompt, "I go on."), ("ok", "It is done.")]
    else:
        turns = [
            (f"{chapter.prompt}\n\nThis is the background: {chapter.prompt}", "I look at it."),
            (
                "Please check it again and tell me what is left.",
                f"Done. {' '.join(text for _w, _k, text in chapter.did)}",
            ),
        ]
    if chapter.manner == "grows":
        turns.append(("Thank you. Is there anything else to do before I leave for today?", "No, that was all of it."))
    moment = f"2026-11-{1 + day // 4:02d}T09:00:00.000Z"
    return list(WRITERS[chapter.agent](turns, session, cwd, moment, chapter.manner == "headless"))


def _claude(turns: list[tuple[str, str]], session: str, cwd: str, moment: str, alone: bool) -> Any:
    if not alone:
        yield {"type": "permission-mode", "permissionMode": "default", "sessionId": session}
    head = {"sessionId": session, "cwd": cwd, "gitBranch": "main", "version": "2.1", "timestamp": moment}
    for asked, answer in turns:
        yield {"type": "user", **head, "message": {"role": "user", "content": asked}}
        yield {
            "type": "assistant",
            **head,
            "message": {"role": "assistant", "content": [{"type": "text", "text": answer}]},
        }


def _codex(turns: list[tuple[str, str]], session: str, cwd: str, moment: str, alone: bool) -> Any:
    meta = {
        "id": session,
        "timestamp": moment,
        "cwd": cwd,
        "cli_version": "0.166.0",
        "source": "exec" if alone else "cli",
    }
    yield {"timestamp": moment, "type": "session_meta", "payload": meta}
    for pair in turns:
        for role, kind, text in zip(("user", "assistant"), ("input_text", "output_text"), pair, strict=True):
            payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
            yield {"timestamp": moment, "type": "response_item", "payload": payload}


def _gemini(turns: list[tuple[str, str]], session: str, cwd: str, moment: str, alone: bool) -> Any:
    del cwd, alone
    yield {"sessionId": session, "projectHash": "a3a4", "startTime": moment, "lastUpdated": moment, "kind": "main"}
    for number, (asked, answer) in enumerate(turns):
        yield {"id": f"{session}-{number}", "timestamp": moment, "type": "user", "content": [{"text": asked}]}
        yield {"id": f"{session}-{number}a", "timestamp": moment, "type": "gemini", "content": answer, "thoughts": []}


def _qwen(turns: list[tuple[str, str]], session: str, cwd: str, moment: str, alone: bool) -> Any:
    del alone
    head = {"sessionId": session, "timestamp": moment, "cwd": cwd, "version": "0.24.4"}
    for asked, answer in turns:
        yield {
            "type": "user",
            "provenance": "real_user",
            **head,
            "message": {"role": "user", "parts": [{"text": asked}]},
        }
        yield {"type": "assistant", **head, "message": {"role": "model", "parts": [{"text": answer}]}}


def _pi(turns: list[tuple[str, str]], session: str, cwd: str, moment: str, alone: bool) -> Any:
    del alone
    yield {"type": "session", "version": 3, "id": session, "timestamp": moment, "cwd": cwd}
    for pair in turns:
        for role, text in zip(("user", "assistant"), pair, strict=True):
            message = {"role": role, "content": [{"type": "text", "text": text}]}
            yield {"type": "message", "id": text_key(text)[:8], "timestamp": moment, "message": message}


WRITERS: dict[str, Callable[..., Any]] = {
    "claude-code": _claude, "codex": _codex, "gemini-cli": _gemini, "qwen-code": _qwen, "pi": _pi,
}  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for chosen in (Honest(), ClosesEverything(), Babbles(), Repeats()):
            folder = Path(place, type(chosen).__name__)
            folder.mkdir()
            sys.stdout.write(f"{type(chosen).__name__}: {TwoWeeks(folder, chosen).live(story())}\n")
