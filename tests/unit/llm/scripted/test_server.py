"""The scripted model server, asked as clients ask it, over loopback."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from hookline.llm.scripted import ModelServer, Script, ScriptError, read_script

OUTPUT_TOOL: dict[str, Any] = {"name": "final_result", "parameters": {"type": "object"}}

# Path, a request without tools, and the same request with an output tool, per protocol.
SHAPES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "openai-chat": (
        "/v1/chat/completions",
        {"model": "m", "messages": [{"role": "user", "content": "hello"}]},
        {"tools": [{"type": "function", "function": OUTPUT_TOOL}]},
    ),
    "openai-responses": (
        "/v1/responses",
        {"model": "m", "input": "hello"},
        {"tools": [{"type": "function", **OUTPUT_TOOL}]},
    ),
    "anthropic": (
        "/v1/messages",
        {"model": "m", "messages": [{"role": "user", "content": "hello"}]},
        {"tools": [{"name": "final_result", "input_schema": {}}]},
    ),
    "gemini": (
        "/v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
        {"tools": [{"functionDeclarations": [OUTPUT_TOOL]}]},
    ),
}


def post(server: ModelServer, path: str, body: Any, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(
        server.url + path, json.dumps(body).encode(), {"content-type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def spoken(protocol: str, answer: Any) -> str:
    match protocol:
        case "openai-chat":
            return str(answer["choices"][0]["message"]["content"])
        case "openai-responses":
            return str(answer["output"][0]["content"][0]["text"])
        case "anthropic":
            return str(answer["content"][0]["text"])
        case _:
            return str(answer["candidates"][0]["content"]["parts"][0]["text"])


def called(protocol: str, answer: Any) -> Any:
    match protocol:
        case "openai-chat":
            function = answer["choices"][0]["message"]["tool_calls"][0]["function"]
            return function["name"], json.loads(function["arguments"])
        case "openai-responses":
            return answer["output"][0]["name"], json.loads(answer["output"][0]["arguments"])
        case "anthropic":
            return answer["content"][0]["name"], answer["content"][0]["input"]
        case _:
            call = answer["candidates"][0]["content"]["parts"][0]["functionCall"]
            return call["name"], call["args"]


@pytest.mark.parametrize("protocol", SHAPES)
def test_text_is_said_in_every_protocol(protocol: str) -> None:
    path, body, _tools = SHAPES[protocol]
    with ModelServer([{"text": "good morning"}]) as server:
        status, answer = post(server, path, body)
    assert (status, spoken(protocol, json.loads(answer))) == (200, "good morning")
    assert [request.protocol for request in server.requests] == [protocol]


@pytest.mark.parametrize("protocol", SHAPES)
def test_a_structured_answer_goes_into_the_output_tool(protocol: str) -> None:
    path, body, tools = SHAPES[protocol]
    with ModelServer([{"json": {"ok": True}}]) as server:
        _status, answer = post(server, path, {**body, **tools})
    assert called(protocol, json.loads(answer)) == ("final_result", {"ok": True})


@pytest.mark.parametrize(
    ("protocol", "wish"),
    [
        ("openai-chat", {"response_format": {"type": "json_schema"}}),
        ("openai-responses", {"text": {"format": {"type": "json_schema"}}}),
        ("anthropic", {"output_format": {"type": "json_schema"}}),
        ("gemini", {"generationConfig": {"responseSchema": {"type": "object"}}}),
    ],
)
def test_a_structured_answer_is_json_text_where_a_response_format_is_asked_for(protocol: str, wish: Any) -> None:
    path, body, tools = SHAPES[protocol]
    with ModelServer([{"json": {"ok": True}}]) as server:
        _status, answer = post(server, path, {**body, **tools, **wish})
    assert json.loads(spoken(protocol, json.loads(answer))) == {"ok": True}


@pytest.mark.parametrize("protocol", SHAPES)
def test_a_stream_brings_the_same_text_in_pieces(protocol: str) -> None:
    path, body, _tools = SHAPES[protocol]
    streamed = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    with ModelServer([{"text": "a text that is longer than one piece"}]) as server:
        _status, answer = post(server, streamed, {**body, "stream": True})
    events = [json.loads(line[6:]) for line in answer.splitlines() if line.startswith("data: {")]
    assert "".join(_pieces(protocol, events)) == "a text that is longer than one piece"
    assert len(events) > 3


def _pieces(protocol: str, events: list[Any]) -> list[str]:
    match protocol:
        case "openai-chat":
            return [event["choices"][0]["delta"].get("content") or "" for event in events if event["choices"]]
        case "openai-responses":
            return [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
        case "anthropic":
            return [event["delta"]["text"] for event in events if event["type"] == "content_block_delta"]
        case _:
            return [event["candidates"][0]["content"]["parts"][0]["text"] for event in events]


def test_a_gemini_stream_without_sse_is_one_list() -> None:
    path, body, _tools = SHAPES["gemini"]
    with ModelServer([{"tool": {"name": "look", "arguments": {"at": 1}}}]) as server:
        _status, answer = post(server, path.replace(":generate", ":streamGenerate"), body)
    assert json.loads(answer)[-1]["candidates"][0]["content"]["parts"] == [
        {"functionCall": {"name": "look", "args": {"at": 1}}}
    ]


@pytest.mark.parametrize("protocol", SHAPES)
def test_an_error_has_its_status_and_the_shape_of_the_protocol(protocol: str) -> None:
    path, body, _tools = SHAPES[protocol]
    with ModelServer([{"error": {"status": 529, "message": "busy"}}]) as server:
        status, answer = post(server, path, body)
    assert (status, json.loads(answer)["error"]["message"]) == (529, "busy")


def test_steps_are_taken_in_order_and_then_the_default() -> None:
    path, body, _tools = SHAPES["openai-chat"]
    with ModelServer({"steps": [{"text": "one"}, {"text": "two"}], "default": "over"}) as server:
        said = [spoken("openai-chat", json.loads(post(server, path, body)[1])) for _ in range(4)]
    assert said == ["one", "two", "over", "over"]
    assert [request.step for request in server.requests] == [0, 1, -1, -1]


def test_a_step_with_match_waits_for_its_request() -> None:
    script = Script([{"match": "weather", "text": "rain"}, {"text": "any", "repeat": True}])
    assert [script.next(text).number for text in ("news", "the weather", "the weather")] == [1, 0, 1]
    assert Script([{"text": "never"}]).unused == (0,)


def test_credentials_are_in_no_log(tmp_path: Path) -> None:
    path, body, _tools = SHAPES["gemini"]
    log = tmp_path / "log.jsonl"
    with ModelServer([], log=str(log)) as server:
        post(
            server,
            f"{path}?key=SECRET",
            body,
            authorization="Bearer SECRET",
            **{"x-api-key": "SECRET", "x-goog-api-key": "SECRET"},
        )
    assert "SECRET" not in log.read_text() + repr(server.requests)
    assert json.loads(log.read_text())["body"] == body
    assert log.stat().st_mode & 0o777 == 0o600


def test_an_answer_waits_for_the_request_that_it_names() -> None:
    path, body, _tools = SHAPES["openai-chat"]
    steps = [{"text": "late", "unless": "the other", "until": "the other"}, {"text": "early"}]
    answers: list[str] = []

    def ask(server: ModelServer, text: str) -> None:
        answers.append(json.dumps(post(server, path, {**body, "user": text})))

    with ModelServer(steps) as server:
        thread = threading.Thread(target=ask, args=(server, "the one"))
        thread.start()
        while not server.requests:
            threading.Event().wait(0.005)
        assert not answers
        ask(server, "the other")
        thread.join(60)
    assert ["late" in answer for answer in sorted(answers, key=lambda answer: "late" in answer)] == [False, True]


def test_a_server_that_closes_lets_go_of_requests_that_hang() -> None:
    path, body, _tools = SHAPES["openai-chat"]
    failed = threading.Event()

    def ask() -> None:
        try:
            post(server, path, body)
        except OSError:
            failed.set()

    with ModelServer([{"hang": True}]) as server:
        thread = threading.Thread(target=ask)
        thread.start()
        while not server.requests:
            threading.Event().wait(0.005)
    thread.join(60)
    assert failed.is_set()


@pytest.mark.parametrize(
    ("source", "finding"),
    [([{"txt": "typo"}], "unknown fields txt"), (["text"], "not an object"), ([{"tool": {}}], "without a name")],
)
def test_a_wrong_script_is_refused_with_the_step_named(source: Any, finding: str) -> None:
    with pytest.raises(ScriptError, match=f"step 0.*{finding}"):
        Script(source)


def test_a_script_file_that_is_not_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text("{")
    with pytest.raises(ScriptError, match="is not JSON"):
        read_script(str(tmp_path / "s.json"))


def test_clients_may_ask_for_models_and_token_counts() -> None:
    with ModelServer() as server:
        with urllib.request.urlopen(f"{server.url}/v1/models", timeout=60) as answer:
            assert json.load(answer)["data"][0]["id"] == "scripted"
        assert json.loads(post(server, "/v1/messages/count_tokens", {"messages": "x" * 400})[1])["input_tokens"] > 100
        assert post(server, "/elsewhere", {})[0] == 404


def test_it_is_a_program_too(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"text": "from a file"}]')
    command = [
        sys.executable,
        "-m",
        "hookline.llm.scripted",
        str(script),
        "--port-file",
        str(tmp_path / "port"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.endswith(":" + (tmp_path / "port").read_text())
        path, body, _tools = SHAPES["openai-chat"]
        request = urllib.request.Request(url + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert spoken("openai-chat", json.load(answer)) == "from a file"
        process.terminate()
        assert process.wait(60) == 0
