"""``hookline run`` from outside: real hooks, real tools, a model server that speaks the real protocols."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conversation import ECHO_TOOL, HEAD, Ran, Stage, call, hooks, messages, note
from tests.patience import alive, eventually

from hookline.cli import main
from hookline.llm.scripted import ModelServer

# ── what is printed and written ──────────────────────────────────────────────────────────────────────


def test_a_filter_prints_the_conversation_with_its_answer(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    text = f"---\n{HEAD}---\nHello\n"
    ran = stage.run(stdin=text, server=serve({"text": "Hi there"}))
    assert (ran.code, ran.out) == (0, f"{text.strip()}\n\n:::Bot\n\nHi there\n\n:::")


def test_each_format_shows_its_part(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD + ECHO_TOOL)
    shown = {}
    for form in ("block", "raw", "clean", "none", "BLOCK"):
        server = serve(call("x", text="Calling"), {"text": "Done"})
        shown[form] = stage.run("-f", "t.lec", "--format", form, server=server).out
    assert shown["clean"] == "Calling\n\nDone"
    assert shown["none"] == ""
    assert shown["raw"].startswith("Calling\n\n<tool-call")
    assert shown["raw"].endswith("Done\n\n")
    assert shown["block"] == f":::Bot\n\n{shown['raw']}:::" == shown["BLOCK"]


def test_inplace_writes_what_is_printed_and_keeps_the_mode(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    path = stage.write(HEAD)
    path.chmod(0o640)
    link = stage.place / "link.lec"
    link.symlink_to(path)
    ran = stage.run("-if", "link.lec", server=serve({"text": "Hi"}))
    assert path.read_text() == ran.out
    assert (path.stat().st_mode & 0o777, link.is_symlink()) == (0o640, True)
    assert not [name for name in os.listdir(stage.place) if name.endswith(".new")]


def test_what_is_piped_in_is_added_to_the_file(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    path = stage.write(HEAD, "First")
    server = serve({"text": "Hi"})
    stage.run("-if", "t.lec", stdin="Second\n", server=server)
    assert messages(server) == [("user", "\n\nFirst\n\nSecond")]
    assert "First\n\n\nSecond\n\n:::Bot" in path.read_text()


def test_wrong_words_say_so(stage: Stage) -> None:
    assert stage.run("-i") == Ran(1, "You can't use --inplace without --file\n", "")
    told = "Unsupported --format value: pdf. Use one of: full, block, raw, clean, none\n"
    assert stage.run("--format", "pdf") == Ran(1, told, "")
    missing = stage.run("-f", "nowhere.lec")
    assert (missing.code, missing.out) == (1, "")
    assert "nowhere.lec" in missing.err
    stray = "hookline: the conversation is named after -f: hookline run -f t.lec\n"
    assert stage.run("t.lec") == Ran(64, "", stray)


# ── events ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_events_of_a_run_come_in_order(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    names = [
        "run_start",
        "user_message",
        "user_first",
        "assistant_message",
        "tool_use_pre",
        "tool_use_post",
        "run_end",
        "error",
    ]
    stage.write(
        HEAD + ECHO_TOOL + hooks(*(note(name, name) for name in (*names, "assistant_final", "assistant_intermediate")))
    )
    assert stage.run("-f", "t.lec", server=serve(call("x"), {"text": "Done"})).code == 0
    assert stage.lines("seen.txt") == [
        "run_start", "user_message", "user_first", "assistant_message", "assistant_intermediate",
        "tool_use_pre", "tool_use_post", "assistant_message", "assistant_final", "run_end",
    ]  # fmt: skip


def test_tokens_are_told_per_pass_and_summed_at_the_end(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    show = "$TOKEN_USAGE_INPUT/$TOKEN_USAGE_CACHED/$TOKEN_USAGE_OUTPUT/$TOKEN_USAGE_TOTAL"
    stage.write(
        HEAD
        + ECHO_TOOL
        + hooks(*(note(name, f"{name} {show}") for name in ("assistant_message", "tool_use_pre", "run_end")))
    )
    usage = {"input": 10, "cached": 3, "output": 5}
    stage.run("-f", "t.lec", server=serve(call("x", usage=usage), {"text": "Done", "usage": usage}))
    one = "10/3/5/15"
    assert stage.lines("seen.txt") == [
        f"assistant_message {one}", f"tool_use_pre {one}", f"assistant_message {one}", "run_end 20/6/10/30",
    ]  # fmt: skip


def test_a_file_that_ends_with_an_answer_has_no_user_message(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    header = HEAD + hooks(note("user_message", "user"), note("assistant_message", "assistant"))
    stage.write(header, "Hello\n\n:::Bot\n\nHi\n\n:::")
    server = serve({"text": "Still here"})
    assert stage.run("-f", "t.lec", server=server).code == 0
    assert (stage.lines("seen.txt"), len(server.requests)) == (["assistant"], 1)


def test_a_provider_that_fails_ends_the_run_with_its_words(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    path = stage.write(
        HEAD + hooks(note("run_end", "$RUN_STATUS: $RUN_ERROR_MESSAGE"), note("error", "error: $ERROR_MESSAGE"))
    )
    before = path.read_bytes()
    ran = stage.run("-if", "t.lec", "--format", "block", server=serve({"error": {"status": 529, "message": "busy"}}))
    assert ran.code == 1
    assert ran.out == ":::Bot\n\n<error>\nAPI error (529) from openai:scripted: busy\n</error>\n\n:::"
    assert path.read_bytes() == before
    said = "API error (529) from openai:scripted: busy"
    assert stage.lines("seen.txt") == [f"error: {said}", f"error: {said}"]


def test_without_a_key_the_end_is_told_though_nothing_began(stage: Stage) -> None:
    stage.write(
        "interlocutor: {name: Bot, prompt: x}\n"
        + hooks(*(note(name, name) for name in ("run_start", "run_end", "error")))
    )
    ran = stage.run("-f", "t.lec", "--format", "block")
    assert ran.code == 1
    assert ran.out.startswith("::: Error\n\n<error>\nCouldn't find a default provider.")
    assert "ANTHROPIC_API_KEY" in ran.out
    assert stage.lines("seen.txt") == ["run_end", "error"]


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("hooks: [\n", "could not parse YAML header"),
        ("interlocutor: {name: Bot}\n", "Interlocutor Bot needs a prompt."),
        ("interlocutor: {prompt: x}\n", "An interlocutor is missing a name."),
        ("other: 1\n", "Header must have either an 'interlocutor' or 'interlocutors' field."),
        ("interlocutors: []\n", "'interlocutors' array cannot be empty."),
        (HEAD + "hooks: [{on: nope, do: x}]\n", "user_first, assistant_message, assistant_final"),
        (HEAD + "hooks: [{on: run_start}]\n", 'Hook needs to be given with a "do" field.'),
        (HEAD + "hooks: {}\n", "'hooks' must be an array."),
        (HEAD + "  hooks: x\n", "The hooks for Bot need to be given in an array."),
        (HEAD + "  tools: [{kit: nowhere}]\n", "Unknown kit reference: nowhere"),
        (HEAD + "  tools: [{exec: a, name: x}, {exec: b, name: x}]\n", "the name x is being used twice."),
    ],
)
def test_a_header_that_is_wrong_fires_nothing(stage: Stage, header: str, told: str) -> None:
    stage.write(header)
    ran = stage.run("-f", "t.lec", "--format", "raw")
    assert ran.code == 1
    assert told in ran.out


def test_a_block_of_nobody_is_refused(stage: Stage) -> None:
    stage.write(HEAD, "Hi\n\n:::Nobody\n\nx\n\n:::\n\nAnd?")
    assert "interlocutor Nobody can't be found!" in stage.run("-f", "t.lec").out


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────


def test_hooks_see_a_call_before_and_after(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    script = '#!/bin/bash\n      echo "$TOOL_CALL_ID|$TOOL_NAME|$TOOL_ARGS|$TOOL_CALL_RESULTS" >> seen.txt\n'
    stage.write(HEAD + ECHO_TOOL + f"hooks:\n  - on: [tool_use_pre, tool_use_post]\n    do: |\n      {script}")
    stage.run("-f", "t.lec", server=serve(call("bar"), {"text": "Done"}))
    results = '[{"mimetype":"application/xml","content":"<stdout>bar\\n</stdout>"},{"mimetype":"application/xml","content":"<exitCode>0</exitCode>"}]'
    assert stage.lines("seen.txt") == [
        'call_0|say|{"argv":["bar"]}|', f'call_0|say|{{"argv":["bar"]}}|{results}',
    ]  # fmt: skip


def test_a_refused_call_is_told_and_the_run_goes_on(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    guard = "name: guard, on: tool_use_pre, do: \"bash -c 'echo not today >&2; exit 1'\""
    after = note("tool_use_post", "$TOOL_CALL_ERROR")
    stage.write(HEAD + ECHO_TOOL + hooks(guard, after))
    server = serve(call("x"), {"text": "Then not."})
    ran = stage.run("-f", "t.lec", server=server)
    assert ran.code == 0
    assert messages(server)[-1][1].startswith("Tool use permission denied")
    assert '<tool-call with="say" id="call_0" is-error="true" kind="exec"' in ran.out
    assert "type:blocked" in stage.text("seen.txt").replace('"', "")


def test_a_post_hook_that_fails_ends_the_run(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    audit = "name: audit, on: tool_use_post, do: \"bash -c 'exit 9'\""
    stage.write(HEAD + ECHO_TOOL + hooks(audit))
    ran = stage.run("-f", "t.lec", server=serve(call("x")))
    assert ran.code == 1
    assert 'Hook "audit" failed for tool_use_post with exit code 9' in ran.out
    assert "<tool-call" not in ran.out
    stage.write(HEAD + ECHO_TOOL + hooks(audit + ", allow_failure: true"))
    assert stage.run("-f", "t.lec", server=serve(call("x"))).code == 0


def test_results_that_are_too_large_are_replaced_by_a_warning(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    tools = '  tools:\n    - {exec: "head -c 70000 /dev/zero", name: big, schema: {}}\n'
    stage.write(HEAD + tools + hooks(note("tool_use_post", "$TOOL_CALL_WARNING${TOOL_CALL_RESULTS+set}")))
    stage.run("-f", "t.lec", server=serve({"tool": {"name": "big", "arguments": {}}}))
    assert stage.lines("seen.txt")[0].startswith("tool call results too large (")


def test_bad_calls_are_answered_and_only_known_tools_are_guarded(
    stage: Stage, serve: Callable[..., ModelServer]
) -> None:
    stage.write(
        HEAD + ECHO_TOOL + hooks(note("tool_use_pre", "pre $TOOL_NAME"), note("tool_use_post", "post $TOOL_NAME"))
    )
    calls = [
        {"name": "nope", "arguments": {}},
        {"name": "say", "arguments": {}},
        {"name": "say", "arguments": {"argv": 3}},
    ]
    server = serve({"tools": calls}, {"text": "Sorry"})
    assert stage.run("-f", "t.lec", server=server).code == 0
    assert [text for role, text in messages(server) if role == "tool"] == [
        "unknown tool 'nope'; known tools: say", "invalid arguments: 'argv' is a required property",
        "invalid arguments: argv: 3 is not of type 'array'",
    ]  # fmt: skip
    assert sorted(stage.lines("seen.txt")) == ["post nope", "post say", "post say", "pre say", "pre say"]


def test_parallel_calls_are_guarded_in_order_and_reported_as_they_end(
    stage: Stage, serve: Callable[..., ModelServer]
) -> None:
    tools = "  tools:\n    - {exec: sleep, name: nap}\n"
    stage.write(
        HEAD + tools + hooks(note("tool_use_pre", "pre $TOOL_CALL_ID"), note("tool_use_post", "post $TOOL_CALL_ID"))
    )
    naps = [{"name": "nap", "arguments": {"argv": [seconds]}} for seconds in ("0.5", "0.05")]
    ran = stage.run("-f", "t.lec", server=serve({"tools": naps}, {"text": "Done"}))
    assert stage.lines("seen.txt") == ["pre call_0", "pre call_1", "post call_1", "post call_0"]
    assert re.findall(r'id="(call_\d)"', ran.out) == ["call_0", "call_1"]


def test_an_interlocutor_can_be_a_tool_with_hooks_of_its_own(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    header = textwrap.dedent("""\
        interlocutors:
          - name: Bot
            prompt: Be nice.
            provider: openai/chat
            model: scripted
            tools: [{agent: Helper, name: ask}]
          - name: Helper
            prompt: Help.
            provider: openai/chat
            model: scripted
            hooks:
              - {on: user_message, do: "bash -c 'echo helper >> seen.txt'"}
        """)  # fmt: skip
    stage.write(header + hooks(note("user_message", "top")))
    steps = ({"tool": {"name": "ask", "arguments": {"content": "What?"}}}, {"text": "That."}, {"text": "So it is."})
    server = serve(*steps)
    ran = stage.run("-f", "t.lec", server=server)
    assert ran.code == 0
    assert stage.lines("seen.txt") == ["top", "helper"]
    assert messages(server, 1) == [("user", "What?")]
    assert messages(server)[-1] == ("tool", "That.")


def test_a_tool_of_sqlite_answers_in_yaml_and_refuses_other_files(
    stage: Stage, serve: Callable[..., ModelServer]
) -> None:
    tools = "  tools:\n    - {sqlite: data.db, name: db, init_sql: 'create table t (a, b); insert into t values (1, ''x'')'}\n"
    stage.write(HEAD + tools)
    queries = [
        "select a, b from t; insert into t values (2, 'y')", "select count(*) as n from t",
        "insert into t values (3, 'z'); attach 'other.db' as o", "select count(*) as n from t", "pragma table_info(t)",
    ]  # fmt: skip
    server = serve(*({"tool": {"name": "db", "arguments": {"query": query}}} for query in queries), {"text": "Done"})
    assert stage.run("-f", "t.lec", server=server).code == 0
    results = [text for role, text in messages(server) if role == "tool"]
    assert results == [
        "- a: 1\n  b: x\n\n[]\n", "- n: 2\n", "ATTACH is not allowed.", "- n: 2\n", "PRAGMA is not allowed.",
    ]  # fmt: skip


# ── what hooks put into the conversation ─────────────────────────────────────────────────────────────


def test_a_comment_stands_in_the_file_and_is_not_sent(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    hook = 'on: user_message, do: "echo hidden --> detail", inline: true, inline_as: comment'
    stage.write(HEAD + hooks(hook))
    server = serve({"text": "Hi"}, {"text": "Again"})
    ran = stage.run("-if", "t.lec", server=server)
    assert "<!--\nhidden -- > detail\n\n-->" in ran.out
    stage.append("\n\nMore")
    stage.run("-if", "t.lec", server=server)
    assert "hidden" not in server.requests[0].text + server.requests[1].text


def test_what_a_user_hook_attaches_is_sent_and_stands_first(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD + hooks('name: time, on: user_message, do: "echo noon", inline: true'), "Hello :attach[a note]")
    server = serve({"text": "Hi"})
    ran = stage.run("-f", "t.lec", "--format", "raw", server=server)
    assert messages(server) == [
        ("user", [{"type": "text", "text": text} for text in ("\n\nHello ", "noon\n", "a note")])
    ]
    kinds = re.findall(r'<inline-attachment kind="(\w+)"', ran.out)
    assert (kinds, ran.out.index("<inline-attachment") < ran.out.index("Hi")) == (["hook", "attach"], True)
    assert 'name="time"' in ran.out
    assert '<command>\n┆echo noon\n</command>\n<content type="text/plain">\n┆noon\n┆\n</content>' in ran.out


def test_nasty_text_is_replayed_exactly(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    nasty = "a<b\n┆x\n\n</tool-call>\n:::\n```\n:::\n"
    tools = "  tools:\n    - {exec: printf, name: say}\n"
    stage.write(HEAD + tools)
    server = serve(call("%s", nasty, text=nasty), {"text": "Done"}, {"text": "Fine"})
    stage.run("-if", "t.lec", server=server)
    stage.append("\n\nMore")
    stage.run("-f", "t.lec", server=server)
    live, again = server.requests[1].body["messages"], server.requests[2].body["messages"]
    assert again[1 : len(live)] == live[1:]
    assert json.loads(again[2]["tool_calls"][0]["function"]["arguments"]) == {"argv": ["%s", nasty]}


# ── the loop ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("header", "requests"), [("  max_tool_use: 1\n", 4), ("", 13)])
def test_hooks_that_never_stop_are_stopped(
    stage: Stage, serve: Callable[..., ModelServer], header: str, requests: int
) -> None:
    count = "on: assistant_message, inline: true, do: \"bash -c 'echo $FINAL_PASS_COUNT | tee -a seen.txt'\""
    stage.write(HEAD + header + hooks(count))
    server = serve({"text": "Go on", "repeat": True})
    ran = stage.run("-f", "t.lec", server=server)
    assert (ran.code, len(server.requests)) == (0, requests)
    assert ran.out.endswith("<error>Runaway tool use!</error>\n\n:::")
    assert stage.lines("seen.txt") == [str(number) for number in range(requests)]


@pytest.mark.parametrize(
    ("heads", "requests"), [(("LECTIC:final",), 1), (("LECTIC:final:false",), 1), (("LECTIC:final", "more"), 2)]
)
def test_a_final_attachment_does_not_keep_the_turn_alive(
    stage: Stage, serve: Callable[..., ModelServer], heads: tuple[str, ...], requests: int
) -> None:
    once = "test $LOOP_COUNT = 0 || exit 0; "
    written = (
        f"on: assistant_message, inline: true, do: \"bash -c '{once}echo {head}; echo text of {head}'\""
        for head in heads
    )
    stage.write(HEAD + hooks(*written))
    server = serve({"text": "One"}, {"text": "Two"})
    stage.run("-f", "t.lec", server=server)
    assert len(server.requests) == requests
    if requests == 2:
        assert [part["text"] for part in messages(server)[-1][1]] == ["text of LECTIC:final\n", "more\ntext of more\n"]


def test_the_tool_limit_counts_passes(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD + "  max_tool_use: 1\n" + ECHO_TOOL)
    server = serve(call("x", repeat=True))
    assert stage.run("-f", "t.lec", server=server).code == 0
    results = [text for role, text in messages(server) if role == "tool"]
    limit = "Tool usage limit exceeded, no further tool calls will be allowed"
    assert results == ["<stdout>x\n</stdout>\n<exitCode>0</exitCode>", limit, limit]


def test_a_reset_begins_anew_live_and_on_replay(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    reset = "on: assistant_intermediate, inline: true, do: \"bash -c 'echo LECTIC:reset; echo; echo summary'\""
    stage.write(HEAD + ECHO_TOOL + hooks(reset))
    server = serve(call("x", text="Let me see"), {"text": "Done"}, {"text": "Fine"})
    stage.run("-if", "t.lec", server=server)
    assert [role for role, _ in messages(server, 1)] == ["user", "assistant", "tool"]
    assert messages(server, 1)[0] == ("user", "summary\n")
    stage.append("\n\nMore")
    stage.run("-f", "t.lec", server=server)
    replayed = messages(server)
    assert replayed[0] == ("user", "summary\n")
    assert "Let me see" not in server.requests[-1].text
    assert replayed[-1] == ("user", "\n\nMore")


TOKEN_LIMIT = """\
hooks:
  - on: assistant_message
    inline: true
    do: |
      #!/usr/bin/env bash
      LIMIT=100000
      TOTAL="${TOKEN_USAGE_TOTAL:-0}"

      if [ "$TOTAL" -gt "$LIMIT" ]; then
        echo "LECTIC:reset"
        echo "LECTIC:final"
        echo ""
        echo "**Context cleared (usage: $TOTAL tokens).**"
      fi
"""


def test_the_documented_token_limit_clears_the_context(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD + TOKEN_LIMIT)
    server = serve({"text": "Long", "usage": {"input": 150_000, "output": 5}}, {"text": "Short"})
    first = stage.run("-if", "t.lec", server=server)
    assert len(server.requests) == 1
    assert ' reset="true" final="true">' in first.out
    stage.append("\n\nAnd now?")
    stage.run("-if", "t.lec", server=server)
    assert messages(server) == [("user", "**Context cleared (usage: 150005 tokens).**\n"), ("user", "\n\nAnd now?")]


# ── hooks that fail, run on their own, or end the run ────────────────────────────────────────────────


def test_a_user_hook_that_fails_stops_the_run_before_the_model(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    path = stage.write(
        HEAD + "hooks:\n  - on: user_message\n    do: |\n      #!/bin/bash\n      echo bad thing >&2\n      exit 7\n"
    )
    before, server = path.read_bytes(), serve()
    ran = stage.run("-if", "t.lec", server=server)
    assert (ran.code, len(server.requests), path.read_bytes()) == (1, 0, before)
    assert 'Hook "#!/bin/bash" failed for user_message with exit code 7\nstderr: bad thing' in ran.out


def test_a_background_hook_is_waited_for_and_its_failure_is_the_runs(
    stage: Stage, serve: Callable[..., ModelServer]
) -> None:
    slow = "name: bg1, mode: background, on: user_message, do: \"bash -c 'sleep 0.3; echo over >> seen.txt; exit 4'\""
    stage.write(HEAD + hooks(slow, note("run_end", "$RUN_STATUS"), note("error", "error")))
    path = stage.place / "t.lec"
    ran = stage.run("-if", "t.lec", server=serve({"text": "Hi"}))
    assert ran.code == 1
    assert stage.lines("seen.txt") == ["over", "error", "error"]
    assert 'Hook "bg1" failed for user_message with exit code 4' in ran.err
    assert path.read_text().endswith("Hi\n\n:::")
    assert "hook-error" not in path.read_text() + ran.out


def test_front_matter_may_hold_dots_and_dashes(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD.replace("Be nice.", "Think... then --- answer"))
    server = serve({"text": "Hi"})
    stage.run("-f", "t.lec", server=server)
    assert messages(server) == [("user", "\n\nHello")]
    assert "Think... then --- answer" in server.requests[0].text


def test_hooks_of_other_dialects_guard_the_same_calls(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    config = stage.place.parent / "home" / "config"
    config.mkdir()
    rewrite = """import json,sys; e=json.load(sys.stdin); print(json.dumps({"data": {"tool_input": {"argv": ["rewritten"]}}}))"""
    config.joinpath("rewrite.py").write_text(rewrite)
    config.joinpath("hookline.toml").write_text(
        f'[[hook]]\nname = "rewrite"\non = "PreToolUse"\nmatch = "say"\nrun = ["{sys.executable}", "{config}/rewrite.py"]\n'
    )
    stage.write(HEAD + ECHO_TOOL)
    server = serve(call("x"), {"text": "Done"})
    ran = stage.run("-f", "t.lec", server=server)
    assert messages(server)[-1][1].startswith("<stdout>rewritten"), ran.err


# ── trust ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_found_configuration_runs_nothing_before_it_is_trusted(
    stage: Stage, serve: Callable[..., ModelServer]
) -> None:
    stage.place.joinpath("lectic.yaml").write_text(HEAD + ECHO_TOOL + hooks(note("user_message", "ran")))
    stage.place.joinpath("t.lec").write_text("Hello\n")
    refused = stage.run("-f", "t.lec", server=serve({"text": "Hi"}))
    assert (refused.code, "not approved" in refused.out) == (1, True)
    assert f"cd {stage.place} && hookline trust" in refused.out
    assert not stage.place.joinpath("seen.txt").exists()
    assert main(["trust", "--yes"]) == 0
    assert stage.run("-f", "t.lec", server=serve({"text": "Hi"})).code == 0
    assert stage.lines("seen.txt") == ["ran"]


def test_who_has_read_a_found_configuration_may_approve_it_with_the_run(
    stage: Stage, serve: Callable[..., ModelServer]
) -> None:
    stage.place.joinpath("lectic.yaml").write_text(HEAD + ECHO_TOOL + hooks(note("user_message", "ran")))
    stage.place.joinpath("t.lec").write_text("Hello\n")
    assert stage.run("-f", "t.lec", "--trust", server=serve({"text": "Hi"})).code == 0
    assert stage.run("-f", "t.lec", server=serve({"text": "Hi"})).code == 0
    assert stage.lines("seen.txt") == ["ran", "ran"]


@pytest.mark.parametrize(
    "header",
    [
        HEAD,
        HEAD.replace("Be nice.", "file:~/secret"),
        HEAD.replace("Be nice.", "exec:cat secret"),
        HEAD + "  tools:\n    - {name: m, mcp_shttp: 'URL/$SECRET', headers: {X: $SECRET}}\n",
    ],
    ids=["prompt", "file", "program", "address"],
)
def test_nothing_of_a_configuration_that_is_not_approved_reaches_anybody(
    stage: Stage, serve: Callable[..., ModelServer], header: str
) -> None:
    server, listener = serve({"text": "Hi"}), serve({"text": "Hi"})
    stage.monkeypatch.setenv("SECRET", "hunter2")
    Path.home().joinpath("secret").write_text("hunter2")
    stage.place.joinpath("lectic.yaml").write_text(header.replace("URL", listener.url))
    stage.place.joinpath("t.lec").write_text("Hello\n")
    refused = stage.run("-f", "t.lec", server=server)
    assert (refused.code, "not approved" in refused.out, "hunter2" in refused.out) == (1, True, False)
    assert (server.requests, listener.requests) == ((), ())


@pytest.mark.parametrize("edit", ["lectic.yaml", "prompt.md", "tool.sh"])
def test_a_found_configuration_that_changed_since_it_was_approved_is_refused(
    stage: Stage, serve: Callable[..., ModelServer], edit: str
) -> None:
    header = HEAD.replace("Be nice.", "file:prompt.md") + ECHO_TOOL.replace("echo", "./tool.sh")
    for name, text in (("lectic.yaml", header), ("prompt.md", "Be nice."), ("tool.sh", "#!/bin/sh\n")):
        stage.place.joinpath(name).write_text(text)
    stage.place.joinpath("t.lec").write_text("Hello\n")
    assert stage.run("-f", "t.lec", "--trust", server=serve({"text": "Hi"})).code == 0
    with stage.place.joinpath(edit).open("a") as file:
        file.write("\nsandbox: ./tool.sh\n")
    refused = stage.run("-f", "t.lec", server=serve({"text": "Hi"}))
    assert (refused.code, "changed" in refused.out) == (1, True)


# ── providers ────────────────────────────────────────────────────────────────────────────────────────


def test_anthropic_hears_the_same_conversation(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    header = HEAD.replace("openai/chat", "anthropic").replace("scripted", "claude-scripted")
    stage.write(header + ECHO_TOOL + hooks(note("user_message", "$LECTIC_MODEL")))
    server = serve(call("x", text="See"), {"text": "Done"})
    ran = stage.run("-f", "t.lec", "--format", "clean", server=server)
    assert ran.out == "See\n\nDone"
    assert stage.lines("seen.txt") == ["claude-scripted"]
    last = server.requests[-1].body["messages"][-1]
    assert last["content"][0]["type"] == "tool_result"


def test_the_model_of_the_command_line_wins(stage: Stage) -> None:
    stage.write(HEAD)
    stage.place.joinpath("script.json").write_text('[{"text": "From a file"}]')
    ran = stage.run("-f", "t.lec", "--format", "clean", "--model", "script:script.json")
    assert (ran.code, ran.out) == (0, "From a file")


# ── signals and crashes, in a process of its own ─────────────────────────────────────────────────────


def started(stage: Stage, *words: str, server: ModelServer) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "hookline", "run", *words]
    environ = {**os.environ, **server.environ()}
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
        cwd=stage.place,
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_run_in_good_order(
    stage: Stage, serve: Callable[..., ModelServer], number: signal.Signals, code: int
) -> None:
    tools = "  tools:\n    - {exec: \"bash -c 'echo $$ > pid; exec sleep 60'\", name: nap, schema: {}}\n"
    path = stage.write(
        HEAD
        + tools
        + hooks(note("tool_use_post", "post $TOOL_CALL_ERROR"), note("run_end", "$RUN_STATUS $RUN_ERROR_MESSAGE"))
    )
    before = path.read_bytes()
    process = started(
        stage,
        "-if",
        "t.lec",
        "--format",
        "block",
        server=serve({"text": "Wait", "tool": {"name": "nap", "arguments": {}}}),
    )
    until = time.monotonic() + 60
    pid = stage.place / "pid"
    while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=200)
    assert process.returncode == code, err
    assert out == ":::Bot\n\nWait\n\n:::"
    told = f"Interrupted by {number.name}"
    seen = stage.lines("seen.txt")
    assert (len(seen), told in seen[0], seen[1]) == (2, True, f"error {told}")
    assert path.read_bytes() == before
    assert eventually(lambda: not alive(int(stage.text("pid"))))


def test_a_killed_run_leaves_the_file_old_or_new_and_whole(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    answer = "word " * 20_000
    path = stage.write(HEAD)
    old = path.read_text()
    new = f"{old.strip()}\n\n:::Bot\n\n{answer}\n\n:::"
    server = serve({"text": answer, "repeat": True})
    for delay in (0.4, 1.2, 1.8, 2.4):
        path.write_text(old)
        process = started(stage, "-if", "t.lec", "--format", "none", server=server)
        time.sleep(delay)
        process.kill()
        process.communicate(timeout=200)
        assert path.read_text() in {old, new}


# ── who speaks, to whom, with what behind them ───────────────────────────────────────────────────────

PAIR = """\
interlocutors:
  - {name: Bot, prompt: Be nice., provider: openai/chat, model: scripted}
  - {name: Other, prompt: Be curt., provider: openai/chat, model: scripted}
"""


@pytest.mark.parametrize(
    ("body", "speaker"),
    [
        ("Hi", "Bot"),
        (":ask[Other] Hi", "Other"),
        (":ask[Other] Hi\n\n:::Other\n\nYes\n\n:::\n\nAnd?", "Other"),
        (":aside[Other] Hi\n\n:::Other\n\nYes\n\n:::\n\nAnd?", "Bot"),
        ("Hi :aside[Other]", "Other"),
    ],
)
def test_directives_say_who_answers(stage: Stage, serve: Callable[..., ModelServer], body: str, speaker: str) -> None:
    stage.write(PAIR, body)
    ran = stage.run("-f", "t.lec", "--format", "block", server=serve({"text": "I do"}))
    assert ran.out == f":::{speaker}\n\nI do\n\n:::"


def test_a_reset_in_an_earlier_message_drops_it_and_all_before(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(
        HEAD + hooks(note("user_message", "$MESSAGES_LENGTH")),
        "A\n\n:::Bot\n\nB\n\n:::\n\n:reset[] C\n\n:::Bot\n\nD\n\n:::\n\nE",
    )
    server = serve({"text": "Yes"})
    stage.run("-f", "t.lec", server=server)
    assert messages(server) == [("assistant", "D"), ("user", "\n\nE")]
    assert stage.lines("seen.txt") == ["2"]


def test_hooks_see_the_file_as_typed_and_the_message_as_sent(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.monkeypatch.setenv("LECTIC_FILE", "stale")
    (stage.place / "sub").mkdir()
    show = 'on: user_message, do: "bash -c \'echo [${LECTIC_FILE-unset}] $PWD >> seen.txt; echo -n \\"$USER_MESSAGE\\" > said\'"'
    path = stage.write(HEAD + hooks(show), "Hi <!-- secret -->", "sub/t.lec")
    stage.run("-f", "sub/t.lec", server=serve())
    stage.run(stdin=path.read_text(), server=serve())
    assert stage.lines("seen.txt") == [f"[sub/t.lec] {stage.place}", f"[unset] {stage.place}"]
    assert stage.text("said") == "\n\nHi "


def test_base_hooks_of_all_scopes_run_before_aliases(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    own = "  hooks:\n" + "".join(
        f"    - {{{note(event, f'own {event}')}}}\n" for event in ("user_first", "user_message")
    )
    stage.write(
        HEAD + own + hooks(note("user_first", "top user_first"), note("[user_message, user_first]", "top both"))
    )
    stage.run("-f", "t.lec", server=serve())
    assert stage.lines("seen.txt") == ["top both", "own user_message", "top user_first", "own user_first"]


def test_a_hook_that_cannot_start_may_be_allowed_to_fail(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD + ECHO_TOOL + hooks("on: [user_message, tool_use_pre], do: no-such-program, allow_failure: true"))
    server = serve(call("x"), {"text": "Done"})
    assert stage.run("-f", "t.lec", server=server).code == 0
    assert messages(server)[-1][1].startswith("<stdout>x")
    stage.write(HEAD + hooks("on: user_message, do: no-such-program"))
    assert 'Hook "no-such-program" failed to start for user_message' in stage.run("-f", "t.lec", server=serve()).out


def test_the_conversation_a_hook_reads_is_a_whole_one(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD + ECHO_TOOL + hooks("on: assistant_final, do: \"bash -c 'cat > copy.lec'\""))
    stage.run("-f", "t.lec", server=serve(call("x", text="See"), {"text": "Done"}))
    server = serve({"text": "Again"})
    stage.run("-f", "copy.lec", server=server)
    assert [role for role, _ in messages(server)] == ["user", "assistant", "tool", "assistant"]


def test_a_prompt_that_a_hook_of_another_system_refuses_is_not_sent(
    stage: Stage, serve: Callable[..., ModelServer]
) -> None:
    config = stage.place.parent / "home" / "config"
    config.mkdir()
    config.joinpath("hookline.toml").write_text(
        '[[hook]]\nname = "no"\non = "UserPromptSubmit"\nrun = ["sh", "-c", "echo not on Fridays >&2; exit 2"]\n'
    )
    stage.write(HEAD)
    server = serve()
    ran = stage.run("-f", "t.lec", server=server)
    assert (ran.code, len(server.requests), "not on Fridays" in ran.out) == (1, 0, True)


def test_a_stop_hook_of_another_system_lets_the_turn_go_on(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    config = stage.place.parent / "home" / "config"
    config.mkdir()
    script = "test -e once && exit 0; touch once; echo you forgot the tests >&2; exit 2"
    config.joinpath("hookline.toml").write_text(
        f'[[hook]]\nname = "tests"\non = "Stop"\nrun = ["sh", "-c", "{script}"]\n'
    )
    stage.write(HEAD)
    server = serve({"text": "Done"}, {"text": "Tested"})
    ran = stage.run("-f", "t.lec", "--format", "clean", server=server)
    assert ran.out == "Done\n\nTested"
    assert messages(server)[-1] == ("user", "you forgot the tests")


# ── nothing is lost ──────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_changed_meanwhile_is_not_overwritten(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    path = stage.write(HEAD + hooks("on: assistant_message, do: \"bash -c 'echo mine >> t.lec'\""))
    ran = stage.run("-if", "t.lec", "--format", "none", server=serve({"text": "Lost?"}))
    assert ran.code == 1
    assert path.read_text().endswith("Hello\nmine\n")
    kept = re.search(r"is in (\S+)", ran.err)
    assert kept
    assert Path(kept[1]).read_text().endswith(":::Bot\n\nLost?\n\n:::")
    assert "until then" not in ran.err


def test_lines_that_end_in_two_characters_are_read_and_written_so(
    stage: Stage, serve: Callable[..., ModelServer]
) -> None:
    path = stage.write(HEAD + ECHO_TOOL)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    steps = (call("a\r\nb\nc", text="See"), {"text": "Done"})
    first = serve(*steps)
    ran = stage.run("-if", "t.lec", "--format", "none", server=first)
    assert ran.code == 0
    lines = path.read_bytes()
    assert lines.count(b"\n") == lines.count(b"\r\n")
    again = serve({"text": "More"})
    path.write_bytes(lines + b"\r\n\r\nAnd now?\r\n")
    assert stage.run("-f", "t.lec", server=again).code == 0
    *earlier, last = again.requests[-1].body["messages"]
    assert earlier[: len(first.requests[-1].body["messages"])] == first.requests[-1].body["messages"]
    assert last["content"] == "\n\nAnd now?"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_who_gets_only_half_of_the_answer_is_told(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    path = stage.write(HEAD)
    server = serve({"text": "Hi"})
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "hookline", "run", "-if", "t.lec"], stdin=subprocess.DEVNULL, stdout=full,
            stderr=subprocess.PIPE, text=True, env={**os.environ, **server.environ()}, cwd=stage.place, check=False,
        )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (1, "hookline: cannot write to standard output: No space left on device\n")
    assert path.read_text().endswith("Hi\n\n:::")


def test_an_answer_that_can_be_kept_nowhere_is_printed(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    from hookline.core.paths import find_paths

    state = Path(find_paths(dict(os.environ), os.environ["HOME"]).state)
    state.mkdir(parents=True, exist_ok=True)
    state.joinpath("answers").write_text("in the way")
    path = stage.write(HEAD + hooks("on: assistant_message, do: \"bash -c 'echo mine >> t.lec'\""))
    ran = stage.run("-if", "t.lec", "--format", "none", server=serve({"text": "Lost?"}))
    assert (ran.code, ran.out) == (1, "Lost?\n\n")
    assert path.read_text().endswith("Hello\nmine\n")


def test_a_second_run_on_the_same_file_is_refused(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    from hookline.agent.output import lock_conversation

    stage.write(HEAD)
    with lock_conversation("t.lec"):
        ran = stage.run("-if", "t.lec", server=serve())
    assert (ran.code, "another run is answering" in ran.err) == (1, True)


def test_a_reader_that_goes_away_does_not_cost_the_answer(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    path = stage.write(HEAD)
    process = started(stage, "-if", "t.lec", server=serve({"text": "word " * 2000, "delay_ms": 200}))
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    with process.stderr:
        told = process.stderr.read()
    assert (process.wait(timeout=200), told) == (0, "")
    assert path.read_text().endswith("word \n\n:::")


def test_what_was_said_before_an_error_is_kept(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD + ECHO_TOOL)
    failing = (call("x", text="So far"), {"error": {"status": 500, "message": "gone"}})
    assert "So far" in stage.run("-f", "t.lec", server=serve(*failing)).out
    quiet = stage.run("-if", "t.lec", "--format", "none", server=serve(*failing))
    kept = re.search(r"the answer so far is in (\S+)", quiet.err)
    assert kept
    assert Path(kept[1]).read_text().startswith("So far\n\n<tool-call")


def test_the_log_holds_requests_and_no_secrets(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    secret = "sk-proj-" + "a1B2" * 10
    stage.write(HEAD, f"my key is {secret}")
    stage.run("-f", "t.lec", "-l", "log.jsonl", server=serve({"text": "Noted"}))
    kinds = [json.loads(line)["kind"] for line in stage.lines("log.jsonl")]
    assert kinds == ["request", "reply"]
    assert secret not in stage.text("log.jsonl")
    assert (stage.place / "log.jsonl").stat().st_mode & 0o777 == 0o600


def test_nonsense_from_a_server_is_an_error_and_no_bug(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD)
    for raw in ("not json", "{}", "data: {half\n\n"):
        ran = stage.run("-f", "t.lec", "--format", "raw", server=serve({"raw": raw}))
        assert ran.code in {0, 1}
        assert "bug in hookline" not in ran.err


# ── what is wrong is said exactly ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("interlocutor:\n  name: Bot\n  prompt: [a\n  model: x\n", "of: 'model: x' ({place}/t.lec:5)"),
        (HEAD + "  prompt: again\n", "'prompt' is written twice ({place}/t.lec:7)"),
    ],
)
def test_a_fault_of_yaml_is_shown_with_its_place(stage: Stage, header: str, told: str) -> None:
    stage.write(header)
    assert told.format(place=stage.place) in stage.run("-f", "t.lec").out


def test_a_server_that_fails_is_shown_with_its_errors(stage: Stage) -> None:
    server = """bash -c "echo no database >&2; exit 3" """
    stage.write(HEAD + f"  tools:\n    - {{name: srv, mcp_command: '{server}'}}\n")
    out = stage.run("-f", "t.lec").out
    assert "the MCP server 'srv' could not be reached" in out
    assert "stderr: no database" in out


def test_a_misspelt_field_is_named(stage: Stage) -> None:
    (stage.place / "lectic.yaml").write_text("hooks:\n  - {on: run_start, do: 'true', allow_failures: true}\n")
    stage.capsys.readouterr()
    main(["check", "--dialect", "lectic", "--config", "lectic.yaml"])
    shown = stage.capsys.readouterr()
    assert "unknown field 'allow_failures', which has no effect\n    fix: did you mean allow_failure?" in shown.out


def test_a_background_hook_that_cannot_start_ends_the_run_at_once(
    stage: Stage, serve: Callable[..., ModelServer]
) -> None:
    stage.write(HEAD + hooks("on: user_message, mode: background, do: ./nowhere.sh"))
    server = serve({"text": "Hi"})
    ran = stage.run("-f", "t.lec", server=server)
    assert (ran.code, server.requests) == (1, ())
    assert 'Hook "./nowhere.sh" failed to start for user_message' in ran.out


def test_lists_and_maps_of_env_become_text(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD + hooks(note("user_message", "$L $M").rstrip() + ", env: {L: [1, a], M: {x: [2]}}"))
    assert stage.run("-f", "t.lec", server=serve({"text": "Hi"})).code == 0
    assert stage.lines("seen.txt") == ['1,a {"x":[2]}']


def test_an_attached_text_has_the_icon_of_a_paper_clip(stage: Stage, serve: Callable[..., ModelServer]) -> None:
    stage.write(HEAD, "Look :attach[this]")
    assert (
        '<inline-attachment kind="attach" icon="\uf0c6">' in stage.run("-f", "t.lec", server=serve({"text": "Hi"})).out
    )


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "openai"])
def test_no_tokens_are_counted_as_zero(stage: Stage, serve: Callable[..., ModelServer], provider: str) -> None:
    header = HEAD.replace("openai/chat", provider)
    stage.write(header + hooks(note("assistant_message", "$TOKEN_USAGE_INPUT $TOKEN_USAGE_TOTAL")))
    server = serve({"text": "Hi", "usage": {"input": 0, "output": 0}})
    assert stage.run("-f", "t.lec", server=server).code == 0
    assert stage.lines("seen.txt") == ["0 0"]
