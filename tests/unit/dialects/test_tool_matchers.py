"""A matcher keeps its meaning when a hook is converted for an agent that names its tools otherwise."""

from __future__ import annotations

import pytest

from hookline.core.hook import Command, HookSpec, Matcher, Origin, Pattern
from hookline.dialects.tool_matchers import translate_tools


def spec_for(subject: Pattern, *, event: str = "PreToolUse", dialect: str = "claude") -> HookSpec:
    return HookSpec(
        id="1", name="n", dialect=dialect, event=event, origin=Origin(file="f"), matcher=Matcher(subject=subject),
        action=Command(form="shell", text="true"),
    )  # fmt: skip


def names(*options: str) -> Pattern:
    return Pattern(style="exact", options=options)


@pytest.mark.parametrize(
    ("subject", "dialect", "expected"),
    [
        (names("Bash"), "gemini", names("run_shell_command")),
        (names("Edit", "Write"), "copilot", names("edit", "create")),
        (names("Bash"), "codex", names("Bash")),
        (names("run_shell_command"), "claude", names("Bash")),
        (names("run_shell_command", "bash"), "native", names("Bash")),
        (names("replace"), "qwen", names("edit")),
        (Pattern(style="full", text="Bash|Read"), "gemini", names("run_shell_command", "read_file")),
        (names("MyTool"), "gemini", names("MyTool")),
        (Pattern(style="search", text="^Ed"), "gemini", Pattern(style="search", text="(?:^Ed)|^replace$")),
        (Pattern(style="full", text="B.*"), "gemini", Pattern(style="full", text="(?:B.*)|run_shell_command")),
        (Pattern(), "gemini", Pattern()),
    ],
)  # fmt: skip
def test_tools_get_the_names_of_the_agent(subject: Pattern, dialect: str, expected: Pattern) -> None:
    spec, lost = translate_tools(spec_for(subject, dialect="gemini" if dialect == "claude" else "claude"), dialect)
    assert (spec.matcher.subject, lost) == (expected, ())


def test_a_tool_that_the_agent_is_not_known_to_have_is_a_loss() -> None:
    assert translate_tools(spec_for(names("NotebookEdit")), "gemini")[1] == ("NotebookEdit",)
    assert translate_tools(spec_for(names("Glob")), "cursor")[1] == ("Glob",)
    assert translate_tools(spec_for(Pattern(style="search", text="mcp__.*")), "copilot")[1] == ("mcp__",)


@pytest.mark.parametrize(
    ("subject", "source", "target", "expected"),
    [
        (names("mcp__memory__create"), "claude", "gemini", names("mcp_memory_create")),
        (names("mcp__memory__create"), "claude", "copilot", names("memory-create")),
        (names("mcp__memory__create"), "claude", "cursor", names("MCP:create")),
        (Pattern(style="full", text="mcp__memory(?:__.*)?"), "claude", "gemini", Pattern(style="full", text="mcp_memory_.*")),
        (Pattern(style="search", text="mcp__git.*__push"), "claude", "grok", Pattern(style="search", text="(?:mcp__git.*__push)|git.*__push")),
        (Pattern(style="search", text="mcp_github_.*"), "gemini", "claude", Pattern(style="search", text="(?:mcp_github_.*)|mcp__github__.*")),
        (Pattern(style="search", text="mcp__(a|b)__.*"), "claude", "gemini", Pattern(style="search", text="(?:mcp__(a|b)__.*)|mcp_(a|b)_.*")),
        (Pattern(style="search", text="^mcp__.*"), "claude", "gemini", Pattern(style="search", text="(?:^mcp__.*)|^mcp_.*")),
        (names("MCP:create_issue"), "cursor", "claude", Pattern(style="full", text="mcp__.*__create_issue")),
        (Pattern(style="search", text="run_shell_command|write_file"), "gemini", "codex", names("Bash", "Write")),
        (Pattern(style="search", text="write_.*|replace"), "gemini", "claude", Pattern(style="search", text="(?:write_.*|replace)|^Write$|^Edit$")),
        (names("search_replace"), "grok", "claude", names("Write", "Edit")),
        (names("Write"), "cursor", "gemini", names("write_file", "replace")),
    ],
)  # fmt: skip
def test_between_agents_a_matcher_means_the_same_tools(
    subject: Pattern, source: str, target: str, expected: Pattern
) -> None:
    spec, lost = translate_tools(spec_for(subject, dialect=source), target)
    assert (spec.matcher.subject, lost) == (expected, ())


def test_a_matcher_on_something_else_stays_as_it_is() -> None:
    spec = spec_for(names("startup"), event="SessionStart")
    assert translate_tools(spec, "gemini") == (spec, ())
