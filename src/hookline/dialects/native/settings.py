"""The tables beside the hooks: ``[limits]``, ``[record]``, ``[models]``, ``[mcp]``, merged over the layers.

What comes with a project is not ours to obey blindly. A project's layers (project, local) count once they are approved,
and even then they may tighten or add, never weaken: their ``limits.timeout`` holds for their own
hooks only, other limits may only rise, recording stays on, redaction only grows, models may be added but not
redirected, and MCP servers, which are programs, are never read from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

from hookline.core._dataclass import replace
from hookline.core.hook import anchor_model
from hookline.core.problem import Problem
from hookline.core.settings import Limits, RecordSettings, Settings, TelemetrySettings
from hookline.core.typed import Any
from hookline.dialects.base import FOREIGN, Layer
from hookline.dialects.native.fields import INBOX_FIELDS, LIMIT_FIELDS, RECORD_FIELDS, TELEMETRY_FIELDS
from hookline.dialects.native.kinds import Address, Read, read_table

SETTING_TABLES = (
    "limits", "record", "models", "mcp", "telemetry", "inbox", "knowledge", "compound_loop", "context_inject", "lazynorth", "profiles",
)  # fmt: skip
_FIELDS = {"limits": LIMIT_FIELDS, "record": RECORD_FIELDS, "telemetry": TELEMETRY_FIELDS, "inbox": INBOX_FIELDS}
_OF_KNOWLEDGE = frozenset(SETTING_TABLES[6:])
_RAISE_ONLY = ("output", "stop_continuations", "grace")
_CAPS = ("model_tokens_per_day", "model_usd_per_day")
#: A project may raise a limit, but not to where it hurts.
_CEILINGS = {"output": 64 << 20, "stop_continuations": 100, "grace": 10.0}


def default_timeouts(layers: Sequence[Layer]) -> list[float]:
    """Per layer, what a hook may take that does not say so itself."""
    timeouts: list[float] = []
    current = own = Limits().timeout
    for layer in layers:
        given = _table(layer, "limits", [])
        value = given.values.get("timeout") if given else None
        if value is not None:
            own = float(value)
            current = current if layer.name in FOREIGN else own
        timeouts.append(own if layer.name in FOREIGN else current)
    return timeouts


def read_settings(
    layers: Sequence[Layer], base: Settings | None = None, *, counts: Callable[[Layer], bool] = lambda _layer: True
) -> tuple[Settings, tuple[Problem, ...]]:
    """A layer that does not count is only checked."""
    settings = base or Settings()
    problems: list[Problem] = []
    for layer in layers:
        merged = replace(
            settings,
            limits=_limits(settings.limits, layer, problems),
            record=_record(settings.record, layer, problems),
            models=_models(settings.models, layer, problems),
            mcp=_mcp(settings.mcp, layer, problems),
            telemetry=_telemetry(settings.telemetry, layer, problems),
            webhook=_webhook(settings.webhook, layer, problems),
        )
        if merged != settings and counts(layer):
            settings = merged
    if any(isinstance(layer.tree, dict) and not _OF_KNOWLEDGE.isdisjoint(layer.tree) for layer in layers):
        from hookline.dialects.native.memory import read_knowledge  # few have these tables

        # The built-in hooks read the values again; here only the problems matter.
        problems += read_knowledge(layers)[1]
    return settings, tuple(problems)


def _table(layer: Layer, name: str, problems: list[Problem]) -> Read | None:
    table = _raw(layer, name, problems)
    if table is None:
        return None
    read = read_table(table, _FIELDS[name], Address(layer=layer).at(name))
    problems += read.problems
    return read


def _raw(layer: Layer, name: str, problems: list[Problem]) -> dict[str, Any] | None:
    table = layer.tree.get(name) if isinstance(layer.tree, dict) else None
    if table is None or isinstance(table, dict):
        return table
    problems.append(Address(layer=layer).at(name).problem(f"{name} must be a table", f'write "[{name}]"'))
    return None


def _limits(old: Limits, layer: Layer, problems: list[Problem]) -> Limits:
    read = _table(layer, "limits", problems)
    if read is None:
        return old
    values = dict(read.values)
    if layer.name in FOREIGN:
        values.pop("timeout", None)
        for key in _CAPS:
            cap = getattr(old, key)
            if key in values and not 0 < values[key] <= (cap or values[key]):
                values.pop(key)
                problems.append(_refused(layer, f"limits.{key}", "may only be lowered by a project"))
        for key in _RAISE_ONLY:
            if key in values and not getattr(old, key) <= values[key] <= _CEILINGS[key]:
                values.pop(key)
                problems.append(_refused(layer, f"limits.{key}", "may only be raised, within reason, by a project"))
    return replace(old, **values)


def _record(old: RecordSettings, layer: Layer, problems: list[Problem]) -> RecordSettings:
    read = _table(layer, "record", problems)
    if read is None:
        return old
    values = dict(read.values)
    if "keep" in values:
        values["keep_days"] = values.pop("keep")
    values["redact"] = tuple(dict.fromkeys((*old.redact, *values.get("redact", ()))))
    if layer.name in FOREIGN:
        for key in [key for key in values if key != "redact"]:
            if values.pop(key) != getattr(old, key):
                problems.append(_refused(layer, f"record.{key}", "may not be changed by a project"))
    return replace(old, **values)


def _telemetry(old: TelemetrySettings, layer: Layer, problems: list[Problem]) -> TelemetrySettings:
    read = _table(layer, "telemetry", problems)
    if read is None or _is_projects(
        layer, "telemetry", "says where records are sent, which a project may not", problems
    ):
        return old
    return replace(old, **read.values)


def _webhook(old: str, layer: Layer, problems: list[Problem]) -> str:
    read = _table(layer, "inbox", problems)
    if read is None or _is_projects(
        layer, "inbox", "says who is told of a question, which a project may not", problems
    ):
        return old
    from urllib.parse import urlsplit  # few have one

    given = str(read.values.get("webhook", old))
    url = urlsplit(given)
    if url.hostname and (
        url.scheme == "https" or (url.scheme == "http" and url.hostname in {"127.0.0.1", "localhost"})
    ):
        return given
    if given:
        where = Address(layer=layer).at("inbox").at("webhook")
        problems.append(where.problem("questions cannot be sent to this address", 'write "https://…"'))
    return old


def _models(old: Any, layer: Layer, problems: list[Problem]) -> Any:
    given = _raw(layer, "models", problems)
    # Even a name that is not set here means something: a short name of the built-in table, or the default.
    why = "decides which model answers the user's hooks, so a project may not set it"
    if given is None or _is_projects(layer, "models", why, problems):
        return old
    good = dict(old)
    for name, target in given.items():
        where = Address(layer=layer).at("models").at(name)
        if not isinstance(target, str) or not target:
            problems.append(where.problem("a model must be named by text", 'write "provider:model"'))
        else:
            good[name] = anchor_model(target, layer.path)
    return MappingProxyType(good)


def _mcp(old: Any, layer: Layer, problems: list[Problem]) -> Any:
    given = _raw(layer, "mcp", problems)
    if not given or _is_projects(layer, "mcp", "names programs, which a project may not start by itself", problems):
        return old
    return MappingProxyType({**old, **given})


def _is_projects(layer: Layer, key: str, why: str, problems: list[Problem]) -> bool:
    """Whether a project's file has this table, which then does not count."""
    if layer.name in FOREIGN:
        problems.append(_refused(layer, key, why))
    return layer.name in FOREIGN


def _refused(layer: Layer, key: str, why: str) -> Problem:
    where = Address(layer=layer, pointer=f"$.{key}")
    return where.problem(f"{key} {why}", "set it in the user's hookline.toml", "warning")
