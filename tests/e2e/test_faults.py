"""Whatever breaks, a guard that must not be skipped blocks, and the model reads that it failed, not that it refused.

One session carries many faults: every call of the model names the fault that its own guard has.
"""

from __future__ import annotations

import shlex

import pytest
from tests.e2e import agents
from tests.e2e.results import proves
from tests.e2e.world import World

#: Fault -> the guard's program (None: there is none) and what the model is told.
GUARDS = {
    "missing": (None, "hook failed: './hooks/missing' does not exist"),
    "not-executable": ("#!/bin/sh\nexit 0\n", "it is not executable"),
    "crashes": ("#!/bin/sh\nexit 7\n", "hook failed: exit code 7"),
    "killed": ("#!/bin/sh\nkill -9 $$\n", "hook failed: ended by signal 9"),
    "nonsense": ("#!/bin/sh\necho '{\"effect\": '\n", "hook failed: stdout starts like JSON and is not"),
    "hangs": ("#!/bin/sh\nsleep 600\n", "hook failed: timeout"),
}
NAMED = {
    "missing": "hook missing", "not-executable": "hook not executable", "crashes": "hook crashes",
    "killed": "hook killed", "nonsense": "hook talks nonsense", "hangs": "hook hangs",
}  # fmt: skip

GUARD = """\
[[hook]]
name = "guard-{fault}"
on = "PreToolUse"
match = {{ "tool_input.command" = ".*{fault}[.]txt.*" }}
run = "./hooks/{fault}"
timeout = "2s"
on_failure = "{policy}"
"""

#: Takes hookline's place and is broken in the way that the call names.
BROKEN = """\
#!/bin/sh
told=$(cat)
case $told in
  *code-1.txt*) exit 1 ;;
  *code-3.txt*) echo 'Traceback (most recent call last)' >&2; exit 3 ;;
  *code-75.txt*) exit 75 ;;
  *killed.txt*) chmod 644 "$0"; kill -9 $$ ;;
esac
exit 3
"""


KILL = """\
pid=$($HL daemon status --json | sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p')
[ -n "$pid" ] && kill -9 "$pid" && echo killed >> killed.txt
"""
DAEMON = {
    "look.sh": '$HL daemon status --json > "$1"\n',
    "again.sh": "$HL daemon start > /dev/null 2>&1\n",
    "kill.sh": KILL,
    "hooks/crashes": "exit 7\n",
    "hooks/midway": f"echo ran >> midway.log\n[ -e killed.txt ] && exit 7\n{KILL}exit 7\n",
}


#: Nothing can be refused there.
HARMLESS = '[[hook]]\nname = "at-{event}"\non = "{event}"\nshell = "true"\n'


def guards(policy: str) -> str:
    return "\n".join(GUARD.format(fault=fault, policy=policy) for fault in GUARDS)


def broken_guards(world: World, policy: str) -> None:
    for fault, (text, _told) in GUARDS.items():
        if text is not None:
            world.write(f"hooks/{fault}", text, 0o644 if fault == "not-executable" else 0o755)
    world.hooks(guards(policy))


def touching(world: World, *faults: str) -> list[dict[str, object]]:
    return [world.call(f"echo hello > {fault}.txt") for fault in faults]


@pytest.mark.gate
@proves(*NAMED.values())
def test_a_guard_that_fails_blocks_and_the_model_reads_that_it_failed(world: World) -> None:
    broken_guards(world, "deny")
    session = world.run(*touching(world, *GUARDS))
    for fault, (_text, told) in GUARDS.items():
        assert not world.has(f"{fault}.txt"), fault
        assert session.reached_the_model(told), f"{fault}: {session}"
        world.holds(NAMED[fault])


@pytest.mark.gate
@proves("ignored")
def test_a_failure_that_is_to_be_ignored_lets_the_tool_run_and_is_recorded(world: World) -> None:
    broken_guards(world, "ignore")
    session = world.run(*touching(world, *GUARDS))
    assert {fault: world.has(f"{fault}.txt") for fault in GUARDS} == dict.fromkeys(GUARDS, True), session
    expected = {f"guard-{fault}": {"timed-out" if fault == "hangs" else "failed"} for fault in GUARDS}
    assert {name: ended - {"skipped"} for name, ended in world.outcomes().items()} == expected


@proves("daemon dead")
def test_a_guard_blocks_when_the_daemon_is_killed_before_and_while_it_runs(world: World) -> None:
    # Programs of the project, since some agents look closely at what a command line says.
    for name, text in DAEMON.items():
        world.write(name, f"#!/bin/sh\nHL={shlex.quote(str(world.program))}\n{text}")
    world.hooks("\n".join(GUARD.format(fault=fault, policy="deny") for fault in ("crashes", "midway")))
    session = world.run(
        world.call("./look.sh before.json"), *touching(world, "midway"), world.call("./again.sh"),
        world.call("./look.sh between.json"), world.call("./kill.sh"), *touching(world, "crashes"),
        first=([str(world.program), "daemon", "start"],),
    )  # fmt: skip
    assert ['"pid"' in " ".join(world.lines(name)) for name in ("before.json", "between.json")] == [True, True], session
    assert world.lines("killed.txt") == ["killed", "killed"]
    assert (world.has("midway.txt"), world.has("crashes.txt")) == (False, False), session
    assert world.lines("midway.log") == ["ran", "ran"], "killed in the middle, and run again without the daemon"
    assert session.requests[-1].count("hook failed: exit code 7") >= 2, session


@proves("hookline broken")
def test_a_hookline_that_is_broken_still_blocks(world: World) -> None:
    world.hooks(guards("deny"))
    world.launcher.unlink()
    world.launcher.write_text(BROKEN, encoding="utf-8")
    world.launcher.chmod(0o755)
    # After "killed" it may not be executed any more.
    faults = ("code-1", "code-3", "code-75", "killed", "forbidden")
    session = world.run(*touching(world, *faults))
    assert {fault: world.has(f"{fault}.txt") for fault in faults} == dict.fromkeys(faults, False), session
    assert session.requests[-1].count("hookline failed") >= len(faults), session


@pytest.mark.gate
@proves("hookline gone")
def test_a_hookline_that_is_gone_still_blocks(world: World) -> None:
    world.hooks(guards("deny"))
    world.launcher.unlink()
    session = world.run()
    assert not world.has("proof.txt")
    assert session.reached_the_model("hookline failed"), session


@proves("gone, no guard")
def test_a_hookline_that_is_gone_keeps_nobody_from_working_where_no_hook_can_refuse(world: World) -> None:
    world.hooks("\n".join(HARMLESS.format(event=event) for event in ("SessionStart", "PostToolUse")))
    world.launcher.unlink()
    session = world.run()
    assert world.has("proof.txt"), session
    assert len(session.requests) <= 4, "nobody keeps the agent going"


@pytest.mark.parametrize("world", [one for one in agents.AGENTS if one.name == "cline"], indirect=True, ids=["cline"])
@pytest.mark.parametrize("patience", ["4000", "60000"])
def test_plugins_that_load_late_are_waited_for_as_long_as_the_note_says(world: World, patience: str) -> None:
    """Without more patience Cline goes on without them, and no plugin can do anything about it."""
    world.hooks(guards("deny"))
    world.launcher.unlink()
    slow = world.home / "slow" / "node"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\nsleep 6\nexec {agents.node()} "$@"\n', encoding="utf-8")
    slow.chmod(0o755)
    path = f"{slow.parent}:{agents.surroundings(world.agent, world.home)['PATH']}"
    session = world.run(environ={"PATH": path, "CLINE_PLUGIN_IMPORT_TIMEOUT_MS": patience})
    assert world.has("proof.txt") == (patience == "4000"), session
