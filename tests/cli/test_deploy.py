"""hookline deploy and undeploy, as a person types them."""

from __future__ import annotations

import json
import os

import pytest

AGENTS = ("claude-code", "codex", "gemini-cli", "letta-code", "qwen-code", "copilot-cli", "opencode")
FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/settings.json",
    "letta-code": ".letta/settings.json",
    "qwen-code": ".qwen/settings.json",
    "copilot-cli": ".copilot/hooks/hookline.json",
    "opencode": ".config/opencode/plugins/hookline.js",
}
GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\nrun = "./guard"\ntimeout = "90s"\non_failure = "deny"\n'


def tree(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.fixture(autouse=True)
def guarded(project):
    """A person's own guard: without a hook nothing is registered."""
    file = project.home / ".config/hookline/hookline.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[[hook]]\nname = "own"\non = "PreToolUse"\nshell = "true"\n')


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_is_registered_once_and_taken_out_without_a_trace(project, agent):
    before = tree(project.home)
    done = project.run("deploy", "--agent", agent)
    assert (done.code, done.err) == (0, "")
    file = project.home / FILES[agent]
    text = file.read_text()
    assert "hookline" in text
    assert agent in text
    again = project.run("deploy", "--agent", agent)
    assert "nothing to change" in again.out
    assert file.read_text() == text
    assert project.run("undeploy", "--agent", agent).code == 0
    kept = {name: data for name, data in tree(project.home).items() if not name.startswith(".local/state/")}
    assert kept == before
    assert not file.parent.exists()


def test_only_agents_that_are_here_are_registered(project):
    (project.home / ".claude").mkdir()
    (project.home / ".gemini").mkdir()
    done = project.run("deploy", "--json", PATH="/usr/bin:/bin")
    assert {row["agent"] for row in done.json["agents"]} >= {"claude-code", "gemini-cli"}
    assert all(row["changed"] for row in done.json["agents"])


def test_no_agent_at_all_is_said(project):
    done = project.run("deploy", PATH="/nowhere")
    assert done.code == 64
    assert "no agent was found" in done.err


def test_a_dry_run_prints_the_very_diff_and_writes_nothing(project):
    file = project.home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "model": "opus" // mine\n}\n')
    done = project.run("deploy", "--agent", "claude", "--dry-run")
    assert '-  "model": "opus" // mine' in done.out
    assert '+  "model": "opus", // mine' in done.out
    assert file.read_text() == '{\n  "model": "opus" // mine\n}\n'
    project.run("deploy", "--agent", "claude")
    added = [line[1:] for line in done.out.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert all(line in file.read_text().splitlines() for line in added)


def test_a_dry_run_says_of_an_agent_that_nobody_has_tried_it_here(project):
    done = project.run("deploy", "--agent", "cursor", "--dry-run")
    assert "  Cursor: by its documents, not proven here." in done.err.splitlines()


def test_a_hook_on_one_server_is_reported_where_the_agent_names_none(project):
    own = project.home / ".config/hookline/hookline.toml"
    own.write_text('[[hook]]\nname = "own"\non = "PreToolUse"\nmatch = "mcp__github__.*"\nshell = "true"\n')
    never = "Cursor does not tell which MCP server a tool belongs to, so it never runs there"
    assert never in project.run("deploy", "--agent", "cursor").err
    assert never in project.run("check").out
    assert never not in project.run("deploy", "--agent", "codex").err


def test_where_something_can_be_refused_the_registration_refuses(project):
    project.run("deploy", "--agent", "claude")
    hooks = json.loads((project.home / ".claude/settings.json").read_text())["hooks"]
    guarded, other = (hooks[event][0]["hooks"][0] for event in ("PreToolUse", "SessionStart"))
    assert "--on-failure deny || " in guarded["command"]
    assert "--on-failure" not in other["command"]
    assert (guarded["timeout"], other["timeout"]) == (600, 600)


def test_a_file_that_cannot_be_edited_is_refused_and_the_others_are_done(project):
    file = project.home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"a": }')
    done = project.run("deploy", "--agent", "claude", "--agent", "codex")
    assert done.code == 1
    assert "line 1, column 7" in done.err
    assert file.read_text() == '{"a": }'
    assert (project.home / ".codex/hooks.json").exists()


def test_the_status_tells_what_is_wrong(project):
    project.run("deploy", "--agent", "claude")
    good = project.run("deploy", "--status", "--agent", "claude")
    assert (good.code, "deployed" in good.out) == (0, True)
    project.write(".hookline/hookline.toml", GUARD.replace("PreToolUse", "Stop"))
    assert project.run("deploy", "--status", "--agent", "claude").code == 0  # what is not approved needs nothing
    project.run("trust", "--yes")
    stale = project.run("deploy", "--status", "--agent", "claude", "--json")
    assert stale.code == 1
    (user,) = (row for row in stale.json["agents"] if row["scope"] == "user")
    assert user["state"] == "drift"
    file = project.home / ".claude/settings.json"
    file.write_text(file.read_text().replace("/hookline hook", "/gone/hookline hook"))
    gone = project.run("deploy", "--status", "--agent", "claude")
    assert "does not exist" in gone.out


def test_an_event_that_would_arrive_twice_is_told(project):
    for scope in ("user", "project"):
        project.run("deploy", "--agent", "claude", "--scope", scope)
    project.run("deploy", "--agent", "copilot")
    found = project.run("deploy", "--status", "--agent", "claude", "--agent", "copilot", "--json").json["doubled"]
    assert [line.partition(" ")[0] for line in found] == ["claude-code", "copilot-cli"]


def test_only_the_named_events_are_registered(project):
    project.run("deploy", "--agent", "gemini", "--events", "BeforeTool", "Stop")
    hooks = json.loads((project.home / ".gemini/settings.json").read_text())["hooks"]
    assert set(hooks) == {"BeforeTool", "AfterAgent"}
    assert project.run("deploy", "--agent", "gemini", "--events", "Dream").code == 64


def test_a_link_out_of_the_project_is_not_followed(project):
    outside = project.home / "elsewhere.json"
    outside.write_text("{}")
    (project.path / ".claude").mkdir()
    (project.path / ".claude/settings.json").symlink_to(outside)
    done = project.run("deploy", "--agent", "claude", "--scope", "project")
    assert done.code == 1
    assert outside.read_text() == "{}"


def test_the_registered_command_answers_its_agent(project):
    import subprocess

    project.write(".hookline/hookline.toml", GUARD)
    project.write("guard", "#!/bin/sh\necho 'not today' >&2\nexit 2\n", mode=0o755)
    assert project.run("trust", "--yes").code == 0
    project.run("deploy", "--agent", "gemini")
    hooks = json.loads((project.home / ".gemini/settings.json").read_text())["hooks"]
    line = hooks["BeforeTool"][0]["hooks"][0]["command"]
    payload = {
        "hook_event_name": "BeforeTool",
        "cwd": str(project.path),
        "tool_name": "run_shell_command",
        "tool_input": {},
    }
    done = subprocess.run(
        ["/bin/sh", "-c", line], input=json.dumps(payload), capture_output=True, text=True, check=False,
        cwd=project.path, env={"PATH": "/usr/bin:/bin", "HOME": str(project.home)},
    )  # fmt: skip
    assert json.loads(done.stdout) == {"decision": "deny", "reason": "not today"}, done.stderr


CODEX = """\
#!/usr/bin/env python3
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        print(json.dumps({"id": 1, "result": {}}), flush=True)
    if asked["method"] == "hooks/list":
        path = os.environ["HOME"] + "/.codex/hooks.json"
        groups = json.load(open(path))["hooks"].items()
        hooks = [{"key": f"{path}:{event}:0:0", "currentHash": "sha256:1", "command": all_of[0]["hooks"][0]["command"]}
                 for event, all_of in groups]
        hooks.append({"key": "other", "currentHash": "sha256:2", "command": "./not-ours"})
        line = "evil; hookline hook --agent codex --event PreToolUse"
        hooks.append({"key": "/repo/.codex/hooks.json:PreToolUse:0:0", "currentHash": "sha256:3", "command": line})
        print(json.dumps({"id": 2, "result": {"data": [{"hooks": hooks}]}}), flush=True)
"""


def test_codex_is_told_of_an_approval_only_when_asked_to(project):
    config = project.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model = "gpt" # mine')
    bin_ = project.write("bin/codex", CODEX, mode=0o755).parent
    path = f"{bin_}{os.pathsep}{os.environ['PATH']}"
    project.run("deploy", "--agent", "codex", PATH=path)
    assert config.read_text() == 'model = "gpt" # mine'
    done = project.run("deploy", "--agent", "codex", "--approve", PATH=path)
    assert (done.code, done.err) == (0, "")
    text = config.read_text()
    assert text.startswith('model = "gpt" # mine\n')
    assert f'[hooks.state."{project.home}/.codex/hooks.json:PreToolUse:0:0"]\ntrusted_hash = "sha256:1"\n' in text
    assert "other" not in text
    assert "/repo" not in text  # a repository's line that looks like ours
    project.run("deploy", "--agent", "codex", "--approve", PATH=path)
    assert config.read_text() == text
    project.run("undeploy", "--agent", "codex")
    assert config.read_text() == 'model = "gpt" # mine'


CODEX_HASHED = CODEX.replace('"sha256:1"', '"sha256:" + str(all_of[0]["hooks"][0]["timeout"])')


def codex_states(project, **environ):
    rows = project.run("deploy", "--status", "--agent", "codex", "--json", **environ).json["agents"]
    return [(row["state"], len(row["findings"])) for row in rows if row["state"] != "absent"]


def test_what_hookline_approved_is_approved_again_when_it_is_deployed_again(project):
    bin_ = project.write("bin/codex", CODEX_HASHED, mode=0o755).parent
    path = f"{bin_}{os.pathsep}{os.environ['PATH']}"
    done = project.run("deploy", "--agent", "codex", "--approve", PATH=path)
    assert f"approved: {project.home}/.codex/hooks.json:PreToolUse:0:0" in done.out
    assert codex_states(project, PATH=path) == [("deployed", 0)]
    hooks = project.home / ".codex/hooks.json"
    hooks.write_text(hooks.read_text().replace('"timeout": 6', '"timeout": 5'))  # an older entry of ours
    again = project.run("deploy", "--agent", "codex", PATH=path)
    assert (again.code, again.err) == (0, "")
    assert f"approved: {project.home}/.codex/hooks.json:PreToolUse:0:0" in again.out
    assert codex_states(project, PATH=path) == [("deployed", 0)]


def test_status_says_that_codex_would_skip_what_is_not_approved(project):
    bin_ = project.write("bin/codex", CODEX_HASHED, mode=0o755).parent
    path = f"{bin_}{os.pathsep}{os.environ['PATH']}"
    project.run("deploy", "--agent", "codex", PATH=path)
    assert codex_states(project, PATH=path) == [("not approved", 1)]
    done = project.run("deploy", "--status", "--agent", "codex", PATH=path)
    assert (done.code, "hookline deploy --agent codex --scope user --approve" in done.out) == (1, True)
    assert codex_states(project, PATH="/usr/bin:/bin") == [("not approved", 1)]  # nobody to ask, and none in its file


def test_inside_an_agent_nothing_is_approved_again(project):
    bin_ = project.write("bin/codex", CODEX_HASHED, mode=0o755).parent
    path = f"{bin_}{os.pathsep}{os.environ['PATH']}"
    project.run("deploy", "--agent", "codex", "--approve", PATH=path)
    hooks = project.home / ".codex/hooks.json"
    hooks.write_text(hooks.read_text().replace('"timeout": 6', '"timeout": 5'))
    again = project.run("deploy", "--agent", "codex", PATH=path, CLAUDECODE="1")
    assert (again.code, again.out) == (1, "")
    assert codex_states(project, PATH=path) == [("drift", 2)]


def test_an_approval_that_cannot_be_written_is_said(project):
    done = project.run("deploy", "--agent", "codex", "--approve", PATH="/usr/bin:/bin")
    assert done.code == 78
    assert "/hooks" in done.err


def test_the_events_that_were_asked_for_stay_the_ones_that_are_looked_at(project):
    project.run("deploy", "--agent", "claude", "--events", "PreToolUse", PATH="/usr/bin:/bin")
    assert project.run("deploy", "--status", "--agent", "claude", PATH="/usr/bin:/bin").code == 0
    project.run("deploy", "--agent", "claude", PATH="/usr/bin:/bin")
    hooks = json.loads((project.home / ".claude/settings.json").read_text())["hooks"]
    assert set(hooks) == {"PreToolUse", "SessionStart"}


def test_deploying_for_the_user_from_one_project_keeps_what_guards_another(project):
    project.write(".hookline/hookline.toml", '[[hook]]\nname = "log"\non = "PostToolUse"\nshell = "true"\n')
    project.run("trust", "--yes")
    project.run("deploy", "--agent", "claude", PATH="/usr/bin:/bin")
    file = project.home / ".claude/settings.json"
    text = file.read_text()
    assert "--event PostToolUse" in text
    other = project.path.parent / "other"
    (other / ".git").mkdir(parents=True)
    assert project.run("deploy", "--status", "--agent", "claude", cwd=other, PATH="/usr/bin:/bin").code == 0
    project.run("deploy", "--agent", "claude", cwd=other, PATH="/usr/bin:/bin")
    assert file.read_text() == text
    project.write(".hookline/hookline.toml", "")
    project.run("trust", "--yes")
    project.run("deploy", "--agent", "claude", cwd=other, PATH="/usr/bin:/bin")
    assert "--event PostToolUse" not in file.read_text()


def test_hookline_inside_codex_own_configuration_is_not_registered_twice(project):
    config = project.home / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "/x/hookline hook --agent codex --event Stop"\n')
    done = project.run("deploy", "--agent", "codex", PATH="/usr/bin:/bin")
    assert done.code == 1
    assert f"already calls hookline from {config}" in done.err
    assert not (project.home / ".codex/hooks.json").exists()


def test_what_cannot_be_loaded_is_said_when_it_is_deployed(project):
    own = project.home / ".config/hookline/hookline.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text('[[hook]]\nname = "guard"\non = "PreToolUs"\nrun = "x"\n')
    done = project.run("deploy", "--agent", "claude", PATH="/usr/bin:/bin")
    assert done.code == 0
    assert "PreToolUs" in done.err


def test_lazy_harness_hooks_by_name_are_registered_and_run(project):
    config = project.home / ".config/lazy-harness"
    (config / "hooks").mkdir(parents=True)
    (config / "config.toml").write_text(
        '[harness]\nversion = "1"\n[hooks.session_start]\nscripts = ["context-inject"]\n'
        '[hooks.pre_tool_use]\nscripts = ["guard"]\n[hooks.notification]\nscripts = ["guard"]\n'
    )
    (config / "hooks/guard.py").write_text("import sys\nprint('not like that', file=sys.stderr)\nsys.exit(2)\n")
    project.run("deploy", "--agent", "claude", PATH="/usr/bin:/bin")
    hooks = json.loads((project.home / ".claude/settings.json").read_text())["hooks"]
    assert {"SessionStart", "PreToolUse", "Notification"} <= set(hooks)
    payload = {"session_id": "s", "cwd": str(project.path), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    done = project.run("hook", "--agent", "claude-code", "--event", "PreToolUse", stdin=json.dumps(payload))
    assert "not like that" in done.out


def test_a_pipe_in_the_place_of_a_file_is_refused(project):
    (project.home / ".claude").mkdir()
    os.mkfifo(project.home / ".claude/settings.json")
    done = project.run("deploy", "--agent", "claude", PATH="/usr/bin:/bin")
    assert done.code == 1
    assert "is not a regular file" in done.err


def test_that_no_agent_is_here_is_a_status_and_no_mistake(project):
    told = project.run("deploy", "--status", PATH="/usr/bin:/bin")
    assert (told.code, told.out.startswith("No agent was found, so nothing is registered.")) == (0, True)
    assert project.run("deploy", "--status", "--json", PATH="/usr/bin:/bin").json == {"agents": [], "doubled": []}
    assert project.run("deploy", PATH="/usr/bin:/bin").code == 64


def test_undeploy_says_with_which_agent_nothing_was_registered(project):
    assert project.run("undeploy", "--agent", "codex").out == (
        "hookline is not registered with codex. What is: hookline deploy --status\n"
    )


@pytest.mark.parametrize(("agent", "scope", "has"), [("kimi", "project", "user"), ("codex", "local", "user, project")])
def test_a_scope_that_an_agent_does_not_have_names_those_it_has(project, agent, scope, has):
    done = project.run("deploy", "--agent", agent, "--scope", scope)
    assert done.code == 64
    assert done.err.endswith(f"has no {scope} scope; it has: {has}\n")
