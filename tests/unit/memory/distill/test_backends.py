"""The three ways to ask a model, each with what can go wrong."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tests.unit.memory.loop_world import World

from hookline.gateway import bypass
from hookline.llm.scripted import ModelServer
from hookline.memory.distill.backends import select_model
from hookline.memory.distill.model_errors import ModelFailedError, ModelSetupError
from hookline.memory.settings import CompoundLoop


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def ask(world: World, text: str = "question", **loop: object) -> str:
    made = CompoundLoop(**{"enabled": True, "timeout_seconds": 10.0, **loop})  # type: ignore[arg-type]  # as given
    return select_model(made, world.environ, state=str(world.state), names={})(text)


def test_claude_is_asked_as_documented_in_a_directory_of_our_own_with_hookline_off(world: World) -> None:
    world.claude(
        "marks = {name: os.environ.get(name) for name in ('HOOKLINE_DISTILLING', 'HOOKLINE_NO_HOOKS')}\n"
        "from hookline.gateway import bypass\n"
        f"off = bypass.is_own_model(os.environ, {str(world.state)!r})\n"
        "print(json.dumps([sys.argv[1:], os.getcwd(), sys.stdin.read(), off, marks['HOOKLINE_NO_HOOKS']]))"
    )
    argv, cwd, text, off, no_hooks = json.loads(ask(world, "what? ü", model="haiku"))
    assert argv == ["-p", "--model", "haiku", "--output-format", "json"]
    assert (cwd, text, off, no_hooks) == (bypass.own_model_directory(str(world.state)), "what? ü", True, "1")
    assert list(Path(bypass.own_model_directory(str(world.state))).iterdir()) == []


def test_the_transcript_of_our_own_question_does_not_stay(world: World) -> None:
    world.claude(
        "import re\n"
        "folder = os.path.join(os.environ['HOME'], '.claude/projects', re.sub('[^A-Za-z0-9-]', '-', os.getcwd()))\n"
        "os.makedirs(folder)\nopen(folder + '/own.jsonl', 'w').close()\nprint('{}')"
    )
    of_a_person = world.transcript("s1")
    ask(world)
    assert list((world.home / ".claude/projects").rglob("*.jsonl")) == [of_a_person]


def test_a_variable_alone_switches_nothing_off(world: World) -> None:
    with bypass.mark_own_model(str(world.state)) as marks:
        assert bypass.is_own_model(marks, str(world.state))
        assert not bypass.is_own_model(marks, str(world.folder))
        assert not bypass.is_own_model({bypass.OWN_MODEL: "0" * 32}, str(world.state))
        assert not bypass.is_own_model({bypass.OWN_MODEL: "../../x"}, str(world.state))
    assert not bypass.is_own_model(marks, str(world.state))
    left = Path(bypass.own_model_directory(str(world.state)), "0" * 32)
    left.touch()  # of a worker that was killed
    assert not bypass.is_own_model({bypass.OWN_MODEL: "0" * 32}, str(world.state))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit('no credit')", "claude ended with 1: no credit"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("time.sleep(300)", "no answer in 0.5 s"),
        ("pass", "gave an empty answer"),
    ],
)
def test_a_claude_that_fails_is_told(world: World, body: str, told: str) -> None:
    world.claude(body)
    with pytest.raises(ModelFailedError, match=told):
        ask(world, timeout_seconds=0.5 if "sleep" in body else 60.0)


def test_a_claude_that_does_not_read_is_no_problem(world: World) -> None:
    world.claude("print('{}')")
    assert ask(world, "x" * 1_000_000) == "{}\n"


def test_without_claude_the_queue_can_only_wait(world: World) -> None:
    world.environ["PATH"] = str(world.bin)
    with pytest.raises(ModelSetupError, match="not on PATH"):
        ask(world)


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/"])
def test_a_server_that_speaks_openais_protocol_is_asked(world: World, tail: str) -> None:
    with ModelServer([{"text": '{"handoff": ["x"]}'}]) as server:
        base = server.environ()["OPENAI_BASE_URL"].removesuffix("/").removesuffix("/v1")
        options = {"base_url": base + tail, "api_key": "key-1234567"}
        assert ask(world, backend="openai-compatible", backend_options=options) == '{"handoff": ["x"]}'
        assert "question" in server.requests[0].text


def test_a_key_can_stand_in_the_environment_and_never_in_an_error(world: World) -> None:
    world.environ["MY_KEY"] = "key-1234567"
    with ModelServer([{"error": {"status": 429, "message": "key-1234567 is slow"}}]) as server:
        options = {"base_url": server.environ()["OPENAI_BASE_URL"], "api_key_env": "MY_KEY"}
        with pytest.raises(ModelFailedError, match="429") as caught:
            ask(world, backend="openai-compatible", backend_options=options)
    assert "key-1234567" not in str(caught.value)


def test_a_server_that_is_not_there_is_told(world: World) -> None:
    with pytest.raises(ModelFailedError, match="did not answer"):
        ask(world, backend="mlx", backend_options={"base_url": "http://127.0.0.1:9"})
    with pytest.raises(ModelSetupError, match="base_url"):
        ask(world, backend="openai-compatible", backend_options={"base_url": "file:///etc/passwd"})


def drip(server: socket.socket, stop: threading.Event) -> None:
    connection, _address = server.accept()
    with connection, suppress(OSError):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not stop.wait(0.05):
            connection.sendall(b" ")


def test_a_server_that_sends_a_byte_now_and_then_is_late_all_the_same(world: World) -> None:
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server, stop))
        thread.start()
        base = f"http://127.0.0.1:{server.getsockname()[1]}"
        try:
            with pytest.raises(ModelFailedError, match=r"gave no answer in 0\.5 s"):
                ask(world, backend="openai-compatible", backend_options={"base_url": base}, timeout_seconds=0.5)
        finally:
            stop.set()
            thread.join()


def test_any_model_of_the_models_extra_is_asked_by_its_full_name(world: World, tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": '{"handoff": ["from a script"]}'}]))
    assert "from a script" in ask(world, model=f"script:{script}")


def test_a_model_that_cannot_be_asked_before_somebody_changes_something_holds_the_queue(world: World) -> None:
    with pytest.raises(ModelSetupError, match="unknown model 'no-such'"):
        ask(world, backend="models", model="no-such")
    with pytest.raises(ModelSetupError, match="needs a key"):
        ask(world, backend="models", model="groq:some")


def test_an_unknown_way_is_named(world: World) -> None:
    with pytest.raises(ModelSetupError, match="claude, models, openai-compatible"):
        ask(world, backend="telepathy")


def test_the_mark_is_for_our_eyes_only(world: World) -> None:
    with bypass.mark_own_model(str(world.state)) as marks:
        path = os.path.join(bypass.own_model_directory(str(world.state)), marks[bypass.OWN_MODEL])
        assert os.stat(path).st_mode & 0o777 == 0o600
