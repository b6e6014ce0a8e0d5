"""One plugin, many requests: answers find their callers."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.patience import SOON

from hookline.core.hook import Plugin
from hookline.runners.plugin.runner import handshake

if TYPE_CHECKING:
    from tests.unit.runners.plugin.conftest import Bench


def texts(raws: Any) -> list[str]:
    return [raw.value["data"]["text"] if raw.value else str(raw) for raw in raws]


def test_a_plugin_is_started_once_and_answers_again_and_again(bench: Bench) -> None:
    answers = [bench.runner.run(bench.job("echo", {"answer": {"action": "deny", "reason": str(n)}})) for n in range(3)]
    assert [raw.value for raw in answers] == [{"action": "deny", "reason": str(n)} for n in range(3)]
    assert [kind for kind, _ in bench.events] == ["plugin.load"]


def test_the_answer_is_kept_as_it_was_written_too(bench: Bench) -> None:
    raw = bench.runner.run(bench.job("echo"))
    assert (raw.exit_code, raw.stdout) == (0, '{"type": "hook_result", "id": 1, "action": "allow"}')


def test_answers_out_of_order_find_their_callers(bench: Bench) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda text: bench.runner.run(bench.job("swapped", {"text": text})), ["a", "b"])
        assert texts(found) == ["aa", "bb"]


def test_many_threads_share_one_plugin_without_mixing_answers(bench: Bench) -> None:
    bench.runner.run(bench.job("slow"))
    wanted = [str(number) for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        found = texts(pool.map(lambda text: bench.runner.run(bench.job("slow", {"text": text})), wanted))
    assert found == [f"{text}!" for text in wanted]


def test_an_answer_without_an_id_belongs_to_the_oldest_request(bench: Bench) -> None:
    with ThreadPoolExecutor(3) as pool:
        found = texts(pool.map(lambda text: bench.runner.run(bench.job("plain", {"text": text})), "abc"))
    assert found == ["a?", "b?", "c?"]


@pytest.mark.parametrize("name", ["slow", "plain"])
def test_a_late_answer_is_dropped_and_never_given_to_the_next_request(bench: Bench, name: str) -> None:
    bench.runner.run(bench.job(name))
    late = bench.runner.run(bench.job(name, {"text": "late", "wait": 0.7}, timeout=0.05))
    after = bench.runner.run(bench.job(name, {"text": "after"}))
    assert late.timed_out
    assert texts([after]) == ["after!" if name == "slow" else "after?"]


def test_a_deadline_is_held(bench: Bench) -> None:
    bench.runner.run(bench.job("slow"))
    began = time.monotonic()
    assert bench.runner.run(bench.job("slow", {"text": "x", "wait": 90}, timeout=0.1)).timed_out
    assert 0.095 <= time.monotonic() - began < SOON


def test_a_stop_ends_the_wait_at_once(bench: Bench) -> None:
    bench.runner.run(bench.job("mute", timeout=0.01))
    threading.Timer(0.1, bench.stop.set).start()
    began = time.monotonic()
    raw = bench.runner.run(bench.job("mute", timeout=60))
    assert raw.error == "plugin mute: stopped"
    assert time.monotonic() - began < SOON


def test_a_large_event_is_sent_whole(bench: Bench) -> None:
    text = "é" * 3_000_000
    raw = bench.runner.run(bench.job("echo", {"text": text, "answer": {"action": "allow"}}))
    assert raw.value == {"action": "allow"}


def test_an_observer_is_not_waited_for_and_sees_events_in_order(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookline.runners.plugin.runner._GRACE", 60.0)  # it is to see them all, on a busy machine too
    seen = bench.folder / "seen"
    for number in range(5):
        raw = bench.runner.run(bench.job("observer", {"n": number}, mode="detached", environ={"SEEN": str(seen)}))
        assert (raw.error, raw.value) == ("", None)
        assert raw.ms < SOON * 1000
    bench.runner.close()
    assert seen.read_text().splitlines() == [f'{{"n": {number}}}' for number in range(5)]


def test_what_a_plugin_says_unasked_is_heard_while_nobody_calls(bench: Bench) -> None:
    bench.runner.run(bench.job("observer", {"n": 1}, mode="background", environ={"SEEN": str(bench.folder / "seen")}))
    assert bench.wait_for("plugin.message") == {"name": "observer", "data": {"saw": {"n": 1}}}
    assert [kind for kind, _ in bench.events] == ["plugin.load", "plugin.message"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("told", "passed_on"), [({}, "1"), ({"HOOKLINE_DEPTH": "2"}, "3")])
def test_a_plugin_is_told_how_deep_it_stands_as_every_other_hook(
    bench: Bench, told: dict[str, str], passed_on: str
) -> None:
    assert bench.runner.run(bench.job("echo", environ=told)).error == ""
    environ = Path(f"/proc/{bench.pid('echo')}/environ").read_bytes().split(b"\0")
    assert f"HOOKLINE_DEPTH={passed_on}".encode() in environ


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_plugin_may_be_written_in_any_language(bench: Bench) -> None:
    from tests.unit.runners.plugin.conftest import PROGRAMS

    raw = bench.runner.run(bench.job("js", {"text": "loud"}, path=str(PROGRAMS / "echo_plugin.js")))
    assert raw.value == {"action": "modify", "data": {"text": "LOUD"}}


def test_a_handshake_is_remembered_until_the_executable_changes(bench: Bench) -> None:
    path = bench.program("echo")
    plugin = Plugin(name="echo", path=path)
    first = handshake(plugin, bench.settings, os.environ)
    os.chmod(path, 0o600)  # it cannot be started any more, so the answer can only be remembered
    assert handshake(plugin, bench.settings, os.environ) == first
    assert isinstance(first, dict)
    assert first["hooks"] == ["input.submit", "process.pre_spawn", "prompt.render"]
    with open(path, "a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert isinstance(handshake(plugin, bench.settings, os.environ), str)


def test_everything_it_makes_is_private(bench: Bench) -> None:
    bench.runner.run(bench.job("echo"))
    found = [path for path in (bench.folder / "state").rglob("*") if not path.is_socket()]
    assert any(path.name == "plugins-cache.json" for path in found)
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in found)


def test_a_deep_state_directory_still_gets_a_socket(bench: Bench) -> None:
    from dataclasses import replace

    deep = bench.folder / ("d" * 120)
    job = bench.job("echo")
    raw = bench.runner.run(replace(job, settings=replace(job.settings, state_dir=str(deep))))
    assert raw.value == {"action": "allow"}
