"""What the script in the shell may ask, and what it is told: one method per question.

A guest's shell cannot do everything a hook may want. A change that it cannot make is a refusal (law 11), unless every
hook that asked for it said that it may be dropped.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

from hookline.core.sanitize import lines
from hookline.dialects.lash.keys import key_hook_config
from hookline.shell.bash_zsh.line_text import commands, in_background, one_command
from hookline.shell.bash_zsh.prompts import for_bash, for_zsh, strip_markers
from hookline.shell.bash_zsh.script import BASE_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hookline.core.hook import HookSpec
    from hookline.engine.executor import Applied
    from hookline.shell.bash_zsh.wire import ShellQuestion
    from hookline.shell.dispatcher import ShellAnswer, ShellDispatcher

#: The keys that have an event of their own.
_ARROWS = frozenset({"tab", "up", "down"})

#: The events that decide whether a line is run.
_GUARDED = frozenset({"input.pre_execute", "input.submit", "pipeline.pre_execute", "process.pre_spawn"})

#: Seconds that bash waits for a prompt that is not there yet: less than a person notices.
_MOMENT = 0.15

#: However many hooks there are: a shell that hangs longer is broken, and Ctrl-C ends the waiting at any time.
_MOST_PATIENCE = 600

#: Of what might have been meant, so many are shown.
_MEANT = 3

_RUN, _STAY, _DROP = "run", "stay", "drop"


def is_strict(specs: Iterable[HookSpec]) -> bool:
    """Whether a line must not run unheard. A plugin's events are known only when it runs, so its wish counts at once."""
    return any(
        spec.enabled and spec.on_failure != "ignore" and (spec.event in _GUARDED or spec.extra.get("unexpanded"))
        for spec in specs
    )


def answer_timeout(specs: Iterable[HookSpec]) -> int:
    """Seconds that the shell waits for an answer: more than all hooks of a line may take, one after the other."""
    together = sum(
        spec.timeout or 0 for spec in specs if spec.enabled and spec.mode == "sync" and spec.event in _GUARDED
    )
    return BASE_TIMEOUT + min(math.ceil(together), _MOST_PATIENCE)


class ShellService:
    """Answers for one shell."""

    def __init__(
        self, dispatcher: ShellDispatcher, shell: str, push: Callable[[Sequence[str]], None] | None = None
    ) -> None:
        self._dispatcher = dispatcher
        self._shell = shell
        self._messages: list[str] = []
        self._pipeline = ""
        self._prompt: dict[str, str] = {}
        self._push = push
        self._drawable = for_zsh if shell == "zsh" else for_bash
        #: A prompt that came late, where it was drawn, and that it has come.
        self._late: tuple[str, Mapping[str, Any]] = ("", {})
        self._came = threading.Event()
        dispatcher.notify = self._messages.append
        dispatcher.on_late_answer("prompt.render", self._late_prompt)

    def answer(self, question: ShellQuestion) -> list[str]:
        """The values to send back. A question we do not know is answered with nothing: the script is older or newer."""
        method: Callable[[Mapping[str, str]], list[str]] | None = getattr(self, f"_on_{question.name}", None)
        return method(question.fields) if method is not None else []

    def ended(self, code: str, reason: str) -> None:
        data: dict[str, Any] = {"reason": reason}
        if code.isdigit():
            data["exit_code"] = int(code)
        self._dispatcher.fire("session.disconnect", data)

    # ── the session ──────────────────────────────────────────────────────────────────────────────────

    def _on_hello(self, asked: Mapping[str, str]) -> list[str]:
        data = {
            "frontend": self._shell,
            "pid": _number(asked.get("pid", "")),
            "tty": asked.get("tty", ""),
            "cwd": asked.get("cwd", ""),
            "interactive": True,
        }
        answer = self._dispatcher.fire("session.connect", data)
        if not answer.allowed:
            return [_DROP, self._said(answer.problem)]
        return [_RUN, self._said(), *self._wishes()]

    def _wishes(self) -> list[str]:
        """Which questions are worth asking, and which keys travel."""
        keys = key_hook_config(self._dispatcher.specs)
        named = "*" if keys == "*" else "\n".join(keys)
        worth = [
            name for name in ("process.pre_spawn", "prompt.render", "input.prefix") if self._dispatcher.has_hooks(name)
        ]
        strict = "1" if is_strict(self._dispatcher.specs) else ""
        return [" ".join(worth), named, strict, str(answer_timeout(self._dispatcher.specs))]

    # ── lines and commands ───────────────────────────────────────────────────────────────────────────

    def _on_line(self, asked: Mapping[str, str]) -> list[str]:
        """Enter was pressed: ``run`` with the text as hooks left it, ``stay`` in the editor, or ``drop`` it."""
        text = asked.get("text", "")
        before = asked.get("before", "")
        entered = self._dispatcher.fire("input.pre_execute", {"text": text})
        if not entered.allowed:
            prefill = entered.attributes.get("prefill")
            if isinstance(prefill, str):  # another line in its place, for the person to look at
                return [_STAY, self._said(), lines(prefill)]
            return [_STAY, self._said(entered.problem), text]
        # What the shell makes of it by its history is what will be run, unless a hook wrote another line.
        meant = _text(entered, asked.get("meant") or text)
        typed, text = _text(entered, text), meant
        if not before:
            submitted = self._dispatcher.fire("input.submit", {"text": meant, "history": True})
            if not submitted.allowed:
                return [_DROP, self._said(submitted.problem), typed]
            text = _text(submitted, meant)
        if not text.strip():
            return [_RUN, self._said(), text]
        problem = self._pipeline_of(f"{before}\n{text}" if before else text, goes_on=bool(before))
        run = typed if text == meant else text
        return [_DROP if problem else _RUN, self._said(problem), run]

    def _on_past(self, asked: Mapping[str, str]) -> list[str]:
        """A line that came past Enter is about to run, or turned out to be another one: it can only be refused."""
        text = asked.get("text", "")
        problem = self._refused(self._dispatcher.fire("input.submit", {"text": text, "history": True}))
        problem = problem or self._pipeline_of(text, goes_on=bool(self._pipeline))
        return [_DROP if problem else _RUN, self._said(problem)]

    def _pipeline_of(self, text: str, *, goes_on: bool) -> str:
        """Why it must not run, or "". What goes on over several lines is one pipeline, asked about as far as it is known."""
        if not (goes_on and self._pipeline):
            self._pipeline = f"p{self._dispatcher.number()}"
        data = {
            "pipeline_id": self._pipeline,
            "text": text,
            "commands": commands(text),
            "background": in_background(text),
        }
        problem = self._refused(self._dispatcher.fire("pipeline.pre_execute", data))
        if problem:
            self._pipeline = ""
        return problem

    def _on_spawn(self, asked: Mapping[str, str]) -> list[str]:
        """A command is about to run; zsh tells of a list or a function as a whole, so each command in it is asked for."""
        for index, command in enumerate(commands(asked.get("text", ""), with_env=True)):
            data = {
                "command": command["command"], "args": command["args"], "env": command["env"], "cwd": asked.get("cwd", ""),
                "pipeline_id": self._pipeline, "index": index,
            }  # fmt: skip
            if problem := self._refused(self._dispatcher.fire("process.pre_spawn", data)):
                return [_DROP, self._said(problem)]
        return [_RUN, self._said()]

    def _refused(self, answer: ShellAnswer) -> str:
        """What the person is to read when the thing must not happen; "" when it may."""
        if not answer.allowed:
            return answer.problem
        if answer.changed and not answer.droppable:
            what = ", ".join(sorted(answer.changed))
            return lines(f"Problem: a hook changed {what}, which {self._shell} cannot do, so it was not run")
        return ""

    # ── afterwards ───────────────────────────────────────────────────────────────────────────────────

    def _on_prompt(self, asked: Mapping[str, str]) -> list[str]:
        """The line has ended, and the prompt is to be drawn: the prompt and its right side, as hooks left them."""
        code, took = _number(asked.get("status", "")), _number(asked.get("ms", ""))
        if asked.get("ran"):
            self._after(asked, code, took)
        self._prompt = {name: strip_markers(asked.get(name, "")) for name in ("prompt", "right")}
        data = {
            **self._prompt, "cwd": asked.get("cwd", ""), "exit_code": code, "duration_ms": took,
            "jobs": _number(asked.get("jobs", "")),
        }  # fmt: skip
        self._came.clear()
        answer = self._dispatcher.fire("prompt.render", data)
        drawn = answer.data if answer.allowed and answer.changed else self._in_time(str(data["cwd"]))
        return [self._said(), *self._drawn(drawn), *self._wishes()]

    def _drawn(self, data: Mapping[str, Any]) -> list[str]:
        """Whether hooks want another prompt, and which; the session mode stands before a prompt that nobody drew."""
        changed = bool(data) or bool(self._dispatcher.mode)
        prompt, right = (str(data.get(name) or self._prompt.get(name, "")) for name in ("prompt", "right"))
        if self._dispatcher.mode and not data:
            prompt = f"[{self._dispatcher.mode}] {prompt}"
        return ["1" if changed else "", self._drawable(prompt), self._drawable(right)]

    def _after(self, asked: Mapping[str, str], code: int, took: int) -> None:
        text = asked.get("text", "")
        data = {
            "pipeline_id": self._pipeline, "text": text, "exit_code": code, "duration_ms": took,
            "statuses": [_number(each) for each in asked.get("statuses", "").split()],
            "background": in_background(text),
        }  # fmt: skip
        self._dispatcher.fire("pipeline.post_execute", data)
        self._pipeline = ""

    def _late_prompt(self, late: Applied) -> None:
        if self._push is not None:
            self._push(self._drawn(late.data))
            return
        self._late = (str(late.event.data.get("cwd", "")), late.data)
        self._came.set()

    def _in_time(self, cwd: str) -> Mapping[str, Any]:
        """A shell that cannot draw its prompt anew waits a moment for it, and else draws the last one of this place."""
        late = any(spec.event == "prompt.render" and spec.mode == "apply-later" for spec in self._dispatcher.specs)
        if self._push is not None or not late:
            return {}
        self._came.wait(_MOMENT)
        place, data = self._late
        return data if place == cwd else {}

    def _on_missing(self, asked: Mapping[str, str]) -> list[str]:
        """A command was not found: what to show, or nothing."""
        expr = asked.get("text", "")
        command, _ = one_command(expr)
        data = {
            "type": "cmd_err", "expr": expr, "step": command, "code": 127,
            "problem": f"{command}: command not found", "suggestion": "", "suggest": [],
        }  # fmt: skip
        answer = self._dispatcher.fire("error.dispatch", data)
        if not answer.allowed:
            return [self._said(), "127"]
        return [self._said(_problem(answer.data or data)), str(_number(str((answer.data or data).get("code", 127))))]

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────────

    def _on_key(self, asked: Mapping[str, str]) -> list[str]:
        """``default``, ``swallow``, ``set`` with a line and a cursor, or ``return`` with a line."""
        key, buffer, cursor = asked.get("key", ""), asked.get("buffer", ""), _number(asked.get("cursor", ""))
        pressed = self._dispatcher.fire("input.key", {"key": key, "buffer": buffer, "cursor": cursor})
        if (verdict := self._edited(pressed)) is not None:
            return verdict
        if key in _ARROWS:
            again = self._dispatcher.fire(f"key.{key}", {"buffer": buffer, "cursor": cursor})
            if (verdict := self._edited(again)) is not None:
                return verdict
        if not buffer and len(key) == 1 and (verdict := self._prefixed(key)) is not None:
            return verdict
        return ["default", self._said()]

    def _prefixed(self, char: str) -> list[str] | None:
        answer = self._dispatcher.fire("input.prefix", {"char": char})
        if answer.allowed:
            return None
        prefill = answer.attributes.get("prefill")
        if not isinstance(prefill, str):
            return ["swallow", self._said()]
        if answer.attributes.get("edit"):
            return ["set", self._said(), lines(prefill), str(len(prefill))]
        return ["return", self._said(), lines(prefill)]

    def _edited(self, answer: ShellAnswer) -> list[str] | None:
        if not answer.allowed:
            return ["swallow", self._said()]
        if not answer.changed & {"buffer", "cursor"}:
            return None
        buffer = lines(str(answer.data.get("buffer", "")))
        cursor = answer.data.get("cursor") if "cursor" in answer.changed else None
        place = cursor if isinstance(cursor, int) and 0 <= cursor <= len(buffer) else len(buffer)
        return ["set", self._said(), buffer, str(place)]

    # ── what the person reads ────────────────────────────────────────────────────────────────────────

    def _said(self, problem: str = "") -> str:
        """Everything there is to tell since the last answer; the problem last."""
        texts, self._messages[:] = [*self._messages, *([problem] if problem else [])], []
        return "\n".join(texts)


def _text(answer: ShellAnswer, before: str) -> str:
    return str(answer.data.get("text", before)) if "text" in answer.changed else before


def _problem(data: Mapping[str, Any]) -> str:
    suggest = data.get("suggest")
    meant = [str(each) for each in suggest][:_MEANT] if isinstance(suggest, list) else []
    hint = str(data.get("suggestion") or (f"did you mean {' or '.join(meant)}?" if meant else ""))
    return lines("\n".join([f"Problem: {data.get('problem', '')}", *([f"Suggestion: {hint}"] if hint else [])]))


def _number(text: str) -> int:
    return int(text) if text.lstrip("-").isdigit() and len(text) < 16 else 0
