"""What is written down of a shell: in order, none of it lost at the end, and no value of the environment."""

from __future__ import annotations

from typing import Any

import pytest
from tests.recording import MemoryRecorder

from hookline.core.event import Event, event_kind
from hookline.core.hook import Command, HookSpec, Origin
from hookline.core.result import Decision, Replied, RunResult
from hookline.shell.engine_host import cap_editor_timeout
from hookline.shell.recorders import DeferredRecorder, RedactingRecorder
from hookline.shell.xonsh.variables import to_json
from hookline.state.record import Record


def record(name: str, data: dict[str, Any], number: int = 0, **decision: Any) -> Record:
    event = Event(kind=event_kind(name), data=data, id=f"e{number}")
    return Record(event=event, decision=Decision(event=name, data=data, **decision), specs={})


def test_a_refusal_is_written_at_once_after_all_that_came_before():
    kept = MemoryRecorder()
    behind = DeferredRecorder(kept)
    for number in range(50):
        behind.write(record("process.pre_spawn", {}, number))
    behind.write(record("process.pre_spawn", {}, 50, effect="deny"))
    assert [one.event.id for one in kept.records] == [f"e{number}" for number in range(51)]
    behind.close()


def test_the_end_waits_for_what_is_still_to_be_written():
    kept = MemoryRecorder()
    behind = DeferredRecorder(kept)
    for number in range(200):
        behind.write(record("process.pre_spawn", {}, number))
    behind.close()
    assert len(kept.records) == 200


def test_values_of_the_environment_are_covered_and_so_is_what_a_hook_printed():
    kept = MemoryRecorder()
    outcome = Replied(id="h", hook="h", raw=RunResult(exit_code=0, stdout='{"value": "secret"}', stderr="secret"))
    data = {"name": "KEY", "op": "set", "value": "secret", "old": None}
    RedactingRecorder(kept).write(record("env.change", data, outcomes=(outcome,)))
    (written,) = kept.records
    assert "secret" not in repr(written)
    assert written.event.data["value"] == "[6 characters, not recorded]"
    assert written.decision.outcomes[0].hook == "h"


def test_what_the_shell_itself_sets_hides_nothing_of_a_hook():
    kept = MemoryRecorder()
    outcome = Replied(id="h", hook="h", raw=RunResult(exit_code=0, stdout='{"action": "deny"}', stderr=""))
    given = record("process.pre_spawn", {"command": "ls", "env": {"LASH_DISPLAY": "stream"}}, outcomes=(outcome,))
    RedactingRecorder(kept).write(given)
    assert kept.records == [given]


@pytest.mark.parametrize(
    "text",
    [
        "export API=secret",
        "API=secret cmd",
        "a; A=1 API='secret x' cmd",
        "$X='secret' cmd",
        "$X = 'secret'",
        "$X=  'secret'",
        "$X += 'secret'",
        "${'X'} = 'secret'",
        "import os; os.environ[\"X\"] = 'secret'",
        "with ${...}.swap({'X': 'secret'}): pass",
        "command not found: API=secret",
        "sudo -E API=secret cmd",
        "X='secret and more",
        'export X="secret ',
        "time -p API=secret cmd",
        "! API=secret cmd",
        "if API=secret cmd; then b; fi",
        "export -- API=secret",
        "API[0]=secret",
        "API=(one secret)",
        "bash -c 'API=secret cmd'",
        "noglob API=secret cmd",
        "repeat 2 API=secret cmd",
        "eval 'API=secret cmd'",
        "alias k='API=secret cmd'",
        "export API=one\\\nsecret",
        "export API=`echo secret`",
        'export "API=secret x"',
    ],
)
def test_assigned_values_are_not_written(text: str):
    kept = MemoryRecorder()
    commands = [{"command": "export", "args": ["API=secret and a secret\nsecret"], "redirects": []}]
    RedactingRecorder(kept).write(record("pipeline.pre_execute", {"text": text, "commands": commands}))
    (written,) = kept.records
    assert "secret" not in repr(written)


def test_other_events_are_written_as_they_are():
    kept = MemoryRecorder()
    one = record("input.submit", {"text": "ls"})
    RedactingRecorder(kept).write(one)
    assert kept.records == [one]


def hook(event: str, timeout: float | None, mode: Any = "sync") -> HookSpec:
    origin = Origin(file="f", line=1, pointer="$", layer="user")
    action = Command(form="argv", argv=("x",))
    return HookSpec(
        id="i", name="n", dialect="lash", event=event, origin=origin, action=action, timeout=timeout, mode=mode
    )


def test_the_editor_waits_briefly_unless_a_shorter_time_is_written():
    given = [("input.key", 5.0), ("input.key", 60.0), ("input.key", 2.0), ("prompt.render", 5.0), ("input.submit", 5.0)]
    assert [cap_editor_timeout(hook(*one)).timeout for one in given] == [0.25, 0.25, 2.0, 1.0, 5.0]
    late = hook("prompt.render", 60.0, "apply-later")
    assert cap_editor_timeout(late) == late


def test_any_value_has_a_bounded_shape_that_json_can_say():
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    deep: list[Any] = []
    deep.append(deep)
    assert to_json({"a": (1, "x", None), 2: Odd()}) == {"a": [1, "x", None], "2": "<Odd>"}
    assert to_json(deep) == [[[["[[...]]"]]]]
    assert len(to_json("x" * 100000)) == 65536
