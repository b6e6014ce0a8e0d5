"""A repository that nobody approved costs a running daemon nothing, and its sessions one notice."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conftest import Answer, Machine

SLOW = '[[hook]]\nname = "slow{0}"\non = "PreToolUse"\nmatch = {{ "tool_input.command" = "(a|aa)+{1}$" }}\nrun = "true"\non_failure = "deny"\n'
HOOK = '[[hook]]\nname = "theirs"\non = "PreToolUse"\nshell = "echo theirs >&2; exit 2"\n'
TRUST = [sys.executable, "-m", "hookline", "trust", "--yes"]


def write(machine: Machine, text: str) -> None:
    folder = machine.project / ".hookline"
    folder.mkdir(exist_ok=True)
    (folder / "new").write_text(text)
    (folder / "new").replace(folder / "hookline.toml")


def reason(answer: Answer) -> str:
    told = json.loads(answer.out).get("hookSpecificOutput", {}) if answer.out else {}
    return str(told.get("permissionDecisionReason", ""))


def test_ones_own_guard_is_asked_whatever_a_repository_brings(machine: Machine):
    machine.guarded()
    write(machine, "".join(SLOW.format(n, "b" * n) for n in range(400)))
    machine.start()
    assert reason(machine.ask({"tool_input": {"command": "rm " + "a" * 4000}}, "--deadline", "8")).startswith("no: rm")
    assert reason(machine.ask({"tool_input": {"command": "a" * 4000 + "!"}}, "--deadline", "8")) == ""


def test_a_session_sees_the_notice_once_whoever_answers(machine: Machine):
    machine.guarded()
    write(machine, HOOK)
    machine.start()
    warm, cold, again = machine.ask(), machine.cold(), machine.ask()
    assert "hookline trust" in json.loads(warm.out)["systemMessage"]
    assert b"hookline trust" in warm.err
    assert (cold.out, cold.err, again.out, again.err) == (b"", b"", b"", b"")
    other = machine.ask({"session_id": "t"})
    assert b"hookline trust" in other.err


def test_what_is_approved_counts_at_once_and_what_is_added_does_not(machine: Machine):
    write(machine, HOOK)
    machine.start()
    assert reason(machine.ask()) == ""
    assert machine.run(TRUST).code == 0
    assert reason(machine.ask()) == "theirs"
    write(
        machine, HOOK + HOOK.replace("theirs", "more").replace("exit 2", "exit 0") + '[record]\nredact = ["(?s).+"]\n'
    )
    added = machine.ask({"session_id": "t"})
    assert (reason(added), b"more" in added.err, b"settings" in added.err) == ("theirs", True, True)
    assert [one["hook"] for one in machine.recorded()[-1]["outcomes"]] == ["theirs"]


def test_a_project_that_is_moved_to_where_an_agent_has_worked_is_missed(machine: Machine):
    write(machine, HOOK + "on_failure = 'deny'\n")
    assert machine.run(TRUST).code == 0
    machine.start()
    old, new = machine.project, machine.project.with_name("new")
    new.mkdir()
    machine.project = new
    assert reason(machine.ask({"cwd": str(new)})) == ""
    new.rmdir()
    old.rename(new)
    assert "it was trusted in " in reason(machine.ask({"cwd": str(new), "session_id": "t"}))
