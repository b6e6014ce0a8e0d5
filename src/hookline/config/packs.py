"""Hooks of packs: from the files that were approved, in the dialect their author wrote them for, to hooks for every agent.

What is approved is in force, for the file that it was approved for. What a file names and nobody approved is inert, and
what somebody took out of a file stays in force until a person removes it: a guard must not vanish with an edited line.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.config.layers import LayerLoader
from hookline.core._dataclass import replace
from hookline.core.agents import full_name
from hookline.core.errors import PackError
from hookline.core.event import GUARDED
from hookline.core.hook import Command, FieldTest, Function, HookSpec, Origin, Plugin, hook_id
from hookline.core.loaded import SourceFile
from hookline.core.paths import Paths
from hookline.core.problem import Problem, Severity
from hookline.dialects import dialect_named
from hookline.dialects.base import FOREIGN, PACK, Layer
from hookline.dialects.native.sources import PackTable, SourceTable, parse_packs
from hookline.dialects.plugins import BY_CONTENT, ROOT, ROOT_TEXT, ROOT_TWICE, find_plugin_root, plugin_variables
from hookline.dialects.tool_matchers import with_canonical_tools
from hookline.packs.store import Approved, Definition, PackStore, is_changed
from hookline.state.trust.digest import Digests, bytes_digest

if TYPE_CHECKING:
    from hookline.dialects.plugins import HooksFile

_SYNC = "hookline sync"
_UNKNOWN = re.compile(r"\b[A-Z]+_PLUGIN_ROOT\b")
#: A path that a shell reads as it is, wherever it stands.
_PLAIN = re.compile(r"[\w/.@%+=:,-]+")
#: A relative path of the pack at the start of a word; and where a program stands.
_PATH = r"""(?:\./)?((?:[\w@+-][\w.@+-]*/)+[\w.@+-]+|(?<=\./)[\w@+-][\w.@+-]*)"""
_RELATIVE = re.compile(rf"(?<![\w$}}/.~:=-]){_PATH}")
_PROGRAM = re.compile(rf"(?:(?<=[;&|(\n] )|(?<=[;&|(\n])|\A){_PATH}")


def load_packs(reading: LayerLoader, layers: Sequence[Layer], paths: Paths) -> Iterator[tuple[int, int, HookSpec]]:
    """Layer, line and hook of every pack that is in force for these files."""
    store, digests, seen = PackStore(paths, reading.pack_root), Digests(), set[tuple[str, str]]()
    doubtful: tuple[Approved, ...] = ()
    named = {
        rank: _tables(reading, layer)
        for rank, layer in enumerate(layers)
        if isinstance(layer.tree, dict) and "pack" in layer.tree
    }
    try:
        rows = store.approved()
    except PackError as error:
        rows, doubtful = (), store.doubtful()
        reading.problems.append(Problem(file=paths.state, pointer="$.pack", finding=str(error), fix=_SYNC))
    known = {(row.file, row.source): row for row in rows}
    for rank, tables in named.items():
        real = os.path.realpath(layers[rank].path)
        for table in tables:
            layer = layers[rank]
            if reading.gate.mode == "open":  # files that were named, or a machine that decides itself
                found = _unreviewed(reading, store, table)
            else:
                row = _same(known.get((real, table.source)), table)
                found = _in_force(reading, store, row, digests) if row else _inert(reading, layer, table, rows)
                seen |= {(row.file, row.digest)} if row else set()
            yield from ((rank, table.where.line, spec) for spec in found)
    # Files of ours that were looked for, whether or not they are there and approved.
    files = {
        os.path.realpath(source.path)
        for source in reading.sources
        if source.dialect == "native" and source.layer != PACK
    }
    for row in rows if reading.gate.mode != "open" else ():
        if row.file in files and (row.file, row.digest) not in seen:
            yield from ((len(layers), 0, spec) for spec in _kept(reading, store, row, digests))
    events = {(row.source, event): row for row in doubtful if row.file in files for event in row.guards}
    for (_, event), row in events.items():
        yield len(layers), 0, _stand_in(row, event, store.folder(row.digest))


def _tables(reading: LayerLoader, layer: Layer) -> tuple[PackTable, ...]:
    tables, problems = parse_packs(layer)
    reading.problems += problems
    return tables


def _same(row: Approved | None, table: PackTable) -> Approved | None:
    """The approval, if it is of what the table says now."""
    if row is None or (row.digest, row.env, row.fail_closed) != (table.digest, table.env, table.fail_closed):
        return None
    return row


def _inert(reading: LayerLoader, layer: Layer, table: PackTable, rows: Iterable[Approved]) -> tuple[HookSpec, ...]:
    """A repository's line only waits; in one's own file a pack that is expected and absent refuses."""
    other = any((row.file, row.source) == (os.path.realpath(layer.path), table.source) for row in rows)
    finding = (
        f"the pack {table.source} is approved in another version or with other settings"
        if other
        else f"the pack {table.source} is not approved, so none of its hooks runs"
    )
    severity: Severity = "warning" if layer.name in FOREIGN or other else "error"
    reading.problems.append(table.where.problem(finding, f"see what it does, and approve it: {_SYNC}", severity))
    return ()


def _unreviewed(reading: LayerLoader, store: PackStore, table: PackTable) -> tuple[HookSpec, ...]:
    """A pack of a file that counts as trusted: its files must still be exactly those of the digest."""
    from hookline.dialects.plugins import read_layout  # only a named file is read without an approval

    try:
        layout = read_layout(store.read(table.digest), "pack")
    except PackError as error:
        reading.problems.append(table.where.problem(str(error), f"hookline add {table.source}"))
        return ()
    given = Approved(
        file="", source=table.source, revision=table.revision, digest=table.digest, name=layout.name,
        fail_closed=table.fail_closed, env=table.env,
    )  # fmt: skip
    with suppress(OSError):  # a hook that needs it fails, and says so
        os.makedirs(store.data_folder(layout.name, table.source), 0o700, exist_ok=True)
    return pack_hooks(reading, store, given, layout.files)


def _kept(reading: LayerLoader, store: PackStore, row: Approved, digests: Digests) -> tuple[HookSpec, ...]:
    """Approved, and no longer in its file."""
    if not row.guards:
        return ()
    fix = f"to keep the change: {_SYNC}; to remove the pack: hookline remove {row.name}"
    finding = f"the pack {row.source} is not in this file as it was approved, and stays in force as it was"
    reading.problems.append(Problem(file=row.file, pointer="$.pack", finding=finding, fix=fix, severity="warning"))
    return _in_force(reading, store, row, digests)


def _in_force(reading: LayerLoader, store: PackStore, row: Approved, digests: Digests) -> tuple[HookSpec, ...]:
    root = store.folder(row.digest)
    changed = [one.path for one in row.definitions if is_changed(root, one, digests)]
    if changed:
        return tuple(_stand_in(row, event, root) for event in row.guards)
    return pack_hooks(reading, store, row, row.definitions)


def _stand_in(row: Approved, event: str, root: str) -> HookSpec:
    """For a guard whose definition cannot be read any more: it refuses (``engine.eligibility``)."""
    return HookSpec(
        id=hook_id(root, row.name, event), name=row.name, dialect="native", event=event, origin=Origin(file=root, layer=PACK),
        action=Command(form="argv", argv=("false",)), on_failure="deny", extra={"pack": row.digest},
    )  # fmt: skip


# ── from files to hooks ──────────────────────────────────────────────────────────────────────────────


def pack_hooks(
    reading: LayerLoader, store: PackStore, one: Approved, files: Iterable[Definition | HooksFile]
) -> tuple[HookSpec, ...]:
    """What is wrong in a pack's files was shown when it was approved: here it is only a warning."""
    root, before = store.folder(one.digest), len(reading.problems)
    specs = tuple(spec for file in files for spec in _of_file(reading, root, file))
    reading.problems[before:] = [replace(problem, severity="warning") for problem in reading.problems[before:]]
    around = plugin_variables(root, store.data_folder(one.name, one.source)) | dict(one.env)
    extra = {"pack": one.digest} | ({"programs": one.programs} if one.programs else {})
    return tuple(_in_pack(spec, one, root, around, extra) for spec in specs)


def _folder_hooks(
    reading: LayerLoader, root: str, name: str, files: Iterable[HooksFile], data: str
) -> tuple[HookSpec, ...]:
    """Of a plugin that lies where its agent or its author keeps it, and is not checked by a digest."""
    one = Approved(file="", source="", revision="", digest="", name=name)
    specs = (spec for file in files for spec in _of_file(reading, root, file))
    return tuple(_in_pack(spec, one, root, plugin_variables(root, data), {}) for spec in specs)


def load_plugin_hooks(reading: LayerLoader, source: SourceTable) -> tuple[HookSpec, ...]:
    """Plugins of an agent, for all others: it runs its own itself (``engine.eligibility``)."""
    from hookline.packs.installed import find_plugins, plugin_layout

    agent, paths = full_name(source.installed), reading.paths
    try:
        plugins = [one for one in find_plugins(agent, reading.lookup.home) if one.enabled]
    except PackError as error:
        reading.problems.append(source.where.at("installed").problem(str(error), "name one of these"))
        return ()
    found: list[HookSpec] = []
    for one in plugins:
        layout = plugin_layout(one)
        if layout is not None and paths is not None:
            data = PackStore(paths).data_folder(layout.name, f"installed:{agent}:{one.name}")
            os.makedirs(data, 0o700, exist_ok=True)
            found += _folder_hooks(reading, one.folder, layout.name, layout.files, data)
    return tuple(replace(spec, extra={**spec.extra, "installed": agent}) for spec in found)


def with_plugin_root(reading: LayerLoader, layers: Sequence[Layer], specs: Iterable[HookSpec]) -> tuple[HookSpec, ...]:
    """Hooks of a plugin whose file was named alone: its folder is looked for above the file, since without it every one of
    them would fail. Where there is none, they are refused with an error."""
    roots = {layer.path: find_plugin_root(layer.path, os.path.exists) for layer in layers}
    for file, root in roots.items():
        if root:
            finding = "this is a plugin's file: it works alone, but nothing pins the scripts that it runs"
            problem = Problem(
                file=file, pointer="$.hooks", finding=finding, fix=f"hookline add {shlex.quote(root)}", severity="note"
            )
        else:
            finding = "its hooks name the folder of their plugin, and this file is in none, so none of them can run"
            problem = Problem(
                file=file, pointer="$.hooks", finding=finding, fix="add the whole plugin: hookline add ./FOLDER"
            )
        reading.problems.append(problem)
    return tuple(_of_plugin(spec, roots[spec.origin.file]) for spec in specs if roots.get(spec.origin.file))


def _of_plugin(spec: HookSpec, root: str) -> HookSpec:
    one = Approved(file="", source="", revision="", digest="", name=os.path.basename(root))
    return _in_pack(with_canonical_tools(spec), one, root, plugin_variables(root, os.path.join(root, ".data")), {})


def _of_file(reading: LayerLoader, root: str, file: Definition | HooksFile) -> tuple[HookSpec, ...]:
    from hookline.dialects.native.config import place

    path, before = os.path.join(root, file.path), len(reading.problems)
    if (known := _parsed.get((path, file))) is not None:
        reading.sources.append(SourceFile(path=path, layer=PACK, dialect=file.dialect, found=True))
        return known
    layer, as_approved = _read(reading, path, file)
    if layer is None or not isinstance(layer.tree, dict):
        return ()
    kind, _, owner = file.part.partition(":")
    if kind:
        layer = replace(layer, tree={"hooks": layer.tree if kind == "bare" else layer.tree.get("hooks") or {}})
    if file.dialect == "native":
        placed, problems = place([layer], reading.lookup)
        reading.problems += problems
        return tuple(one.spec for one in placed)
    specs = tuple(map(with_canonical_tools, reading.parsed(dialect_named(file.dialect), [layer])))
    specs = tuple(_of_agent(spec, owner) for spec in specs) if kind == "agent" else specs
    if as_approved and file.dialect in BY_CONTENT and len(reading.problems) == before:
        if len(_parsed) >= _MOST:
            _parsed.clear()
        _parsed[path, file] = specs
    return specs


#: Hooks of files whose content had the approved digest when they were read, as long as this process lives. Whether the
#: file is still so is asked before, each time (``_in_force``).
_parsed: dict[tuple[str, Definition | HooksFile], tuple[HookSpec, ...]] = {}
_MOST = 1024


def _read(reading: LayerLoader, path: str, file: Definition | HooksFile) -> tuple[Layer | None, bool]:
    """A hundred packs are a hundred files, and nobody edits them: they are read without looking for lines. Also whether
    what was read is what was approved."""
    if file.syntax == "json" and isinstance(file, Definition):
        try:
            with open(path, "rb") as content:
                data = content.read()
            tree = json.loads(data.decode("utf-8-sig"))
        except (OSError, ValueError, RecursionError):
            data, tree = b"", None
        if isinstance(tree, dict):
            reading.sources.append(SourceFile(path=path, layer=PACK, dialect=file.dialect, found=True))
            layer = Layer(path=path, name=PACK, syntax="json", text="", tree=tree)
            return layer, bytes_digest(data) == file.sha256
    return reading.layer(path, PACK, file.syntax, file.dialect, required=True), False


def _of_agent(spec: HookSpec, agent: str) -> HookSpec:
    """Front matter of a subagent: its hooks run while that works, and its end is a subagent's end."""
    test = FieldTest(path="agent_type", equals=agent)
    if spec.event in {"Stop", "SubagentStop"}:
        spec = replace(spec, event="SubagentStop", native_event="SubagentStop")
        test = FieldTest(path="subagent_type", equals=agent)
    return replace(spec, matcher=replace(spec.matcher, fields=(*spec.matcher.fields, test)))


def _in_pack(spec: HookSpec, one: Approved, root: str, around: Mapping[str, str], extra: Mapping[str, str]) -> HookSpec:
    action = spec.action
    if isinstance(action, Command):
        # Under the name that its agent gives it too, and under those of agents that we do not know.
        names = {
            f"{spec.dialect.upper()}_PLUGIN_ROOT",
            *(_UNKNOWN.findall(action.text) if ROOT not in action.text else ()),
        }
        around = {**around, **dict.fromkeys(names, root)}
        action = replace(
            action, text=_expand(action.text, root, around), argv=tuple(_expand_word(word, root, around) for word in action.argv),
            base=root if action.base or spec.dialect != "native" else action.base,
        )  # fmt: skip
    elif isinstance(action, Plugin) and not action.interpreter:
        action = replace(action, path=os.path.normpath(os.path.join(root, action.path)))
    elif isinstance(action, Function) and not action.given:
        action = replace(action, base=root)
    hard = (one.fail_closed or spec.extra.get("failClosed") is True) and spec.mode == "sync" and spec.event in GUARDED
    return replace(
        spec, name=_name(one.name, spec), action=action, environ={**around, **spec.environ}, extra={**spec.extra, **extra},
        on_failure="deny" if hard and spec.on_failure == "ignore" else spec.on_failure,
    )  # fmt: skip


def _name(pack: str, spec: HookSpec) -> str:
    """``pack: script.sh``, short enough to be typed."""
    text = ROOT_TEXT.sub("", spec.name)
    return f"{pack}: {' '.join(text.split())[:60].strip()}"


def _expand(text: str, root: str, around: Mapping[str, str]) -> str:
    """As these agents do, in the text, where the path means itself to a shell; elsewhere the variable does it."""
    # Who names the folder means it where it is named: other words are for the script, which joins them itself.
    relative = _PROGRAM if "PLUGIN_ROOT" in text or "extensionPath" in text else _RELATIVE
    if "${" in text:
        text = ROOT_TWICE.sub("", text)
        for name, value in around.items() if _PLAIN.fullmatch(root) else ():
            written = f"${{{name}}}"
            text = text.replace(written, value) if written in text and _PLAIN.fullmatch(value) else text
        text = text.replace("${/}", "/").replace("${pathSeparator}", ":")

    def inside(found: re.Match[str]) -> str:
        """A relative path means the pack's file, never one of the project's that has the same name."""
        path = os.path.join(root, found[1])
        return shlex.quote(path) if _PLAIN.fullmatch(path) and os.path.isfile(path) else found[0]

    return relative.sub(inside, text)


def _expand_word(word: str, root: str, around: Mapping[str, str]) -> str:
    for name, value in around.items():
        word = word.replace(f"${{{name}}}", value).replace(f"${name}", value)
    inner = os.path.join(root, word)
    return inner if "/" in word and not word.startswith("/") and os.path.isfile(inner) else word
