"""Sends batches of recorded events by OTLP over HTTP. What could not be sent is kept by whoever called, and tried again."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export import SpanExportResult

from hookline.core.settings import TelemetrySettings
from hookline.telemetry.spans import spans

#: Milliseconds at which the histogram of hooks' durations is divided.
_BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 60_000)
_VARIABLE = re.compile(r"\$(\w+)")
#: An event as ``log --json`` has it, its runs, and the agent's traceparent.
_Recorded = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]], str]


class Sender:
    """One collector. Metrics count every event once, however often its spans are tried."""

    def __init__(self, settings: TelemetrySettings, version: str, environ: Mapping[str, str] | None = None) -> None:
        variables = os.environ if environ is None else environ
        headers = {name: _VARIABLE.sub(lambda m: variables.get(m[1], ""), value) for name, value in settings.headers}
        base, timeout = settings.endpoint.rstrip("/"), settings.timeout
        self._version = version
        self._resource = Resource.create({"service.name": "hookline", "service.version": version})
        self._traces = OTLPSpanExporter(f"{base}/v1/traces", headers=headers, timeout=timeout)
        self._metrics = OTLPMetricExporter(f"{base}/v1/metrics", headers=headers, timeout=timeout)
        self._reader = InMemoryMetricReader()
        self._provider = MeterProvider([self._reader], self._resource, shutdown_on_exit=False)
        meter = self._provider.get_meter("hookline", version)
        self._decisions = meter.create_counter("hookline.decisions", "{decision}", "Decisions by effect")
        self._failures = meter.create_counter("hookline.hook.failures", "{failure}", "Hooks that failed or timed out")
        self._dropped = meter.create_counter("hookline.telemetry.dropped", "{event}", "Events beyond the buffer")
        self._durations = meter.create_histogram(
            "hookline.hook.duration", "ms", "How long hooks take", explicit_bucket_boundaries_advisory=_BOUNDS
        )
        self.waiting = 0
        meter.create_observable_gauge(
            "hookline.telemetry.queue", [self._observe], "{event}", "Events that wait to be sent"
        )

    def _observe(self, _options: CallbackOptions) -> list[Observation]:
        return [Observation(self.waiting)]

    def count(self, events: Sequence[_Recorded]) -> None:
        for event, runs, _ in events:
            common = {"gen_ai.agent.name": event["agent"], "hookline.event": event["event"]}
            self._decisions.add(1, {**common, "hookline.effect": event["effect"]})
            for run in runs:
                hook = {"hookline.hook": run["hook"], "hookline.hook.status": run["status"]}
                if run["status"] != "skipped":
                    self._durations.record(run["ms"], hook)
                if run["status"] in {"failed", "timed-out"}:
                    self._failures.add(1, hook)

    def drop(self, many: int) -> None:
        self._dropped.add(many)

    def send(self, events: Sequence[_Recorded]) -> bool:
        """Whether the collector has taken all of them."""
        made = [
            span for event, runs, parent in events for span in spans(event, runs, parent, self._resource, self._version)
        ]
        return not made or self._traces.export(made) is SpanExportResult.SUCCESS

    def send_metrics(self) -> bool:
        data = self._reader.get_metrics_data()
        return data is None or self._metrics.export(data) is MetricExportResult.SUCCESS

    def close(self) -> None:
        self._traces.shutdown()  # type: ignore[no-untyped-call]  # the SDK leaves its annotation out
        self._metrics.shutdown()
        self._provider.shutdown()
