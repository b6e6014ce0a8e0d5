"""What Lectic's hooks may do in a person's own run: leave processes, print much, lie in the directory, use the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator

import pytest
from tests.cli.conversation import HEAD, Stage, call
from tests.cli.terminal import Terminal
from tests.patience import alive, eventually

from hookline.llm.scripted import ModelServer

Serve = Callable[..., ModelServer]


def script(event: str, text: str, *fields: str) -> str:
    lines = "".join(f"      {line}\n" for line in textwrap.dedent(text).strip().splitlines())
    return f"  - on: {event}\n" + "".join(f"    {field}\n" for field in fields) + f"    do: |\n{lines}"


@pytest.fixture
def leftovers(stage: Stage) -> Iterator[Callable[[str], int]]:
    pids: list[int] = []

    def pid(name: str) -> int:
        pids.append(int(stage.text(name)))
        return pids[-1]

    yield pid
    for one in pids:
        if alive(one):
            os.kill(one, 9)


@pytest.mark.parametrize("started", ["nohup sleep 61 >/dev/null 2>&1 &", "setsid sleep 62 >/dev/null 2>&1 &"])
def test_what_a_hook_detached_outlives_it(
    stage: Stage, serve: Serve, leftovers: Callable[[str], int], started: str
) -> None:
    look = f"until pgrep -xf '{' '.join(started.split()[1:3])}' > pid; do :; done"  # setsid may start another process
    stage.write(HEAD + "hooks:\n" + script("user_message", f"#!/bin/bash\n{started}\n{look}"))
    assert stage.run("-f", "t.lec", server=serve({"text": "Hi"})).code == 0
    time.sleep(0.1)
    assert alive(leftovers("pid"))


@pytest.mark.parametrize(
    ("started", "code"), [("sleep 60 >/dev/null 2>&1 &", 0), ("nohup sleep 60 >/dev/null 2>&1 &", 1)]
)
def test_what_was_not_detached_or_belongs_to_a_failed_hook_ends_with_it(
    stage: Stage, serve: Serve, leftovers: Callable[[str], int], started: str, code: int
) -> None:
    stage.write(HEAD + "hooks:\n" + script("user_message", f"#!/bin/bash\n{started}\necho $! > pid\nexit {code}"))
    assert stage.run("-f", "t.lec", server=serve({"text": "Hi"})).code == code
    pid = leftovers("pid")
    assert eventually(lambda: not alive(pid))


def test_inline_output_of_many_megabytes_arrives_whole(stage: Stage, serve: Serve) -> None:
    stage.write(
        HEAD + "hooks:\n" + script("user_message", "#!/bin/sh\nyes 0123456789 | head -c 3000000", "inline: true")
    )
    server = serve({"text": "Hi"})
    assert stage.run("-f", "t.lec", server=server).code == 0
    assert server.requests[0].text.count("0123456789") > 272_000


def test_output_that_comes_after_the_end_of_the_hook_is_waited_for(stage: Stage, serve: Serve) -> None:
    late = "#!/bin/sh\necho first\n(sleep 0.5; echo late) &"
    stage.write(HEAD + "hooks:\n" + script("user_message", late, "inline: true"))
    server = serve({"text": "Hi"})
    assert stage.run("-f", "t.lec", server=server).code == 0
    assert "first\\nlate\\n" in server.requests[0].text


def test_a_limit_of_time_is_the_files_and_names_the_hook(stage: Stage, serve: Serve) -> None:
    stage.write(HEAD + "hooks:\n" + script("user_message", "#!/bin/sh\nsleep 60", "timeout: 0.2"))
    ran = stage.run("-f", "t.lec", server=serve({"text": "Hi"}))
    assert ran.code == 1
    assert "sleep 60: timed out after 0.2 s" in ran.out
    stage.write(HEAD + "hooks:\n  - {on: user_message, do: 'true', timeout: soon}\n")
    assert 'The "timeout" field of a hook must be a positive number of seconds.' in stage.run("-f", "t.lec").out


@pytest.mark.parametrize(
    ("name", "helper", "text"),
    [
        ("lib.sh", "say() { echo helped; }\n", '#!/bin/bash\n. "$(dirname "$0")/lib.sh"\nsay'),
        ("helper.py", "TEXT = 'helped'\n", f"#!{sys.executable}\nimport helper\nprint(helper.TEXT)"),
        ("helper.js", "module.exports = 'helped'\n", "#!/usr/bin/env node\nconsole.log(require('./helper.js'))"),
    ],
)
def test_a_script_finds_its_helpers_in_the_working_directory(
    stage: Stage, serve: Serve, name: str, helper: str, text: str
) -> None:
    (stage.place / name).write_text(helper)
    stage.write(HEAD + "hooks:\n" + script("user_message", text, "inline: true"))
    server = serve({"text": "Hi"})
    assert (stage.run("-f", "t.lec", server=server).code, "helped" in server.requests[0].text) == (0, True)
    assert sorted(one for one in os.listdir(stage.place) if one != "__pycache__") == sorted([name, "t.lec"])


# ── at a terminal ────────────────────────────────────────────────────────────────────────────────────────


def at_terminal(stage: Stage, server: ModelServer, *more: str) -> Terminal:
    words = [sys.executable, "-m", "hookline", "run", "-f", "t.lec", "--format", "block", *more]
    return Terminal(words, cwd=stage.place, environ={**os.environ, **server.environ()})


def test_a_guard_asks_at_the_terminal(stage: Stage, serve: Serve) -> None:
    tool = "  tools: [{exec: echo, name: say}]\n"
    stage.write(
        HEAD
        + tool
        + "hooks:\n"
        + script(
            "tool_use_pre", "#!/bin/bash\necho 'really?' > /dev/tty\nread answer < /dev/tty\n[ \"$answer\" = yes ]"
        )
    )
    terminal = at_terminal(stage, serve(call("spoken"), call("unspoken"), {"text": "Done"}))
    terminal.wait_for("really?")
    terminal.type("yes\n")
    assert "exitCode>0" in terminal.wait_for("really?")
    terminal.type("no\n")
    assert terminal.ended() == 0
    assert "permission denied" in terminal.seen


def test_ctrl_c_in_a_hook_ends_the_run_and_the_terminal_is_as_before(stage: Stage, serve: Serve) -> None:
    stage.write(
        HEAD + "hooks:\n" + script("user_message", "#!/bin/bash\nstty -echo < /dev/tty\necho asking > /dev/tty\nsleep 60")
        + script("run_end", '#!/bin/bash\necho "$RUN_ERROR_MESSAGE" > ended\nstty -a < /dev/tty > modes')
    )  # fmt: skip
    terminal = at_terminal(stage, serve({"text": "Hi"}))
    terminal.wait_for("asking")
    terminal.type("\x03")
    assert terminal.ended() == 130
    assert stage.text("ended") == "Interrupted by SIGINT\n"
    assert " echo " in stage.text("modes")


def test_without_a_terminal_a_hook_has_none(stage: Stage, serve: Serve) -> None:
    stage.write(
        HEAD + "hooks:\n" + script("user_message", "#!/bin/bash\n(: < /dev/tty) 2> /dev/null || echo none > seen")
    )
    server = serve({"text": "Hi"})
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "run", "-f", "t.lec"], cwd=stage.place, env={**os.environ, **server.environ()},
        stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, stage.text("seen")) == (0, "none\n")


def test_after_the_waiting_ctrl_c_ends_the_run_again(stage: Stage, serve: Serve) -> None:
    stage.write(HEAD + "hooks:\n" + script("user_message", "#!/bin/bash\nsleep 2.5 &", "inline: true"))
    server = serve({"hang": True})
    terminal = at_terminal(stage, server)
    terminal.wait_for("may still write to it; Ctrl-C goes on")
    assert eventually(lambda: len(server.requests) == 1)
    terminal.type("\x03")
    assert terminal.ended() == 130


def test_who_waits_for_held_output_is_told_of_it_and_may_go_on(stage: Stage, serve: Serve) -> None:
    holder = "#!/bin/bash\necho came\nsleep 77 &"
    stage.write(HEAD + "hooks:\n" + script("user_message", holder, "inline: true"))
    server = serve({"text": "Hi"})
    terminal = at_terminal(stage, server)
    terminal.wait_for("(sleep) may still write to it; Ctrl-C goes on")
    terminal.type("\x03")
    assert terminal.ended() == 0
    assert "came" in server.requests[0].text
