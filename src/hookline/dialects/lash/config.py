"""The config face: ``[hooks]`` and ``[plugins]`` sections into ``HookSpec``s and ``Problem``s.

Config entries come first, in file order and left to right, then plugins in the order of ``plugins.conf``;
what a plugin listens to is known only after its handshake, so here it is one placeholder (``plugins``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import EMPTY, dataclass, field, replace
from hookline.core.builtin_hooks import GUARD
from hookline.core.event import EVENTS
from hookline.core.hook import Command, Function, HookSpec, Origin, Plugin, hook_id
from hookline.core.problem import Problem, Severity
from hookline.dialects.base import ConfigPlace, Layer, Lookup, Parsed
from hookline.dialects.lash.entry import TYPES, LashEntry, LashOptions, parse_entries, without_comment

#: Name -> what it does.
BUILTIN_PLUGINS: Mapping[str, str] = MappingProxyType(
    {
        "git-prompt": "the branch and the state of the repository in the prompt, without holding it up",
        "typo-correct": "suggests the right command when there is none of that name",
        "guard": "refuses commands that destroy what cannot be brought back; runs in process",
        "ask": "`>` on an empty line asks a model for a command and puts it into the line",
    }
)

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shell", "plugins")


def builtin_plugin(key: str, name: str) -> Plugin | None:
    """The plugin ``name``, known under ``key`` in the file; None when there is none. Run by the Python we run on."""
    if name not in BUILTIN_PLUGINS:
        return None
    path = os.path.normpath(os.path.join(_FOLDER, f"{name.replace('-', '_')}.py"))
    return Plugin(name=key, path=path, interpreter=sys.executable)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line of a section, with what its problems and origins need."""

    layer: Layer
    section: str
    index: int
    key: str
    value: str
    number: int
    problems: list[Problem] = field(repr=False)

    @property
    def pointer(self) -> str:
        return f"$.{self.section}[{self.index}]"

    def report(self, finding: str, fix: str, severity: Severity = "error") -> None:
        pointer = f"{self.pointer}.{self.key}" if self.key else self.pointer
        self.problems.append(self.origin(pointer).problem(finding, fix, severity))

    def origin(self, pointer: str) -> Origin:
        return Origin(file=self.layer.path, line=self.number, pointer=pointer, layer=self.layer.name)


def places(cwd: str, home: str, environ: Mapping[str, str]) -> tuple[ConfigPlace, ...]:
    folder = os.path.join(home, ".lash")
    return tuple(
        ConfigPlace(path=os.path.join(folder, file), layer="user", syntax="lash") for file in ("config", "plugins.conf")
    )


def parse(layers: Sequence[Layer], lookup: Lookup) -> Parsed:
    """What could be loaded, and every problem: a bad entry never disables its neighbours."""
    problems: list[Problem] = []
    specs: list[HookSpec] = []
    for line in _lines(layers, "hooks", problems):
        specs.extend(_hooks(line, lookup))
    names: set[str] = set()
    for line in _lines(layers, "plugins", problems):
        plugin = _plugin(line, lookup, names)
        if plugin is not None:
            names.add(line.key)
            specs.extend(_guard(plugin) if plugin.extra["written"] == "builtin:guard" else [plugin])
    return Parsed(specs=tuple(specs), problems=tuple(problems))


def _lines(layers: Sequence[Layer], section: str, problems: list[Problem]) -> Iterator[_Line]:
    for layer in layers:
        rows: list[Any] = layer.tree.get(section, []) if isinstance(layer.tree, dict) else []
        for index, (key, value, number) in enumerate(rows):
            yield _Line(
                layer=layer,
                section=section,
                index=index,
                key=str(key),
                value=str(value),
                number=int(number),
                problems=problems,
            )


# ── hooks ────────────────────────────────────────────────────────────────────────────────────────────


def _hooks(line: _Line, lookup: Lookup) -> Iterator[HookSpec]:
    if line.key not in EVENTS:
        near = get_close_matches(line.key, EVENTS, n=1)
        hint = f"did you mean {near[0]}?" if near else "for the events there are, type: hookline list --events"
        line.report(f"unknown event {line.key}", hint)
        return
    for ordinal, entry in enumerate(parse_entries(line.value)):
        if entry.type not in TYPES or not entry.path:
            line.report(f"bad hook {entry.text!r}", f"write type:path, with a type of {', '.join(TYPES)}")
            continue
        _report_options(line, entry)
        yield _executable(line, ordinal, entry, lookup)


def _report_options(line: _Line, entry: LashEntry) -> None:
    for finding in entry.findings:
        line.report(f"{finding} in {entry.text!r}", "write on_error=allow, on_error=deny or timeout=2s")
    if entry.options.on_failure == "deny" and TYPES[entry.type][0] != "sync":
        line.report(
            f"on_error ignored on {entry.type} in {entry.text!r}", "only a blocking hook can fail closed", "warning"
        )


def _executable(line: _Line, ordinal: int, entry: LashEntry, lookup: Lookup) -> HookSpec:
    mode, seconds = TYPES[entry.type]
    pointer = f"{line.pointer}[{ordinal}]"
    return HookSpec(
        id=hook_id(line.layer.path, pointer, line.key),
        name=entry.path,
        dialect="lash",
        event=line.key,
        native_event=line.key,
        origin=line.origin(pointer),
        action=Command(
            form="argv", argv=(_expand_home(entry.path, lookup.home),), base=os.path.dirname(line.layer.path)
        ),
        mode=mode,
        timeout=entry.options.timeout or seconds,
        on_failure=(entry.options.on_failure or "ignore") if mode == "sync" else "ignore",
        extra=MappingProxyType({"type": entry.type}),
    )


def _expand_home(path: str, home: str) -> str:
    """``~`` and ``~/…`` only: a hook must not come from another user's home directory."""
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return path


# ── plugins ──────────────────────────────────────────────────────────────────────────────────────────


def _plugin(line: _Line, lookup: Lookup, names: set[str]) -> HookSpec | None:
    written = without_comment(line.value)
    path, options = _plugin_options(line, written)
    if path.startswith("builtin:") and builtin_plugin(line.key, path.removeprefix("builtin:")) is None:
        line.report(
            f"plugin {line.key}: {path} is not part of hookline",
            f"write one of {', '.join(f'builtin:{name}' for name in BUILTIN_PLUGINS)}, or the plugin's executable",
        )
        return None
    if not line.key or not path:
        line.report(f"bad plugin {line.key!r} = {written!r}", "write name = /path/to/executable")
        return None
    if line.key in names:
        line.report(f"plugin {line.key} is named twice; the first one counts", "give each plugin its own name")
        return None
    return _placeholder(line, path, options, lookup)


def _guard(plugin: HookSpec) -> Iterator[HookSpec]:
    """``builtin:guard`` needs no process: it is the guard of a hookline.toml, with the standard policy."""
    for event in ("pipeline.pre_execute", "process.pre_spawn"):
        yield replace(
            plugin, id=hook_id(plugin.origin.file, plugin.origin.pointer, event), dialect="native", event=event,
            native_event=event, action=Function(target=GUARD, given='{"policy": "standard"}'), on_failure="deny",
            extra=EMPTY,
        )  # fmt: skip


def _plugin_options(line: _Line, written: str) -> tuple[str, LashOptions]:
    """``plugin(options):path``, or just the path."""
    entry = next(parse_entries(written)) if written.startswith(("plugin:", "plugin(")) else None
    if entry is None or entry.type != "plugin":
        return written, LashOptions()
    head = written.index(":", written.index(")") if written.startswith("plugin(") else 0)
    for finding in entry.findings:
        line.report(f"{finding} of plugin {line.key}", "write on_error=allow, on_error=deny or timeout=2s")
    return written[head + 1 :].strip(), entry.options


def _placeholder(line: _Line, path: str, options: LashOptions, lookup: Lookup) -> HookSpec:
    ours = builtin_plugin(line.key, path.removeprefix("builtin:")) if path.startswith("builtin:") else None
    absolute = _expand_home(path, lookup.home)
    if "/" in absolute and not os.path.isabs(absolute):
        absolute = os.path.normpath(os.path.join(os.path.dirname(line.layer.path), absolute))
    extra: dict[str, Any] = {"unexpanded": True, "written": path}
    if options.on_failure is not None:
        extra["on_failure"] = options.on_failure
    if options.timeout is not None:
        extra["timeout"] = options.timeout
    return HookSpec(
        id=hook_id(line.layer.path, line.pointer, "plugin"),
        name=line.key,
        dialect="lash",
        event="plugin.load",
        native_event="plugin",
        origin=line.origin(line.pointer),
        action=ours or Plugin(name=line.key, path=absolute),
        timeout=options.timeout or TYPES["blocking"][1],
        on_failure=options.on_failure or "ignore",
        extra=MappingProxyType(extra),
    )
