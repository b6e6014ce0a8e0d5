"""Agents that are nothing but tables: every payload decodes, every answer is in the form that the agent obeys."""

from __future__ import annotations

import importlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hookline.core.agents import AGENTS, find_agent
from hookline.core.errors import HooklineError
from hookline.core.event import EVENTS, Event, event_kind
from hookline.core.hook import HookSpec
from hookline.core.result import Context, Decision, HookError, Injected, Message, Reply, RunResult
from hookline.dialects import DIALECTS, dialect_named
from hookline.dialects.claude_family.field_map import payload
from hookline.testing import event

PAYLOADS = Path(__file__).parents[2] / "payloads"
TABLED = DIALECTS[DIALECTS.index("opencode") + 1 :]
FOLDERS = {row.dialect: PAYLOADS / ("by-document" if row.label else "") / row.dialect for row in AGENTS.values()}
FILES = [(name, file) for name in TABLED for file in sorted(FOLDERS[name].glob("*.json"))]
IDS = [f"{name}/{file.stem}" for name, file in FILES]
PLUGINS = {"pi", "cline", "amp"}
_ODD: tuple[Any, ...] = ([[]], {}, None, 7, "\ud800")


def native(name: str, stem: str) -> str:
    """The event that a file is about: the beginning of its name."""
    stem = stem.removeprefix("plugin.").removeprefix("cli2.")
    return stem if name == "amp" else stem.partition(".")[0]


def came(name: str, stem: str, **more: Any) -> Any:
    sent = json.loads((FOLDERS[name] / f"{stem}.json").read_text(encoding="utf-8"))
    return dialect_named(name).event_in(native(name, stem), {**sent, **more}, {})


@pytest.mark.parametrize(("name", "file"), FILES, ids=IDS)
def test_a_payload_decodes_and_keeps_every_field(name: str, file: Path) -> None:
    sent = json.loads(file.read_text(encoding="utf-8"))
    incoming = came(name, file.stem)
    assert incoming.event in EVENTS or incoming.event.startswith(f"{name}:")
    naming = {"hook_event_name", "hookEventName", "hookName", "agent_action_name", "event_type", "type", "event"}
    assert {key for key in sent if key not in incoming.data} <= naming


@pytest.mark.parametrize(
    ("name", "tool", "common"),
    [
        ("droid", "t___echo", "mcp__t__echo"),
        ("droid", "a_b___c_d", "mcp__a_b__c_d"),
        ("deepagents", "t_echo", "mcp__t__echo"),
        ("deepagents", "mcp__t__echo", "mcp__t__echo"),
        ("deepagents", "compact_conversation", "compact_conversation"),
        ("deepagents", "check_async_task", "check_async_task"),
    ],
)
def test_a_tool_of_a_server_has_its_common_name(name: str, tool: str, common: str) -> None:
    sent = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": tool, "tool_input": {}}
    assert dialect_named(name).event_in("PreToolUse", sent, {}).data["tool_name"] == common


@pytest.mark.parametrize(
    ("name", "native_event", "sent", "tool", "given"),
    [
        ("cline", "PreToolUse", {"preToolUse": {"toolName": "run_commands", "parameters": {"commands": '["rm x", "ls"]'}}}, "Bash", {"command": "rm x\nls"}),
        ("cline", "PreToolUse", {"preToolUse": {"tool": "write_to_file", "parameters": {"path": "/p/a", "content": "{}"}}}, "Write", {"content": "{}"}),
        ("cline", "PreToolUse", {"preToolUse": {"toolName": "use_mcp_tool", "parameters": {"server_name": "gh", "tool_name": "add", "arguments": '{"t": 1}'}}}, "mcp__gh__add", {"t": 1}),
        ("cline", "tool_call", {"tool_call": {"name": "run_commands", "input": {"commands": [{"command": "rm", "args": ["-rf", "/"]}]}}}, "Bash", {"command": "rm -rf /"}),
        ("hermes", "pre_approval_request", {"tool_name": None, "tool_input": None, "extra": {"command": "rm x"}}, "Bash", {"command": "rm x"}),
        ("hermes", "pre_tool_call", {"tool_name": "mcp_gh_add", "tool_input": {"t": 1}}, "mcp__gh__add", {"t": 1}),
        ("hermes", "pre_tool_call", {"tool_name": "terminal", "tool_input": {"command": "ls", "workdir": "/etc"}}, "Bash", {"cwd": "/etc"}),
        ("kimi", "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls", "cwd": "sub"}, "cwd": "/p"}, "Bash", {"cwd": "/p/sub"}),
        ("droid", "PreToolUse", {"tool_name": "MultiEdit", "tool_input": {"file_path": "/p/a", "changes": [{"old_str": "x", "new_str": "y"}]}}, "Edit", {"new_string": "y"}),
    ],
)  # fmt: skip
def test_a_call_that_was_not_recorded_has_the_common_names(
    name: str, native_event: str, sent: dict[str, Any], tool: str, given: dict[str, Any]
) -> None:
    data = dialect_named(name).event_in(native_event, sent, {}).data
    assert data["tool_name"] == tool
    assert {key: data["tool_input"].get(key) for key in given} == given


PARTS = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:AAAA"}}]


@pytest.mark.parametrize(
    ("name", "native_event", "sent"),
    [
        ("kimi", "UserPromptSubmit", {"prompt": PARTS}),
        ("hermes", "pre_llm_call", {"extra": {"user_message": PARTS}}),
        ("cline", "beforeRun", {"snapshot": {"messages": [{"role": "user", "content": PARTS}]}}),
    ],
)
def test_a_prompt_is_what_was_typed_without_its_images(name: str, native_event: str, sent: dict[str, Any]) -> None:
    assert dialect_named(name).event_in(native_event, sent, {}).data["prompt"] == "look"


@pytest.mark.parametrize(("reason", "trigger"), [("manual", "manual"), ("threshold", "auto"), ("overflow", "auto")])
def test_pi_says_what_began_a_compaction(reason: str, trigger: str) -> None:
    for native_event in ("session_before_compact", "session_compact"):
        assert dialect_named("pi").event_in(native_event, {"reason": reason}, {}).data["trigger"] == trigger


def test_the_last_words_of_deepagents_may_be_a_list() -> None:
    sent = {"last_assistant_message": [{"type": "text", "text": "Done."}]}
    assert dialect_named("deepagents").event_in("Stop", sent, {}).data["assistant_message"] == "Done."


@pytest.mark.parametrize("result", [{"type": "ListDir", "Content": {"content": "a"}}, {"type": "Mcp", "content": [{"type": "text", "text": "a"}]}])  # fmt: skip
def test_grok_gives_the_output_of_every_tool_in_a_shape_of_its_own(result: dict[str, Any]) -> None:
    sent = {"toolName": "list_dir", "toolInput": {}, "toolResult": result}
    assert dialect_named("grok").event_in("PostToolUse", sent, {}).data["tool_output"] == "a"


def test_grok_says_what_began_a_compaction() -> None:
    sent = {"hookEventName": "pre_compact", "hook_event_name": "PreCompact", "sessionId": "s", "source": "auto"}
    assert dialect_named("grok").event_in("PreCompact", sent, {}).data["trigger"] == "auto"


def _with_odd_values(sent: Any) -> Any:
    """The payload with each value in turn as something that cannot be compared, counted or hashed."""
    for key, value in sent.items():
        yield from ({**sent, key: odd} for odd in _ODD)
        if isinstance(value, dict):
            yield from ({**sent, key: inner} for inner in _with_odd_values(value))


@pytest.mark.parametrize(("name", "file"), FILES, ids=IDS)
def test_an_odd_value_breaks_no_reader(name: str, file: Path) -> None:
    for sent in _with_odd_values(json.loads(file.read_text(encoding="utf-8"))):
        with suppress(HooklineError):  # the agent is told; anything else would be exit 3
            dialect_named(name).event_in(native(name, file.stem), sent, {})


@pytest.mark.parametrize(
    ("name", "file"), [one for one in FILES if one[0] not in PLUGINS], ids=lambda one: str(one)[-40:]
)
def test_a_command_hook_knows_its_session(name: str, file: Path) -> None:
    incoming = came(name, file.stem)
    assert incoming.session or "cli2" in file.stem
    assert incoming.cwd == "/home/user/project" or name == "windsurf"


@pytest.mark.parametrize(
    ("name", "file"), [one for one in FILES if one[0] not in PLUGINS | {"windsurf"} and "cli2" not in one[1].stem], ids=lambda one: str(one)[-40:]
)  # fmt: skip
def test_an_agents_own_hook_reads_what_the_agent_sent(name: str, file: Path) -> None:
    sent, incoming, agent = json.loads(file.read_text(encoding="utf-8")), came(name, file.stem), find_agent(name)
    assert agent is not None
    happened = Event(
        kind=event_kind(incoming.event), data=incoming.data, session=incoming.session, cwd=incoming.cwd,
        agent=agent.name, native=sent,
    )  # fmt: skip
    told = payload(dialect_named(name).words, incoming.native_name, happened)  # type: ignore[attr-defined]  # a table
    assert {key: told.get(key) for key in sent} == sent


CALLS = [
    ("droid", "PreToolUse.Create", "Write", {"file_path": "/home/user/project/new.txt", "content": "one\n"}),
    ("droid", "PreToolUse.Edit", "Edit", {"old_string": "one", "new_string": "two"}),
    ("kimi", "PreToolUse.Write", "Write", {"file_path": "/home/user/project/w.txt", "content": "one\n"}),
    ("kimi", "PreToolUse.Agent", "Task", {"prompt": "SUBTASK do it", "subagent_type": "coder"}),
    ("grok", "PreToolUse.run_terminal_command", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
    ("grok", "PreToolUse.read_file", "Read", {"file_path": "/home/user/project/new.txt"}),
    ("grok", "PreToolUse.search_replace", "Edit", {"new_string": "one\n", "content": "one\n"}),
    ("hermes", "pre_tool_call.terminal", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
    ("hermes", "post_tool_call.patch", "Edit", {"file_path": "/home/user/project/new.txt", "new_string": "two"}),
    ("deepagents", "PreToolUse.task", "Task", {"prompt": "say hi", "subagent_type": "general-purpose"}),
    ("pi", "tool_call.edit", "Edit", {"old_string": "one", "new_string": "two"}),
    ("cline", "PreToolUse.run_commands", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
    ("cline", "PreToolUse.editor", "Write", {"file_path": "/home/user/project/w.txt", "content": "one\n"}),
    ("cline", "PreToolUse.read_files", "Read", {"file_path": "/home/user/project/w.txt"}),
    ("pi", "tool_call", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
    ("cline", "plugin.afterTool", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
    ("cursor", "beforeShellExecution", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
    ("cursor", "beforeReadFile", "Read", {"file_path": "/home/user/project/a.txt"}),
    ("cursor", "beforeMCPExecution", "mcp__unknown__create_issue", {"title": "crash"}),
    ("windsurf", "pre_run_command", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
    ("windsurf", "pre_write_code", "Edit", {"file_path": "/home/user/project/a.txt", "new_string": "two"}),
    ("windsurf", "pre_mcp_tool_use", "mcp__github__create_issue", {"title": "crash"}),
    ("kiro", "PreToolUse.fs_write", "Write", {"file_path": "/home/user/project/a.txt", "content": "one\n"}),
    ("kiro", "PreToolUse.str_replace", "Edit", {"old_string": "one", "new_string": "two"}),
    ("antigravity", "PreToolUse", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
    ("amp", "tool.call", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
    ("vscode", "PreToolUse", "Bash", {"command": "echo hello > proof.txt && cat proof.txt"}),
]


@pytest.mark.parametrize(("name", "stem", "tool", "given"), CALLS, ids=[f"{one[0]}-{one[1]}" for one in CALLS])
def test_a_call_has_the_common_names(name: str, stem: str, tool: str, given: dict[str, Any]) -> None:
    data = came(name, stem).data
    assert data["tool_name"] == tool
    assert {key: data["tool_input"].get(key) for key in given} == given


@pytest.mark.parametrize(
    ("name", "native_event", "sent"),
    [
        ("grok", "PostToolUse", {"tool_name": "run_terminal_command", "tool_response": {"exit_code": 3, "output_for_prompt": "broke"}}),
        ("grok", "PostToolUse", {"tool_name": "run_terminal_command", "tool_response": {"exit_code": None, "timed_out": True, "output_for_prompt": "broke"}}),
        ("cline", "afterTool", {"toolCall": {"toolName": "editor", "input": {}}, "result": {"output": "broke", "isError": True}}),
        ("hermes", "post_tool_call", {"tool_name": "terminal", "extra": {"result": '{"output": "broke", "exit_code": 3}'}}),
        ("pi", "tool_result", {"toolName": "bash", "content": [{"type": "text", "text": "broke"}], "isError": True}),
        ("cline", "PostToolUse", {"tool_result": {"name": "run_commands", "output": [{"query": "x", "result": "broke", "success": False}]}}),
        ("vibe", "post_tool", {"tool_name": "bash", "tool_status": "failure", "tool_error": "broke"}),
        ("antigravity", "PostToolUse", {"toolCall": {"name": "run_command", "args": {}}, "error": "broke"}),
        ("kiro", "PostToolUse", {"tool_name": "execute_bash", "tool_response": {"success": False, "result": ["broke"]}}),
        ("amp", "tool.result", {"tool": "Bash", "status": "error", "error": "broke"}),
    ],
)  # fmt: skip
def test_a_failed_tool_is_a_failure_although_the_agent_has_no_event_for_it(
    name: str, native_event: str, sent: dict[str, Any]
) -> None:
    incoming = dialect_named(name).event_in(native_event, sent, {})
    assert (incoming.event, incoming.data["derived"]) == ("PostToolUseFailure", ["event"])
    assert "broke" in incoming.data["tool_error"]["message"]


def test_what_an_agent_words_otherwise_is_ours() -> None:
    assert came("kimi", "UserPromptSubmit").data["prompt"] == "Write hello to proof.txt"
    assert came("kimi", "PermissionResult.rejected").event == "PermissionDenied"
    assert came("deepagents", "Stop.active").data["assistant_message"] == "Done 2."
    assert came("deepagents", "Stop.active").data["continuations"] == 1
    assert came("grok", "SessionStart.new").data["source"] == "startup"
    assert came("grok", "Stop.shutdown").event == "grok:Shutdown", "the answer has ended before"
    assert came("cline", "plugin.beforeRun").data["prompt"] == "Write hello to proof.txt"
    assert came("hermes", "pre_llm_call").data["prompt"] == "Write hello to proof.txt"
    assert came("pi", "tool_call", ctx={"session_id": "s", "cwd": "/p"}).session == "s"


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "rm x", "description": "d"}}
REWRITTEN: dict[str, Any] = {**CALL, "tool_input": {"command": "ls", "description": "d"}}
SPECIFIC = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}
DENIES: dict[str, Any] = {
    **{name: {"hookSpecificOutput": SPECIFIC} for name in ("droid", "kimi", "grok", "deepagents", "vscode")},
    "hermes": {"decision": "block", "reason": "no"},
    **{name: {"decision": "deny", "reason": "no"} for name in ("antigravity", "vibe")},
    "cursor": {"permission": "deny", "user_message": "no", "agent_message": "no"},
    **{name: {"deny": "no"} for name in PLUGINS},
    **dict.fromkeys(("windsurf", "kiro", "crush", "openhands", "junie"), 2),
}
REWRITES: dict[str, Any] = {
    **dict.fromkeys(("droid", "grok", "vscode"), ("hookSpecificOutput", "updatedInput")),
    "cursor": ("updated_input",), "crush": ("updated_input",), "junie": ("updatedInput",),
    "vibe": ("hook_specific_output", "tool_input"), **dict.fromkeys(PLUGINS, ("args",)),
}  # fmt: skip


def answer(name: str, happening: str, before: dict[str, Any] | None = None, **fields: Any) -> Any:
    first = next((theirs for theirs, ours in dialect_named(name).events.items() if ours == happening), happening)
    happened = Event(kind=event_kind(happening), data=before or {}, native_name=first)
    return dialect_named(name).reply_out(happened, Decision(event=happening, **{"data": before or {}, **fields}))


@pytest.mark.parametrize("name", TABLED)
@pytest.mark.parametrize("happening", sorted(EVENTS))
def test_no_opinion_is_no_objection(name: str, happening: str) -> None:
    told = answer(name, happening)
    allowed = {"", '{"decision": "allow"}'} if name == "antigravity" else {""}
    assert (told.stdout in allowed, told.stderr, told.exit_code, told.lost) == (True, "", 0, ())


@pytest.mark.parametrize("name", TABLED)
def test_a_refused_tool_is_refused_in_the_agents_own_form(name: str) -> None:
    told = answer(name, "PreToolUse", CALL, effect="deny", reason="no")
    if DENIES[name] == 2:
        assert (told.exit_code, told.stderr, told.stdout) == (2, "no", "")
    else:
        assert (told.exit_code, json.loads(told.stdout)) == (0, DENIES[name])


@pytest.mark.parametrize("name", TABLED)
def test_a_rewrite_is_carried_out_or_refused_aloud(name: str) -> None:
    told = answer(name, "PreToolUse", CALL, effect="allow", data=REWRITTEN, modified=("tool_input",))
    if name in REWRITES:
        value = json.loads(told.stdout)
        for key in REWRITES[name]:
            value = value[key]
        assert value == REWRITTEN["tool_input"]
    else:
        assert "a hook changed tool_input" in told.stdout + told.stderr
        assert told.lost == ("change of tool_input",)


@pytest.mark.parametrize("name", TABLED)
@pytest.mark.parametrize("happening", ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"])
def test_text_for_the_model_is_given_or_reported_as_lost(name: str, happening: str) -> None:
    told = answer(name, happening, context=(Injected(hook="h", context=Context(text="NOTE")),))
    assert ("NOTE" in told.stdout) != ("context" in told.lost)


def test_an_agent_that_cannot_ask_is_told_no() -> None:
    assert "cannot ask here" in answer("droid", "PreToolUse", CALL, effect="ask", reason="sure?").stdout
    assert (
        json.loads(answer("antigravity", "PreToolUse", CALL, effect="ask", reason="sure?").stdout)["decision"]
        == "force_ask"
    )


def test_one_of_several_events_may_read_less() -> None:
    shell = Event(kind=event_kind("PreToolUse"), data=CALL, native_name="beforeShellExecution")
    asked = dialect_named("cursor").reply_out(
        shell, Decision(event="PreToolUse", effect="ask", reason="sure?", data=CALL)
    )
    assert json.loads(asked.stdout)["permission"] == "ask"
    late = Event(kind=event_kind("Stop"), data={}, native_name="post_llm_call")
    stop = Decision(event="Stop", effect="deny", reason="go on", data={})
    assert dialect_named("hermes").reply_out(late, stop).lost == ("deny",)
    assert json.loads(answer("hermes", "Stop", effect="deny", reason="go on").stdout or "{}") == {}
    edited = Event(kind=event_kind("Stop"), data={}, native_name="pre_verify")
    assert json.loads(dialect_named("hermes").reply_out(edited, stop).stdout) == {
        "action": "continue",
        "message": "go on",
    }


def test_a_message_for_the_person_goes_where_the_agent_shows_it() -> None:
    told = answer("deepagents", "PreToolUse", CALL, messages=(Message(hook="h", text="hello"),))
    assert json.loads(told.stdout) == {"systemMessage": "hello"}


# ── hooks that were written for them ─────────────────────────────────────────────────────────────────


def spec(name: str) -> HookSpec:
    first = next(theirs for theirs, ours in dialect_named(name).events.items() if ours == "PreToolUse")
    return event_spec(name, first)


def event_spec(name: str, first: str) -> HookSpec:
    from hookline.core.hook import Command, Origin

    return HookSpec(
        id="h", name="h", event="PreToolUse", native_event=first, dialect=name, origin=Origin(file="f"),
        action=Command(form="shell", text="guard"),
    )  # fmt: skip


FORMS = ("hermes", "vibe", "antigravity", "cursor", "crush", "junie")


@pytest.mark.parametrize("name", FORMS)
def test_a_hooks_own_refusal_is_read_as_the_agent_reads_it(name: str) -> None:
    said = {"crush": {"decision": "deny", "reason": "no"}, "junie": {"decision": "deny", "reason": "no"}}
    text = json.dumps(said.get(name, DENIES[name]))
    got = dialect_named(name).reply_in(spec(name), event("PreToolUse"), RunResult(exit_code=0, stdout=text))
    assert got == Reply(effect="deny", reason="no")


@pytest.mark.parametrize(("name", "refuses"), [("hermes", False), ("vibe", False), ("antigravity", False), ("cursor", True), ("kiro", True), ("windsurf", True)])  # fmt: skip
def test_exit_2_means_what_it_means_there(name: str, refuses: bool) -> None:
    got = dialect_named(name).reply_in(spec(name), event("PreToolUse"), RunResult(exit_code=2, stderr="no"))
    assert got == Reply(effect="deny", reason="no") if refuses else isinstance(got, HookError)


def test_a_hook_may_change_the_input_and_add_context() -> None:
    told = json.dumps({"updated_input": {"command": "ls"}, "context": "NOTE"})
    got = dialect_named("crush").reply_in(spec("crush"), event("PreToolUse"), RunResult(exit_code=0, stdout=told))
    assert got == Reply(data={"tool_input": {"command": "ls"}}, context=(Context(text="NOTE"),))
    plain = dialect_named("kiro").reply_in(
        event_spec("kiro", "SessionStart"), event("SessionStart"), RunResult(exit_code=0, stdout="NOTE\n")
    )
    assert plain == Reply(context=(Context(text="NOTE"),))


@pytest.mark.parametrize(
    ("tool", "given", "native_name", "back"),
    [
        ("Write", {"file_path": "/p/.env", "content": "A"}, "pre_write_code", ("Edit", {"file_path": "/p/.env", "new_string": "A"})),
        ("Edit", {"file_path": "/p/a", "old_string": "A", "new_string": "B"}, "pre_write_code", ("Edit", {"file_path": "/p/a", "old_string": "A", "new_string": "B"})),
        ("Read", {"file_path": "/p/a"}, "pre_read_code", ("Read", {"file_path": "/p/a"})),
        ("Bash", {"command": "ls"}, "pre_run_command", ("Bash", {"command": "ls"})),
        ("mcp__a__b__c", {"x": 1}, "pre_mcp_tool_use", ("mcp__a__b__c", {"x": 1})),
        ("mcp__a", {"x": 1}, "pre_mcp_tool_use", ("mcp__a__", {"x": 1})),
    ],
)  # fmt: skip
def test_windsurf_is_told_a_call_as_the_event_of_its_kind(
    tool: str, given: dict[str, Any], native_name: str, back: tuple[str, dict[str, Any]]
) -> None:
    dialect: Any = dialect_named("windsurf")
    sent = payload(dialect.words, "pre_run_command", event("PreToolUse", tool_name=tool, tool_input=given))
    incoming = dialect.event_in("", sent, {})
    assert (incoming.native_name, incoming.data["tool_name"]) == (native_name, back[0])
    assert {key: incoming.data["tool_input"].get(key) for key in back[1]} == back[1]


@pytest.mark.parametrize("agent", AGENTS.values(), ids=lambda agent: agent.name)
def test_an_agent_whose_results_tell_of_failures_is_registered_for_them(agent: Any) -> None:
    module = importlib.import_module(f"hookline.dialects.{agent.dialect}")
    assert not hasattr(module, "tool_failure") or agent.failures == "output"
