"""Conformance checks for dialects and runners: call them from your own tests.

They raise ``AssertionError`` with one line that says what is wrong, and need nothing but hookline itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any, TypeVar

from hookline.config.syntax import parse_text
from hookline.core._dataclass import replace
from hookline.core.event import EVENTS, Event, event_kind
from hookline.core.hook import HookSpec
from hookline.core.result import Aborted, Context, Decision, HookError, Injected, Message, Reply, RunResult
from hookline.core.samples import event, hook_spec, samples
from hookline.dialects.base import Answer, Call, Dialect, Incoming, Layer, Lookup
from hookline.runners.base import Job, Runner

_T = TypeVar("_T")

#: Seconds that a job may take beyond its deadline: the grace period, and a busy machine.
_SLACK = 20.0

_TEXTS = (
    "", "\n", "plain text", "{", "[]", "{}", "null", "true", "1e999", '"text"', '{"effect": "deny"}',
    '{"effect": 7, "reason": []}', '{"decision": "block", "reason": "no"}', '{"hookSpecificOutput": null}',
    '{"hookSpecificOutput": {"hookEventName": 3, "permissionDecision": {}, "updatedInput": []}}',
    '{"action": "deny", "reason": null}', '{"continue": false}', '{"ok": "yes"}', "LECTIC:final: true\n\ntext",
    "\udcff\x00\x1b[31m", "[" * 3000, '{"a":' * 3000,
)  # fmt: skip
_VALUES: tuple[Any, ...] = (None, 0, "", "text", [], {}, {"effect": "maybe"}, {"ok": False}, {"last_text": 1}, object())


# ── dialects ─────────────────────────────────────────────────────────────────────────────────────────


def check_dialect(dialect: Dialect, texts: Sequence[str], lookup: Lookup | None = None) -> None:
    """Check a dialect's configuration and wire format. ``texts`` are valid configuration files, the more the better.

    ``lookup`` is what they find on disk, if they name anything there.
    """
    expect(bool(texts), "give at least one configuration file to check with")
    specs = [spec for text in texts for spec in check_config_face(dialect, text, lookup or Lookup())]
    expect(bool(specs), "none of the configuration files has a hook in it")
    check_events(dialect)
    check_wire_face(dialect, specs)


def check_config_face(dialect: Dialect, text: str, lookup: Lookup) -> tuple[HookSpec, ...]:
    """A valid file yields hooks and no error; rendered hooks parse to the same hooks."""
    parsed = dialect.parse([_layer(dialect, text)], lookup)
    errors = [problem for problem in parsed.problems if problem.severity == "error"]
    expect(not errors, f"a valid file has errors: {errors}")
    expect(len({spec.id for spec in parsed.specs}) == len(parsed.specs), "two hooks share an id")
    expect(all(spec.dialect == dialect.name for spec in parsed.specs), "a hook names another dialect as its own")
    rendered = dialect.render(parsed.specs)
    if not rendered.losses:
        again = dialect.parse([_layer(dialect, rendered.text)], lookup)
        _same(
            [_without_origin(spec) for spec in again.specs],
            [_without_origin(spec) for spec in parsed.specs],
            rendered.text,
        )
    for spoiled in _damaged(text):
        dialect.parse([_layer(dialect, spoiled)], lookup)
    return parsed.specs


def check_events(dialect: Dialect) -> None:
    """Every native name maps to a known event, or carries its sender's name."""
    for native, canonical in dialect.events.items():
        expect(canonical in EVENTS or ":" in canonical, f"{native!r} maps to {canonical!r}, which is not an event")
    for native in (*dialect.events, "NobodyKnowsThis"):
        incoming = dialect.event_in(native, {"a_new_field": [1]}, {})
        expect(bool(incoming.event), f"the event {native!r} was lost")
        expect(incoming.data.get("a_new_field") == [1], f"event_in({native!r}) lost a field it does not know")


def check_wire_face(dialect: Dialect, specs: Sequence[HookSpec]) -> None:
    """Whatever a hook prints or an agent sends is understood or rejected, never an exception."""
    for spec in specs:
        for happening in _events(spec.event):
            _pure(lambda spec=spec, happening=happening: dialect.event_out(spec, happening), Call)  # type: ignore[misc]
            for raw in _raws():
                _pure(lambda s=spec, h=happening, r=raw: dialect.reply_in(s, h, r), (Reply, HookError))  # type: ignore[misc]
    for name in EVENTS:
        for decision in _decisions(name):
            happening = event(name)
            _pure(lambda h=happening, d=decision: dialect.reply_out(h, d), Answer)  # type: ignore[misc]
    for payload in _payloads():
        _pure(lambda p=payload: dialect.event_in("", p, {}), Incoming)  # type: ignore[misc]


def _raws() -> Iterator[RunResult]:
    """Odd results: strange texts in either stream, strange values, every way to end."""
    for text in _TEXTS:
        for code in (0, 1, 2, 127):
            yield RunResult(exit_code=code, stdout=text, stderr="why" if code else "")
        yield RunResult(exit_code=2, stderr=text)
    for value in _VALUES:
        yield RunResult(value=value)
    yield RunResult(signal=9, stdout="half")
    yield RunResult(error="could not be started")
    yield RunResult(timed_out=True, stdout='{"effect": "allow"')


def _decisions(name: str) -> Iterator[Decision]:
    """Every kind of decision."""
    data = event(name).data
    yield Decision(event=name, data=data)
    yield Decision(event=name, data=data, granted=True)
    yield Decision(event=name, data=data, effect="ask", reason="sure?")
    yield Decision(event=name, data=data, effect="deny", reason="no\nnever")
    yield Decision(event=name, data=data, effect="deny", aborted=Aborted(hook="h", message="gone"))
    changed: dict[str, Any] = {field: {"changed": True} for field in event_kind(name).modifies}
    yield Decision(event=name, data={**data, **changed}, modified=bool(changed))
    text = Injected(hook="h", context=Context(text="seen", label="label"))
    yield Decision(event=name, data=data, context=(text,), messages=(Message(hook="h", text="hi"),))


def _events(name: str) -> Iterator[Event]:
    """The event with valid data, without data, and with invalid data."""
    whole = event(name)
    yield whole
    yield replace(whole, data={})
    yield replace(whole, data=dict.fromkeys((*whole.data, "tool_name", "tool_input", "prompt", "history"), 7))


def _payloads() -> Iterator[Mapping[str, Any]]:
    yield {}
    yield {"hook_event_name": "PreToolUse", "tool_name": 3, "tool_input": "text", "session_id": None}
    yield {"event": ["list"], "data": "text", "event_type": 1}
    yield from samples().values()


def _layer(dialect: Dialect, text: str) -> Layer:
    document = parse_text("sample", text, dialect.syntax)
    return Layer(
        path="/sample", name="command line", syntax=dialect.syntax, text=text, tree=document.tree, line=document.line
    )


def _damaged(text: str) -> Iterator[str]:
    """The same file, truncated or damaged: loading must survive it."""
    for at in range(0, len(text), max(1, len(text) // 40)):
        yield text[:at]
        yield text[:at] + text[at + 1 :]


def _without_origin(spec: HookSpec) -> HookSpec:
    return replace(spec, origin=hook_spec("x").origin, id="", below=None)


def _pure(act: Callable[[], _T], kinds: type | tuple[type, ...]) -> None:
    """Does not raise, returns the right type, and returns the same again."""
    once, again = act(), act()
    expect(isinstance(once, kinds), f"the answer is a {type(once).__name__}")
    _same(once, again, "the same question got two answers")


# ── runners ──────────────────────────────────────────────────────────────────────────────────────────


def check_runner(make: Callable[[], Runner], job: Callable[[str], Job], *, leftovers: Callable[[], object]) -> None:
    """Check what the engine expects of a runner, whatever the hook does.

    ``job(kind)`` makes a job of one kind: ``good`` ends by itself, ``bad`` cannot be started, ``endless`` never
    ends and has a short timeout, ``patient`` never ends and has a long one. ``leftovers()`` tells what is still
    running; it must be falsy after each.
    """
    runner = make()
    try:
        good = _run_job(runner, job("good"), leftovers)
        expect(not good.error and not good.timed_out, f"a good job failed: {good.error}")
        expect(bool(_run_job(runner, job("bad"), leftovers).error), "a job that cannot be started has no error")
        _check_deadline(runner, job("endless"), leftovers)
        _check_stop(runner, job("patient"), leftovers)
    finally:
        runner.close()
    runner.close()
    expect(not leftovers(), "something is still running after close")


def _check_deadline(runner: Runner, job: Job, leftovers: Callable[[], object]) -> None:
    assert job.spec.timeout is not None, "the endless job needs a timeout"
    began = monotonic()
    raw = _run_job(runner, job, leftovers)
    expect(raw.timed_out, f"an endless job did not time out but ended with {raw.error!r}")
    expect(monotonic() - began < job.spec.timeout + _SLACK, "the deadline was not kept")


def _check_stop(runner: Runner, job: Job, leftovers: Callable[[], object]) -> None:
    began = monotonic()
    timer = threading.Timer(0.2, job.stop.set)
    timer.start()
    raw = _run_job(runner, job, leftovers)
    timer.join()
    expect(bool(raw.error) or raw.timed_out, "a stopped job looks successful")
    expect(monotonic() - began < _SLACK, "a stop was ignored")


def _run_job(runner: Runner, job: Job, leftovers: Callable[[], object]) -> RunResult:
    answer: object = runner.run(job)
    assert isinstance(answer, RunResult), f"run returned {type(answer).__name__}, not RunResult"
    rest = leftovers()
    expect(not rest, f"still running after {job.spec.name!r}: {rest}")
    return answer


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _same(one: object, other: object, about: str) -> None:
    if one != other and repr(one) != repr(other):
        raise AssertionError(f"{about}\n{one!r}\nis not\n{other!r}")
