"""The script: steps, used in order, and the answer of a step to a request.

A step is an object; all fields are optional:

==============  ====================================================================================
``text``        the text of the answer
``tool``        one tool call, ``{"name", "arguments"}``, perhaps ``namespace``; ``tools`` is a list of them
``json``        a structured answer, delivered the way the request asks for one
``error``       ``{"status": 500, "message": "…"}`` instead of an answer
``raw``         a body that is sent as it is, whatever the protocol
``delay_ms``    wait before answering
``until``       answer only when a request with this text has arrived, before this one or after it
``hang``        true: never answer
``usage``       ``{"input", "output", "cached"}`` tokens to report
``match``       use the step only for a request that contains this text
``unless``      use the step only for a request that does not contain this text
``repeat``      use the step this many times, or always (true)
==============  ====================================================================================
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hookline.core._dataclass import dataclass, empty, field, replace

_FIELDS = frozenset(
    {"text", "tool", "tools", "json", "error", "raw", "delay_ms", "until", "hang", "usage", "match", "unless", "repeat"}
)

#: What pydantic-ai calls the tool through which a structured answer is given.
_OUTPUT_TOOL = "final_result"

Source: TypeAlias = Sequence[Mapping[str, Any]] | Mapping[str, Any]


class ScriptError(ValueError):
    """A script that cannot be played; the message names the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it was received, without its credentials."""

    method: str
    path: str
    protocol: str = ""
    headers: Mapping[str, str] = field(default_factory=empty)
    body: Any = None
    #: The step that answered: its number in the script, or -1 for the default.
    step: int = -1

    @property
    def text(self) -> str:
        """The whole body, for looking something up in it."""
        return json.dumps(self.body, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    name: str
    arguments: Any
    #: Of the tool, where a protocol has one: the Responses API's tools of an MCP server.
    namespace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """What a request wants, in words that all protocols share."""

    model: str = "scripted"
    tools: tuple[str, ...] = ()
    #: The tool that must be called, if the request names one.
    forced: str = ""
    #: The answer must be JSON text (a response format), not a tool call.
    json_text: bool = False
    stream: bool = False
    #: Tokens are reported at the end of a stream only if asked for (OpenAI chat).
    stream_usage: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTurn:
    """One turn of the model, before a protocol puts it into its own shape."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    #: The numbers of this turn and of its first call, for ids, which must be unique.
    number: int = 0
    first: int = 0
    input_tokens: int = 10
    output_tokens: int = 5
    cached_tokens: int = 0

    @property
    def numbered(self) -> list[tuple[int, ScriptedCall]]:
        return list(enumerate(self.calls, self.first))

    @property
    def pieces(self) -> list[str]:
        """The text in the small parts in which a stream delivers it."""
        return [self.text[start : start + 16] for start in range(0, len(self.text), 16)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    number: int
    fields: Mapping[str, Any]

    def turn(self, request: ParsedRequest) -> ScriptedTurn:
        """A structured answer goes into the output tool, unless the request wants JSON text."""
        usage = self.fields.get("usage") or {}
        calls = [_call(item) for item in self.fields.get("tools", ())]
        calls += [_call(self.fields["tool"])] if "tool" in self.fields else []
        text = str(self.fields.get("text", ""))
        if "json" in self.fields:
            tool = "" if request.json_text else _output_tool(request)
            if tool:
                calls.append(ScriptedCall(name=tool, arguments=self.fields["json"]))
            else:
                text += json.dumps(self.fields["json"], ensure_ascii=False)
        return ScriptedTurn(
            text=text,
            calls=tuple(calls),
            input_tokens=int(usage.get("input", 10)),
            output_tokens=int(usage.get("output", 5)),
            cached_tokens=int(usage.get("cached", 0)),
        )


def _call(call: Mapping[str, Any]) -> ScriptedCall:
    return ScriptedCall(
        name=str(call["name"]), arguments=call.get("arguments", {}), namespace=str(call.get("namespace", ""))
    )


def _output_tool(request: ParsedRequest) -> str:
    named = next((name for name in request.tools if name.startswith(_OUTPUT_TOOL)), "")
    return request.forced or named or (request.tools[0] if len(request.tools) == 1 else "")


class Script:
    """Hands out steps, each as often as it says, from any thread."""

    def __init__(self, source: Source, *, last: str = "All done.") -> None:
        steps: Any = source
        default: Any = last
        if isinstance(source, Mapping):
            steps, default = source.get("steps", []), source.get("default", last)
        default = {"text": default} if isinstance(default, str) else default
        self._steps = [Step(number=number, fields=_checked(number, step)) for number, step in enumerate(steps)]
        #: How often each step may still be used; None for always.
        repeats = [step.fields.get("repeat", 1) for step in self._steps]
        self._left: list[int | None] = [None if one is True else max(0, int(one)) for one in repeats]
        self._default = Step(number=-1, fields=_checked(-1, default))
        self._turns, self._called = 0, 0
        self._lock = threading.Lock()

    def turn(self, step: Step, request: ParsedRequest) -> ScriptedTurn:
        """The step's answer to this request, numbered after the earlier ones."""
        turn = step.turn(request)
        with self._lock:
            number, first = self._turns, self._called
            self._turns, self._called = number + 1, first + len(turn.calls)
        return replace(turn, number=number, first=first)

    def next(self, text: str) -> Step:
        """The first step that is left and fits the request; the default when there is none."""
        with self._lock:
            for place, step in enumerate(self._steps):
                left = self._left[place]
                without = str(step.fields.get("unless") or "")
                if left == 0 or str(step.fields.get("match", "")) not in text or (without and without in text):
                    continue
                self._left[place] = None if left is None else left - 1
                return step
        return self._default

    @property
    def unused(self) -> tuple[int, ...]:
        """Steps that should have been used and were not: mostly a test's mistake, or its finding."""
        return tuple(step.number for step, left in zip(self._steps, self._left, strict=True) if left)


def _checked(number: int, step: Any) -> Mapping[str, Any]:
    place = f"step {number}" if number >= 0 else "the default step"
    if not isinstance(step, dict):
        raise ScriptError(f"{place} is not an object: {step!r}")
    unknown = sorted(set(step) - _FIELDS)
    if unknown:
        raise ScriptError(f"{place} has unknown fields {', '.join(unknown)}; known are {', '.join(sorted(_FIELDS))}")
    calls = [*step.get("tools", ()), *([step["tool"]] if "tool" in step else [])]
    if any(not isinstance(call, dict) or not isinstance(call.get("name"), str) for call in calls):
        raise ScriptError(f"{place} calls a tool without a name; write {{'name': …, 'arguments': {{…}}}}")
    return step


def read_script(path: str) -> Script:
    """A script from a JSON file; ``ScriptError`` says what is wrong with it."""
    try:
        with open(path, encoding="utf-8") as file:
            source = json.load(file)
    except OSError as error:
        raise ScriptError(f"cannot read the script {path}: {error.strerror}") from error
    except ValueError as error:
        raise ScriptError(f"{path} is not JSON: {error}") from error
    if not isinstance(source, (list, dict)):
        raise ScriptError(f"{path} must contain a list of steps or an object with 'steps'")
    return Script(source)
