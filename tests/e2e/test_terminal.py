"""What agents do at a terminal, tried at one: a person types, and reads the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.e2e import install
from tests.e2e.agents import PROMPT, TERMINAL_ONLY, node
from tests.e2e.results import proves
from tests.e2e.test_real_agents import CONTEXT, ONCE_MORE, STOPPER
from tests.e2e.world import World

AGAIN = "SECOND-ANSWER"


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """How an agent is used at a terminal."""

    #: What is on the screen when it takes a prompt, and when it has taken the text of one ("" where that is in pieces).
    ready: str
    typed: str = PROMPT
    #: What it asks before, and the answer.
    first: tuple[tuple[str, str], ...] = ()
    #: What it draws as a whole after the second answer.
    again: str = AGAIN
    leave: str = "/exit\r"
    #: The words of its command line after the program's name.
    words: tuple[str, ...] = ()
    #: File below home -> what it remembers of its first use, which asks for its own service.
    files: Mapping[str, str] = field(default_factory=dict)


TERMINALS = {
    "claude-code": Terminal(
        ready="shift+tab", words=("--allowedTools", "Bash"),
        files={".claude.json": """{"hasCompletedOnboarding": true, "theme": "dark",
            "customApiKeyResponses": {"approved": ["test"]}, "projects": {"{project}": {"hasTrustDialogAccepted": true}}}"""},
    ),
    "codex": Terminal(ready="Ask Codex", leave="/quit\r"),
    "gemini-cli": Terminal(
        ready="Type your message", leave="/quit\r", words=("--approval-mode", "yolo", "-m", "gemini-2.5-flash")
    ),
    "letta-code": Terminal(
        ready="· scripted",
        words=("--backend", "local", "--new-agent", "-m", "openai-compatible/scripted", "--toolset", "default", "--yolo"),
    ),
    "qwen-code": Terminal(ready="Type your message", leave="/quit\r", words=("--approval-mode", "yolo")),
    # It draws words in pieces.
    "copilot-cli": Terminal(
        ready="/ commands", typed="@ files", first=(("Do you trust", "\r"),), again="ONE-THING-MORE",
        words=("--allow-all-tools",),
    ),
    "opencode": Terminal(ready="Ask anything"),
    "droid": Terminal(ready="? for help"),
    "kimi-code": Terminal(ready="No session yet", first=(("Trust this folder?", "\r"),), words=("--yolo",)),
    "grok-build": Terminal(ready="always-approve", typed="Enter:send", words=("-m", "fake", "--always-approve")),
    "hermes": Terminal(ready="YOLO", words=("chat", "--yolo")),
    "deepagents": Terminal(ready="openai:scripted", typed="COPY", leave="/quit\r", words=("-M", "openai:scripted", "--no-mcp", "-S", "all")),
    "pi": Terminal(ready="(auto)", leave="/quit\r", words=("--model", "fake/scripted")),
    "cline": Terminal(ready="Auto-approve", typed="", first=(("Try ClinePass", " "),), words=("-i",)),
}  # fmt: skip


def command_line(world: World) -> list[list[str]]:
    """What is run before, and the agent at the terminal."""
    program = str(install.program(world.agent.package))
    *before, _headless = world.agent.runs(program, False)
    start = [node(), program] if install.PACKAGES[world.agent.package].node else [program]
    return [*before, [*start, *TERMINALS[world.agent.name].words]]


def missing(world: World) -> dict[str, str]:
    """What does not reach the model from an agent at a terminal either, and why."""
    lacks = world.agent.lacks
    reasons = {
        "MORNING": lacks.get("session context", ""), "PROMPT": lacks.get("prompt context", ""),
        "RESULT": lacks.get("result context", ""), "THING-MORE": world.agent.no_continuation,
    }  # fmt: skip
    return {word: why for word, why in reasons.items() if why and not why.endswith(TERMINAL_ONLY)}


@proves("terminal")
def test_at_a_terminal_an_agent_takes_context_and_is_sent_on_once(world: World) -> None:
    how, lacking = TERMINALS[world.agent.name], missing(world)
    for name, text in how.files.items():
        (world.home / name).write_text(text.replace("{project}", str(world.project)), encoding="utf-8")
    world.write("hooks/once.sh", STOPPER)
    world.hooks(CONTEXT + ONCE_MORE)
    ends = "THING-MORE" in lacking
    # The first answer is not taken for the last: the hook asks for one thing more, or the title of the session is it.
    last = AGAIN if ends else how.again
    keys = [*how.first, (how.ready, PROMPT), (how.typed, "\r"), (last, how.leave)]
    answer = {"text": AGAIN, "match": world.call()["match"] if ends else "ONE-THING-MORE", "repeat": True}
    session = world.play(command_line(world), [world.call(), answer], {}, keys)
    assert world.lines("proof.txt") == ["hello"], session
    for text in ("NOTE-OF-THE-MORNING", "NOTE-ON-THE-PROMPT", "NOTE-ON-THE-RESULT", "ONE-THING-MORE"):
        expected = not any(word in text for word in lacking)
        assert session.reached_the_model(text) == expected, f"{text}: {session}"
    assert {"SessionStart", "UserPromptSubmit", "Stop"} <= {one["event"] for one in world.log()}
    why = [reason for word, reason in lacking.items() if word != "RESULT"]
    if why:
        world.lacks("terminal", "; ".join(dict.fromkeys(why)))
