"""Spans and metrics of recorded events, for an OpenTelemetry collector."""
