"""A vendor's name appears only where agents are described: a new agent must not need a search through the house."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from hookline.core.agents import AGENTS

SRC = Path(__file__).resolve().parents[3] / "src" / "hookline"
ROOMS = ("core/agents.py", "dialects/", "deploy/", "transcripts/", "demo/", "sdk/")
#: Names of agents that are ordinary words as well.
ORDINARY = {"pi", "amp", "cursor", "cline", "crush", "vibe", "hermes"}
VENDORS = re.compile("|".join(sorted({agent.dialect for agent in AGENTS.values()} - ORDINARY)), re.IGNORECASE)
#: File -> why it may name a vendor.
EXCEPTIONS = {
    **dict.fromkeys(
        ("agent/model.py", "agent/wires/gemini.py", "agent/providers.py", "llm/names.py", "llm/scripted/gemini.py", "llm/scripted/server.py"),
        "models and their providers",
    ),
    "core/tool_names.py": "tools whose own names have it",
    **dict.fromkeys(("memory/distill/backends.py", "memory/distill/model_errors.py"), "`claude -p` as a model that distils"),
    **dict.fromkeys(
        ("memory/layout.py", "memory/project.py", "memory/queue/launch.py", "memory/settings.py", "memory/transcript.py"),
        "lazy-harness's settings: its variable, its default model, and the directory that it names",
    ),
    **dict.fromkeys(("guard/programs/system.py", "guard/sensitive.py"), "programs and settings that the guard protects"),
    "fleet/manifest.py": "an example of a list of agents",
    "packs/installed.py": "where each agent keeps the plugins that were installed in it",
    "cli/pack_skeleton.py": "a new pack is published for its marketplaces too",
    "memory/notes/session_export.py": "fields of lazy-harness's document",
}  # fmt: skip


def _names(path: Path) -> set[str]:
    """Every name and text of the code that has a vendor's name in it; prose may give examples."""
    prose: set[int] = set()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):  # a parent comes before its children
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            prose.update(id(first.value) for first in node.body[:1] if isinstance(first, ast.Expr))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            found.add(node.value)
        for field in ("id", "name", "attr", "arg", "module"):
            if isinstance(value := getattr(node, field, None), str):
                found.add(value)
    # Shapes that several agents took over from one have its name, as they have in the field's own documents.
    return {one for one in found if VENDORS.search(one.replace("claude_family", ""))}


@pytest.mark.slow
def test_no_other_room_names_a_vendor() -> None:
    found = {
        name: sorted(vendors)
        for path in SRC.rglob("*.py")
        if not (name := path.relative_to(SRC).as_posix()).startswith(ROOMS) and (vendors := _names(path))
    }
    assert {name: vendors for name, vendors in found.items() if name not in EXCEPTIONS} == {}
    assert sorted(EXCEPTIONS.keys() - found.keys()) == []
