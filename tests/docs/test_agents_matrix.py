"""The published matrix is what ``make e2e`` found, with the versions that are pinned."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import agents, install, summary
from tests.e2e.results import CAPABILITIES, cells, document

from hookline.core.agents import AGENTS

ROOT = Path(__file__).resolve().parents[2]
RESULTS = json.loads((ROOT / "docs/reference/agents.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tool():
    return load("agents_matrix")


@pytest.fixture(scope="module")
def changes():
    return load("agents_changes")


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_results_say(tool):
    assert tool.main(["--check"]) == 0


def test_every_agent_is_there_in_its_pinned_version():
    pinned = {agent.name: install.PACKAGES[agent.package].version for agent in agents.AGENTS}
    assert {row["agent"]: row["version"] for row in RESULTS["agents"]} == pinned


def test_the_doctor_knows_the_versions_that_were_tried():
    assert {row["agent"]: row["version"] for row in RESULTS["agents"]} == {
        agent.name: agent.proven for agent in AGENTS.values() if agent.proof == "binary"
    }


def test_another_version_is_compared_with_the_published_one(changes):
    tried = {**YES, "date": "2030-01-02"}
    cells = {"deny": tried, "stop": {**tried, "result": "failed"}, "pack": {**tried, "date": ""}}
    now: dict[str, Any] = {
        "agents": [{"agent": "codex", "version": "9.9", "capabilities": cells, "new fields": {"Stop": ["mood"]}}]
    }
    old = {"agents": [{"agent": "codex", "version": "9.8", "capabilities": {"deny": YES, "stop": YES}}]}
    now["capabilities"] = {"deny": "a deny blocks", "stop": "it goes on", "pack": "a pack blocks"}
    assert list(changes.changes(old, now)) == [
        "codex: 9.9 (published: 9.8), 2 of 3 tried",
        "  it goes on: was yes, is failed",
        "  new in the payload of Stop: mood",
    ]


def test_another_version_is_asked_for_by_name():
    assert install.wanted("claude@2.2.0 codex") == {"claude-code": "2.2.0", "codex": ""}
    assert install.resolve("claude-code@2.2.0 codex") == "claude-code@2.2.0 codex"
    moved = {name: package.at("9.9.9") for name, package in install.PACKAGES.items()}
    assert moved["claude"].install == ("@anthropic-ai/claude-code@9.9.9",)
    assert (moved["pi"].packed, moved["pi"].install) == (
        "@earendil-works/pi-coding-agent@9.9.9", install.PACKAGES["pi"].install,
    )  # fmt: skip
    assert (moved["hermes"].install, moved["hermes"].published) == (("hermes-agent[mcp]==9.9.9",), "hermes-agent")


def test_every_capability_is_there_for_every_agent():
    assert RESULTS["capabilities"] == dict(CAPABILITIES)
    assert [row["agent"] for row in RESULTS["agents"] if row["capabilities"].keys() != CAPABILITIES.keys()] == []


def test_what_was_not_tried_is_not_said_to_work(tool):
    page = tool.matrix({"capabilities": {"deny": "a deny blocks"}, "agents": [{**ROW, "capabilities": {}}]})
    assert "| a deny blocks | not tested |" in page


def test_what_failed_and_what_was_skipped_is_told():
    tried = [("tries", ("deny", "rewrite")), ("found", ("deny", "yes", ""))]
    assert cells(tried, "failed", "") == {
        "deny": {"result": "yes", "note": ""},
        "rewrite": {"result": "failed", "note": ""},
    }
    assert cells(tried[:1], "skipped", "no npm")["deny"] == {"result": "untested", "note": "no npm"}
    assert cells(tried[:1], "passed", "")["deny"] == {"result": "yes", "note": ""}


def test_a_run_that_tried_a_part_changes_that_part():
    first = document({"codex": dict.fromkeys(CAPABILITIES, YES)}, {}, "2030-01-01")
    second = document({"codex": {"deny": {"result": "failed", "note": ""}}}, first, "2030-01-02")
    (before,), (after,) = [[row for row in told["agents"] if row["agent"] == "codex"] for told in (first, second)]
    assert after["capabilities"].pop("deny") == {"result": "failed", "note": "", "date": "2030-01-02"}
    assert before["capabilities"].pop("deny") == {**YES, "date": "2030-01-01"}
    assert after == before


def test_what_was_found_of_another_version_is_forgotten():
    first = document({"codex": dict.fromkeys(CAPABILITIES, YES)}, {}, "2030-01-01")
    older = {"agents": [{**row, "version": "0.1"} for row in first["agents"]]}
    told = document({"codex": {"deny": YES}}, older, "2030-01-02")
    (row,) = [row for row in told["agents"] if row["agent"] == "codex"]
    assert {name for name, cell in row["capabilities"].items() if cell["result"] == "yes"} == {"deny"}


YES = {"result": "yes", "note": ""}
ROW = {"agent": "x", "version": "1", "system": "Linux", "hookline": "0"}


def test_what_limits_a_cell_is_kept_whichever_test_ends_last() -> None:
    plain, noted, failed = (
        {"result": one, "note": note} for one, note in (("yes", ""), ("yes", "but"), ("failed", ""))
    )
    assert summary._limits(None) < summary._limits(plain) < summary._limits(noted) < summary._limits(failed)
