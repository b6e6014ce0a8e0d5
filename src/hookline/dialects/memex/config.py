"""The config face: ``[HOOKS]`` says who runs when, ``[HOOK.name]`` says what.

All layers are merged before anything is judged, as memex does it. A hook that cannot be used is a problem and
does not load; a value that cannot be used is a warning and its default is used.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.core._dataclass import dataclass, field
from hookline.core.hook import AgentRun, Gates, HookSpec, Output, hook_id
from hookline.core.problem import Problem, ProblemCode, Severity
from hookline.core.suggest import suggest
from hookline.dialects.base import ConfigPlace, Layer, Lookup, Parsed
from hookline.dialects.memex.models import nicknames
from hookline.dialects.memex.prompts import PHASES, MissingPromptError, Phase, PromptSources

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m)?", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}


def normalize(text: str, home: str = "") -> Any:
    """Trim, expand ``~``, then: object, list, integer, boolean, or text without its one pair of quotes."""
    value = text.strip()
    if home and (value == "~" or value.startswith("~/")):
        value = home + value[1:]
    if (value[:1], value[-1:]) == ("{", "}") and len(value) > 1:
        return _object(value)
    if (value[:1], value[-1:]) == ("[", "]") and len(value) > 1:
        return [item for part in value[1:-1].split(",") if (item := _unquote(part.strip()))]
    if value.isascii() and value.isdigit():
        return int(value[:300])
    if value.lower() in {"true", "yes"}:
        return True
    if value.lower() in {"false", "no"}:
        return False
    return _unquote(value)


def _object(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def names(text: str) -> tuple[str, ...]:
    """A comma-separated list, order and repetitions kept, blanks dropped; brackets and quotes are allowed."""
    value = _unquote(text.strip())
    if (value[:1], value[-1:]) == ("[", "]"):
        value = value[1:-1]
    return tuple(item for part in value.split(",") if (item := _unquote(part.strip())))


def _positive(value: Any) -> int | None:
    """An integer above zero; a plain yes is one; None for everything else."""
    if value is True:
        return 1
    return value if isinstance(value, int) and value > 0 else None


def _parse_seconds(text: str) -> float | None:
    found = _DURATION.fullmatch(_unquote(text.strip()))
    return float(found[1]) * _SECONDS[found[2]] if found else None


def quote(text: str) -> str:
    """A text so that the reader gives it back: quoted where the normaliser would change it, ``%`` doubled."""
    plain = text if normalize(text, "/home") == text and text else f'"{text}"'
    return plain.replace("%", "%%")


HOOKS = "HOOKS"
HOOK = "HOOK."
#: Tools that every hook agent has at hand; other names must be MCP servers of the settings.
_KNOWN_TOOLS = ("memory", "ragsearch")
#: memex has no limit, so a command that hangs would hang the turn.
TIMEOUT = 120.0

KEYS = (
    "enable", "model", "prompt", "tools", "steps", "mode", "runner", "external_cmd", "label", "prefix", "timeout",
    "when_every_n_turns", "when_min_turn", "when_message_contains", "when_role",
)  # fmt: skip
_OFF = frozenset({"0", "off", "none", "disabled", "disable", "false", "no"})
_ON = frozenset({"1", "on", "enabled", "true", "yes", ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One value of the merged file, and the layer it came from."""

    text: str
    layer: Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Merged:
    sections: Mapping[str, Mapping[str, _Entry]]
    lookup: Lookup
    problems: list[Problem] = field(default_factory=list)

    def text(self, section: str, key: str) -> str:
        entry = self.sections.get(section, {}).get(key)
        return entry.text if entry else ""

    def complain(
        self, entry: _Entry, pointer: str, finding: str, fix: str, severity: Severity = "error", *, tool: str = ""
    ) -> None:
        code: ProblemCode | None = "unknown-tool" if tool else None
        self.problems.append(entry.layer.origin(pointer).problem(finding, fix, severity, code=code, name=tool))


def places(cwd: str, home: str, environ: Mapping[str, str]) -> tuple[ConfigPlace, ...]:
    xdg = environ.get("XDG_CONFIG_HOME", "")
    base = xdg if os.path.isabs(xdg) else os.path.join(home, ".config")
    return (ConfigPlace(path=os.path.join(base, "iptic-memex", "config.ini"), layer="user", syntax="ini"),)


def parse(layers: Sequence[Layer], lookup: Lookup) -> Parsed:
    merged = _merge(layers, lookup)
    _unknown_phases(merged)
    specs: list[HookSpec] = []
    for phase in PHASES.values():
        listed = merged.sections.get(HOOKS, {}).get(phase.name)
        for ordinal, name in enumerate(names(listed.text) if listed else ()):
            assert listed is not None
            spec = _Hook(name=name, phase=phase, listed=listed, merged=merged).spec(ordinal)
            specs += [spec] if spec else []
    return Parsed(specs=tuple(specs), problems=tuple(dict.fromkeys(merged.problems)), models=nicknames(layers, lookup))


def _unknown_phases(merged: _Merged) -> None:
    """memex ignores such a key, but a misspelt one would be a hook that silently never runs."""
    for key, entry in merged.sections.get(HOOKS, {}).items():
        if key and key not in PHASES and key not in merged.sections.get("DEFAULT", {}):
            merged.complain(
                entry, f"$.{HOOKS}.{key}", f"there is no phase {key!r}; its hooks never run",
                suggest(key, PHASES), "warning",
            )  # fmt: skip


def _merge(layers: Sequence[Layer], lookup: Lookup) -> _Merged:
    sections: dict[str, dict[str, _Entry]] = {}
    for layer in layers:
        for section, table in layer.tree.items() if isinstance(layer.tree, Mapping) else ():
            if not isinstance(table, Mapping):
                continue
            merged = sections.setdefault(_section(str(section)), {})
            merged.update({str(key).lower(): _Entry(text=str(value), layer=layer) for key, value in table.items()})
            # An empty section counts: the hook exists, with every default.
            merged.setdefault("", _Entry(text="", layer=layer))
    return _Merged(sections=sections, lookup=lookup)


def _section(name: str) -> str:
    """``[HOOK.x]``, as people also write it: the word in any case, the name as it is."""
    return HOOK + name[len(HOOK) :] if name.upper().startswith(HOOK) else name.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hook:
    """One name in one phase's list."""

    name: str
    phase: Phase
    listed: _Entry
    merged: _Merged

    @property
    def table(self) -> Mapping[str, _Entry]:
        return self.merged.sections.get(HOOK + self.name, {})

    def spec(self, ordinal: int) -> HookSpec | None:
        if not self.table:
            self.merged.complain(
                self.listed, f"$.{HOOKS}.{self.phase.name}", f"there is no section [{HOOK}{self.name}]",
                f"write [{HOOK}{self.name}], or take {self.name!r} out of the list; it does not run",
            )  # fmt: skip
            return None
        self._unknown_keys()
        mode = self._choice("mode", ("inject", "silent", "rewrite"))
        action = self._action()
        if action is None or (mode == "silent" and not self.phase.silent):
            return None
        listed = f"$.{HOOKS}.{self.phase.name}"
        return HookSpec(
            id=hook_id(self.listed.layer.path, f"{listed}.{self.name}", self.phase.name, ordinal),
            name=self.name,
            dialect="memex",
            event=self.phase.event,
            native_event=self.phase.name,
            origin=next(iter(self.table.values())).layer.origin(f"$.{HOOK}{self.name}"),
            action=action,
            phase=self.phase.rank,
            mode="background" if mode == "silent" and self.phase.background else "sync",
            gates=self._gates(),
            timeout=self._timeout(),
            flow="chain",
            after_deny="continue",
            on_failure="ignore",
            output=Output() if mode == "silent" else self._output(),
            enabled=self._enabled(),
            extra=self._extra(mode),
        )

    # ── single values ────────────────────────────────────────────────────────────────────────────────

    def _text(self, key: str) -> str:
        entry = self.table.get(key)
        return entry.text.strip() if entry else ""

    def _value(self, key: str) -> Any:
        return normalize(self._text(key), self.merged.lookup.home) if key in self.table else None

    def _warn(self, key: str, finding: str, fix: str, severity: Severity = "warning") -> None:
        self.merged.complain(self.table[key], f"$.{HOOK}{self.name}.{key}", finding, fix, severity)

    def _unknown_keys(self) -> None:
        defaults = self.merged.sections.get("DEFAULT", {})
        for key in self.table:
            if key and key not in KEYS and key not in defaults:
                self._warn(key, f"unknown key {key!r}", suggest(key, KEYS))

    def _enabled(self) -> bool:
        value = _unquote(self._text("enable")).strip().lower()
        if value not in _OFF | _ON:
            self._warn("enable", f"{value!r} is neither yes nor no", "write true or false; the hook is enabled")
        return value not in _OFF

    def _choice(self, key: str, options: tuple[str, ...]) -> str:
        value = _unquote(self._text(key)).strip().lower()
        if value and value not in options:
            self._warn(key, f"unknown {key} {value!r}", f"write one of {', '.join(options)}; {options[0]} is used")
        return value if value in options else options[0]

    def _number(self, key: str, default: int) -> int:
        value = self._value(key)
        number = _positive(value)
        if number is None and value not in (None, "", 0):
            self._warn(
                key,
                f"{self._text(key)!r} is not a whole number above zero",
                f"write one; {default or 'no limit'} is used",
            )
        return number or default

    def _timeout(self) -> float:
        value = self._text("timeout")
        seconds = _parse_seconds(value) if value else TIMEOUT
        if seconds is None or seconds <= 0:
            self._warn("timeout", f"{value!r} is not a time", "write seconds, or 500ms, 30s, 2m")
            return TIMEOUT
        return seconds

    # ── groups of values ─────────────────────────────────────────────────────────────────────────────

    def _gates(self) -> Gates:
        every, first = self._number("when_every_n_turns", 0), self._number("when_min_turn", 0)
        contains = names(self._text("when_message_contains"))
        role = _unquote(self._text("when_role")).strip().lower()
        return Gates(
            every_n_turns=every,
            min_turn=first,
            message_contains=contains,
            role=role,
            needs_turn=bool(every or first or contains or role),
            once_per_session=self.phase.once,
            typed_only=self.phase.once,
            claim_first=self.phase.once,
        )

    def _output(self) -> Output:
        label = self._value("label")
        if label is not None and not isinstance(label, str):
            self._warn("label", f"the label {label!r} is not a text", f'put it into quotes; "hook:{self.name}" is used')
        prefix = _unquote(self._text("prefix"))
        return Output(
            inject=self.phase.placement,
            label=label if isinstance(label, str) and label else f"hook:{self.name}",
            prefix=prefix if not prefix or prefix.endswith("\n") else f"{prefix}\n",
        )

    def _extra(self, mode: str) -> Mapping[str, Any]:
        """What ``render`` cannot find elsewhere: rewrite acts as inject, and a file's text is not its name."""
        source = _unquote(self._text("prompt"))
        kept = {"mode": mode} if mode == "rewrite" else {}
        action = self._action_prompt()
        return {**kept, "prompt": source} if action is not None and action != source else kept

    def _action(self) -> AgentRun | None:
        prompt = self._action_prompt()
        command = self._command()
        if prompt is None or command is None:
            return None
        return AgentRun(
            prompt=prompt,
            model=self._model(),
            tools=self._tools(),
            steps=self._number("steps", 1),
            runner="external" if self._choice("runner", ("internal", "external")) == "external" else "internal",
            command=command,
        )

    def _model(self) -> str:
        value = _unquote(self._text("model")).strip()
        return value or self.merged.text("AGENT", "default_model") or self.merged.text("DEFAULT", "default_model")

    def _command(self) -> tuple[str, ...] | None:
        value = self._text("external_cmd")
        try:
            return tuple(shlex.split(value))
        except ValueError as error:
            self._warn("external_cmd", f"{value!r} cannot be split into words: {error}", "close the quotes", "error")
            return None

    def _tools(self) -> tuple[str, ...] | None:
        """The hook's own list, else the agent's, else None for all; blocked tools are removed from a list."""
        own = self._text("tools")
        value = own or self.merged.text("AGENT", "active_tools") or self.merged.text("TOOLS", "active_tools")
        if not value:
            return None
        if value.lower() in {"none", "__none__"}:
            return ()
        blocked = names(self.merged.text("AGENT", "blocked_tools"))
        wanted = tuple(name for name in dict.fromkeys(names(value)) if name not in blocked)
        for name in wanted if own else ():
            if name not in _KNOWN_TOOLS:
                self.merged.complain(
                    self.table["tools"], f"$.{HOOK}{self.name}.tools", f"hookline has no tool {name!r}",
                    f"configure an MCP server of that name in [mcp]; {self.name!r} runs without it", "warning", tool=name,
                )  # fmt: skip
        return wanted

    def _action_prompt(self) -> str | None:
        """The text of the prompt; None, and a problem, when it is written like a path and is not there."""
        source = _unquote(self._text("prompt"))
        if not source:
            return ""
        layer = self.table["prompt"].layer
        lookup = self.merged.lookup
        aliases = {key: _unquote(entry.text.strip()) for key, entry in self.merged.sections.get("PROMPTS", {}).items()}
        folders = tuple(dict.fromkeys((os.path.dirname(layer.path), lookup.cwd)))
        try:
            return PromptSources(folders=folders, home=lookup.home, aliases=aliases, read=lookup.read).text(source)
        except MissingPromptError as missing:
            looked = " and ".join(folder or "." for folder in folders)
            self._warn(
                "prompt",
                f"there is no prompt file {missing} (looked in {looked})",
                "create it or correct the path; the hook does not run",
                # A hook that is switched off does not miss its prompt yet.
                "error" if self._enabled() else "warning",
            )
            return None
