"""The guard as a hook: the same answer at every door, nothing refused while it watches."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookline.core.errors import ConfigError
from hookline.core.event import Event, event_kind
from hookline.core.paths import Directories, Paths
from hookline.core.result import Reply
from hookline.dialects.native import guard as table
from hookline.guard.effects import KINDS
from hookline.guard.hook import guard
from hookline.guard.paths import PLACES
from hookline.guard.policy import POLICIES


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path


def fire(here: Path, kind: str, data: dict[str, Any], **given: Any) -> Reply | None:
    home, state = str(here / "home"), str(here / "state")
    event = Event(
        kind=event_kind(kind), data=data, session="s", cwd=str(here / "project"), environ={"HOME": home, "PATH": "/bin"},
        directories=Directories(home=home, paths=Paths(config="", state=state, data="")),
    )  # fmt: skip
    return guard(json.dumps({"policy": "standard", **given}))(event)


def bash(here: Path, command: Any, kind: str = "PreToolUse", **given: Any) -> Reply | None:
    return fire(here, kind, {"tool_name": "Bash", "tool_input": {"command": command}}, **given)


def test_the_words_of_the_table_are_those_of_the_guard() -> None:
    assert tuple(KINDS) == table.EFFECTS
    assert set(table.PLACES) == {"outside project", *PLACES}
    assert set(table.POLICIES) == set(POLICIES)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": ["bash", "-lc", "rm -rf ~"]}}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": '{"command": "rm -rf ~"}'}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": "rm -rf ~"}),
        ("PreToolUse", {"tool_input": {"command": "rm -rf ~"}}),
        ("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}),
        ("pipeline.pre_execute", {"text": "rm -rf ~", "commands": [{"command": "rm", "args": ["-rf", "~"]}]}),
        ("process.pre_spawn", {"command": "rm", "args": ["-rf", "/"], "env": {}}),
    ],
)
def test_every_door_refuses(here: Path, kind: str, data: dict[str, Any]) -> None:
    reply = fire(here, kind, data)
    assert reply is not None
    assert (reply.effect, reply.attributes["guard"]["would"]) == ("deny", "deny")
    assert "rm -rf" in reply.reason
    assert reply.attributes["guard"]["kind"] == "delete"


@pytest.mark.parametrize(
    "data",
    [
        {"tool_name": "Bash"},
        *({"tool_name": "Bash", "tool_input": given} for given in (None, 7, {}, {"command": None}, {"command": {"a": "ls"}})),
        {"tool_name": "Bash", "tool_input": {"command": [["ls"]]}},
        {"tool_name": None, "tool_input": {"cmd": 7}},
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_read_does_not_pass(here: Path, data: dict[str, Any]) -> None:
    reply = fire(here, "PreToolUse", data)
    assert reply is not None
    assert reply.effect in {"ask", "deny"}
    assert "no command can be read in it" in reply.reason


@pytest.mark.parametrize("name", [7, ["Bash"], None])
def test_a_tool_whose_name_is_no_text_is_judged_by_its_command(here: Path, name: object) -> None:
    reply = fire(here, "PreToolUse", {"tool_name": name, "tool_input": {"command": "rm -rf ~"}})
    assert reply is not None
    assert reply.effect == "deny"


@pytest.mark.parametrize("cwd", ["/", "../" * 40, "~/..", "x\0/" + "../" * 40])
def test_a_command_is_judged_where_the_agent_runs_it(here: Path, cwd: str) -> None:
    given = {"tool_name": "Bash", "tool_input": {"command": "rm -rf *", "cwd": cwd}}
    reply = fire(here, "PreToolUse", given)
    assert reply is not None
    assert reply.effect == "deny"


@pytest.mark.parametrize(
    "command", ["r''m -rf ~", "rm${IFS}-rf${IFS}$HOME", "$(echo rm) -rf ~", "echo cm0gLXJmIH4= | base64 -d | sh"]
)
def test_tricks_are_read(here: Path, command: str) -> None:
    reply = bash(here, command)
    assert reply is not None
    assert reply.effect == "deny"


def test_everyday_work_is_not_its_business(here: Path) -> None:
    for command in ("ls -la", "make test", "git status && git diff", "rm -rf build", ""):
        assert bash(here, command) is None
    assert fire(here, "PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": "a.py"}}) is None
    assert fire(here, "PreToolUse", {"tool_name": "Odd", "tool_input": 3}) is None


def test_while_it_watches_it_refuses_nothing_and_records_what_it_would(here: Path) -> None:
    for kind in ("PreToolUse", "PermissionRequest"):
        reply = bash(here, "rm -rf ~", kind, policy="watch")
        assert reply is not None
        assert (reply.effect, reply.reason, reply.messages) == (None, "", ())
        assert reply.attributes["guard"]["would"] == "deny"


def test_it_leaves_a_question_to_the_agent_that_asks_anyway(here: Path) -> None:
    asked, asking = bash(here, "git push --force"), bash(here, "git push --force", "PermissionRequest")
    assert asked is not None
    assert asking is not None
    assert (asked.effect, asking.effect) == ("ask", None)


def test_what_only_reads_is_granted_by_choice_and_to_agents_only(here: Path) -> None:
    for kind in ("PreToolUse", "PermissionRequest"):
        granted = bash(here, "git status | head -3", kind, allow="read-only")
        assert granted is not None
        assert granted.effect == "allow"
    assert bash(here, "git status | head -3") is None
    assert bash(here, "git status > out", allow="read-only") is None
    assert fire(here, "pipeline.pre_execute", {"text": "ls"}, allow="read-only") is None


def test_a_person_at_the_shell_may_mean_it(here: Path) -> None:
    assert fire(here, "pipeline.pre_execute", {"text": "env GUARD=off rm -rf ~"}) is None
    assert fire(here, "process.pre_spawn", {"command": "env", "args": ["GUARD=off", "rm", "-rf", "/"]}) is None
    assert fire(here, "process.pre_spawn", {"command": "rm", "args": ["-rf", "/"], "env": {"GUARD": "off"}}) is None
    refused = fire(here, "pipeline.pre_execute", {"text": "hookline trust"})
    assert refused is not None
    assert refused.reason.endswith(" Safer: leave it to a person. If you mean it: hookline help how-to/guard")
    reply = bash(here, "env GUARD=off rm -rf ~")
    assert reply is not None
    assert (reply.effect, "If you mean it" in reply.reason) == ("deny", False)


def test_an_exception_lets_one_command_through_until_its_day(here: Path) -> None:
    exception = {"command": "rm -rf ~", "reason": "x", "until": "2999-01-01"}
    assert bash(here, "rm -rf ~", exception=[exception]) is None
    for other in ({**exception, "until": "2001-01-01"}, {**exception, "command": "rm -rf ~ "}):
        reply = bash(here, "rm -rf ~", exception=[other])
        assert reply is not None
        assert reply.effect == "deny"


def test_a_table_that_cannot_be_used_makes_no_guard() -> None:
    with pytest.raises(ConfigError):
        guard(json.dumps({"policy": "lax"}))


# ── scripts ──────────────────────────────────────────────────────────────────────────────────────────────

BAD_SHELL, BAD_PYTHON = "echo hi\nrm -rf ~\n", "import shutil, os\nshutil.rmtree(os.path.expanduser('~'))\n"


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("x.sh", BAD_SHELL, "bash x.sh"),
        ("x.sh", BAD_SHELL, "source ./x.sh"),
        ("x.sh", f"#!/bin/sh\n{BAD_SHELL}", "./x.sh"),
        ("x.py", BAD_PYTHON, "python3 x.py"),
        ("x", f"#!/usr/bin/env python3\n{BAD_PYTHON}", "./x --fast"),
        ("x.sh", "bash y.sh\n", "bash x.sh"),
    ],
)
def test_a_script_of_this_session_is_read(here: Path, name: str, text: str, command: str) -> None:
    bash(here, "ls")  # the session begins
    (here / "project" / "y.sh").write_text(BAD_SHELL)
    (here / "project" / name).write_text(text)
    reply = bash(here, command)
    assert reply is not None
    assert reply.effect == "deny"
    assert "written in this session" in reply.reason


def test_the_first_thing_that_a_session_does_may_be_writing(here: Path) -> None:
    file = here / "project" / "x.sh"
    fire(here, "PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": str(file), "content": BAD_SHELL}})
    file.write_text(BAD_SHELL)
    assert bash(here, f"sh {shlex.quote(str(file))}") is not None


def test_an_older_script_is_not_read(here: Path) -> None:
    (here / "project" / "x.sh").write_text(BAD_SHELL)
    import time

    time.sleep(0.02)  # file times have a grain
    assert bash(here, "bash x.sh") is None


ENVIRON = {"PATH": "/bin"}


def lines(here: Path) -> Callable[[str], Reply | None]:
    """The same guard for every line of one shell."""
    judge, home, state = guard(json.dumps({"policy": "standard"})), str(here / "home"), str(here / "state")

    def judged(text: str) -> Reply | None:
        return judge(
            Event(
                kind=event_kind("pipeline.pre_execute"), data={"text": text}, session="s", environ=ENVIRON,
                cwd=str(here / "project"), directories=Directories(home=home, paths=Paths(config="", state=state, data="")),
            )
        )  # fmt: skip

    return judged


def test_a_line_that_comes_again_is_judged_by_what_its_script_says_now(here: Path) -> None:
    judged, script = lines(here), here / "project" / "x.sh"
    assert judged("bash x.sh") is None
    script.write_text("bash y.sh\n")
    assert judged("bash x.sh") is None
    assert judged("bash x.sh") is None
    (here / "project" / "y.sh").write_text(BAD_SHELL)
    assert judged("bash x.sh") is not None
    script.unlink()
    assert judged("bash x.sh") is None


def test_a_line_that_comes_again_is_judged_by_where_a_link_leads_now(here: Path) -> None:
    judged, link = lines(here), here / "project" / "out"
    (here / "project" / "build").mkdir()
    link.symlink_to("build")
    assert judged("rm -rf out/") is None
    assert judged("rm -rf out/") is None
    link.unlink()
    link.symlink_to("../home")
    assert judged("rm -rf out/") is not None


def test_a_line_that_comes_again_is_not_read_again(here: Path) -> None:
    judged, called = lines(here), list[str]()
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_qualname) if event == "call" else None)
    try:
        assert [judged("make -j4 test"), judged("make -j4 test")] == [None, None]
    finally:
        sys.setprofile(None)
    assert called.count("judge") == 1


def test_a_script_that_is_large_binary_or_endless_is_not_read(here: Path) -> None:
    bash(here, "ls")
    script = here / "project" / "x.sh"
    for content in (b"rm -rf ~\n" + b"#" * 100_000, b"rm -rf ~\n\0"):
        script.write_bytes(content)
        assert bash(here, "bash x.sh") is None
    script.write_text("bash x.sh\n")
    bash(here, "bash x.sh")
