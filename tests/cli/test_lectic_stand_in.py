"""Hooks that call ``lectic`` itself, where hookline stands in for it: the recipes that its manual publishes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conversation import HEAD, Stage, call
from tests.cli.terminal import Terminal

from hookline.agent.conversation.parsed import assemble, take_apart
from hookline.llm.scripted import ModelServer

Serve = Callable[..., ModelServer]


@pytest.fixture(autouse=True)
def no_lectic(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [one for one in os.environ["PATH"].split(os.pathsep) if not os.path.exists(os.path.join(one, "lectic"))]
    monkeypatch.setenv("PATH", os.pathsep.join(parts))


COMPACT = """\
#!/usr/bin/env bash
[[ -n "${COMPACTION_UNDERWAY:-}" ]] && exit 0
export COMPACTION_UNDERWAY=1
[[ -n "$TOOL_USE_DONE" ]] && exit 0
SUMMARY=$(printf '%s\\n\\nSummarize.' "$(cat)" | lectic --format clean)
printf 'LECTIC:reset\\nLECTIC:final\\n\\n<summary>%s</summary>\\n' "$SUMMARY"
"""


def test_the_recipe_that_compacts_a_conversation_works(stage: Stage, serve: Serve) -> None:
    (stage.place / "compact.sh").write_text(COMPACT)
    (stage.place / "compact.sh").chmod(0o755)
    tool = "  tools: [{exec: echo, name: say}]\n"
    stage.write(HEAD + tool + "hooks: [{on: assistant_message, inline: true, do: ./compact.sh}]\n")
    server = serve({**call("x"), "match": "Hello"}, {"text": "all of it", "match": "Summarize."}, {"text": "Done"})
    ran = stage.run("-f", "t.lec", "--format", "block", server=server)
    assert (ran.code, "<│summary>all of it<│/summary>" in ran.out) == (0, True)


@pytest.mark.skipif(not (shutil.which("node") or shutil.which("bun")), reason="there is neither node nor bun")
def test_a_script_of_javascript_is_a_hook(stage: Stage, serve: Serve) -> None:
    text = (
        "      #!/usr/bin/env -S lectic script\n      import { basename } from 'node:path'\n"
        "      export default () => console.log('from ' + basename('/a/b') + ' ' + process.argv.length)\n"
    )
    stage.write(HEAD + f"hooks:\n  - on: user_message\n    inline: true\n    do: |\n{text}")
    server = serve({"text": "Hi"})
    ran = stage.run("-f", "t.lec", server=server)
    assert (ran.code, "from b 2" in server.requests[0].text) == (0, True), ran.out
    assert os.listdir(stage.place) == ["t.lec"]


def stand_in(stage: Stage, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "hookline.cli.lectic_stand_in", *words]
    return subprocess.run(argv, cwd=stage.place, input=stdin, capture_output=True, text=True, check=False)


def test_a_conversation_is_taken_apart_and_put_together_again(stage: Stage) -> None:
    body = "# Plan\n\nHello\nyou\n\n```py\nx = 1\n\ny\n```\n\n:::Bot\n\nHi\n\n<!-- note -->\n\n:::\n\nMore"
    path = stage.write(HEAD, body)
    parsed = stand_in(stage, "parse", "-f", "t.lec").stdout
    tree = json.loads(parsed)
    assert tree["header"]["interlocutor"]["name"] == "Bot"
    assert [(one["role"], [node["type"] for node in one["content"]]) for one in tree["messages"]] == [
        ("user", ["heading", "paragraph", "code"]), ("assistant", ["paragraph", "html"]), ("user", ["paragraph"]),
    ]  # fmt: skip
    again = stand_in(stage, "parse", "--reverse", stdin=parsed).stdout
    assert take_apart(again) == take_apart(path.read_text()) == tree
    without = {**tree, "messages": tree["messages"][:1]}
    assert assemble(json.dumps(without)).endswith("```py\nx = 1\n\ny\n```\n")


def test_a_program_of_ones_own_is_a_subcommand(stage: Stage) -> None:
    folder = Path(os.environ["HOME"]) / ".config" / "lectic" / "plugins"
    folder.mkdir(parents=True)
    (folder / "lectic-hello.sh").write_text("#!/bin/sh\necho hello $1\n")
    (folder / "lectic-hello.sh").chmod(0o755)
    assert stand_in(stage, "hello", "you").stdout == "hello you\n"


def test_a_person_picks_at_the_terminal(stage: Stage) -> None:
    words = ["editor", "pick", "--title", "Where?", "--option", "staging", "--option", "production"]
    argv = [sys.executable, "-m", "hookline.cli.lectic_stand_in", *words]
    terminal = Terminal(argv, cwd=stage.place, environ={name: os.environ[name] for name in ("PATH", "HOME")})
    terminal.wait_for("Which?")
    terminal.type("2\n")
    assert terminal.ended() == 0
    assert "\nproduction" in terminal.seen.replace("\r", "")


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (":greet[you]", "Hello, you!"),
        (":GREET[you]{ARG=them}", "Hello, them!"),
        (":shout[:greet[you]]", "HELLO, YOU!"),
        (":where[]{TARGET='the world'}", "the world 1 of 1"),
        (":early[:cmd[false]]", "Hello, early!"),
        (":wrap[x]", "Please x."),
        (":nobody[x]", ":nobody[x]"),
        (":discard[:cmd[touch made]]gone", "gone"),
    ],
)
def test_macros_expand_in_what_the_person_writes(stage: Stage, serve: Serve, body: str, sent: str) -> None:
    macros = """\
macros:
  - {name: greet, expansion: "exec:echo -n Hello, $ARG!"}
  - name: shout
    post: |
      exec:#!/bin/bash
      printf '%s' "${ARG^^}"
  - {name: where, env: {TARGET: nowhere}, expansion: "$TARGET $MESSAGE_INDEX of $MESSAGES_LENGTH"}
  - {name: early, pre: ":greet[early]", post: never}
  - {name: wrap, expansion: "Please $ARG."}
"""
    stage.write(HEAD + macros, body)
    server = serve({"text": "Hi"})
    ran = stage.run("-f", "t.lec", server=server)
    assert (ran.code, server.requests[0].body["messages"][-1]["content"]) == (0, f"\n\n{sent}"), ran.out
    assert (stage.place / "made").exists() == body.startswith(":discard")
