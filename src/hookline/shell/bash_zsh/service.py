"""Answers the questions of the script in the shell: one method per question.

bash and zsh cannot do everything that a hook may want. A change that they cannot make is a denial (law 11), unless every
hook that asks for it allows it to be dropped.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.core.sanitize import lines
from hookline.dialects.lash.entry import key_hook_config
from hookline.shell.bash_zsh.line_text import (
    bodies,
    can_be_replaced,
    commands,
    expand_commands,
    in_background,
    is_plain,
    one_command,
    only_defines,
    writes_around,
)
from hookline.shell.bash_zsh.script import BASE_TIMEOUT, for_bash, for_zsh, strip_markers
from hookline.shell.engine_host import current_directory

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

#: Commands that zsh knows by their words alone.
_ZSH_RESERVED = frozenset({"declare", "export", "float", "integer", "local", "readonly", "repeat", "typeset", "[["})

_RUN, _STAY, _DROP = "run", "stay", "drop"

#: Event -> what the shell must install for it.
_NEEDS: Mapping[str, str] = {
    "input.pre_execute": "enter", "input.submit": "enter line", "pipeline.pre_execute": "line",
    "process.pre_spawn": "line spawn", "pipeline.post_execute": "after", "prompt.render": "prompt",
    "error.dispatch": "missing", "input.prefix": "prefix", "session.disconnect": "bye",
}  # fmt: skip


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
        #: At the start there was nobody to show problems to.
        self._messages: list[str] = dispatcher.problems
        self._connected = True
        #: Told what is hooked in a directory, and from which files and when that was read.
        self.on_needs: Callable[[str, str, frozenset[str], float], None] = lambda *_: None
        self.on_change: Callable[[], None] = lambda: None
        self.on_doubt: Callable[[], None] = lambda: None
        self._sent: set[str] = set()
        #: The line as Enter left it, or why it must not run.
        self._entered = ("", "")
        #: The number of the next line in bash's history, its text, and why it must not run.
        self._ahead = ("", "", "")
        #: The line that is running, and the answer about it.
        self._line: tuple[str, list[str]] = ("", [])
        self._line_refused = False
        self._text = self._pipeline = ""
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
        if self._connected:
            self._dispatcher.fire("session.disconnect", data)

    def connect(self, pid: int) -> None:
        try:
            tty = os.readlink(f"/proc/{pid}/fd/0")
        except OSError:
            tty = ""
        data = {
            "frontend": self._shell, "pid": pid, "tty": tty if tty.startswith("/dev/") else "", "cwd": current_directory(),
            "interactive": True,
        }  # fmt: skip
        answer = self._dispatcher.fire("session.connect", data)
        if not answer.allowed:
            self._messages.append(answer.problem)
            self._connected = False

    def _on_needs(self, fields: Mapping[str, str]) -> list[str]:
        """Whether anything is hooked in this directory, and what."""
        found = self._known_subscriptions(fields.get("cwd", ""))
        return ["1" if found[0] or found[1] else "0", *found]

    def _known_subscriptions(self, cwd: str) -> list[str]:
        """They hold for this directory until a file changes."""
        began = time.time()
        files = self._dispatcher.refresh()
        found = self._subscriptions()
        needs = f"{found[0]} keys".strip() if found[1] else found[0]
        self.on_needs(cwd, f"{needs}\t{found[2]}" if needs else "", files, began)
        if not self._dispatcher.is_current:  # a file came after it was looked for, and before it was watched
            self.on_doubt()
        return found

    def _subscriptions(self) -> list[str]:
        """What the hooked events need in the shell, the hooked keys, whether answers are required, and the timeout."""
        if not self._connected:
            return ["say" if self._messages else "", "", "", ""]
        keys = key_hook_config(self._dispatcher.specs)
        named = "*" if keys == "*" else "\n".join(keys)
        needs = {
            need for event, wanted in _NEEDS.items() if self._dispatcher.has_hooks(event) for need in wanted.split()
        }
        needs |= {"prompt"} if self._dispatcher.mode else set()
        needs |= {"line"} if self._shell == "zsh" and "enter" in needs else set()  # a widget may run it without Enter
        needs |= {"say"} if self._messages else set()
        specs = self._dispatcher.specs
        self._sent = needs
        return [" ".join(sorted(needs)), named, "1" if is_strict(specs) else "", str(answer_timeout(specs))]

    def _on_line(self, fields: Mapping[str, str]) -> list[str]:
        """Enter was pressed: ``run`` with the text as hooks left it, or ``stay`` in the editor.

        A line that is refused runs too, into the question before its first command.
        """
        text = fields.get("text", "")
        entered = self._dispatcher.fire("input.pre_execute", {"text": text})
        if not entered.allowed:
            prefill = entered.attributes.get("prefill")
            if isinstance(prefill, str):  # another line for the person to check
                return [_STAY, self._message(), lines(prefill)]
            return [_STAY, self._message(entered.problem), text]
        text = _text(entered, text)
        if not text.strip():
            return [_RUN, self._message(), text]
        submitted = self._dispatcher.fire("input.submit", {"text": text, "history": True})
        self._entered = ("", submitted.problem) if not submitted.allowed else (_text(submitted, text), "")
        return [_RUN, self._message(), self._entered[0] or text]

    def _on_ahead(self, fields: Mapping[str, str]) -> list[str]:
        """What ``history 1`` prints in bash, which looks up the aliases and functions of the line meanwhile."""
        text = fields.get("history", "").lstrip(" ").lstrip("0123456789")[2:].removesuffix("\n")
        try:
            self._ahead = (fields.get("line", ""), text, self._judge_text(text))
        except KeyboardInterrupt:  # the question about the rest of the line may have been sent
            self._ahead = (fields.get("line", ""), text, "Problem: the hooks were interrupted")
        return []

    def _on_run(self, fields: Mapping[str, str]) -> list[str]:
        """A line is about to run: ``run``, with the commands to refuse, or ``drop`` it as a whole."""
        line, text = fields.get("line", ""), fields.get("text", "")
        if line and line == self._line[0]:  # its next part, or a subshell of it
            return self._line[1]
        is_judged = bool(line) and (line, text) == self._ahead[:2]
        answer = self._judge(text, self._ahead[2] if is_judged else self._judge_text(text), fields)
        self._text = text
        self._line = (line, [answer[0], "", *answer[2:]])
        answer = answer[:1] if answer == [_RUN, ""] else answer  # bash reads byte by byte
        if bool(self._dispatcher.mode) != ("prompt" in self._sent) and not self._dispatcher.has_hooks("prompt.render"):
            self.on_change()  # the mode is shown in the prompt
        return answer

    def _judge_text(self, text: str) -> str:
        """Why it must not run, or ""."""
        (entered, problem), self._entered = self._entered, ("", "")
        if not (entered or problem):  # no Enter of ours
            problem = self._refused(self._dispatcher.fire("input.pre_execute", {"text": text})) or self._refused(
                self._dispatcher.fire("input.submit", {"text": text, "history": True})
            )
        return problem if problem or _runs_nothing(text) else self._check_pipeline(text)

    def _judge(self, text: str, problem: str, fields: Mapping[str, str]) -> list[str]:
        if not problem and _runs_nothing(text):
            return [_RUN, self._message()]
        self._line_refused = bool(problem)
        if problem:
            if self._shell != "bash" or not is_plain(text):
                return [_DROP, self._message(problem)]
            # bash ends a whole line with a status of its own; 126 is what its commands can answer.
            names = dict.fromkeys(one["word"] for one in commands(text, with_env=True))
            return [_RUN, self._message(problem), *(word for name in names for word in (name, "all", ""))]
        return self._check_commands(fields.get("meaning") or text, fields)

    def _check_pipeline(self, text: str) -> str:
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

    def _check_commands(self, text: str, fields: Mapping[str, str]) -> list[str]:
        """Each command of the line, and of the functions that it calls."""
        if not self._dispatcher.has_hooks("process.pre_spawn"):
            return [_RUN, self._message()]
        aliases = dict(each.split("=", 1) for each in fields.get("aliases", "").split("\n") if "=" in each)
        functions = fields.get("functions", "")
        found = [*expand_commands(text, aliases), *(expand_commands(bodies(functions), aliases) if functions else ())]
        known: dict[str, str] = {}
        refused: dict[str, str] = {}
        writes = any(writes_around(command, f"{functions}\n{text}") for command in found if command["redirects"])
        for index, command in enumerate(found):
            same = repr((command["command"], command["args"], command["env"]))
            problem = known[same] if same in known else self._check_command(command, index, fields)
            known[same] = problem
            if problem and (
                writes or not can_be_replaced(command) or (self._shell == "zsh" and _needs_no_lookup(command))
            ):
                return [_DROP, self._message(problem)]
            if problem:
                refused.setdefault(command["word"], problem)
        allowed = {one["word"] for one in found if not known[repr((one["command"], one["args"], one["env"]))]}
        marks = ((name, "some" if name in allowed else "all", problem) for name, problem in refused.items())
        return [_RUN, self._message(), *(word for mark in marks for word in mark)]

    def _check_command(self, command: Mapping[str, Any], index: int, fields: Mapping[str, str]) -> str:
        data = {
            "command": command["command"], "args": command["args"], "env": command["env"], "cwd": fields.get("cwd", ""),
            "pipeline_id": self._pipeline, "index": index,
        }  # fmt: skip
        return self._refused(self._dispatcher.fire("process.pre_spawn", data)) if command["command"] else ""

    def _on_spawn(self, fields: Mapping[str, str]) -> list[str]:
        """One command with its words as they are, where only some calls of it are refused."""
        [command, *_] = [*commands(fields.get("text", ""), with_env=True), {"command": "", "args": [], "env": {}}]
        problem = self._check_command(command, 0, fields)
        return [_DROP if problem else _RUN, self._message(problem)]

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
        if fields.get("ran") and not self._line_refused:
            self._after(fields, code, took)
        self._line_refused = False
        self._prompt = {name: strip_markers(fields.get(name, "")) for name in ("prompt", "right")}
        data = {
            **self._prompt, "cwd": fields.get("cwd", ""), "exit_code": code, "duration_ms": took,
            "jobs": _number(fields.get("jobs", "")),
        }  # fmt: skip
        self._arrived.clear()
        answer = self._dispatcher.fire("prompt.render", data)
        drawn = answer.data if answer.allowed and answer.changed else self._late_in_time(str(data["cwd"]))
        self._line = ("", [])
        message = self._message()
        return [message, *self._drawn(drawn), *self._known_subscriptions(str(data["cwd"]))]

    def _on_after(self, fields: Mapping[str, str]) -> list[str]:
        """The line has ended, and the shell waits for nothing."""
        if not self._line_refused:
            self._after(fields, _number(fields.get("status", "")), 0)
        self._line_refused, self._line = False, ("", [])
        return []

    def _drawn(self, data: Mapping[str, Any]) -> list[str]:
        """Whether hooks want another prompt, and which. The session mode comes before a prompt that no hook drew."""
        changed = bool(data) or bool(self._dispatcher.mode)
        prompt, right = (str(data.get(name) or self._prompt.get(name, "")) for name in ("prompt", "right"))
        if self._dispatcher.mode and not data:
            prompt = f"[{self._dispatcher.mode}] {prompt}"
        return ["1" if changed else "", self._drawable(prompt), self._drawable(right)]

    def _after(self, fields: Mapping[str, str], code: int, took: int) -> None:
        text = fields.get("text", "") or self._text
        data = {
            "pipeline_id": self._pipeline, "text": text, "exit_code": code, "duration_ms": took,
            "statuses": [_number(each) for each in fields.get("statuses", "").split()],
            "background": in_background(text),
        }  # fmt: skip
        self._dispatcher.fire("pipeline.post_execute", data)
        self._text = self._pipeline = ""

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
            return [self._message(), "127", "1"]
        if not answer.changed:  # the shell says it in its own words
            return [self._message(), "127", ""]
        return [self._message(_problem(answer.data)), str(_number(str(answer.data.get("code", 127)))), "1"]

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


def _runs_nothing(text: str) -> bool:
    return not text.strip() or only_defines(text)


def _needs_no_lookup(command: Mapping[str, Any]) -> bool:
    """zsh looks up no function for a reserved word, and for a command after ``command`` and its like."""
    return command["word"] != command["command"] or command["word"] in _ZSH_RESERVED


def _text(answer: ShellAnswer, before: str) -> str:
    return str(answer.data.get("text", before)) if "text" in answer.changed else before


def _problem(data: Mapping[str, Any]) -> str:
    suggest = data.get("suggest")
    names = [str(each) for each in suggest][:_MAX_SUGGESTIONS] if isinstance(suggest, list) else []
    hint = str(data.get("suggestion") or (f"did you mean {' or '.join(names)}?" if names else ""))
    return lines("\n".join([f"Problem: {data.get('problem', '')}", *([f"Suggestion: {hint}"] if hint else [])]))


def _number(text: str) -> int:
    return int(text) if text.lstrip("-").isdigit() and len(text) < 16 else 0
