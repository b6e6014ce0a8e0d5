"""Which hooks an event is for: pure, in fixed order, and fast however many hooks there are.

``explain`` and ``fire`` call the same functions, so what would happen and what happens cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, takewhile
from time import perf_counter

from hookline.core._dataclass import EMPTY, dataclass
from hookline.core.event import Event, EventKind
from hookline.core.hook import ASK, FieldTest, Gates, HookSpec, Pattern, Scope, is_native_function
from hookline.core.result import Blocked
from hookline.core.session_facts import Facts
from hookline.core.tool_names import matching_names
from hookline.core.typed import Any
from hookline.dialects.base import FOREIGN
from hookline.engine.patterns import Undecided, are_names, compile_pattern, is_folder

#: Subjects for which the index caches the answer.
_MAX_CACHED = 2048
#: What a tool is given several of, where a hook asks for one: each of them is tested.
_SEVERAL = {"tool_input.file_path": "tool_input.file_paths", "tool_input.url": "tool_input.urls"}
#: Seconds that the matchers of a project's hooks may take together on one event.
_PROJECT_SECONDS = 1.0


class _ProjectTime:
    """What is left for the matchers of a project's hooks: one's own hooks must be asked before an agent gives up."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _PROJECT_SECONDS

    def test(self, spec: HookSpec, test: Callable[[HookSpec, Any], bool], subject: Any) -> bool:
        if spec.origin.layer not in FOREIGN:
            return test(spec, subject)
        if self._left <= 0:
            raise Undecided(f"the matchers of the project's hooks took longer than {_PROJECT_SECONDS:g} s together")
        began = perf_counter()
        try:
            return test(spec, subject)
        finally:
            self._left -= perf_counter() - began


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Every hook whose matcher fits, in the order they run; ``held`` are gated, ``broken`` cannot be decided."""

    chosen: tuple[HookSpec, ...] = ()
    #: The same hooks: neighbours that may run side by side are one batch, a hook of a chain is a batch of its own.
    batches: tuple[tuple[HookSpec, ...], ...] = ()
    held: Mapping[str, str] | None = None
    broken: Mapping[str, str] | None = None
    #: Only the subject matters: none of them has a gate, a field test or an interlocutor.
    plain: bool = False
    #: Then also: the first of them, as far as they are functions that are only called, one after the other.
    functions: tuple[HookSpec, ...] = ()


_NO_HOOKS = Selection(plain=True)

_OPEN = Gates()


def _selection(chosen: Sequence[HookSpec], held: Mapping[str, str], broken: Mapping[str, str]) -> Selection:
    chosen = once_each(chosen, broken)
    plain = not broken and all(_unconditional(spec) for spec in chosen)
    made = tuple(batches(chosen))
    functions = [batch[0] for batch in takewhile(_is_function, made)] if plain else ()
    return Selection(
        chosen=tuple(chosen), batches=made, held=held, broken=broken, plain=plain, functions=tuple(functions)
    )


def _is_function(batch: Sequence[HookSpec]) -> bool:
    """Whether there is nothing to do but to call it and to wait."""
    spec = batch[0]
    only_called = spec.mode == "sync" and spec.thrift is None and ASK not in spec.extra
    return len(batch) == 1 and only_called and is_native_function(spec)


def once_each(specs: Sequence[HookSpec], broken: Mapping[str, str] = EMPTY) -> Sequence[HookSpec]:
    """Without those that are the same as one before."""
    if not any(spec.same for spec in specs):
        return specs
    first: dict[str, str] = {}
    for spec in specs:
        if spec.id not in broken:
            first.setdefault(spec.same, spec.id)
    return [spec for spec in specs if not spec.same or first.get(spec.same, spec.id) == spec.id]


def batches(specs: Iterable[HookSpec]) -> Iterable[tuple[HookSpec, ...]]:
    for flow, group in groupby(specs, key=lambda spec: spec.flow):
        if flow == "parallel":
            yield tuple(group)
        else:
            yield from ((spec,) for spec in group)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listeners:
    """The hooks of one event: those that match names are looked up, the others are tested."""

    specs: tuple[HookSpec, ...]
    by_name: Mapping[str, Sequence[int]]
    others: tuple[int, ...]


def _listeners(specs: Sequence[HookSpec]) -> _Listeners:
    by_name: dict[str, list[int]] = {}
    others: list[int] = []
    for position, spec in enumerate(specs):
        names = _names_in(spec.matcher.subject)
        if names is None or spec.matcher.subject.when_missing:
            others.append(position)
        for name in names or ():
            by_name.setdefault(name, []).append(position)
    return _Listeners(specs=tuple(specs), by_name=by_name, others=tuple(others))


def _names_in(pattern: Pattern) -> tuple[str, ...] | None:
    """The names a pattern can match, if it is nothing but names."""
    if pattern.style == "exact":
        return pattern.options
    if pattern.style == "full" and "." not in pattern.text and are_names(pattern.text):
        return tuple(pattern.text.split("|"))
    return None


class Index:
    """Hooks by event, in running order, with a cached answer per subject.

    The order is the declared one, moved only by ``order`` and, inside one dialect's run of hooks, by ``phase``:
    a phase of one system must not push its hooks past those of another.
    """

    __slots__ = ("_answers", "_by_event", "_tests")

    def __init__(self, specs: Iterable[HookSpec]) -> None:
        self._answers: dict[Any, Selection] = {}
        self._tests: dict[Pattern, Callable[[str], bool]] = {}
        listening: dict[str, list[HookSpec]] = {}
        for spec in in_order([spec for spec in specs if spec.enabled]):
            listening.setdefault(spec.event, []).append(spec)
        self._by_event = {event: _listeners(group) for event, group in listening.items()}

    def listening(self, event: str) -> tuple[HookSpec, ...]:
        known = self._by_event.get(event)
        return known.specs if known is not None else ()

    def fitting(self, kind: EventKind, data: Mapping[str, Any]) -> Selection:
        """The hooks whose subject and tool scope fit: all that depends on nothing but the subject."""
        listeners = self._by_event.get(kind.name)
        if listeners is None:
            return _NO_HOOKS
        key = (kind.name, data.get(kind.subject), data.get("native_tool_name")) if kind.subject else kind.name
        try:
            return self._answers[key]
        except KeyError:
            answer = self._answer(listeners, subject_names(kind, data))
        except TypeError:  # a subject that is not hashable
            return self._answer(listeners, subject_names(kind, data))
        if len(self._answers) >= _MAX_CACHED:
            self._answers.clear()
        self._answers[key] = answer
        return answer

    def select(self, event: Event, facts: Facts) -> Selection:
        """The hooks to run for this event, and those held back by a gate."""
        fitting = self.fitting(event.kind, event.data)
        if fitting.plain:
            return fitting
        chosen: list[HookSpec] = []
        held: dict[str, str] = {}
        broken = dict(fitting.broken or {})
        time = _ProjectTime()
        for spec in fitting.chosen:
            try:
                if not time.test(spec, self._fields_fit, event):
                    continue
                if why := gate(spec.gates, event, facts):
                    held[spec.id] = why
            except Undecided as undecided:
                broken[spec.id] = str(undecided)
            chosen.append(spec)
        return _selection(chosen, held, broken)

    def why_not(self, spec: HookSpec, event: Event, facts: Facts) -> Blocked | None:
        """Why this event is not for this hook; None if it is."""
        try:
            if text := self._mismatch(spec, event):
                return Blocked(reason="mismatch", message=text)
            text = gate(spec.gates, event, facts)
        except Undecided as undecided:
            return Blocked(reason="undecidable", message=f"its matcher cannot be decided: {undecided}")
        return Blocked(reason="gate", message=text) if text else None

    def _mismatch(self, spec: HookSpec, event: Event) -> str:
        names = subject_names(event.kind, event.data)
        if not self._subject_fits(spec, names):
            subject = event.kind.subject or "subject"
            found = f"{subject} {names[0]!r} does not match" if names else f"no {subject} was given that would match"
            return f"{found} {_expected_subject(spec)}"
        if not _in_scope(spec.scope, event.data):
            return f"the interlocutor is not {spec.scope.name!r}"
        failing = [test for test in spec.matcher.fields if not self._field_fits(test, event.data)]
        return "; ".join(f"{test.path} {_expected(test)}" for test in failing)

    def _answer(self, listeners: _Listeners, names: tuple[str, ...]) -> Selection:
        candidates = {position for name in names for position in listeners.by_name.get(name, ())}
        chosen: list[HookSpec] = []
        broken: dict[str, str] = {}
        time = _ProjectTime()
        for position in sorted(candidates.union(listeners.others)):
            spec = listeners.specs[position]
            try:
                if time.test(spec, self._subject_fits, names):
                    chosen.append(spec)
            except Undecided as undecided:
                # It may be a guard: it counts as failed, and on_failure decides.
                broken[spec.id] = str(undecided)
                chosen.append(spec)
        return _selection(chosen, EMPTY, broken)

    def _subject_fits(self, spec: HookSpec, names: tuple[str, ...]) -> bool:
        if spec.scope.kind == "tool" and spec.scope.name not in names:
            return False
        return self._fits(spec.matcher.subject, names)

    def _fields_fit(self, spec: HookSpec, event: Event) -> bool:
        return _in_scope(spec.scope, event.data) and all(
            self._field_fits(test, event.data) for test in spec.matcher.fields
        )

    def _field_fits(self, test: FieldTest, data: Mapping[str, Any]) -> bool:
        present, value = lookup(data, test.path)
        if test.pattern is None:
            return (present and value == test.equals) is not test.negate
        if not present:
            return self._fits(test.pattern, ()) is not test.negate
        several = lookup(data, _SEVERAL[test.path])[1] if test.path in _SEVERAL else None
        if isinstance(several, list):
            return any(self._fits(test.pattern, (as_text(one),)) is not test.negate for one in several)
        text = as_text(value)
        texts = matching_names(text, data.get("native_tool_name")) if test.path == "tool_name" else (text,)
        return self._fits(test.pattern, texts) is not test.negate

    def partly_covered(self, spec: HookSpec, data: Mapping[str, Any]) -> str:
        """The first field of which the hook's pattern covers only a part, by whole lines; "" if there is none.

        What is found somewhere in a command says nothing about the rest of it, so such a hook can object, not permit.
        """
        for test in spec.matcher.fields:
            pattern = test.pattern
            if test.negate or pattern is None or not pattern.style.endswith("across lines"):
                continue
            several = lookup(data, _SEVERAL[test.path])[1] if test.path in _SEVERAL else None
            values = several if isinstance(several, list) else [lookup(data, test.path)[1]]
            whole = Pattern(style="full", text=pattern.text)
            try:
                if not all(self._fits(whole, (as_text(value),)) for value in values):
                    return test.path
            except Undecided:
                return test.path
        return ""

    def fits(self, spec: HookSpec, event: Event) -> bool:
        """Whether the data are what the hook's matcher asks for; in doubt they are."""
        try:
            return self._fields_fit(spec, event)
        except Undecided:
            return True

    def _fits(self, pattern: Pattern, texts: tuple[str, ...]) -> bool:
        if pattern.style == "any":
            return True
        if not texts:
            return pattern.when_missing
        test = self._tests.get(pattern)
        if test is None:
            test = self._tests[pattern] = compile_pattern(pattern)
        return any(test(text) for text in texts)


def in_order(specs: Sequence[HookSpec]) -> list[HookSpec]:
    """Declared order, after ``order`` and, within one dialect's neighbours, ``phase``."""
    keyed: list[tuple[int, int, int, int]] = []
    group, before = 0, ""
    for position, spec in enumerate(specs):
        if spec.dialect != before:
            group, before = group + 1, spec.dialect
        keyed.append((spec.order, group, spec.phase, position))
    return [specs[key[3]] for key in sorted(keyed)]


def _unconditional(spec: HookSpec) -> bool:
    return not spec.matcher.fields and spec.scope.kind != "interlocutor" and spec.gates == _OPEN


def subject_names(kind: EventKind, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Every name the subject goes by; () when the event has none."""
    if kind.subject is None:
        return ()
    value = data.get(kind.subject)
    if not isinstance(value, str) or not value:
        return ()
    if kind.subject == "tool_name":
        native = data.get("native_tool_name")
        return matching_names(value, native if isinstance(native, str) else None)
    return (value,)


def lookup(data: Any, path: str) -> tuple[bool, Any]:
    """The value at a dotted path, through objects and lists: (found, value)."""
    here = data
    for part in path.split("."):
        if isinstance(here, list):
            if not part.isdecimal() or int(part) >= len(here):
                return False, None
            here = here[int(part)]
        elif hasattr(here, "get") and part in here:
            here = here[part]
        else:
            return False, None
    return True, here


def as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, dict | list):
        from json import dumps  # noqa: PLC0415  structured fields are rarely matched as text

        return dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _in_scope(scope: Scope, data: Mapping[str, Any]) -> bool:
    if scope.kind != "interlocutor":
        return True
    active = data.get("interlocutor")
    return scope.default if not active else active == scope.name


# ── gates ────────────────────────────────────────────────────────────────────────────────────────────


def gate(gates: Gates, event: Event, facts: Facts) -> str:
    """Why a gate holds the hook back; "" when all pass. Claims are not made here."""
    data, turn = event.data, facts.turn
    auto = bool(data.get("auto_submit"))
    if gates.agent and not is_named(event.agent, gates.agent):
        return f"agent {event.agent!r} is not one of {', '.join(gates.agent)}"
    if gates.cwd and not any(is_folder(text, event.cwd) for text in gates.cwd):
        return f"directory {event.cwd!r} does not match {', '.join(gates.cwd)}"
    if gates.role and gates.role.lower() != event.role.lower():
        return f"role is {event.role!r}, not {gates.role!r}"
    if auto and (gates.typed_only or gates.every_n_turns):
        return "the turn was submitted by the agent itself, not typed"
    if gates.needs_turn and turn < 1:
        return "no user turn yet"
    if gates.first_turn_unless and gates.first_turn_unless not in data and (turn > 1 or auto):
        return f"turn {turn} is not the first"
    if turn < gates.min_turn:
        return f"turn {turn} is before turn {gates.min_turn}"
    if gates.every_n_turns and (turn < 1 or turn % gates.every_n_turns):
        return f"turn {turn} is not a multiple of {gates.every_n_turns}"
    if gates.message_contains and not _mentions(gates.message_contains, event, facts):
        return f"the message contains none of: {', '.join(gates.message_contains)}"
    return ""


def is_named(agent: str, wanted: tuple[str, ...]) -> bool:
    """``claude`` means ``claude-code`` and the other way round."""
    short = agent.partition("-")[0]
    return any(name in {agent, short} or agent == name.partition("-")[0] for name in wanted)


def _mentions(parts: tuple[str, ...], event: Event, facts: Facts) -> bool:
    field = event.kind.message
    message = event.data.get(field) if field else None
    text = message if isinstance(message, str) and message else facts.last_prompt
    return any(part.casefold() in text.casefold() for part in parts)


def _expected_subject(spec: HookSpec) -> str:
    return repr(spec.scope.name) if spec.scope.kind == "tool" else _pattern_text(spec.matcher.subject)


def _expected(test: FieldTest) -> str:
    """What a test asks for, after "does not" or, negated, after "must not"."""
    if test.pattern is None:
        return f"{'must not be' if test.negate else 'is not'} {test.equals!r}"
    return f"{'must not' if test.negate else 'does not'} match {_pattern_text(test.pattern)}"


def _pattern_text(pattern: Pattern) -> str:
    return repr(pattern.text or "|".join(pattern.options))
