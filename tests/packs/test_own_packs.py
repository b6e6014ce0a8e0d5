"""The packs that come with hookline: each does what its page says, on the wire of every agent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.packs.conftest import Box, write

from hookline.core.agents import AGENTS
from hookline.packs.fetch import own_packs

ROOT = Path(__file__).resolve().parents[2] / "packs"
NAMES = (
    "audit-log", "big-output", "branch-guard", "budget", "commit-message", "format-on-edit", "git-context", "notify",
    "protect-paths", "secrets", "tests-before-stop",
)  # fmt: skip
ALL = tuple(AGENTS)


def test_these_packs_come_with_hookline() -> None:
    assert tuple(own_packs()) == NAMES


def test_the_packs_that_are_not_added_yet_are_listed_with_what_they_do(box: Box) -> None:
    box("add", "hookline:secrets", "--yes")
    told = box("packs").out
    assert "  budget              Stops a session after so many tool calls, minutes or tokens.\n" in told
    _, _, free = told.partition("These come with hookline; to add one: hookline add hookline:NAME\n")
    assert [line.split()[0] for line in free.splitlines()] == [name for name in NAMES if name != "secrets"]


def test_a_misspelt_name_is_told_the_right_one(box: Box) -> None:
    told = box("add", "hookline:brnch-guard")
    assert (told.code, told.err) == (
        78, "hookline: there is no pack hookline:brnch-guard; did you mean hookline:branch-guard?\n",
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_pack_of_ours_holds_on_every_wire(box: Box, name: str) -> None:
    # In the gate three agents each, all of them together; all for each where real agents are tried too.
    first = NAMES.index(name) * 3 + ALL.index("windsurf")  # where an event is about one kind of tool, paths matter most
    some = [ALL[(first + step) % len(ALL)] for step in range(3)]
    wanted = ALL if os.environ.get("HOOKLINE_E2E") == "1" else some
    chosen = tuple(word for agent in wanted for word in ("--agent", agent))
    tested = box("pack", "test", str(ROOT / name), "--json", *chosen)
    assert [row for row in tested.json["cases"] if not row["ok"]] == []
    checked = box("pack", "check", str(ROOT / name), "--json")
    assert [row for row in checked.json["problems"] if row["fix"]] == []
    assert 7 <= len((ROOT / name / "README.md").read_text().splitlines()) <= 14


@pytest.mark.parametrize("name", NAMES)
def test_a_pack_of_ours_is_added_by_its_name(box: Box, name: str) -> None:
    assert box("add", f"hookline:{name}", "--yes").code == 0
    assert f'source = "hookline:{name}"' in box.config.read_text()


def test_a_guard_of_ours_fails_closed_unless_somebody_says_otherwise(box: Box) -> None:
    box("add", "hookline:branch-guard", "--yes")
    assert 'on_failure = "deny"' in box.config.read_text()
    box("remove", "branch-guard", "--yes")
    box("add", "hookline:branch-guard", "--yes", "--on-failure", "ignore")
    assert "on_failure" not in box.config.read_text()


def test_what_the_log_keeps_has_no_secret_and_is_chained(box: Box) -> None:
    box("add", "hookline:audit-log", "--yes")
    for command in ("ls", "export API_KEY=abcdef123456"):
        box.fire(command)
    (log,) = (box.home / ".local/share/hookline/packs/data").rglob("audit.jsonl")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["tool_input"]["command"] for row in rows] == ["ls", "export API_KEY=[removed]"]
    assert rows[0]["before"] != rows[1]["before"]
    assert log.stat().st_mode & 0o077 == 0


def test_init_adds_packs_that_are_named(box: Box) -> None:
    done = box("init", "--yes", "--agent", "claude-code", "--pack", "protect-paths", "--pack", "secrets")
    assert done.code == 0, done
    assert box.fire("echo x > .env")["effect"] == "deny"
    rows = box("packs", "--json").json["packs"]
    assert [row["name"] for row in rows] == ["protect-paths", "secrets"]
    registered = json.loads((box.home / ".claude/settings.json").read_text())["hooks"]
    assert {"PreToolUse", "PostToolUse", "UserPromptSubmit"} <= set(registered)


def test_add_registers_the_events_that_are_missing(box: Box) -> None:
    box("init", "--yes", "--agent", "claude-code")
    before = set(json.loads((box.home / ".claude/settings.json").read_text())["hooks"])
    box("add", "hookline:notify", "--yes")
    after = set(json.loads((box.home / ".claude/settings.json").read_text())["hooks"])
    assert ("Notification" in before, "Notification" in after) == (False, True)


# ── making one ───────────────────────────────────────────────────────────────────────────────────────


def test_a_new_pack_works_and_passes_its_own_test(box: Box) -> None:
    assert box("pack", "new", "mine").code == 0
    assert (box("pack", "check", "mine").code, box("pack", "test", "mine").code) == (0, 0)
    assert box("add", "./mine", "--yes").code == 0
    assert (box.effect("git push --force"), box.effect("git push")) == ("deny", "allow")
    assert box("pack", "new", "mine").code == 64
    assert box("pack", "new", "../mine").code == 64


def test_check_finds_every_problem(box: Box) -> None:
    box("pack", "new", "mine")
    hooks = {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh"}]}
        ],
        "TeammateIdle": [{"hooks": [{"type": "command", "command": "no-such-program"}]}],
        "Notification": [{"hooks": [{"type": "command", "command": "true"}]}],
    }
    script = "#!/usr/bin/env no-such-interpreter\ncat /home/me/secret.txt\n"
    write(box.project / "mine", {"hooks/hooks.json": json.dumps({"hooks": hooks}), "hooks/guard.sh": script})
    (box.project / "mine/hooks/guard.sh").chmod(0o644)
    found = box("pack", "check", "mine")
    assert found.code == 1
    for part in (
        "/home/me/secret.txt is a path of your machine",
        "not executable",
        "no-such-interpreter",
        "no-such-program",
        "Notification exists only in claude-code",
    ):
        assert part in found.out, part


def test_a_case_that_fails_says_what_came_out(box: Box) -> None:
    box("pack", "new", "mine")
    case = json.loads((box.project / "mine/cases/passes.json").read_text()) | {
        "expect": {"effect": "deny"},
        "agents": ["codex"],
    }
    write(box.project, {"mine/cases/passes.json": json.dumps(case)})
    done = box("pack", "test", "mine", "--json")
    assert [row for row in done.json["cases"] if not row["ok"]] == [
        {"case": "passes.json", "agent": "codex", "ok": False, "why": "effect is 'allow', not 'deny'"}
    ]
    assert done.code == 1


# ── a plugin's file alone ────────────────────────────────────────────────────────────────────────────


def test_a_plugins_file_alone_finds_its_folder_or_is_refused(box: Box, tmp_path: Path) -> None:
    from tests.packs.conftest import plugin

    file = write(tmp_path / "plug", plugin()) / "hooks/hooks.json"
    data = json.dumps({"tool_name": "Bash", "tool_input": {"command": "forbidden"}})
    assert box("fire", "PreToolUse", "--config", str(file), "--data", data, "--json").json["effect"] == "deny"
    assert "hookline add" in box("check", str(file)).out
    alone = write(tmp_path, {"alone.json": file.read_text()}) / "alone.json"
    done = box("check", "--dialect", "claude", str(alone))
    assert (done.code, "this file is in none" in done.out) == (78, True)
