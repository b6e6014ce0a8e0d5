"""The configuration of a conversation: the user's ``lectic.yaml``, the nearest one upwards, and the front matter.

All three are merged as Lectic merges them, including hooks. The search upwards begins in the
conversation's own directory, however its path was typed. An invalid hook fails the run here, before any hook
has fired: nobody may miss a guard that could not be loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hookline.agent.approval import ConversationFiles
from hookline.agent.conversation.directives import Macro
from hookline.config.discover import lookup_for
from hookline.config.layers import LayerLoader
from hookline.config.load import COMMAND_LINE
from hookline.config.syntax.lec import read as read_lec
from hookline.core._dataclass import empty
from hookline.core.errors import DataError
from hookline.core.hook import HookSpec
from hookline.core.paths import Paths
from hookline.core.problem import Problem
from hookline.dialects import dialect_named
from hookline.dialects.base import Layer
from hookline.dialects.lectic.local import LocalPathError, resolve_local
from hookline.dialects.lectic.tree import Spot, TooLargeError, YamlNode, grow, merge, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Interlocutor:
    """One interlocutor as configured; ``fields`` is the whole mapping."""

    name: str
    prompt: str
    fields: Mapping[str, Any] = field(default_factory=empty, repr=False)

    def text(self, key: str) -> str:
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> float | None:
        value = self.fields.get(key)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """All layers merged. ``base`` are the hooks without the document: what the user
    approved with ``hookline trust`` was approved without it."""

    interlocutors: Mapping[str, Interlocutor]
    default: str
    tree: Mapping[str, Any] = field(repr=False)
    specs: tuple[HookSpec, ...] = ()
    base: tuple[HookSpec, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where a conversation is read. ``file`` is absolute, or "" for standard input."""

    file: str
    cwd: str
    home: str
    environ: Mapping[str, str] = field(repr=False)
    paths: Paths

    @property
    def directory(self) -> str:
        return os.path.dirname(self.file) if self.file else self.cwd


def read_header(text: str, where: Where, found: ConversationFiles) -> Header:
    """Read and merge the layers. Raises ``DataError`` with all problems, and for found files that are not approved."""
    lookup = lookup_for(cwd=where.directory, home=where.home, environ=where.environ, paths=where.paths)
    reading = LayerLoader(lookup=lookup, gate=found.gate())
    dialect = dialect_named("lectic")
    below = reading.load_layers(dialect.places(where.directory, where.home, where.environ), "lectic")
    document = _document(reading, text, where)
    lower = reading.with_includes(dialect, below)
    found.check_files(reading)
    layers = [*lower, *(reading.with_includes(dialect, [document]) if document else [])]
    _refuse(reading.problems, "could not parse YAML header: ")
    if not layers:
        raise DataError("there is no configuration: write a front matter with an interlocutor, or a lectic.yaml")
    specs = reading.parsed(dialect, layers)
    _refuse([one for one in reading.problems if not _starts_later(one)])
    base = LayerLoader(lookup=reading.lookup).parsed(dialect, lower)
    found.check_hooks(base, tuple(reading.gate.contents.values()))
    tree = _checked(_merged(layers))
    people, default = _interlocutors(tree)
    return Header(
        interlocutors=people,
        default=default,
        tree=tree,
        specs=specs,
        base=base,
    )


def _document(reading: LayerLoader, text: str, where: Where) -> Layer | None:
    path = where.file or os.path.join(where.cwd, "document header")
    document = read_lec(path, text)
    reading.problems += document.problems
    if document.tree is None or document.tree == {}:
        return None
    return Layer(path=path, name=COMMAND_LINE, syntax="lec", text=text, tree=document.tree, line=document.line)


def _starts_later(problem: Problem) -> bool:
    """An invalid command is reported when it runs, where ``allow_failure`` may cover it."""
    return problem.severity != "error" or problem.code == "bad-command"


def _refuse(problems: Sequence[Problem], prefix: str = "") -> None:
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        places = (f"{one.file}:{one.line}" if one.line else one.file for one in errors)
        found = (f"{one.finding} ({place})" for one, place in zip(errors, places, strict=True))
        raise DataError(prefix + "\n".join(found))


# ── one tree of all layers ───────────────────────────────────────────────────────────────────────────


def _merged(layers: Sequence[Layer]) -> Any:
    merged = YamlNode(value={}, at=Spot(rank=0, pointer="$"))
    for rank, layer in enumerate(layers):
        if not isinstance(layer.tree, dict):
            raise DataError(f"Header must be an object. ({layer.path})")
        try:
            tree = _anchored_tree(layer.tree, os.path.dirname(layer.path))
            merged = merge(merged, grow(tree, Spot(rank=rank, pointer="$")))
        except TooLargeError:
            raise DataError(f"{layer.path} is too large after its aliases are expanded") from None
        except LocalPathError as error:
            raise DataError(f"{error} ({layer.path})") from None
    return _with_definitions(plain(merged))


def _anchored_tree(value: Any, directory: str, key: str = "") -> Any:
    """``local:`` paths become absolute, also in the document. The dialect handles hooks itself."""
    if isinstance(value, dict):
        return {name: _anchored_tree(item, directory, name) for name, item in value.items() if name != "hooks"}
    if isinstance(value, list):
        return [_anchored_tree(item, directory, key) for item in value]
    if not isinstance(value, str) or "local:" not in value[:12]:
        return value
    if value.startswith("file:local:"):
        return "file:" + os.path.normpath(os.path.join(directory, value.removeprefix("file:local:")))
    if key in {"exec", "mcp_command", "sandbox"} or value.startswith("exec:"):
        return resolve_local(value, directory)
    return os.path.normpath(os.path.join(directory, value[6:])) if value.startswith("local:.") else value


def _with_definitions(tree: Any) -> Any:
    """Resolve ``env: {use: NAME}`` and ``sandbox: {use: NAME}``."""
    definitions = {key: _named(tree.get(f"{key}_defs")) for key in ("env", "sandbox")}

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            if key in definitions and set(value) == {"use"}:
                found = definitions[key].get(value["use"])
                if found is None:
                    raise DataError(f"could not parse YAML header: Unknown {key} definition: {value['use']}.")
                return {name: item for name, item in found.items() if name != "name"}.get(key, found)
            return {name: walk(item, name) for name, item in value.items()}
        return [walk(item, key) for item in value] if isinstance(value, list) else value

    return walk(tree)


def _named(listed: Any) -> dict[str, Any]:
    items = listed if isinstance(listed, list) else []
    return {item["name"]: item for item in items if isinstance(item, dict) and isinstance(item.get("name"), str)}


def read_macros(tree: Mapping[str, Any]) -> Mapping[str, Macro]:
    listed = tree.get("macros")
    if listed is not None and not isinstance(listed, list):
        raise DataError("'macros' must be an array.")
    return {str(item["name"]).lower(): _macro(item) for item in listed or () if _is_macro(item)}


def _is_macro(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise DataError('Macro needs to be given with a "name" field.')
    if not any(isinstance(item.get(key), str) for key in ("expansion", "pre", "post")):
        raise DataError('Macro needs to be given with an "expansion", "pre", or "post" field.')
    if not isinstance(item.get("env", {}), dict):
        raise DataError('The "env" field of a macro must be an object.')
    return True


def _macro(item: Mapping[str, Any]) -> Macro:
    env = {str(key): str(value) for key, value in (item.get("env") or {}).items()}
    return Macro(pre=item.get("pre") or "", post=item.get("post") or item.get("expansion") or "", env=env)


# ── interlocutors ───────────────────────────────────────────────────────────────────────────────────────


def _checked(tree: Any) -> Mapping[str, Any]:
    if not isinstance(tree, dict):
        raise DataError("Header must be an object.")
    if tree.get("interlocutor") is None and tree.get("interlocutors") is None:
        raise DataError("Header must have either an 'interlocutor' or 'interlocutors' field.")
    listed = tree.get("interlocutors")
    if listed is not None and not isinstance(listed, list):
        raise DataError("'interlocutors' must be an array.")
    if listed == []:
        raise DataError("'interlocutors' array cannot be empty.")
    for key in ("id", "sandbox"):
        if tree.get(key) is not None and not isinstance(tree[key], str):
            raise DataError(f"'{key}' must be a string.")
    return tree


def _interlocutors(tree: Mapping[str, Any]) -> tuple[Mapping[str, Interlocutor], str]:
    """All of them, and the default one: ``interlocutor``, else the first."""
    found = {one.name: one for one in (_interlocutor(item) for item in tree.get("interlocutors") or ())}
    active = tree.get("interlocutor")
    if active is None:
        return found, next(iter(found))
    one = _interlocutor(active, found)
    return {**found, one.name: one}, one.name


def _interlocutor(item: Any, others: Mapping[str, Interlocutor] | None = None) -> Interlocutor:
    name = item.get("name") if isinstance(item, dict) else None
    if not isinstance(name, str) or not name.strip() or "\n" in name:
        raise DataError("An interlocutor is missing a name. The name needs to be a string.")
    fields: Mapping[str, Any] = item
    if others and name in others:
        low, high = (grow(dict(value), Spot(rank=0, pointer="$")) for value in (others[name].fields, item))
        fields = plain(merge(low, high))
    if not isinstance(fields.get("prompt"), str):
        raise DataError(f"Interlocutor {name} needs a prompt. The prompt needs to be a string.")
    if fields.get("tools") is not None and not isinstance(fields["tools"], list):
        raise DataError(f"The tools for {name} need to be given in an array.")
    return Interlocutor(name=name, prompt=fields["prompt"], fields=fields)
