"""A long session is compacted: what was said at its start is said again, where the agent lets anybody say it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.e2e import install
from tests.e2e.agents import PROMPT, node
from tests.e2e.results import proves
from tests.e2e.world import Session, World

MORNING = r"""
[[hook]]
name = "morning"
on = "SessionStart"
shell = '''echo "NOTE-AT-$(sed -n 's/.*"source": *"\([a-z]*\)".*/\1/p')" '''
inject = "context"
"""
SECOND_PROMPT = "And now the second prompt"


@dataclass(frozen=True, kw_only=True)
class Compaction:
    """How the agent is brought to compact: it is told that its request had so many tokens."""

    #: In the request for the summary, and in no other.
    asks: str = "summar"
    summary: str = "<summary>THE-SUMMARY</summary>"
    #: The tokens of its first requests.
    tokens: int = 970000
    requests: int = 1
    #: Calls of a tool with a long output before the first answer: it keeps what fits into a part of its window.
    calls: int = 0
    environ: dict[str, str] = field(default_factory=dict)
    #: File below home -> what to write before what is in it, or into it.
    files: dict[str, str] = field(default_factory=dict)
    #: The command line and what is typed, where it compacts between two prompts only.
    runs: Callable[[World], tuple[list[list[str]], list[tuple[str, str]] | None]] | None = None


def _gemini(world: World) -> tuple[list[list[str]], list[tuple[str, str]]]:
    words = ["--approval-mode", "yolo", "-m", "gemini-2.5-flash"]
    keys = [
        ("Type your message", PROMPT), (PROMPT, "\r"), ("FIRST-ANSWER", "/compress"), ("/compress", "\r"),
        ("compressed from", SECOND_PROMPT), (SECOND_PROMPT, "\r"), ("All done.", "/quit\r"),
    ]  # fmt: skip
    return [[node(), _program(world), *words]], keys


def _letta(world: World) -> tuple[list[list[str]], list[tuple[str, str]]]:
    connect, headless = world.agent.runs(_program(world), False)
    typed = [node(), *(word for word in headless[1:] if word not in {"-p", PROMPT})]
    keys = [("· scripted", f"{PROMPT}\r"), ("FIRST-ANSWER", f"{SECOND_PROMPT}\r"), ("All done.", "/exit\r")]
    return [connect, typed], keys


def _cline(world: World) -> tuple[list[list[str]], list[tuple[str, str]]]:
    keys = [
        ("Try ClinePass", " "), ("FIRST-ANSWER", f"{PROMPT}\r"), ("All done.", "/compact\r"), ("pacted (manual)", f"{SECOND_PROMPT}\r"),
        ("All done.", "/exit\r"),
    ]  # fmt: skip
    return [[_program(world), "-i", PROMPT]], keys


def _deepagents(world: World) -> tuple[list[list[str]], list[tuple[str, str]]]:
    words = ["-M", "openai:scripted", "--profile-override", '{"max_input_tokens": 20000}', "--no-mcp", "-S", "all"]
    keys = [("FIRST-ANSWER", "/offload\r"), ("Offloaded", f"{SECOND_PROMPT}\r"), ("All done.", "/quit\r")]
    return [[_program(world), *words, "-m", PROMPT]], keys


def _pi(world: World) -> tuple[list[list[str]], None]:
    return [[*world.agent.runs(_program(world), False)[-1], SECOND_PROMPT]], None


def _hermes(world: World) -> tuple[list[list[str]], None]:
    """It keeps the last prompt and what came after it, so what it compacts is of an earlier one."""
    run = world.agent.runs(_program(world), False)[-1]
    return [run, [*(SECOND_PROMPT if word == PROMPT else word for word in run), *world.agent.resume]], None


def _program(world: World) -> str:
    return str(install.program(world.agent.package))


COMPACTIONS = {
    # It counts from its second answer on.
    "claude-code": Compaction(asks="<summary>", requests=2, environ={"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}),
    "codex": Compaction(asks="CONTEXT CHECKPOINT COMPACTION", files={".codex/config.toml": "model_auto_compact_token_limit = 1000\n"}),
    "gemini-cli": Compaction(asks="CURRENT FOCUS", summary="<state_snapshot>THE-SUMMARY</state_snapshot>", runs=_gemini),
    "letta-code": Compaction(asks="Generate the summary", runs=_letta),
    "qwen-code": Compaction(
        asks="produce the <state_snapshot> XML", summary="<state_snapshot>THE-SUMMARY</state_snapshot>", tokens=176000
    ),
    "copilot-cli": Compaction(asks="respond only with the summary text"),
    "opencode": Compaction(asks="Do not mention the summary process"),
    "droid": Compaction(asks="wrap your final summary in <summary>"),
    "kimi-code": Compaction(asks="you already have everything you"),
    "grok-build": Compaction(
        asks="produce your summary from the conversation text only", summary=f"<summary>{'THE-SUMMARY ' * 60}</summary>"
    ),
    "hermes": Compaction(
        asks="You are a summarization agent", runs=_hermes,
        files={".hermes/config.yaml": "compression: {protect_last_n: 1, protect_first_n: 0}\n"},
    ),
    "deepagents": Compaction(asks="Context Extraction Assistant", tokens=12000, calls=8, runs=_deepagents),
    "pi": Compaction(
        files={".pi/agent/settings.json": json.dumps({"compaction": {"reserveTokens": 1000, "keepRecentTokens": 1}})},
        runs=_pi,
    ),
    "cline": Compaction(asks="Summarize this session", runs=_cline),
}  # fmt: skip


def steps(world: World, way: Compaction) -> list[dict[str, Any]]:
    """Two calls of a tool, or two prompts, and a summary between them."""
    much = {"usage": {"input": way.tokens, "output": 10}, "unless": way.asks}
    summary = {"text": way.summary, "match": way.asks, "repeat": True}
    calls = [{**world.call(f"echo {word}-CALL"), "unless": way.asks} for word in ("FIRST", "SECOND", "THIRD", "FOURTH")]
    if world.agent.name == "hermes":
        return [
            summary,
            *({**call, "unless": SECOND_PROMPT} for call in calls),
            {**world.call("echo FIFTH-CALL"), **much},
        ]
    if way.runs is None:
        return [summary, *({**call, **much} for call in calls[: way.requests]), *calls[way.requests :]]
    longer = [{**world.call(f"seq 500; echo {number}"), **much} for number in range(way.calls)]
    return [summary, *longer, {"text": "FIRST-ANSWER", **much, "match": PROMPT}]


def compacted(world: World) -> Session:
    way = COMPACTIONS[world.agent.name]
    for name, text in way.files.items():
        file = world.home / name
        file.write_text(text + (file.read_text(encoding="utf-8") if file.exists() else ""), encoding="utf-8")
    if way.runs is None:
        return world.run(*steps(world, way), environ=way.environ)
    runs, keys = way.runs(world)
    return world.play(runs, steps(world, way), way.environ, keys)


@proves("compaction")
def test_what_a_session_began_with_is_told_again_after_a_compaction(world: World) -> None:
    world.hooks(MORNING)
    session = compacted(world)
    kept = world.expects("compaction")
    last = session.requests[-1]
    assert "THE-SUMMARY" in last, session
    assert ("NOTE-AT-" in last) == kept, session
    began = [one["data"].get("source") for one in world.log() if one["event"] == "SessionStart"]
    assert (began[1:] == ["compact"]) == kept, (began, session)
