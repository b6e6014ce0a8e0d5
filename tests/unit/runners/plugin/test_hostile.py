"""A plugin that misbehaves costs its callers a deadline at most, and leaves nothing running."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.patience import SOON, eventually

from hookline.runners.plugin import startup as plugin_startup
from hookline.runners.plugin import watch

if TYPE_CHECKING:
    from tests.unit.runners.plugin.conftest import Bench


def gone(pid: int) -> bool:
    """Ended: not there any more, or only its entry is, which init has not collected yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] in {"Z", "X"}
    except OSError:
        return True


def soon_gone(pid: int) -> bool:
    return eventually(lambda: gone(pid))


def test_a_crash_is_an_error_and_the_next_call_starts_it_anew_after_a_pause(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookline.runners.plugin.runner._FIRST_PAUSE", 30.0)  # longer than a busy machine dawdles
    first = bench.runner.run(bench.job("crash")).value["data"]["text"]
    assert bench.runner.run(bench.job("crash")).error == "plugin crash: it ended (exit 7)"
    assert bench.wait_for("plugin.unload") == {"name": "crash", "pid": int(first), "reason": "crash", "exit_code": 7}
    refused = bench.runner.run(bench.job("crash"))
    assert refused.error.startswith("plugin crash is down, next start in ")
    assert refused.error.endswith(" s: it ended (exit 7)")
    [seat] = bench.runner._slots.values()
    seat.not_before = 0.0
    assert bench.runner.run(bench.job("crash")).value["data"]["text"] not in {"", first}


def test_the_pause_doubles_with_every_failure(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "hookline.runners.plugin.runner._FIRST_PAUSE", 100.0
    )  # so that a busy machine's dawdling does not show
    monkeypatch.setattr("hookline.runners.plugin.runner._LONGEST_PAUSE", 300.0)
    pauses: list[float] = []
    for _ in range(4):
        assert "exit 1" in bench.runner.run(bench.job("no", path=_failing(bench))).error
        [seat] = bench.runner._slots.values()
        pauses.append(seat.not_before - time.monotonic())
        seat.not_before = 0.0
    assert [round(pause, -2) for pause in pauses] == [100, 200, 300, 300]


def _failing(bench: Bench) -> str:
    path = bench.folder / "failing"
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    return str(path)


def test_a_crash_while_nobody_calls_is_noticed(bench: Bench) -> None:
    bench.runner.run(bench.job("echo"))
    os.kill(bench.pid("echo"), 9)
    assert bench.wait_for("plugin.unload") == {"name": "echo", "pid": bench.pid("echo"), "reason": "crash"}


def test_a_plugin_that_lets_three_requests_pass_is_started_anew(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "HUNG", 0.03)
    monkeypatch.setattr("hookline.runners.plugin.runner._FIRST_PAUSE", 30.0)
    bench.runner.run(bench.job("mute", timeout=0.5))
    pid = bench.pid("mute")
    assert all(bench.runner.run(bench.job("mute", timeout=0.02)).timed_out for _ in range(2))
    assert bench.wait_for("plugin.unload")["reason"] == "terminate"
    assert "did not answer 3 times" in bench.runner.run(bench.job("mute")).error
    assert soon_gone(pid)


def test_a_plugin_that_is_only_busy_survives_many_short_deadlines(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "HUNG", 60.0)
    bench.runner.run(bench.job("slow"))
    waits: list[dict[str, Any]] = [{"text": "x", "wait": 1.5}, *({"text": "x"} for _ in range(9))]
    late = [bench.runner.run(bench.job("slow", data, timeout=0.01)).timed_out for data in waits]
    assert sum(late) > watch.PATIENCE
    assert bench.runner.run(bench.job("slow", {"text": "still here"})).value["data"] == {"text": "still here!"}
    assert [kind for kind, _ in bench.events] == ["plugin.load"]


def test_a_flood_is_read_past_and_its_excess_dropped(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "FLOOD", 20_000)  # on a busy machine it takes seconds
    raw = bench.runner.run(bench.job("flood", timeout=60))
    assert raw.value == {"action": "allow"}
    assert bench.wait_for("plugin.message")["name"] == "flood"


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ('{"type":"hello"}', "answered the handshake with type 'hello', not 'handshake_ok'"),
        ("[]", "answered the handshake with a line that is not a JSON object"),
        ("HTTP/1.1 200 OK", "answered the handshake with a line that is not JSON"),
        ("x" * (1 << 20) + "x", "answered the handshake with a line over 1 MiB"),
        ('{"type":"handshake_ok","version":"2.0"}', "uses version '2.0' of the protocol; hookline supports 1.0"),
        (
            '{"type":"handshake_ok"}\n{"type":"hook_result"}',
            "sent more than its handshake before the first request",
        ),
    ],
)
def test_a_plugin_that_lies_in_its_handshake_is_sent_away(bench: Bench, lie: str, why: str) -> None:
    (bench.folder / "lie").write_text(lie)
    raw = bench.runner.run(bench.job("liar", environ={"LIE": str(bench.folder / "lie")}))
    assert raw.error == f"plugin liar: {why}"
    assert bench.events == [("plugin.unload", {"name": "liar", "reason": "handshake"})]


def test_a_plugin_may_speak_in_one_breath_with_its_handshake(bench: Bench) -> None:
    said = '{"type":"handshake_ok"}\n{"type":"message","data":{"n":1}}\n{"type":"message","data":{"n":2}}'
    (bench.folder / "lie").write_text(said)
    bench.runner.run(bench.job("liar", environ={"LIE": str(bench.folder / "lie")}, timeout=0.2))
    assert bench.wait_for("plugin.load")["name"] == "liar"
    assert bench.wait_for("plugin.message") == {"name": "liar", "data": {"n": 1}}


def test_a_plugin_that_never_opens_its_socket_is_ended_at_the_deadline(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = bench.folder / "pid"
    for seconds in (0.2, 3, 15):  # a busy machine may need more to come to its first line
        monkeypatch.setattr(plugin_startup, "DEADLINE", seconds)
        path = bench.folder / f"sleeper-{seconds}"
        path.write_text(f"#!/bin/sh\necho $$ > {written}.new\nmv {written}.new {written}\nsleep 600\n")
        path.chmod(0o755)
        raw = bench.runner.run(bench.job("sleeper", path=str(path)))
        assert raw.error == "plugin sleeper: did not open its socket in time"
        if written.exists():
            break
    assert soon_gone(int(written.read_text()))


def test_a_program_that_is_not_there_or_not_executable_says_so(bench: Bench) -> None:
    (bench.folder / "plain").write_text("x")
    assert "does not exist" in bench.runner.run(bench.job("none", path="/nowhere/none")).error
    assert "chmod +x" in bench.runner.run(bench.job("plain", path=str(bench.folder / "plain"))).error


def test_what_a_plugin_forked_dies_with_it_even_if_it_holds_the_connection(bench: Bench) -> None:
    child = int(bench.runner.run(bench.job("forker")).value["data"]["text"])
    began = time.monotonic()
    raw = bench.runner.run(bench.job("forker", {"text": "die"}))
    assert raw.error == "plugin forker: it ended (signal 9)"
    assert time.monotonic() - began < SOON
    assert soon_gone(child)


def test_closing_ends_what_a_plugin_forked(bench: Bench) -> None:
    child = int(bench.runner.run(bench.job("forker")).value["data"]["text"])
    bench.runner.close()
    assert soon_gone(child)


@pytest.mark.parametrize("kind", ["text", "list", "long", "type"])
def test_two_broken_lines_are_forgiven_and_three_are_not(bench: Bench, kind: str) -> None:
    good = bench.runner.run(bench.job("noise", {"kind": kind, "times": 2}))
    bad = bench.runner.run(bench.job("noise", {"kind": kind, "times": 3}))
    assert good.value == {"action": "allow"}
    assert bad.error.startswith("plugin noise: it violated the protocol: a ")
    assert bench.wait_for("plugin.unload")["reason"] == "terminate"


def test_a_plugin_that_ignores_terminate_is_ended_by_force(bench: Bench) -> None:
    bench.runner.run(bench.job("stubborn"))
    began = time.monotonic()
    bench.runner.close()
    assert time.monotonic() - began < SOON
    assert soon_gone(bench.pid("stubborn"))
    assert bench.events[-1][0] == "plugin.unload"
    assert bench.events[-1][1]["reason"] == "terminate"


def test_a_plugin_that_does_not_read_cannot_hold_a_caller_past_the_deadline(bench: Bench) -> None:
    began = time.monotonic()
    raw = bench.runner.run(bench.job("deaf", {"text": "x" * 5_000_000}, timeout=0.3))
    assert raw.error == "plugin deaf: it stopped reading in the middle of a message"
    assert time.monotonic() - began < SOON
    assert soon_gone(bench.pid("deaf"))


def test_a_good_plugin_ends_by_itself_when_told_to(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookline.runners.plugin.runner._GRACE", 60.0)
    bench.runner.run(bench.job("echo"))
    bench.runner.close()
    assert bench.events[-1] == (
        "plugin.unload", {"name": "echo", "pid": bench.pid("echo"), "reason": "terminate", "exit_code": 0},
    )  # fmt: skip


def test_after_closing_nothing_is_started_any_more(bench: Bench) -> None:
    bench.runner.close()
    assert bench.runner.run(bench.job("echo")).error == "plugin echo: hookline is closing"
