"""hookline convert: what the other dialect cannot say is reported, hook by hook; nothing is lost silently."""

from __future__ import annotations

import json
import re

import yaml

NATIVE = """
[[hook]]
name = "off"
on = "PreToolUse"
run = "/bin/a"
enabled = false

[[hook]]
name = "shell"
on = "PreToolUse"
shell = "true"

[[hook]]
name = "bash only"
on = "PreToolUse"
match = "Bash"
run = "/bin/a"

[[hook]]
name = "a comma in its path"
on = "PreToolUse"
run = ["/bin/a,b"]

[[hook]]
name = "aborts"
on = "PreToolUse"
run = "/bin/a"
on_failure = "abort"
after_deny = "continue"

[[hook]]
name = "environment"
on = "PreToolUse"
run = "/bin/a"
env = { A = "b" }

[[hook]]
name = "fifth turn"
on = "UserPromptSubmit"
run = "/bin/a"
inject = "context"
prefix = "note"
order = 3
on_failure = "deny"
when = { every_n_turns = 5 }

[[hook]]
name = "detached"
on = "PostToolUse"
run = "/bin/a"
mode = "detached"

[[hook]]
name = "a=b"
on = "Stop"
plugin = "./p"
"""

AGENTS = """
[[hook]]
name = "scribe"
on = "Stop"
agent = { prompt = "Write it down." }

[[hook]]
name = "one, two"
on = "Stop"
agent = { prompt = "Write it down." }

[[hook]]
name = "no phase"
on = "PreToolUse"
agent = { prompt = "Look." }

[[hook]]
name = "like a path"
on = "Stop"
agent = { prompt = "prompts/look.md" }

[[hook]]
name = "like a comment"
on = "Stop"
agent = { prompt = "One.\\n# Two." }

[[hook]]
name = "silent"
on = "UserPromptSubmit"
agent = { prompt = "Look." }
order = 2
env = { A = "b" }
when = { message_contains = ["a, b"] }
"""

LECTIC = """
hooks:
  - on: tool_use_pre
    do: ./guard
interlocutors:
  - name: Ada
    prompt: x
    hooks:
      - on: [assistant_final, user_message]
        do: echo hello
"""


def convert(project, source, target, text):
    """What is written, and of each hook what is lost, without the fix."""
    project.write("hooks", text)
    done = project.run("convert", "--from", source, "--to", target, "hooks")
    assert done.code == 1
    lost = re.findall(r"^lost: .*?: \$\S+: (?:hook )?(.*?): (.*);", done.err, re.MULTILINE)
    return done.out, {name: [what for other, what in lost if other == name] for name, _ in lost}


def test_lash_is_given_executables_without_conditions(project):
    written, lost = convert(project, "native", "lash", NATIVE)
    other = "it was written for native and will be called as a lash hook"
    executable = "lash runs an executable without arguments, and nothing else"
    conditions = "conditions beyond the name of the event: not supported by lash"
    assert lost == {
        "off": ["lash cannot write a hook that is turned off", other],
        "shell": [executable, other],
        "bash only": [conditions, other],
        "a comma in its path": ["this path cannot be written in a line of lash", other],
        "aborts": [other, "lash cannot abort a run; it will deny"],
        "environment": [other, "lash sets no environment for a hook"],
        "fifth turn": [conditions, other, "lash has no place for a hook's text"],
        "detached": [other, "lash's observers are not detached"],
        "a=b": ["this name cannot be written in plugins.conf", other],
    }
    assert written == (
        "[hooks]\n"
        "PreToolUse = blocking(on_error=deny, timeout=60s):/bin/a, blocking(on_error=deny, timeout=60s):/bin/a\n"
        "PostToolUse = observe:/bin/a\n"
    )


def test_lectic_is_given_commands_and_no_hook_that_was_turned_off(project):
    written, lost = convert(project, "native", "lectic", NATIVE)
    assert [hook["name"] for hook in yaml.safe_load(written)["hooks"]] == [
        "shell", "bash only", "a comma in its path", "aborts", "environment", "fifth turn", "detached",
    ]  # fmt: skip
    assert lost["off"][-1] == "being turned off: not supported by Lectic, so the hook is left out"
    assert lost["a=b"][-1] == "its action: not supported by Lectic, so the hook is left out"
    assert lost["bash only"][1] == "matcher: not supported by Lectic"
    assert lost["aborts"][2:] == [
        "on_failure = abort: not supported by Lectic before a tool",
        "running later hooks after a refusal: not supported by Lectic",
    ]
    assert lost["fifth turn"][1:] == [
        "when conditions: not supported by Lectic",
        "order: not supported by Lectic",
        "a timeout of 60.0 seconds: not supported by Lectic",
        "output as context: not supported by Lectic",
        "prefix: not supported by Lectic",
        "on_failure = deny: supported by Lectic before a tool only",
    ]


def test_memex_is_given_agents_that_its_file_can_hold(project):
    written, lost = convert(project, "native", "memex", AGENTS)
    assert written.startswith("[HOOKS]\npost_turn = scribe\n\n[HOOK.scribe]\nprompt = Write it down.\n")
    assert {name: what[0] for name, what in lost.items()} == {
        "scribe": "its mode, after_deny: not supported by memex",
        "one, two": "the name cannot stand in a list",
        "no phase": "memex has no phase for PreToolUse",
        "like a path": "the prompt would be read as the name of a file",
        "like a comment": "the prompt has lines that an INI file cannot hold",
        "silent": "a silent hook does not run in pre_turn",
    }
    assert lost["silent"][1:] == [
        "a text of message_contains has a comma, quotes or outer blanks",
        "an environment, after_deny, a separate order: not supported by memex",
    ]


def test_our_own_file_says_what_of_lectic_it_cannot_say(project):
    written, lost = convert(project, "lectic", "native", LECTIC)
    formats = "it uses the input and output format of lectic"
    ada = "it listens to one interlocutor only (Ada)"
    assert lost == {
        "./guard": [formats],
        "echo hello": [ada, "it has a phase of its own", formats, ada, formats, "its name is used by another hook"],
    }
    assert re.findall('name = "(.*)"', written) == ["./guard", "echo hello", "echo hello-2"]


def test_tools_are_called_as_the_other_agent_calls_them(project):
    project.write(
        "hooks",
        '{"hooks": {"PreToolUse": [{"matcher": "Bash|NotebookEdit", "hooks": [{"type": "command", "command": "x"}]}]}}',
    )
    done = project.run("convert", "--from", "claude", "--to", "gemini", "hooks")
    assert '"matcher": "run_shell_command|NotebookEdit"' in done.out
    assert "'x': the tool NotebookEdit: hookline does not know what gemini calls it" in done.err


def test_a_matcher_on_one_server_is_wider_where_servers_are_not_told_apart(project):
    group = {"matcher": "mcp__github__.*", "hooks": [{"type": "command", "command": "x"}]}
    project.write("hooks", json.dumps({"hooks": {"PreToolUse": [group]}}))
    done = project.run("convert", "--from", "claude", "--to", "cursor", "hooks")
    assert "'x': Cursor does not tell which MCP server a tool belongs to: it runs for all of them" in done.err
    assert "MCP server" not in project.run("convert", "--from", "claude", "--to", "codex", "hooks").err


def test_an_agent_with_plugins_is_given_hooks_by_deploy(project):
    project.write("hooks", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}')
    done = project.run("convert", "--from", "claude-code", "--to", "pi", "hooks")
    assert (done.code, "hookline deploy --move claude-code=pi" in done.err) == (64, True)


def test_the_tests_of_fields_are_written_as_they_were_meant(project):
    guard, other = {"type": "command", "command": "x", "if": "Bash(git push *)"}, {"type": "command", "command": "y"}
    tree = {"hooks": {"PreToolUse": [{"hooks": [guard]}], "PostToolUseFailure": [{"hooks": [other]}]}}
    project.write("hooks", json.dumps(tree))
    written = project.run("convert", "--from", "claude", "--to", "native", "hooks").out
    assert 'match = { tool_name = "Bash", "tool_input.command" = { command = "git push *" } }' in written
    assert 'match = { "tool_error.type" = { not = "blocked" } }' in written
    project.write("again.toml", written)
    assert project.run("check", "again.toml").code == 0
    for command, ran in (("cd x; git push", ["x"]), ("git pull", [])):
        data = {"tool_name": "Bash", "tool_input": {"command": command}}
        done = project.fire("PreToolUse", data, "--config", "again.toml")
        assert [one["hook"] for one in done.json["outcomes"]] == ran


def test_a_file_of_claude_code_loses_nothing_in_ours(project):
    deny = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}
    script = f"""#!/bin/sh
grep -q '"hook_event_name":"PreToolUse"' || exit 1
test -n "$CLAUDE_PROJECT_DIR" || exit 1
echo '{json.dumps(deny)}'
"""
    project.write("guard.sh", script, mode=0o755)
    hooks = {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "[[ 1 ]] && ./guard.sh", "if": "Bash(rm *)"}]}
        ],
        "PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "true", "async": True}]}],
        "PostToolUseFailure": [{"hooks": [{"type": "command", "command": "true", "timeout": 5}]}],
        "Stop": [{"hooks": [{"type": "prompt", "prompt": "Done?"}]}],
        "SessionStart": [
            {"hooks": [{"type": "http", "url": "http://localhost/", "headers": {"A": "$T"}, "allowedEnvVars": ["T"]}]}
        ],
    }
    project.write("settings.json", json.dumps({"hooks": hooks}))
    done = project.run("convert", "--from", "claude", "--to", "native", "settings.json", "-o", "ours.toml")
    assert (done.code, done.err) == (0, "")
    assert project.run("check", "ours.toml").code == 0
    for command, effect in (("cd x && rm -rf y", "deny"), ("ls", "allow")):
        data = {"tool_name": "Bash", "tool_input": {"command": command}}
        assert project.fire("PreToolUse", data, "--config", "ours.toml").json["effect"] == effect
