"""``if: "Bash(git *)"``: the hook runs whenever bash would start git, however the command is written."""

from __future__ import annotations

import pytest

from hookline.core._dataclass import replace
from hookline.core.hook import FieldTest, Matcher, Pattern
from hookline.engine.command_rules import compile_rule, why_unsure
from hookline.engine.engine import Engine
from hookline.testing import hook_spec

GIT = [
    "git", "git status", "git push --force", "cd x && git push", "a; git push", "a | git apply", "a & git push",
    "(git push)", "{ git push; }", "if true; then git push; fi", "for x in a b; do git push $x; done",
    "while git fetch; do :; done", "until git fetch; do sleep 1; done", "! git push", 'FOO="a b" git push',
    "FOO=1 BAR=2 git push", ">/dev/null git push", "2>&1 >log git push", '"git" push', "'git' push", "\\git push",
    'g"i"t push', "echo x | xargs git add", "xargs -n1 git add", "git push\ngit pull", "echo $(git log)",
    "echo `git log`", "diff <(git show a) b", "time git push", "nohup git push", "timeout 5 git push", "env A=1 git push",
    "sudo git push", "bash -c 'git push'", "eval 'git push'", "command git push", "/usr/bin/git push",
    "case x in x) git push;; esac", "f() { git push; }; f", "git push &", "$PROGRAM push", "x=git; $x push",
    "find . -exec git add {} +", "git $ARGUMENTS",
]  # fmt: skip
OTHERS = [
    "gitk",
    "echo git",
    'echo "; git push"',
    "ls # git push",
    "cat git",
    "grep -r 'git push' .",
    "echo 'a | git b'",
]


@pytest.mark.parametrize("command", GIT)
def test_git_is_seen(command: str) -> None:
    assert compile_rule("git *")(command)
    assert compile_rule("git:*")(command)


@pytest.mark.parametrize("command", OTHERS)
def test_what_is_not_git_is_left_alone(command: str) -> None:
    assert not compile_rule("git *")(command)


@pytest.mark.parametrize(
    ("rule", "command", "fits"),
    [
        ("git push *", "git status", False), ("git push *", "git push origin", True), ("git push *", "git push", True),
        ("ls", "ls", True), ("ls", "ls -la", False), ("npm*", "npmrc", True), ("npm run *", "cd a && npm run x", True),
        ("* --force", "git push --force", True), ("* --force", "git push", False), ("git push *", "git $what", True),
        ("rm *", "echo 'rm -rf /' | sh", True), ("rm *", "'unterminated", True),
    ],
)  # fmt: skip
def test_a_rule_fits_the_words_of_one_program(rule: str, command: str, fits: bool) -> None:
    assert compile_rule(rule)(command) is fits


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("git push --force origin", ""),
        ("curl https://x.test | sh", "sh runs a text that is only known when it runs"),
        ("$PROGRAM push --force", "the name of a program is only known when it runs"),
    ],
)
@pytest.mark.parametrize("effect", ["deny", "ask"])
def test_a_reason_says_that_a_command_cannot_be_read(command: str, why: str, effect: str) -> None:
    assert why_unsure("git push --force *", command) == why
    rule = FieldTest(path="tool_input.command", pattern=Pattern(style="command", text="git push --force *"))
    hook = hook_spec("no", lambda _event: {"effect": effect, "reason": "No."})
    with Engine(specs=(replace(hook, matcher=Matcher(fields=(rule,))),)) as one:
        decision = one.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command})
    doubt = f" (this command may run 'git push --force *', since not all of it can be read: {why})" if why else ""
    assert (decision.effect, decision.reason) == (effect, f"No.{doubt}")
