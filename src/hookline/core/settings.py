"""What a person may tune, apart from hooks: the ``[limits]``, ``[record]``, ``[models]``, … tables."""

from __future__ import annotations

from collections.abc import Mapping

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.typed import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    #: Seconds a hook may take when neither it nor its dialect says so.
    timeout: float = 60.0
    #: Bytes of stdout, and of stderr, that are kept in memory; the rest goes to a file.
    output: int = 1 << 20
    #: How often a Stop hook may send the agent back to work in one turn.
    stop_continuations: int = 8
    #: Seconds between SIGTERM and SIGKILL.
    grace: float = 1.0
    #: What hooks and the distiller may ask of models in a day; 0 for no cap.
    model_tokens_per_day: int = 0
    model_usd_per_day: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettings:
    enabled: bool = True
    keep_days: int = 30
    keep_mb: int = 200
    #: Further regular expressions whose matches are redacted before anything is kept.
    redact: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySettings:
    """Where spans and metrics go; nowhere without an endpoint."""

    endpoint: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    #: Events that may wait for a collector.
    buffer: int = 10_000
    #: Seconds for one attempt to send.
    timeout: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    limits: Limits = Limits()
    record: RecordSettings = RecordSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    #: Where a note of every question of the inbox is sent; "" for nowhere.
    webhook: str = ""
    #: Short model name -> provider:model, over the built-in table.
    models: Mapping[str, str] = field(default_factory=empty)
    #: Command lines of MCP servers by name, for hook agents.
    mcp: Mapping[str, Any] = field(default_factory=empty)
    #: Where spilled output, plugin sockets and temporary scripts go; private to the user.
    state_dir: str = ""
    #: The project in which an agent calls, by its names: it may have set variables that make programs load code from there.
    agents_project: tuple[str, ...] = ()
    #: The person's own run that hooks run in (``runners.host.Host``), if they do.
    host: Any = None
