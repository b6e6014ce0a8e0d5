"""The tables of the knowledge loop: ``[knowledge]``, ``[compound_loop]``, ``[context_inject]``, ``[lazynorth]`` and
``[profiles]``, as lazy-harness's document names them.

A project may opt out, and nothing else: it must not move the memory, choose the model that reads a session, or put a
file of its choice into every session's context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hookline.core.problem import Problem
from hookline.dialects.base import FOREIGN, Layer
from hookline.dialects.native import kinds
from hookline.dialects.native.kinds import Address, Field, Kind, Wrong, read_table, show

#: By table, the values that stand in the files; what is not there has its default in ``knowledge.settings``.
Tables = dict[str, dict[str, Any]]


def _rules() -> Kind:
    keys = ("pattern", "profile", "session_type")

    def read(value: Any) -> Any:
        good = isinstance(value, list) and all(
            isinstance(rule, dict) and set(rule) <= set(keys) and all(isinstance(rule.get(key), str) for key in keys)
            for rule in value
        )
        fix = 'write [{ pattern = "/work/", profile = "work", session_type = "work" }]'
        return value if good else Wrong(finding="must be a list of rules with three texts each", fix=fix)

    texts = {key: {"type": "string"} for key in keys}
    rule = {"type": "object", "properties": texts, "required": list(keys), "additionalProperties": False}
    return Kind(read=read, schema={"type": "array", "items": rule})


def _seconds() -> Kind:
    """As a duration, and zero: "always"."""
    above = kinds.duration("60")

    def read(value: Any) -> Any:
        return 0.0 if type(value) in {int, float} and value == 0 else above.read(value)

    spelled, _number = above.schema["anyOf"]
    return Kind(read=read, schema={"anyOf": [spelled, {"type": "number", "minimum": 0}]})


_KNOWLEDGE_FIELDS = (
    Field(key="enabled", kind=kinds.flag(), about="false: no memory is read or written here. The one key a project may set."),
    Field(key="path", kind=kinds.any_text(), about="Where sessions, learnings and memory are kept; default: knowledge/ in hookline's data directory."),
    Field(key="git", kind=kinds.flag(), about="Whether path is a git repository that hookline commits to, and merges with its remote, after every distilled session (false)."),
    Field(key="min_messages", kind=kinds.whole(1), about="Sessions with fewer messages are not exported (4)."),
    Field(key="keep_days", kind=kinds.whole(1), about="Days that finished tasks and copies of compacted transcripts are kept (30)."),
    Field(key="classify_rules", kind=_rules(), about="Which profile and session_type a session in a directory has: the first rule whose pattern is part of the path."),
    Field(key="sessions", kind=kinds.table('{ subdir = "sessions" }'), about="enabled, and subdir: the directory below path that sessions are exported to."),
    Field(key="learnings", kind=kinds.table('{ subdir = "learnings" }'), about="subdir: the directory below path that learnings are written to."),
    Field(key="search", kind=kinds.table('{ engine = "qmd" }'), about="engine: another search engine that is notified of new notes (qmd, or none)."),
)  # fmt: skip

_COMPOUND_LOOP_FIELDS = (
    Field(key="enabled", kind=kinds.flag(), about="Whether finished sessions are distilled by a model (false)."),
    Field(key="model", kind=kinds.text('"claude-haiku-4-5-20251001"'), about="The model that distils."),
    Field(key="backend", kind=kinds.text('"claude"'), about="Who asks the model: claude (claude -p), models (the models extra), openai-compatible, ollama or mlx."),
    Field(key="backend_options", kind=kinds.table('{ base_url = "http://localhost:8080" }'), about="base_url and api_key_env of an openai-compatible server."),
    Field(key="min_messages", kind=kinds.whole(0), about="Sessions with fewer messages are trivial (4)."),
    Field(key="min_user_chars", kind=kinds.whole(0), about="Sessions in which the person wrote less are trivial (200)."),
    Field(key="debounce_seconds", kind=_seconds(), about="A session is not queued again within this time (60)."),
    Field(key="reprocess_min_growth_seconds", kind=_seconds(), about="A session that was distilled is distilled again when it went on for this long (120)."),
    Field(key="timeout_seconds", kind=kinds.duration("120"), about="How long the model may take (120)."),
    Field(key="attempts", kind=kinds.whole(1, 100), about="How often a task is tried before it is put aside with the reason (5)."),
    Field(key="learnings_subdir", kind=kinds.text('"learnings"'), about="Directory of learnings below the knowledge path (learnings)."),
    Field(key="slim_handoff_enabled", kind=kinds.flag(), about="Whether a trivial session leaves a short handoff where there is none (true)."),
)  # fmt: skip

_CONTEXT_INJECT_FIELDS = (
    Field(key="enabled", kind=kinds.flag(), about="false: context-inject adds nothing (true)."),
    Field(key="max_body_chars", kind=kinds.whole(0), about="Above this, whole sections are left out (3000)."),
    Field(key="last_session_enabled", kind=kinds.flag(), about="Whether the last session is shown (true)."),
    Field(key="relevant_notes", kind=kinds.whole(0, 50), about="How many notes that fit the branch and the changed files are shown (3; 0 for none). Where recall runs, it shows those that fit the prompt instead."),
    Field(key="recall_tokens", kind=kinds.whole(0, 100_000), about="Tokens that recall may add to a prompt (600; 0 for none)."),
)  # fmt: skip

_LAZYNORTH_FIELDS = (
    Field(key="enabled", kind=kinds.flag(), about="Whether the compass file is shown (false)."),
    Field(key="path", kind=kinds.any_text(), about="The directory of the compass files."),
    Field(key="universal_doc", kind=kinds.any_text(), about="The compass of every profile (LazyNorth.md)."),
)  # fmt: skip

PROFILE_FIELDS = (
    Field(key="config_dir", kind=kinds.any_text(), about="The agent's directory of this profile."),
    Field(key="roots", kind=kinds.text_list('["~/work"]'), about="Directories whose projects belong to this profile."),
    Field(key="lazynorth_doc", kind=kinds.any_text(), about="The compass of this profile, in the directory of [lazynorth]."),
)  # fmt: skip

TABLES: Mapping[str, tuple[Field, ...]] = MappingProxyType(
    {
        "knowledge": _KNOWLEDGE_FIELDS,
        "compound_loop": _COMPOUND_LOOP_FIELDS,
        "context_inject": _CONTEXT_INJECT_FIELDS,
        "lazynorth": _LAZYNORTH_FIELDS,
    }
)
ABOUT: Mapping[str, str] = MappingProxyType(
    {
        "knowledge": "Where sessions leave memory.",
        "compound_loop": "How a model distils finished sessions.",
        "context_inject": "The context that a session gets at its start.",
        "lazynorth": "The compass: a file of long-term aims.",
    }
)
#: What a project may set, to false only.
_OPT_OUT = frozenset({("knowledge", "enabled"), ("compound_loop", "enabled"), ("context_inject", "enabled")})


def read_knowledge(layers: Sequence[Layer], *, lenient: bool = False) -> tuple[Tables, tuple[Problem, ...]]:
    """All layers, lowest precedence first. ``lenient``: the file is another system's, with keys that we do not know."""
    tables: Tables = {}
    problems: list[Problem] = []
    for layer in layers:
        tree = layer.tree if isinstance(layer.tree, dict) else {}
        for name, fields in TABLES.items():
            if name in tree:
                values = _values(tree[name], fields, Address(layer=layer).at(name), problems, lenient=lenient)
                tables.setdefault(name, {}).update(_allowed(name, values, layer, problems))
        if "profiles" in tree:
            _profiles(tables, tree["profiles"], layer, problems, lenient=lenient)
    return tables, tuple(problems)


def _values(
    table: Any, fields: tuple[Field, ...], where: Address, problems: list[Problem], *, lenient: bool
) -> dict[str, Any]:
    if not isinstance(table, dict):
        key = where.pointer.rpartition(".")[2]
        problems.append(where.problem(f"{key} must be a table; got {show(table)}", f'write "[{key}]"'))
        return {}
    if lenient:
        names = set(kinds.names(fields))
        table = {key: value for key, value in table.items() if key in names}
    read = read_table(table, fields, where)
    problems += read.problems
    return read.values


def _allowed(name: str, values: dict[str, Any], layer: Layer, problems: list[Problem]) -> dict[str, Any]:
    if layer.name not in FOREIGN:
        return values
    kept = {key: value for key, value in values.items() if (name, key) in _OPT_OUT and value is False}
    for key in values.keys() - kept.keys():
        where = Address(layer=layer).at(name).at(key)
        finding = f"{name}.{key} may not be set by a project, which can only opt out with enabled = false"
        problems.append(where.problem(finding, "set it in the user's hookline.toml", "warning"))
    return kept


def _profiles(tables: Tables, given: Any, layer: Layer, problems: list[Problem], *, lenient: bool) -> None:
    where = Address(layer=layer).at("profiles")
    if layer.name in FOREIGN:
        problems.append(where.problem("profiles may not be set by a project", "set them in the user's file", "warning"))
        return
    if not isinstance(given, dict):
        problems.append(where.problem(f"profiles must be a table; got {show(given)}", 'write "[profiles.work]"'))
        return
    known = tables.setdefault("profiles", {})
    for name, profile in given.items():
        if name == "default" and isinstance(profile, str):
            known["default"] = profile
        else:
            known[name] = _values(profile, PROFILE_FIELDS, where.at(name), problems, lenient=lenient)
