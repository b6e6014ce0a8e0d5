"""Answers the questions of the script in the shell: one method per question.

bash and zsh cannot do everything that a hook may want. A change that they cannot make is a denial (law 11), unless every
hook that asks for it allows it to be dropped.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.core.sanitize import lines
from hookline.dialects.lash.entry import key_hook_config
from hookline.shell.bash_zsh.line_text import commands, in_background, one_command
from hookline.shell.bash_zsh.script import BASE_TIMEOUT, for_bash, for_zsh, strip_markers

if TYPE_CHECKING:
    from hookline.core.hook import HookSpec
    from hookline.engine.executor import Applied
    from hookline.shell.bash_zsh.serve import ShellQuestion
    from hookline.shell.dispatcher import ShellAnswer, ShellDispatcher

#: Keys with an event of their own.
_KEY_EVENTS = frozenset({"tab", "up", "down"})

#: Events that decide whether a line runs.
_GUARDED = frozenset({"input.pre_execute", "input.submit", "pipeline.pre_execute", "process.pre_spawn"})

#: Seconds that bash waits for a late prompt: less than a person notices.
_PROMPT_WAIT = 0.15

#: The limit for any number of hooks; Ctrl-C ends the waiting at any time.
_MAX_TIMEOUT = 600

#: Suggestions that are shown.
_MAX_SUGGESTIONS = 3

_RUN, _STAY, _DROP = "run", "stay", "drop"


def is_strict(specs: Iterable[HookSpec]) -> bool:
    """Whether a line must not run without its hooks. The events of a plugin are only known when it runs, so any counts."""
    return any(
        spec.enabled and spec.on_failure != "ignore" and (spec.event in _GUARDED or spec.extra.get("unexpanded"))
        for spec in specs
    )


def answer_timeout(specs: Iterable[HookSpec]) -> int:
    """Seconds that the shell waits for an answer: more than all hooks of a line together."""
    together = sum(
        spec.timeout or 0 for spec in specs if spec.enabled and spec.mode == "sync" and spec.event in _GUARDED
    )
    return BASE_TIMEOUT + min(math.ceil(together), _MAX_TIMEOUT)


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
        #: A late prompt, with its directory; and whether it has arrived.
        self._late: tuple[str, Mapping[str, Any]] = ("", {})
        self._arrived = threading.Event()
        dispatcher.notify = self._messages.append
        dispatcher.on_late_answer("prompt.render", self._late_prompt)

    def answer(self, question: ShellQuestion) -> list[str]:
        """The values to send back. An unknown question gets none: the script is older or newer."""
        method: Callable[[Mapping[str, str]], list[str]] | None = getattr(self, f"_on_{question.name}", None)
        return method(question.fields) if method is not None else []

    def ended(self, code: str, reason: str) -> None:
        data: dict[str, Any] = {"reason": reason}
        if code.isdigit():
            data["exit_code"] = int(code)
        self._dispatcher.fire("session.disconnect", data)

    def _on_hello(self, fields: Mapping[str, str]) -> list[str]:
        data = {
            "frontend": self._shell,
            "pid": _number(fields.get("pid", "")),
            "tty": fields.get("tty", ""),
            "cwd": fields.get("cwd", ""),
            "interactive": True,
        }
        answer = self._dispatcher.fire("session.connect", data)
        if not answer.allowed:
            return [_DROP, self._message(answer.problem)]
        return [_RUN, self._message(), *self._subscriptions()]

    def _subscriptions(self) -> list[str]:
        """The questions and keys that hooks want, whether answers are required, and the timeout."""
        keys = key_hook_config(self._dispatcher.specs)
        named = "*" if keys == "*" else "\n".join(keys)
        worth = [
            name for name in ("process.pre_spawn", "prompt.render", "input.prefix") if self._dispatcher.has_hooks(name)
        ]
        strict = "1" if is_strict(self._dispatcher.specs) else ""
        return [" ".join(worth), named, strict, str(answer_timeout(self._dispatcher.specs))]

    def _on_line(self, fields: Mapping[str, str]) -> list[str]:
        """Enter was pressed: ``run`` with the text as hooks left it, ``stay`` in the editor, or ``drop`` it."""
        text = fields.get("text", "")
        before = fields.get("before", "")
        entered = self._dispatcher.fire("input.pre_execute", {"text": text})
        if not entered.allowed:
            prefill = entered.attributes.get("prefill")
            if isinstance(prefill, str):  # another line for the person to check
                return [_STAY, self._message(), lines(prefill)]
            return [_STAY, self._message(entered.problem), text]
        # The line after history expansion is what runs, unless a hook wrote another one.
        expanded = _text(entered, fields.get("meant") or text)
        typed, text = _text(entered, text), expanded
        if not before:
            submitted = self._dispatcher.fire("input.submit", {"text": expanded, "history": True})
            if not submitted.allowed:
                return [_DROP, self._message(submitted.problem), typed]
            text = _text(submitted, expanded)
        if not text.strip():
            return [_RUN, self._message(), text]
        problem = self._check_pipeline(f"{before}\n{text}" if before else text, goes_on=bool(before))
        run = typed if text == expanded else text
        return [_DROP if problem else _RUN, self._message(problem), run]

    def _on_past(self, fields: Mapping[str, str]) -> list[str]:
        """A line that did not pass Enter, or changed since, is about to run: it can only be denied."""
        text = fields.get("text", "")
        problem = self._refused(self._dispatcher.fire("input.submit", {"text": text, "history": True}))
        problem = problem or self._check_pipeline(text, goes_on=bool(self._pipeline))
        return [_DROP if problem else _RUN, self._message(problem)]

    def _check_pipeline(self, text: str, *, goes_on: bool) -> str:
        """Why it must not run, or "". A command over several lines is one pipeline, checked as far as it is known."""
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

    def _on_spawn(self, fields: Mapping[str, str]) -> list[str]:
        """A command is about to run. zsh reports a list or a function as a whole, so each command in it is checked."""
        for index, command in enumerate(commands(fields.get("text", ""), with_env=True)):
            data = {
                "command": command["command"], "args": command["args"], "env": command["env"], "cwd": fields.get("cwd", ""),
                "pipeline_id": self._pipeline, "index": index,
            }  # fmt: skip
            if problem := self._refused(self._dispatcher.fire("process.pre_spawn", data)):
                return [_DROP, self._message(problem)]
        return [_RUN, self._message()]

    def _refused(self, answer: ShellAnswer) -> str:
        """The message if it must not happen; "" if it may."""
        if not answer.allowed:
            return answer.problem
        if answer.changed and not answer.droppable:
            what = ", ".join(sorted(answer.changed))
            return lines(f"Problem: a hook changed {what}, which {self._shell} cannot do, so it was not run")
        return ""

    def _on_prompt(self, fields: Mapping[str, str]) -> list[str]:
        """The line has ended: answer with the prompt and its right side as hooks changed them."""
        code, took = _number(fields.get("status", "")), _number(fields.get("ms", ""))
        if fields.get("ran"):
            self._after(fields, code, took)
        self._prompt = {name: strip_markers(fields.get(name, "")) for name in ("prompt", "right")}
        data = {
            **self._prompt, "cwd": fields.get("cwd", ""), "exit_code": code, "duration_ms": took,
            "jobs": _number(fields.get("jobs", "")),
        }  # fmt: skip
        self._arrived.clear()
        answer = self._dispatcher.fire("prompt.render", data)
        drawn = answer.data if answer.allowed and answer.changed else self._late_in_time(str(data["cwd"]))
        return [self._message(), *self._drawn(drawn), *self._subscriptions()]

    def _drawn(self, data: Mapping[str, Any]) -> list[str]:
        """Whether hooks want another prompt, and which. The session mode comes before a prompt that no hook drew."""
        changed = bool(data) or bool(self._dispatcher.mode)
        prompt, right = (str(data.get(name) or self._prompt.get(name, "")) for name in ("prompt", "right"))
        if self._dispatcher.mode and not data:
            prompt = f"[{self._dispatcher.mode}] {prompt}"
        return ["1" if changed else "", self._drawable(prompt), self._drawable(right)]

    def _after(self, fields: Mapping[str, str], code: int, took: int) -> None:
        text = fields.get("text", "")
        data = {
            "pipeline_id": self._pipeline, "text": text, "exit_code": code, "duration_ms": took,
            "statuses": [_number(each) for each in fields.get("statuses", "").split()],
            "background": in_background(text),
        }  # fmt: skip
        self._dispatcher.fire("pipeline.post_execute", data)
        self._pipeline = ""

    def _late_prompt(self, late: Applied) -> None:
        if self._push is not None:
            self._push(self._drawn(late.data))
            return
        self._late = (str(late.event.data.get("cwd", "")), late.data)
        self._arrived.set()

    def _late_in_time(self, cwd: str) -> Mapping[str, Any]:
        """bash cannot redraw its prompt: it waits a moment, else it draws the last late one of this directory."""
        late = any(spec.event == "prompt.render" and spec.mode == "apply-later" for spec in self._dispatcher.specs)
        if self._push is not None or not late:
            return {}
        self._arrived.wait(_PROMPT_WAIT)
        place, data = self._late
        return data if place == cwd else {}

    def _on_missing(self, fields: Mapping[str, str]) -> list[str]:
        """A command was not found: what to show, and the exit code."""
        expr = fields.get("text", "")
        command, _ = one_command(expr)
        data = {
            "type": "cmd_err", "expr": expr, "step": command, "code": 127,
            "problem": f"{command}: command not found", "suggestion": "", "suggest": [],
        }  # fmt: skip
        answer = self._dispatcher.fire("error.dispatch", data)
        if not answer.allowed:
            return [self._message(), "127"]
        return [self._message(_problem(answer.data or data)), str(_number(str((answer.data or data).get("code", 127))))]

    def _on_key(self, fields: Mapping[str, str]) -> list[str]:
        """``default``, ``swallow``, ``set`` with a line and a cursor, or ``return`` with a line."""
        key, buffer, cursor = fields.get("key", ""), fields.get("buffer", ""), _number(fields.get("cursor", ""))
        pressed = self._dispatcher.fire("input.key", {"key": key, "buffer": buffer, "cursor": cursor})
        if (verdict := self._edited(pressed)) is not None:
            return verdict
        if key in _KEY_EVENTS:
            again = self._dispatcher.fire(f"key.{key}", {"buffer": buffer, "cursor": cursor})
            if (verdict := self._edited(again)) is not None:
                return verdict
        if not buffer and len(key) == 1 and (verdict := self._prefixed(key)) is not None:
            return verdict
        return ["default", self._message()]

    def _prefixed(self, char: str) -> list[str] | None:
        answer = self._dispatcher.fire("input.prefix", {"char": char})
        if answer.allowed:
            return None
        prefill = answer.attributes.get("prefill")
        if not isinstance(prefill, str):
            return ["swallow", self._message()]
        if answer.attributes.get("edit"):
            return ["set", self._message(), lines(prefill), str(len(prefill))]
        return ["return", self._message(), lines(prefill)]

    def _edited(self, answer: ShellAnswer) -> list[str] | None:
        if not answer.allowed:
            return ["swallow", self._message()]
        if not answer.changed & {"buffer", "cursor"}:
            return None
        buffer = lines(str(answer.data.get("buffer", "")))
        cursor = answer.data.get("cursor") if "cursor" in answer.changed else None
        place = cursor if isinstance(cursor, int) and 0 <= cursor <= len(buffer) else len(buffer)
        return ["set", self._message(), buffer, str(place)]

    def _message(self, problem: str = "") -> str:
        """All messages since the last answer, the problem last."""
        texts, self._messages[:] = [*self._messages, *([problem] if problem else [])], []
        return "\n".join(texts)


def _text(answer: ShellAnswer, before: str) -> str:
    return str(answer.data.get("text", before)) if "text" in answer.changed else before


def _problem(data: Mapping[str, Any]) -> str:
    suggest = data.get("suggest")
    names = [str(each) for each in suggest][:_MAX_SUGGESTIONS] if isinstance(suggest, list) else []
    hint = str(data.get("suggestion") or (f"did you mean {' or '.join(names)}?" if names else ""))
    return lines("\n".join([f"Problem: {data.get('problem', '')}", *([f"Suggestion: {hint}"] if hint else [])]))


def _number(text: str) -> int:
    return int(text) if text.lstrip("-").isdigit() and len(text) < 16 else 0
