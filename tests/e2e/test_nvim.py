"""A real Neovim: questions and progress reach the person who sits in it, and the documented hooks work as written."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hookline.core.result import Decision
from hookline.engine.build import READ_ONLY, Sources, load_runtime

NVIM = shutil.which("nvim")
SEEDS = Path(__file__).parents[1] / "seeds" / "lectic"
MANUAL = Path(__file__).parents[2] / "docs" / "how-to" / "editors.md"

pytestmark = pytest.mark.skipif(
    NVIM is None, reason="NO NEOVIM HERE, SO NOTHING OF IT IS TESTED: install it with make nvim"
)

#: The person's stand-in: writes down what it was asked and told, and answers as the test says.
PERSON = """
local function note(what)
  local file = assert(io.open(vim.env.NOTES, 'a'))
  file:write(vim.fn.json_encode(what) .. '\\n')
  file:close()
end
vim.fn.confirm = function(message, choices, default, kind)
  note({asked = message, choices = choices, default = default})
  return tonumber(vim.env.ANSWER)
end
vim.notify = function(message) note({told = message}) end
vim.api.nvim_create_autocmd('User', {pattern = 'HooklineProgress', callback = function()
  note({progress = vim.g.hookline_progress})
end})
"""

HOSTILE = """']] "); os.execute("touch PWNED") -- %s \\x41 <Esc>:q!<CR>"""


@dataclass(frozen=True)
class Editor:
    address: str
    folder: Path

    @property
    def notes(self) -> list[dict[str, object]]:
        file = self.folder / "notes"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def hookline(self, *words: str) -> subprocess.CompletedProcess[str]:
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8", "NVIM": self.address}
        return subprocess.run(
            [sys.executable, "-m", "hookline", "editor", *words],
            env=environ, cwd=self.folder, capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip


Start = Callable[[str], Editor]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a Neovim without a screen whose person gives this answer."""
    running: list[subprocess.Popen[bytes]] = []

    def started(answer: str) -> Editor:
        (tmp_path / "init.lua").write_text(PERSON)
        address = str(tmp_path / "nvim.sock")
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "NOTES": str(tmp_path / "notes"),
            "ANSWER": answer,
        }
        words = [str(NVIM), "--clean", "--headless", "-u", str(tmp_path / "init.lua"), "--listen", address]
        running.append(subprocess.Popen(words, env=environ, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_until(lambda: os.path.exists(address))
        return Editor(address, tmp_path)

    yield started
    for one in running:
        one.kill()
        one.wait()


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


@pytest.mark.parametrize(("answer", "code"), [("1", 0), ("2", 1), ("0", 1)])
def test_the_person_in_neovim_decides(start: Start, answer: str, code: int) -> None:
    editor = start(answer)
    done = editor.hookline("approve", "--title", "Allow?", "--message", r"Tool: Bash\n\nArgs")
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
    assert editor.notes == [{"asked": "Allow?\n\nTool: Bash\n\nArgs", "choices": "&Allow\n&Deny", "default": 2}]


def test_text_is_data_and_never_runs(start: Start) -> None:
    editor = start("2")
    assert editor.hookline("approve", "--title", HOSTILE, "--message", HOSTILE).returncode == 1
    editor.hookline("progress", "begin", "--token", HOSTILE, "--title", HOSTILE)
    assert not list(editor.folder.rglob("PWNED"))
    assert editor.notes[0]["asked"] == f"{HOSTILE}\n\n{HOSTILE}"
    assert editor.notes[1]["told"] == HOSTILE


def test_progress_is_seen_from_beginning_to_end(start: Start) -> None:
    editor = start("1")
    steps = (("begin", "--title", "Work"), ("report", "--message", "half", "--percentage", "50"), ("end",))
    for step, *words in steps:
        assert editor.hookline("progress", step, "--token", "t", *words).returncode == 0
    told = [note["told"] for note in editor.notes if "told" in note]
    seen = [note["progress"] for note in editor.notes if "progress" in note]
    assert told == ["Work", "t"]
    begun = {"step": "begin", "token": "t", "title": "Work", "message": ""}
    half = {"step": "report", "token": "t", "title": "", "message": "half", "percentage": 50}
    assert seen == [{"t": begun}, {"t": half}, {}]


def test_a_neovim_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "stale.sock").touch()
    for address in ("stale.sock", "none.sock"):
        done = Editor(str(tmp_path / address), tmp_path).hookline("approve", "--title", "?", "--timeout", "2s")
        assert done.returncode == 1
        assert "Neovim does not answer" in done.stderr


@pytest.mark.parametrize(("answer", "effect"), [("1", "allow"), ("2", "deny")])
def test_the_documented_lectic_hook_asks_in_neovim_as_it_is_written(start: Start, answer: str, effect: str) -> None:
    editor = start(answer)
    decision = fire(
        editor,
        (SEEDS / "editor-approve.yaml").read_text(),
        "PreToolUse",
        tool_name="Bash",
        tool_input={"command": "ls\n-l"},
    )
    assert decision.effect == effect
    (note,) = editor.notes
    # The line breaks of the hook are line breaks; the one in the model's arguments is not.
    assert note["asked"] == 'Allow tool use?\n\nTool: Bash\n\nArgs:\n{"command":"ls\\n-l"}'


def test_the_documented_progress_is_told_in_neovim_as_it_is_written(start: Start) -> None:
    editor = start("1")
    script = (SEEDS / "progress.sh").read_text().replace("\n", "\n      ")
    fire(editor, f"hooks:\n  - on: run_start\n    do: |\n      {script}\n", "RunStart", run_id="r-7")
    assert editor.notes[0] == {"told": "Running assistant task"}
    assert "r-7" in editor.notes[1]["progress"]  # type: ignore[operator]  # a table of Neovim's


def fire(editor: Editor, config: str, event: str, **data: object) -> Decision:
    (editor.folder / "lectic.yaml").write_text(config)
    environ = {"PATH": os.environ["PATH"], "HOME": str(editor.folder), "NVIM": editor.address}
    assembly = load_runtime(Sources(cwd=editor.folder, config=[editor.folder / "lectic.yaml"], dialect="lectic", environ=environ, home=str(editor.folder)), READ_ONLY)  # fmt: skip
    assert assembly.loaded.problems == ()
    with assembly.engine as engine:
        return engine.fire_sync(event, data)


TALK = """\
---
interlocutor:
  name: Bot
  prompt: You help.
  model: script:{folder}/answers.json
  tools:
    - exec: date
      name: year
{hooks}
---

Which year is it?
"""
ANSWERS = [{"tool": {"name": "year", "arguments": {"argv": ["+%Y"]}}}, {"text": "There it is."}]


def conversation(folder: Path) -> Path:
    """A model that calls a tool, and the documented hook that asks before it."""
    talk = folder / "talk.lec"
    talk.write_text(TALK.format(folder=folder, hooks=(SEEDS / "editor-approve.yaml").read_text().rstrip()))
    (folder / "answers.json").write_text(json.dumps(ANSWERS))
    return talk


def run_nvim(folder: Path, *words: str) -> None:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {"PATH": programs, "HOME": str(folder), "NOTES": str(folder / "notes"), "ANSWER": "1"}
    subprocess.run([str(NVIM), "--clean", "--headless", "-n", *words], cwd=folder, env=environ, timeout=200, check=True)


@pytest.mark.parametrize(("answer", "said"), [("1", "exitCode>0<"), ("2", "permission denied")])
def test_the_command_of_the_manual_answers_a_conversation_and_hooks_ask_in_the_same_editor(
    tmp_path: Path, answer: str, said: str
) -> None:
    lua = re.findall(r"```lua\n(.*?)```", MANUAL.read_text(), re.DOTALL)[0]
    (tmp_path / "init.lua").write_text(PERSON.replace("vim.env.ANSWER", f"'{answer}'") + lua)
    talk = conversation(tmp_path)
    done = "vim.wait(30000, function() return vim.fn.search('There it is') > 0 end, 50)"
    run_nvim(tmp_path, "-u", str(tmp_path / "init.lua"), str(talk), "-c", "Hookline", "-c", f"lua {done}", "-c", "qa!")
    assert said in talk.read_text()
    notes = [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]
    assert notes[0]["asked"].startswith("Allow tool use?\n\nTool: year\n\nArgs:")


def test_a_buffer_is_filtered(tmp_path: Path) -> None:
    talk = conversation(tmp_path)
    (tmp_path / "answers.json").write_text('[{"text": "Filtered."}]')
    run_nvim(tmp_path, str(talk), "-c", "%!hookline run", "-c", "wq")
    assert talk.read_text().rstrip().endswith("Which year is it?\n\n:::Bot\n\nFiltered.\n\n:::")


@pytest.mark.parametrize(("key", "code"), [(b"a", 0), (b"d", 1), (b"\r", 1), (b"\x1b", 1)])
def test_a_person_answers_with_a_key_on_the_screen(tmp_path: Path, key: bytes, code: int) -> None:
    """No stand-in: Neovim on a real terminal, its own question, a real key."""
    address = str(tmp_path / "nvim.sock")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm", "LINES": "24", "COLUMNS": "80"}
    child, screen = pty.fork()
    if child == 0:  # pragma: no cover  another process
        try:
            os.execve(str(NVIM), ["nvim", "--clean", "-n", "--listen", address], environ)
        finally:
            os._exit(99)
    try:
        wait_until(lambda: drained(screen) is not None and os.path.exists(address))
        words = [sys.executable, "-m", "hookline", "editor", "approve", "--title", "Allow it?", "--message", "x"]
        asking = subprocess.Popen(words, env={**environ, "NVIM": address}, stderr=subprocess.DEVNULL)
        seen = b""
        end = time.monotonic() + 60
        while b"llow" not in seen.replace(b"Allow it", b"") and time.monotonic() < end:
            seen += drained(screen)
        os.write(screen, key)
        end = time.monotonic() + 60
        while asking.poll() is None and time.monotonic() < end:
            drained(screen)
        asking.kill()
        assert asking.wait() == code, seen
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(screen)


def drained(screen: int) -> bytes:
    """What was drawn meanwhile; a full-screen program waits when nobody reads."""
    return os.read(screen, 65536) if select.select([screen], [], [], 0.05)[0] else b""
