"""Spans and metrics at a collector of our own, read by the official protobuf package."""

from __future__ import annotations

import contextlib
import gzip
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.patience import eventually
from tests.web.conftest import ask_daemon, record

from hookline.cli import main
from hookline.core._dataclass import replace
from hookline.core.settings import TelemetrySettings
from hookline.daemon.exporter import Exporter, Supervisor, status
from hookline.state.record.store import Store

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector(ThreadingHTTPServer):
    """Keeps what it is sent; ``code`` is what it answers."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.spans: list[Any] = []
        self.metrics: dict[str, Any] = {}
        self.headers: list[dict[str, str]] = []
        self.code = 200
        #: A span has come.
        self.came = threading.Event()
        #: While it is not set, whoever asks waits; ``asked`` tells that somebody does.
        self.answers, self.asked = threading.Event(), threading.Event()
        self.answers.set()
        self.takes = 0.0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.asked.set()
        self.server.answers.wait()
        time.sleep(self.server.takes)
        if self.server.code == 200:
            self.server.headers.append(dict(self.headers))
            self._keep(body)
        with contextlib.suppress(OSError):  # whoever asked may have given up
            self.send_response(self.server.code)
            self.send_header("content-length", "0")
            self.end_headers()

    def _keep(self, body: bytes) -> None:
        if self.path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    self.server.spans += scope.spans
            self.server.came.set()
        else:
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope in resource.scope_metrics:
                    self.server.metrics |= {one.name: one for one in scope.metrics}

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    one = Collector()
    yield one
    one.shutdown()
    one.server_close()


def store(state: Path) -> Store:
    return Store(str(state / "hookline.db"))


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def exporter(state: Path, collector: Collector, **more: Any) -> Exporter:
    return Exporter(str(state), TelemetrySettings(endpoint=collector.url, timeout=1.0, **more))


def test_an_event_is_a_span_with_a_child_for_each_hook(tmp_path: Path, collector: Collector) -> None:
    kept = store(tmp_path)
    kept.write(record(0, time.time(), "/p"))
    one = exporter(tmp_path, collector, headers=(("x-key", "abc"),))
    joined = record(3, time.time(), "/p")
    kept.write(replace(joined, event=replace(joined.event, environ={"TRACEPARENT": PARENT})))
    assert one.step()
    one.close()
    kept.close()
    event, *hooks = collector.spans
    assert (event.name, event.trace_id.hex(), event.parent_span_id.hex()) == (
        "hookline PreToolUse", "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331",
    )  # fmt: skip
    assert [(span.name, span.parent_span_id) for span in hooks] == [
        ("hook audit", event.span_id), ("hook no-rm", event.span_id), ("hook notify", event.span_id),
    ]  # fmt: skip
    found = attributes(event)
    assert {name: found[name] for name in ("gen_ai.operation.name", "gen_ai.tool.name", "hookline.effect")} == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Bash", "hookline.effect": "deny",
    }  # fmt: skip
    assert found["gen_ai.conversation.id"] == "cc42-session-3"
    assert "rm -rf build" not in str(collector.spans)
    assert collector.headers[0]["x-key"] == "abc"
    assert collector.metrics["hookline.decisions"].sum.data_points[0].as_int == 1
    assert sum(point.count for point in collector.metrics["hookline.hook.duration"].histogram.data_points) == 2


def test_what_a_collector_does_not_take_is_sent_later_and_the_surplus_is_counted(
    tmp_path: Path, collector: Collector
) -> None:
    kept = store(tmp_path)
    kept.write(record(0, time.time(), "/p"))
    one = exporter(tmp_path, collector, buffer=5)
    collector.code = 400  # not one of those that the SDK tries again by itself
    for number in range(8):
        kept.write(record(number, time.time() + number, "/p", id=f"e{number}"))
    assert not one.step()
    one.close()
    collector.code = 200
    again = exporter(tmp_path, collector, buffer=5)
    assert again.step()
    again.close()
    kept.close()
    sent = [attributes(span)["hookline.record"] for span in collector.spans if span.name == "hookline PreToolUse"]
    assert sent == ["e3", "e4", "e5", "e6", "e7"]
    assert status(str(tmp_path)) == {"sent": 9, "dropped": 3}


def test_an_agents_variables_do_not_send_it_elsewhere(tmp_path: Path, collector: Collector) -> None:
    other, supervisor = Collector(), Supervisor()
    kept = store(tmp_path)
    kept.write(record(0, time.time(), "/p"))
    exporter(tmp_path, collector).close()  # from here on
    kept.write(record(3, time.time(), "/p"))
    kept.close()
    names = (
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    )
    environ = {
        **os.environ,
        **dict.fromkeys(names, other.url),
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=theirs",
        "KEY": "mine",
    }
    settings = TelemetrySettings(endpoint=collector.url, timeout=5.0, headers=(("x-key", "$KEY"),))
    supervisor.ensure(str(tmp_path), settings, environ)
    try:
        assert collector.came.wait(60)
    finally:
        supervisor.close()
        other.shutdown()
        other.server_close()
    assert ({one.get("x-key") for one in collector.headers if "x-key" in one}, other.headers) == ({"mine"}, [])


@pytest.mark.parametrize("approve", [False, True])
def test_a_project_cannot_name_a_collector(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch, approve: bool
) -> None:
    from hookline.engine.build import READ_ONLY, Sources, load_runtime

    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".hookline").mkdir(parents=True)
    home.mkdir()
    (project / ".hookline/hookline.toml").write_text(f'[telemetry]\nendpoint = "{collector.url}"\n')
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.startswith(("XDG_", "HOOKLINE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(project)
    if approve:
        main(["trust", "--yes"])
    runtime = load_runtime(Sources(), READ_ONLY)
    runtime.engine.close()
    assert runtime.loaded.settings.telemetry.endpoint == ""


def test_without_an_endpoint_nothing_of_it_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from hookline import Engine; e = Engine.load(); e.fire_sync('PreToolUse', tool_name='Bash'); e.close(); "
        "import hookline.daemon.server, hookline.daemon.lifecycle; "
        "print([n for n in sys.modules if 'opentelemetry' in n or n.startswith(('hookline.telemetry', 'hookline.daemon.exporter'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout == "[]\n"


def test_the_daemon_sends_what_its_agents_decide(tmp_path: Path, collector: Collector) -> None:
    import json
    import os

    home, project = tmp_path / "home", tmp_path / "project"
    (home / ".config" / "hookline").mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    (home / ".config" / "hookline" / "hookline.toml").write_text(
        f'[telemetry]\nendpoint = "{collector.url}"\n[[hook]]\nname = "no"\non = "PreToolUse"\nshell = "exit 2"\n'
    )
    place = tmp_path / "d"
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(tmp_path)}
    daemon = subprocess.Popen(
        [sys.executable, "-m", "hookline", "daemon", "run", "--directory", str(place)], env=environ,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        payload = {
            "session_id": "s", "cwd": str(project), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_use_id": "u", "transcript_path": "/t",
        }  # fmt: skip
        assert eventually(lambda: ask_daemon(place, payload, environ, project))
        assert eventually(lambda: collector.spans)  # the very first: somebody tries whether it works
        assert {span.name for span in collector.spans} == {"hookline PreToolUse", "hook no"}
        assert json.dumps(payload["tool_input"]) not in str(collector.spans)
    finally:
        daemon.terminate()
        daemon.wait(20)


@pytest.mark.parametrize("trouble", ["is down", "hangs", "is slow"])
def test_a_collector_in_trouble_delays_no_decision_and_loses_nothing(tmp_path: Path, trouble: str) -> None:
    home, project, place = tmp_path / "home", tmp_path / "project", tmp_path / "d"
    (home / ".config/hookline").mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    collector = Collector()
    port = int(collector.server_address[1])
    (home / ".config/hookline/hookline.toml").write_text(
        f'[telemetry]\nendpoint = "{collector.url}"\ntimeout = 1\n[[hook]]\nname = "no"\non = "PreToolUse"\nshell = "exit 2"\n'
    )
    if trouble == "is down":
        collector.shutdown()
        collector.server_close()
    elif trouble == "hangs":
        collector.answers.clear()
    else:
        collector.takes = 0.5
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(tmp_path)}
    state = home / ".local/state/hookline"
    program = [sys.executable, "-m", "hookline", "daemon", "run", "--directory", str(place)]
    daemon = subprocess.Popen(program, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    asked = 0

    def ask() -> str:
        nonlocal asked
        payload = {
            "session_id": "s", "cwd": str(project), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": f"echo {asked}"}, "tool_use_id": f"u{asked}", "transcript_path": "/t",
        }  # fmt: skip
        answer = ask_daemon(place, payload, environ, project)
        asked += bool(answer)
        return answer

    try:
        assert eventually(ask)
        if trouble != "is down":
            assert collector.asked.wait(60)
        for _ in range(20):
            assert "deny" in ask()  # while the collector holds what it was sent
        assert trouble == "is slow" or not collector.spans
        collector.answers.set()
        if trouble == "is down":
            collector = Collector(port)
        now = collector

        def arrived() -> bool:
            came = {attributes(span).get("hookline.record") for span in list(now.spans)}
            kept = events_in(state)
            return len(kept) == asked and came.issuperset(kept)

        assert eventually(arrived, 120)
        assert status(str(state))["dropped"] == 0
    finally:
        collector.answers.set()
        daemon.terminate()
        daemon.wait(20)
        collector.shutdown()
        collector.server_close()


def events_in(state: Path) -> list[str]:
    kept = store(state)
    found = [row[0] for row in kept.read("SELECT id FROM firings ORDER BY number")]
    kept.close()
    return found
