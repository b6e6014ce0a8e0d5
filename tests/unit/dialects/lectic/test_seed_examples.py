"""Every example of Lectic's hook document, run as it is written there."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from hookline.engine.build import READ_ONLY, Sources, load_runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.core.result import Decision

ROOT = Path(__file__).parents[3]
SEEDS = ROOT / "seeds" / "lectic"
STANDINS = ROOT / "standins" / "bin"

Fire: TypeAlias = "Callable[..., Decision]"


@pytest.fixture
def fire(tmp_path: Path) -> Fire:
    """Fires events at one example; ``/tmp`` of the document is a directory of the test's own."""

    def fired(example: str, *events: tuple[str, dict[str, Any]], **environ: str) -> Decision:
        text = example if "\n" in example else (SEEDS / f"{example}.yaml").read_text()
        (tmp_path / "lectic.yaml").write_text(text.replace("/tmp/lectic.log", str(tmp_path / "lectic.log")))
        around = {
            "PATH": f"{STANDINS}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(tmp_path),
            "STANDIN_LOG": str(tmp_path / "calls"),
            **environ,
        }
        assembly = load_runtime(
            Sources(
                cwd=tmp_path, config=[tmp_path / "lectic.yaml"], dialect="lectic", environ=around, home=str(tmp_path)
            ),
            READ_ONLY,
        )
        assert assembly.loaded.problems == ()
        with assembly.engine as engine:
            return [engine.fire_sync(name, data) for name, data in events][-1]

    return fired


def calls(tmp_path: Path) -> list[str]:
    log = tmp_path / "calls"
    return log.read_text().splitlines() if log.exists() else []


TOOL = ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls -la"}})
PROMPT = ("UserPromptSubmit", {"prompt": "Hello", "messages_length": 1, "interlocutor": "Bot"})
DONE = ("AssistantMessage", {"message": "It's done", "tool_use_done": True, "interlocutor": "Bot"})
BUSY = ("AssistantMessage", {"message": "", "tool_use_done": False})


def test_the_logger_gets_its_variable_and_hears_both_messages(fire: Fire, tmp_path: Path) -> None:
    script = tmp_path / "log-activity.sh"
    script.write_text('#!/bin/sh\necho "${USER_MESSAGE-}${ASSISTANT_MESSAGE-}" >>"$LOG_FILE"\n')
    script.chmod(0o755)
    decision = fire("logger", PROMPT, DONE)
    assert decision.aborted is None
    assert (tmp_path / "lectic.log").read_text() == "Hello\nIt's done\n"


def test_the_simple_logging_hook_appends_a_line_per_message(fire: Fire, tmp_path: Path) -> None:
    fire("logging", PROMPT, DONE)
    lines = (tmp_path / "lectic.log").read_text().splitlines()
    assert len(lines) == 2
    assert all(line.endswith(": Message received") for line in lines)


def test_headers_are_stripped_and_become_attributes(fire: Fire) -> None:
    script = (SEEDS / "header.sh").read_text().replace("\n", "\n      ")
    decision = fire(f"hooks:\n  - on: assistant_message\n    inline: true\n    do: |\n      {script}\n", DONE)
    (given,) = decision.context
    assert given.context.text == "System check complete. One issue found.\n"
    assert given.context.placement == "attachment"
    assert dict(given.context.attributes) == {"final": "true"}
    assert decision.attributes["final"] == "true"


def test_a_comment_is_recorded_as_a_comment(fire: Fire) -> None:
    (given,) = fire("comment-log", DONE).context
    assert (given.context.text, given.context.placement) == ("background log entry\n", "comment")


@pytest.mark.parametrize(("answer", "effect"), [("0", "allow"), ("1", "deny")])
def test_the_dialog_decides_about_the_tool(fire: Fire, tmp_path: Path, answer: str, effect: str) -> None:
    decision = fire("zenity", TOOL, STANDIN_EXIT_zenity=answer)
    assert decision.effect == effect
    assert not decision.granted
    asked = r'zenity [--question] [--title=Allow Tool Use?] [--text=Tool: Bash\nArgs: {"command":"ls -la"}]'
    assert calls(tmp_path) == [asked]


@pytest.mark.parametrize(("answer", "effect"), [("0", "allow"), ("3", "deny")])
def test_the_editor_decides_about_the_tool(fire: Fire, tmp_path: Path, answer: str, effect: str) -> None:
    decision = fire("editor-approve", TOOL, STANDIN_EXIT_lectic=answer)
    assert decision.effect == effect
    (asked,) = calls(tmp_path)
    assert asked.startswith("lectic [editor] [approve] [--title] [Allow tool use?] [--message] [Tool: Bash")
    assert '{"command":"ls -la"}' in asked


def test_messages_are_kept_in_sqlite(fire: Fire, tmp_path: Path) -> None:
    decision = fire("sqlite", PROMPT, DONE, LECTIC_DATA=str(tmp_path / "data"))
    assert decision.aborted is None
    with sqlite3.connect(tmp_path / "data" / "memory.sqlite3") as database:
        rows = database.execute("SELECT role, interlocutor, file, text FROM memory ORDER BY id").fetchall()
    database.close()
    assert rows == [("user", "Bot", "", "Hello"), ("assistant", "Bot", "", "It's done")]


def test_sqlite_goes_to_lectics_own_directory_by_default(fire: Fire, tmp_path: Path) -> None:
    fire("sqlite", PROMPT)
    assert (tmp_path / ".local" / "share" / "lectic" / "memory.sqlite3").exists()


def test_the_date_is_injected_before_every_message(fire: Fire) -> None:
    (given,) = fire("date", PROMPT).context
    assert re.fullmatch(r"<date-and-time>\n.+\n</date-and-time>\n", given.context.text)
    assert given.context.placement == "attachment"


def test_a_notification_is_sent_when_the_work_is_done_and_not_before(fire: Fire, tmp_path: Path) -> None:
    fire("notify", BUSY, DONE, BUSY)
    assert calls(tmp_path) == ["notify-send [Lectic] [Assistant finished working]"]


def test_progress_is_told_to_the_editor(fire: Fire, tmp_path: Path) -> None:
    script = (SEEDS / "progress.sh").read_text().replace("\n", "\n      ")
    text = f"hooks:\n  - on: [run_start, user_message]\n    do: |\n      {script}\n"
    fire(text, ("RunStart", {"run_id": "r-7"}), PROMPT)
    told = "lectic [editor] [progress] [begin] [--token] [{}] [--title] [Running assistant task]"
    assert calls(tmp_path) == [told.format("r-7"), told.format("lectic-run")]


def test_neovim_is_notified_through_the_callers_environment(fire: Fire, tmp_path: Path) -> None:
    fire("nvim", DONE, NVIM="/run/nvim.sock")
    (call,) = calls(tmp_path)
    lua = """luaeval('vim.notify("Lectic: Assistant finished working", vim.log.levels.INFO)')"""
    assert call == f"nvim [--server] [/run/nvim.sock] [--remote-expr] [{lua}]"


def test_without_neovim_nothing_is_called(fire: Fire, tmp_path: Path) -> None:
    assert fire("nvim", DONE).aborted is None
    assert calls(tmp_path) == []


@pytest.mark.parametrize("total", [100_001, 100_000])
def test_the_context_is_reset_above_the_limit_only(fire: Fire, total: int) -> None:
    tokens = {"input": total - 1, "cached": 0, "output": 1, "total": total}
    decision = fire("reset", ("AssistantMessage", {"message": "x", "tokens": tokens}))
    if total > 100_000:
        (given,) = decision.context
        assert given.context.text == f"**Context cleared (usage: {total} tokens).**\n"
        assert dict(given.context.attributes) == {"reset": "true", "final": "true"}
    else:
        assert decision.context == ()
