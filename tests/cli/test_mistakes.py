"""The mistakes people make in their first guard: each is called out wherever they look, or guards all the same."""

from __future__ import annotations

import json

import pytest

DENY = "#!/bin/sh\necho no >&2\nexit 2\n"
HOOK = '[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "Bash"\nrun = "./guard.sh"\non_failure = "deny"\n'
CALL = {"tool_name": "Bash", "tool_input": {"command": "rm -rf x"}}


def write(project, hook: str = HOOK, script: bytes = DENY.encode(), mode: int = 0o755) -> None:
    project.write(".hookline/hookline.toml", hook)
    (project.path / "guard.sh").write_bytes(script)
    (project.path / "guard.sh").chmod(mode)


@pytest.mark.parametrize(
    ("hook", "script", "told"),
    [
        (HOOK.replace('"Bash"', '"rm -rf"'), DENY, "looks like a command"),
        (HOOK.replace('"Bash"', '"run_shell_command"'), DENY, "a name that only some agents use"),
        (HOOK.replace('"./guard.sh"', '"guard.sh"'), DENY, "write './guard.sh', which is a file here"),
        (HOOK, DENY.replace("\n", "\r\n"), "has lines that end with CRLF"),
        (HOOK, "\ufeff" + DENY, "begins with a byte order mark"),
        (HOOK + 'mode = "background"\n', DENY, "comes too late to refuse"),
        (HOOK + "timeout = 5000\n", DENY, 'write timeout = "5000ms"'),
    ],
)
def test_a_guard_that_cannot_guard_is_called_out_by_every_command(project, hook, script, told):
    write(project, hook, script.encode())
    checked, trusted, listed = (project.run(*words) for words in (("check",), ("trust", "--yes"), ("list",)))
    doctor = project.run("doctor", "--json", PATH="/usr/bin:/bin").json
    found = " ".join(f"{one['text']} {one['next']}" for one in doctor["hookline"])
    assert [told in text for text in (checked.out, trusted.err, listed.err, found)] == [True] * 4
    assert told in project.run("deploy", "--agent", "claude", "--dry-run").err


@pytest.mark.parametrize(
    "hook", [HOOK.replace("PreToolUse", "PreTooluse"), HOOK.replace('"deny"', '"block"'), HOOK + 'timeout = "2 sec"\n']
)
def test_a_file_of_which_no_hook_can_be_read_is_not_approved(project, hook):
    write(project, hook)
    done = project.run("trust", "--yes")
    assert (done.code, done.out) == (1, "")
    assert "Correct the file first; all problems: hookline check" in done.err
    assert project.run("list").out == "No hook could be read here. What is wrong: hookline check\n"


def test_what_could_not_be_approved_is_named(project):
    write(project, HOOK + HOOK.replace('"guard"', '"other"').replace("PreToolUse", "PreTooluse"))
    done = project.run("trust", "--yes")
    assert (done.code, "Approved 1 hook." in done.out) == (0, True)
    assert "has errors, and is approved as far as it can be read. Correct it: hookline check" in done.err


@pytest.mark.parametrize(
    ("printed", "error"),
    [
        ("blocked: no rm", "it printed blocked: no rm and exited with 0"),
        ('{"effect": "deny"}\ndone', "other text follows its answer on stdout"),
        ("{'effect': 'deny'}", "stdout starts like JSON and is not"),
    ],
)
def test_an_answer_that_looks_like_a_refusal_is_no_allow(project, printed, error):
    write(project, script=f"#!/bin/sh\ncat <<'END'\n{printed}\nEND\n".encode())
    project.run("trust", "--yes")
    fired = project.fire("PreToolUse", CALL)
    assert (fired.json["effect"], error in fired.json["reason"]) == ("deny", True)


def test_text_of_a_guard_that_nobody_reads_is_pointed_out(project):
    write(project, script=b"#!/bin/sh\necho please do not\n")
    project.run("trust", "--yes")
    fired = project.fire("PreToolUse", CALL)
    assert fired.json["effect"] == "allow"
    assert "what guard printed has no effect; to refuse, exit with 2" in fired.err
    project.write(".hookline/hookline.toml", HOOK + 'inject = "context"\n')
    project.run("trust", "--yes")
    assert "has no effect" not in project.fire("PreToolUse", CALL).err


def test_what_agents_send_is_refused_though_the_script_has_windows_lines(project):
    write(project, script=DENY.replace("\n", "\r\n").encode())
    project.run("trust", "--yes")
    payload = {"hook_event_name": "PreToolUse", "cwd": str(project.path), "session_id": "s", **CALL}
    done = project.run("hook", "--agent", "claude", "--cold", stdin=json.dumps(payload))
    assert "its lines end with CRLF; save it with LF" in done.json["hookSpecificOutput"]["permissionDecisionReason"]
