"""One request and its stream, with servers that misbehave."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from hookline.agent.message import Done, UserMessage
from hookline.agent.model import ModelError, open_model
from hookline.llm.http import Post, StatusError, explain, stream_events


class _Server(HTTPServer):
    answer: bytes
    status = 200
    headers: list[tuple[str, str]]
    paths: list[str]


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.paths.append(self.path)
        self.server.headers = list(self.headers.items())
        self.send_response(self.server.status)
        self.send_header("location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the parameter's name is its own
        del format, args


@contextmanager
def serving(answer: bytes, status: int = 200) -> Generator[_Server]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.answer, server.status, server.paths = answer, status, []
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def events(url: str, **environ: str) -> list[Any]:
    async def listen() -> list[Any]:
        return [one async for one in stream_events(Post(url=url, headers={}, body={}, environ=environ))]

    return asyncio.run(listen())


def test_events_end_with_done_and_may_span_lines() -> None:
    with serving(b': hello\n\ndata: {"a":\ndata: 1}\n\nevent: x\ndata: 2\n\ndata: [DONE]\n\ndata: 3\n\n') as server:
        assert events(f"http://127.0.0.1:{server.server_port}/x") == [{"a": 1}, 2]


def test_a_proxy_gets_the_whole_address_and_its_own_password() -> None:
    with serving(b"data: 1\n\n") as server:
        proxy = f"http://me:pass%20word@127.0.0.1:{server.server_port}"
        assert events("http://models.example/v1", http_proxy=proxy) == [1]
        assert events("http://models.example/v1", http_proxy=proxy) == [1]
    assert server.paths == ["http://models.example/v1"] * 2
    assert ("Proxy-Authorization", "Basic bWU6cGFzcyB3b3Jk") in server.headers


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "https://127.0.0.1:9"])
def test_a_proxy_that_is_not_supported_is_named(proxy: str) -> None:
    with pytest.raises(ModelError, match=f"a proxy like {proxy.partition(':')[0]}://127.0.0.1 is not supported"):
        events("http://models.example/v1", http_proxy=proxy)


def test_a_redirect_is_not_followed_with_a_key() -> None:
    with serving(b"moved", 302) as server, pytest.raises(StatusError) as caught:
        events(f"http://127.0.0.1:{server.server_port}/x")
    assert explain(caught.value, "m", "secret") == "API error (302) from m: moved"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"", "the answer ended before it was complete"),
        (b'data: {"choices": [{"delta": {"content": "half"}}]}\n\n', "the answer ended before it was complete"),
        (b"data: no json\n\n", "the server sent no JSON: no json"),
        (b"data: 7\n\n", "the server sent '7' instead of an object"),
        (b'data: {"error": {"code": 503, "message": "busy"}}\n\n', "API error (503) from openai:m: busy"),
    ],
)
def test_an_answer_that_is_none_is_an_error(answer: bytes, told: str) -> None:
    async def ask(url: str) -> list[Any]:
        async with open_model("openai:m", environ={"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "secret-key"}) as model:
            return [one async for one in model.converse([UserMessage(parts=("x",))]) if isinstance(one, Done)]

    with serving(answer) as server, pytest.raises(ModelError) as caught:
        asyncio.run(ask(f"http://127.0.0.1:{server.server_port}"))
    assert told in str(caught.value)
