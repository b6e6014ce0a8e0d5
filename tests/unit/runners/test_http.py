"""Against a real server on this machine, which may be slow, rude or verbose."""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.patience import SOON, eventually, open_files

from hookline.core.hook import Http
from hookline.runners.http import HttpRunner, is_loopback

SECRET = "s3cr3t-value"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self):
        # Read to its end whatever the answer: what is left unread when a connection is closed resets it.
        self.payload = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        getattr(self, "answer_" + self.path.strip("/").partition("?")[0])()

    def send(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_echo(self):
        seen = {"payload": self.payload, "path": self.path, "headers": dict(self.headers)}
        self.send(200, json.dumps(seen).encode())

    def answer_empty(self):
        self.send(204)

    def answer_broken(self):
        self.send(503, b"out of order " * 100)

    def answer_moved(self):
        self.send(302, Location=f"http://127.0.0.1:{self.server.server_port}/echo")

    def answer_big(self):
        self.send(200, b"b" * 3_000_000)

    def answer_binary(self):
        self.send(200, b"\xff\xfe")

    def answer_hangup(self):
        self.connection.close()

    def answer_silence(self):
        self.server.released.wait(90)

    def answer_drip(self):
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            self.drip(b".")
        except OSError:
            pass

    def answer_drip_headers(self):
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
            self.drip(b"y")
        except OSError:
            pass

    def drip(self, byte):
        while not self.server.released.wait(0.02):
            self.wfile.write(byte)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.released = threading.Event()

    def handle_error(self, request, client_address):
        """A client that went away is what some of these tests are about."""


@pytest.fixture(scope="module")
def server():
    made = Server()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.released.set()
    made.shutdown()
    made.server_close()
    thread.join(5)


@pytest.fixture
def post(job_for):
    def act(url, *, headers=(), allow_insecure=False, **rest):
        rest.setdefault("stdin", b'{"event": "PreToolUse"}')
        return HttpRunner().run(job_for(Http(url=url, headers=headers, allow_insecure=allow_insecure), **rest))

    return act


def test_the_payload_is_posted_as_json_and_the_body_is_the_answer(server, post):
    raw = post(f"{server}/echo?x=1")
    seen = json.loads(raw.stdout)
    assert (raw.exit_code, raw.error) == (0, "")
    assert (seen["payload"], seen["path"]) == ('{"event": "PreToolUse"}', "/echo?x=1")
    assert seen["headers"]["Content-Type"] == "application/json"


def test_an_empty_answer_is_no_opinion(server, post):
    raw = post(f"{server}/empty")
    assert (raw.exit_code, raw.stdout) == (0, "")


def test_header_values_come_from_the_environment_of_the_caller(server, post):
    headers = (("Authorization", "Bearer $TOKEN"), ("X-Two", "${TOKEN}-$OTHER"), ("content-type", "text/x"))
    raw = post(f"{server}/echo", headers=headers, environ={"TOKEN": SECRET, "OTHER": "ü"})
    seen = json.loads(raw.stdout)["headers"]
    assert seen["Authorization"] == f"Bearer {SECRET}"
    assert seen["X-Two"].encode("latin-1").decode() == f"{SECRET}-ü"
    assert [value for name, value in seen.items() if name.lower() == "content-type"] == ["text/x"]


def test_a_missing_variable_is_a_failure_that_names_it(server, post):
    raw = post(f"{server}/echo", headers=(("Authorization", "Bearer $NO_SUCH_TOKEN"),), environ={})
    assert "NO_SUCH_TOKEN" in raw.error


def test_a_line_break_in_a_header_is_refused_without_showing_it(server, post):
    raw = post(f"{server}/echo", headers=(("X", "$TOKEN"),), environ={"TOKEN": f"{SECRET}\r\nEvil: 1"})
    assert "line break" in raw.error
    assert SECRET not in raw.error


def test_a_status_that_is_no_success_is_a_failure_with_a_short_text(server, post):
    raw = post(f"{server}/broken")
    assert raw.error.startswith("HTTP 503: out of order")
    assert len(raw.error) < 400
    assert raw.exit_code is None


def test_a_redirect_is_not_followed(server, post):
    assert post(f"{server}/moved").error.startswith("HTTP 302: redirects are not followed")


@pytest.mark.parametrize("path", ["drip", "drip_headers", "silence"])
def test_a_slow_server_does_not_outlive_the_deadline(server, post, path):
    began = time.monotonic()
    raw = post(f"{server}/{path}", timeout=0.3)
    assert (raw.timed_out, raw.error) == (True, "")
    assert time.monotonic() - began < SOON


def test_a_stop_from_outside_ends_the_request(server, post):
    from hookline.runners.base import Stop

    stop = Stop()
    timer = threading.Timer(0.1, stop.set)
    timer.start()
    began = time.monotonic()
    raw = post(f"{server}/silence", timeout=60, stop=stop)
    timer.join()
    assert "stopped" in raw.error
    assert time.monotonic() - began < SOON


def test_a_large_body_is_capped_and_spilled(server, post):
    raw = post(f"{server}/big", output=1000)
    assert raw.stdout == "b" * 1000
    assert len(raw.spilled) == 1


def test_a_body_that_is_no_utf8_is_replaced(server, post):
    assert post(f"{server}/binary").stdout == "\ufffd\ufffd"


@pytest.mark.parametrize("url", ["{server}/hangup", "http://127.0.0.1:1/x"])
def test_a_connection_that_fails_is_a_failure_without_secrets(server, post, url):
    address = url.format(server=server).replace("http://", f"http://user:{SECRET}@") + f"?key={SECRET}"
    raw = post(address, headers=(("X", "$TOKEN"),), environ={"TOKEN": SECRET})
    assert raw.error.startswith("POST to http://127.0.0.1")
    assert SECRET not in raw.error


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/", "http://127.0.0.1.example.com/", "http://localhost.example.com/", "http://0.0.0.0/",
        "http://10.0.0.1/", "ftp://localhost/", "file:///etc/passwd", "localhost", "", "http://", "http://[::1",
        "https://host:port/", "http://localhost/a b", "http://localhost/\r\nX: y",
    ],
)  # fmt: skip
def test_addresses_beyond_this_machine_need_https_and_nonsense_is_refused(post, url):
    raw = post(url)
    assert raw.error
    assert raw.exit_code is None


def test_plain_http_can_be_allowed(post):
    assert "not allowed" not in post("http://localhost.invalid/", allow_insecure=True, timeout=2.0).error


def test_a_password_in_the_address_is_sent_and_not_told(server, post):
    raw = post(server.replace("http://", "http://me:p%40ss@") + "/echo")
    assert json.loads(raw.stdout)["headers"]["Authorization"] == "Basic bWU6cEBzcw=="


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [("localhost", True), ("127.0.0.1", True), ("127.9.8.7", True), ("::1", True), ("::2", False), ("1.1.1.1", False)],
)
def test_what_counts_as_this_machine(host, is_ours):
    assert is_loopback(host) is is_ours


def sockets():
    return {name for name in open_files() if name.startswith("socket:")}


@pytest.mark.skipif(sys.platform != "linux", reason="looks for descriptors in /proc")
def test_no_descriptor_and_no_thread_is_left(server, post):
    # Other tests of this process may have left some, of other runners too: only what comes from here counts.
    threads, files = set(threading.enumerate()), sockets()
    for path in ("echo", "drip", "hangup"):
        post(f"{server}/{path}", timeout=0.2)
    assert eventually(
        lambda: not [each for each in threading.enumerate() if each.name == "hookline-http" and each not in threads]
    )
    # The server closes its end in its own time.
    assert eventually(lambda: not sockets() - files), sockets() - files


def test_a_detached_request_is_made(server, job_for):
    assert HttpRunner().start(job_for(Http(url=f"{server}/empty"))).error == ""
    assert "not allowed" in HttpRunner().start(job_for(Http(url="http://example.com"))).error
