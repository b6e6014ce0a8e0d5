"""The interactive chat in a real terminal."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline.llm.scripted import ModelServer

pytest.importorskip("pydantic_ai")
pytest.importorskip("prompt_toolkit")


def _terminal_class() -> Any:
    spec = importlib.util.spec_from_file_location("chat_terminal_helper", Path(__file__).with_name("terminal.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Terminal


Terminal = _terminal_class()


def _chat(project: Any, server: ModelServer, *words: str) -> Any:
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.home), "LANG": "C.UTF-8", **server.environ()}
    argv = [sys.executable, "-m", "hookline", "chat", "--model", "openai:scripted", *words]
    return Terminal(argv, cwd=project.path, environ=environ)


def _hooks(project: Any, **commands: str) -> list[str]:
    lines = [
        f"[[hook]]\nname = '{event.lower()}'\non = '{event.replace('__', '.')}'\nshell = '''{command}'''\n"
        for event, command in commands.items()
    ]
    return ["--config", str(project.write("hookline.toml", "\n".join(lines)))]


def _transcript(project: Any) -> list[Any]:
    (path,) = (project.home / ".local/share/hookline/chats").glob("*/*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_conversation_is_streamed_kept_and_left_with_a_command(project: Any) -> None:
    words = _hooks(project, SessionEnd="cat > ended.json")
    with ModelServer([{"text": "hello to you"}]) as server, _chat(project, server, *words) as terminal:
        terminal.wait_for("/help for commands")
        terminal.ready()
        terminal.type("hello\r")
        terminal.wait_for("hello to you")
        terminal.ready()
        terminal.type("/help\r")
        terminal.wait_for("/reload")
        terminal.ready()
        terminal.type("/quit\r")
        terminal.wait_for("To continue: hookline chat --resume")
        assert terminal.ended() == 0
    assert json.loads((project.path / "ended.json").read_text())["data"]["reason"] == "exit"
    records = _transcript(project)
    assert records[0]["type"] == "permission-mode"
    assert [record["message"]["role"] for record in records if "message" in record] == ["user", "assistant"]
    history = project.home / ".local/state/hookline/chat_history"
    assert (history.stat().st_mode & 0o777, "+hello" in history.read_text()) == (0o600, True)


def test_a_permission_is_asked_for_and_the_answer_counts(project: Any) -> None:
    calls = [{"tool": {"name": "Bash", "arguments": {"command": f"touch {name}"}}} for name in ("one", "two")]
    with ModelServer([*calls, {"text": "all done"}]) as server, _chat(project, server) as terminal:
        terminal.ready()
        terminal.type("go\r")
        terminal.wait_for("touch one")
        terminal.wait_for("[n]o:")
        terminal.type("y\r")
        terminal.wait_for("touch two")
        terminal.wait_for("[n]o:")
        terminal.type("n\r")
        terminal.wait_for("Permission denied: the user said no")
        terminal.wait_for("all done")
        terminal.ready()
        terminal.type("/quit\r")
        terminal.ended()
    assert ((project.path / "one").exists(), (project.path / "two").exists()) == (True, False)


def test_ctrl_c_at_a_question_cancels_the_turn_too(project: Any) -> None:
    words = _hooks(project, RunEnd="cat > run.json")
    call = {"tool": {"name": "Bash", "arguments": {"command": "touch made"}}}
    with ModelServer([call, {"text": "a second request"}]) as server, _chat(project, server, *words) as terminal:
        terminal.ready()
        terminal.type("go\r")
        terminal.wait_for("[n]o:")
        terminal.type("\x03")
        terminal.wait_for("interrupted")
        terminal.ready()
        terminal.type("/quit\r")
        assert terminal.ended() == 0
        assert len(server.requests) == 1
    assert json.loads((project.path / "run.json").read_text())["data"]["status"] == "error"
    assert not (project.path / "made").exists()


def test_ctrl_c_cancels_the_turn_and_ctrl_d_asks_before_it_leaves(project: Any) -> None:
    words = _hooks(project, SessionEnd="echo end >> ended")
    slow = {"tool": {"name": "Bash", "arguments": {"command": "echo begun; sleep 60"}}}
    with ModelServer([slow, {"text": "still here"}]) as server:
        with _chat(project, server, "--permission-mode", "all", *words) as terminal:
            terminal.ready()
            terminal.type("go\r")
            terminal.wait_for("● Bash")
            terminal.type("\x03")
            terminal.wait_for("interrupted")
            terminal.ready()
            terminal.type("and now\r")
            terminal.wait_for("still here")
            terminal.ready()
            terminal.type("\x04")
            terminal.wait_for("Leave the session?")
            terminal.type("n\r")
            terminal.ready()
            assert not (project.path / "ended").exists()
            terminal.type("never sent\x03\x03")
            terminal.wait_for("Leave the session?")
            terminal.type("y\r")
            assert terminal.ended() == 0
        assert "interrupted before it gave a result" in server.requests[-1].text
    assert (project.path / "ended").read_text() == "end\n"


@pytest.mark.parametrize("how", ["a closed terminal", "SIGTERM"])
def test_the_session_ends_properly_whoever_ends_it(project: Any, how: str) -> None:
    words = _hooks(project, SessionEnd="cat > ended.json")
    with ModelServer([{"text": "kept"}]) as server, _chat(project, server, *words) as terminal:
        terminal.ready()
        terminal.type("hello\r")
        terminal.wait_for("kept")
        terminal.ready()
        if how == "SIGTERM":
            terminal.child.send_signal(signal.SIGTERM)
        else:
            terminal.hang_up()
        terminal.ended()
    reason = json.loads((project.path / "ended.json").read_text())["data"]["reason"]
    assert reason in ({"terminated"} if how == "SIGTERM" else {"hangup", "prompt_input_exit"})
    assert _transcript(project)[-1]["message"]["role"] == "assistant"


LASH = """
[hooks]
input.submit = blocking:{submit}
prompt.render = blocking:{render}
"""


def test_shell_hooks_work_in_the_line_editor(project: Any) -> None:
    script = "#!{python}\nimport json, sys\nevent = json.load(sys.stdin)\n{body}\n"
    submit = project.write(
        "submit.py",
        script.format(
            python=sys.executable,
            body="text = event['data']['text']\nprint(json.dumps({'action': 'deny', 'reason': 'not that word'} if 'secret' in text else {'action': 'modify', 'data': {'text': text.upper()}} if text[0] != '/' else {'action': 'allow'}))",
        ),
        mode=0o755,
    )
    render = project.write(
        "render.py",
        script.format(
            python=sys.executable, body="print(json.dumps({'action': 'modify', 'data': {'prompt': 'ask me> '}}))"
        ),
        mode=0o755,
    )
    config = project.write("lash.conf", LASH.format(submit=submit, render=render))
    with ModelServer([{"text": "answered"}]) as server:
        with _chat(project, server, "--dialect", "lash", "--config", str(config)) as terminal:
            terminal.ready()
            terminal.wait_for("ask me>")
            terminal.type("a secret\r")
            terminal.wait_for("not that word")
            terminal.ready()
            terminal.wait_for("ask me>")
            terminal.type("shout\r")
            terminal.wait_for("answered")
            terminal.ready()
            terminal.wait_for("ask me>")
            terminal.type("/quit\r")
            terminal.ended()
        assert len(server.requests) == 1
        assert "SHOUT" in server.requests[0].text


def test_commands_clear_compact_and_resume_fire_what_they_mean(project: Any) -> None:
    words = _hooks(
        project,
        SessionStart='python3 -c \'import json,sys; print(json.load(sys.stdin)["data"]["source"])\' >> starts',
        SessionEnd='python3 -c \'import json,sys; print(json.load(sys.stdin)["data"]["reason"])\' >> ends',
    )
    script = [{"text": "one"}, {"text": "SUMMARY"}, {"text": "two"}, {"text": "three"}]
    with ModelServer(script) as server:
        with _chat(project, server, *words) as terminal:
            terminal.ready()
            terminal.type("apricot\r")
            terminal.wait_for("one")
            terminal.ready()
            terminal.type("/compact keep the names\r")
            terminal.wait_for("was compacted")
            terminal.ready()
            terminal.type("second\r")
            terminal.wait_for("two")
            terminal.ready()
            (old,) = (project.home / ".local/share/hookline/chats").glob("*/*.jsonl")
            terminal.type("/clear\r")
            terminal.wait_for("a new session")
            terminal.ready()
            terminal.type(f"/resume {old.stem[:8]}\r")
            terminal.wait_for("2 turns so far")
            terminal.ready()
            terminal.type("third\r")
            terminal.wait_for("three")
            terminal.ready()
            terminal.type("/reload\r")
            terminal.wait_for("2 hooks, 7 tools")
            terminal.ready()
            terminal.type("/quit\r")
            terminal.ended()
        last = json.dumps(server.requests[-1].body)
        assert "keep the names" in server.requests[1].text
    assert ("SUMMARY" in last, "second" in last, "apricot" in last) == (True, True, False)
    assert (project.path / "starts").read_text().split() == ["startup", "clear", "resume"]
    assert (project.path / "ends").read_text().split() == ["clear", "resume", "exit"]


def test_commands_show_and_change_what_the_session_works_with(project: Any) -> None:
    words = _hooks(project, PreModelSwitch="grep -q forbidden && { echo stay with it >&2; exit 2; }; true")
    with ModelServer([{"text": "one"}]) as server, _chat(project, server, *words) as terminal:
        terminal.ready()
        terminal.type("apricot\r")
        terminal.wait_for("one")
        (path,) = (project.home / ".local/share/hookline/chats").glob("*/*.jsonl")
        for line, shown in (
            ("/hooks list", "premodelswitch  [native]"),
            ("/model", "the model is openai:scripted"),
            ("/model openai:forbidden", "stay with it"),
            ("/model openai:other", "the model is openai:other"),
            ("/resume", f"{path.stem[:8]}  apricot (this one)"),
            (f"/resume {path.stem[:8]}", "that is this session"),
            ("/resume zzz", "there is no session 'zzz'"),
            ("/nonsense", "there is no command /nonsense"),
        ):
            terminal.ready()
            terminal.type(f"{line}\r")
            terminal.wait_for(shown)
        terminal.ready()
        terminal.type("/quit\r")
        terminal.ended()
